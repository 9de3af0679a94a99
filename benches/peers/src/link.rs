//! A path between two machines in virtual time: latency, seeded loss, blackouts. Order is kept.

use std::cell::RefCell;
use std::rc::Rc;

/// Longer than any datagram of any library here.
const MAX_BYTES: usize = 1_500;
/// More datagrams than are ever in flight one way.
const SLOTS: usize = 512;
/// Of UDP and IPv4.
const HEADER_BYTES: u64 = 28;

pub(crate) type Shared = Rc<RefCell<Link>>;

#[derive(Clone, Copy)]
pub(crate) struct Path {
    pub(crate) latency_ns: u64,
    pub(crate) loss_percent: u32,
}

/// The traffic of a machine.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sent {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// The datagrams in flight to one machine, in slots that are allocated once.
struct Line {
    slots: Box<[Slot]>,
    head: usize,
    len: usize,
}

struct Slot {
    at: u64,
    len: usize,
    bytes: [u8; MAX_BYTES],
}

pub(crate) struct Link {
    path: Path,
    random: u64,
    cut: (u64, u64),
    to: [Line; 2],
    pub(crate) sent: [Sent; 2],
}

impl Link {
    pub(crate) fn new(path: Path, seed: u64) -> Shared {
        let slot = |_| Slot { at: 0, len: 0, bytes: [0; MAX_BYTES] };
        let line = || Line { slots: (0..SLOTS).map(slot).collect(), head: 0, len: 0 };
        let random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let link = Self { path, random, cut: (0, 0), to: [line(), line()], sent: [Sent::default(); 2] };
        Rc::new(RefCell::new(link))
    }

    /// Loses everything that is sent from `start` until `stop`.
    pub(crate) fn cut(&mut self, start: u64, stop: u64) {
        self.cut = (start, stop);
    }

    /// A number below `bound`.
    pub(crate) fn draw(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % bound
    }

    fn send(&mut self, from: usize, now: u64, bytes: &[u8]) {
        self.sent[from].packets += 1;
        self.sent[from].bytes += bytes.len() as u64 + HEADER_BYTES;
        let lost = self.path.loss_percent > 0 && self.draw(100) < u64::from(self.path.loss_percent);
        if lost || (self.cut.0..self.cut.1).contains(&now) {
            return;
        }
        let line = &mut self.to[1 - from];
        assert!(line.len < SLOTS, "the line is full");
        let slot = &mut line.slots[(line.head + line.len) % SLOTS];
        (slot.at, slot.len) = (now + self.path.latency_ns, bytes.len());
        slot.bytes[..bytes.len()].copy_from_slice(bytes);
        line.len += 1;
    }

    /// Copies the next datagram that has arrived for a machine by `now`; its length.
    fn receive(&mut self, to: usize, now: u64, buf: &mut [u8; MAX_BYTES]) -> Option<usize> {
        if self.next_arrival(to) > now {
            return None;
        }
        let line = &mut self.to[to];
        let slot = &line.slots[line.head];
        let len = slot.len;
        buf[..len].copy_from_slice(&slot.bytes[..len]);
        (line.head, line.len) = ((line.head + 1) % SLOTS, line.len - 1);
        Some(len)
    }

    /// When the next datagram arrives at a machine; never, if nothing is in flight to it.
    pub(crate) fn next_arrival(&self, to: usize) -> u64 {
        let line = &self.to[to];
        if line.len == 0 { u64::MAX } else { line.slots[line.head].at }
    }
}

/// One machine's end of a link.
#[derive(Clone)]
pub(crate) struct End {
    pub(crate) link: Shared,
    pub(crate) me: usize,
    pub(crate) now: Rc<std::cell::Cell<u64>>,
}

impl End {
    pub(crate) fn send(&self, bytes: &[u8]) {
        self.link.borrow_mut().send(self.me, self.now.get(), bytes);
    }

    pub(crate) fn receive(&self, buf: &mut Buffer) -> Option<usize> {
        self.link.borrow_mut().receive(self.me, self.now.get(), buf)
    }

    /// The same for a library that sends by itself, so that the counting of its instructions stops here. Outside of such a
    /// call the name would start the counting.
    #[inline(never)]
    pub(crate) fn aside_send(&self, bytes: &[u8]) {
        self.send(bytes);
    }

    /// As [`aside_send`](Self::aside_send).
    #[inline(never)]
    pub(crate) fn aside_receive(&self, buf: &mut Buffer) -> Option<usize> {
        self.receive(buf)
    }
}

pub(crate) type Buffer = [u8; MAX_BYTES];

pub(crate) const fn buffer() -> Buffer {
    [0; MAX_BYTES]
}
