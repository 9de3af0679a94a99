//! Two handles without a socket and a clock, in virtual time: the pure form of the interface.

use crate::calls::{error, options, sized};
use crate::counters::{Counters, faulty_step, table};
use crate::misuse::Owned;
use rebout_c::safe::codes::{AdvancedCode, EventCode, NowCode, Status};
use rebout_c::*;
use std::collections::VecDeque;
use std::ffi::{CStr, CString};
use std::ptr;

const MILLISECOND: u64 = 1_000_000;

/// The end of a match at one machine.
#[derive(Clone, Debug)]
pub(crate) struct Over {
    pub(crate) turn: Numbers,
    pub(crate) text: String,
}

/// The numbers of a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) finish: u32,
    pub(crate) verdict: u32,
    pub(crate) frame: u32,
    pub(crate) ours: u32,
    pub(crate) is_from_their_log: u32,
}

/// One machine.
pub(crate) struct Machine {
    pub(crate) handle: Owned,
    pub(crate) game: Box<Counters>,
    pub(crate) seat: u32,
    pub(crate) events: Vec<(EventCode, String)>,
    pub(crate) messages: Vec<Vec<u8>>,
    pub(crate) first_state: Vec<u8>,
    pub(crate) notices: Vec<String>,
    pub(crate) over: Option<Over>,
    /// Confirmed frames and confirmed cues so far.
    pub(crate) confirmed: u32,
    pub(crate) clicks: [u32; 3],
    pub(crate) paused_frames: u32,
    /// Whether one frame is stepped in another way here.
    pub(crate) is_faulty: bool,
    /// Whether it comes back into a match, whose first frames it has not confirmed.
    pub(crate) is_returned: bool,
    /// Datagrams on their way: when they arrive, and from whom.
    inbox: VecDeque<(u64, u64, Vec<u8>)>,
    /// Its id on the transport: 1 for the host, 2 for the joiner.
    pub(crate) id: u64,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            handle: Owned::new(),
            game: Box::new(Counters::default()),
            seat: 0,
            events: Vec::new(),
            messages: Vec::new(),
            first_state: Vec::new(),
            notices: Vec::new(),
            over: None,
            confirmed: 0,
            clicks: [0; 3],
            paused_frames: 0,
            is_faulty: false,
            is_returned: false,
            inbox: VecDeque::new(),
            id: 0,
        }
    }

    /// Everything that is due on a transport without callbacks.
    pub(crate) fn run(&mut self, now: u64) {
        self.receive(now);
        self.turns(rebout_poll);
    }

    /// Takes the time and the datagrams that have arrived.
    fn receive(&mut self, now: u64) {
        let handle = self.handle.0;
        // SAFETY: a live handle and valid arguments.
        unsafe {
            assert_eq!(rebout_set_time(handle, now), Status::Ok);
            while self.inbox.front().is_some_and(|(at, ..)| *at <= now) {
                let (_, from, datagram) = self.inbox.pop_front().unwrap();
                rebout_deliver(handle, from, datagram.as_ptr(), datagram.len());
            }
        }
    }

    /// The turns until there is nothing to do.
    pub(crate) fn turns(&mut self, next: unsafe extern "C" fn(*mut Handle, *mut CTurn) -> Status) {
        while self.turn(next) {}
    }

    /// One turn, taken by `next`; whether there may be more to do.
    pub(crate) fn turn(&mut self, next: unsafe extern "C" fn(*mut Handle, *mut CTurn) -> Status) -> bool {
        let handle = self.handle.0;
        let mut turn = sized::<CTurn>();
        // SAFETY: a live handle and valid arguments.
        unsafe {
            assert_eq!(next(handle, &raw mut *turn), Status::Ok, "{}", error(handle));
            let text = CStr::from_ptr(turn.text).to_str().unwrap().to_owned();
            let bytes = (0..turn.byte_count).map(|at| *turn.bytes.add(at)).collect::<Vec<u8>>();
            match turn.now {
                NowCode::Begin => {
                    (self.seat, self.first_state) = (turn.seat, bytes);
                    *self.game = Counters::new(turn.seed);
                    let mut game = table(&raw mut *self.game);
                    if self.is_faulty {
                        game.step = Some(faulty_step);
                    }
                    assert_eq!(rebout_start(handle, &raw const game), Status::Ok, "{}", error(handle));
                }
                NowCode::Frame => self.frame(),
                NowCode::Event => {
                    if turn.event == EventCode::Message {
                        self.messages.push(bytes);
                    }
                    self.events.push((turn.event, text));
                }
                NowCode::Notice => self.notices.push(text),
                NowCode::Guest => assert_eq!(rebout_answer(handle, 1), Status::Ok),
                NowCode::Finished => {
                    let numbers = Numbers {
                        finish: turn.finish as u32,
                        verdict: turn.verdict as u32,
                        frame: turn.frame,
                        ours: turn.ours,
                        is_from_their_log: turn.is_from_their_log,
                    };
                    self.over = Some(Over { turn: numbers, text });
                    return false;
                }
                NowCode::Idle | NowCode::Connecting => return false,
            }
        }
        true
    }

    fn frame(&mut self) {
        let handle = self.handle.0;
        let mut advanced = AdvancedCode::Ended;
        let (mut cues, mut frames, mut counts) = (ptr::null(), ptr::null(), [0; 2]);
        // SAFETY: a live handle and valid arguments.
        unsafe {
            let input = u64::from(self.game.bot(self.seat).0);
            assert_eq!(rebout_advance(handle, input, &raw mut advanced), Status::Ok, "{}", error(handle));
            rebout_cues(handle, &raw mut cues, &raw mut counts[0]);
            rebout_confirmed(handle, &raw mut frames, &raw mut counts[1]);
            for at in 0..counts[0] {
                self.clicks[(*cues.add(at)).change as usize] += 1;
            }
            for at in 0..counts[1] {
                let frame = (*frames.add(at)).frame;
                if self.is_returned {
                    (self.is_returned, self.confirmed) = (false, frame);
                }
                assert_eq!(frame, self.confirmed);
                self.confirmed += 1;
            }
        }
        self.paused_frames += u32::from(advanced == AdvancedCode::Paused);
    }
}

/// Two machines, and the time.
pub(crate) struct Pair {
    pub(crate) machines: [Machine; 2],
    /// Spectators.
    pub(crate) others: Vec<Machine>,
    pub(crate) now: u64,
    latency: u64,
}

impl Pair {
    /// Two machines with options that `change` has changed, given the number of the machine.
    pub(crate) fn new(latency_ms: u64, change: impl Fn(&mut COptions, u64)) -> Self {
        let mut machines = [Machine::new(), Machine::new()];
        let mut invite: Option<CString> = None;
        for (machine, id) in machines.iter_mut().zip([1, 2]) {
            machine.id = id;
            let mut given = options();
            given.bind = ptr::null();
            given.entropy = 77 + id;
            given.name = if id == 1 { c"Ann".as_ptr() } else { c"Ben".as_ptr() };
            change(&mut given, id);
            let mut transport = sized::<TransportTable>();
            transport.local_id = id;
            let handle = machine.handle.0;
            // SAFETY: live handles and valid arguments.
            let status = unsafe {
                match &invite {
                    None => rebout_host_on(handle, &raw const *given, &raw const *transport),
                    Some(text) => {
                        rebout_join_on(handle, &raw const *given, &raw const *transport, text.as_ptr())
                    }
                }
            };
            assert_eq!(status, Status::Ok, "{}", error(handle));
            let mut text = ptr::null();
            // SAFETY: a live handle.
            unsafe {
                assert_eq!(rebout_share(handle, &raw mut text), Status::Ok);
                invite.get_or_insert_with(|| CStr::from_ptr(text).to_owned());
            }
        }
        Self { machines, others: Vec::new(), now: 0, latency: latency_ms * MILLISECOND }
    }

    /// Lets milliseconds pass, until `ends`.
    pub(crate) fn run(&mut self, most_ms: u64, mut ends: impl FnMut(&mut [Machine; 2]) -> bool) {
        for _ in 0..most_ms {
            self.now += MILLISECOND;
            for at in 0..2 + self.others.len() {
                let machine = self.machines.iter_mut().chain(&mut self.others).nth(at).unwrap();
                machine.run(self.now);
                let (handle, id) = (machine.handle.0, machine.id);
                self.carry(handle, id);
            }
            if ends(&mut self.machines) {
                return;
            }
        }
        let ends = self.machines.each_ref().map(|machine| (machine.game.frame, machine.over.clone()));
        panic!("nothing after {most_ms} ms: {ends:?}");
    }

    /// Lets a millisecond pass, and hands each turn to `look`, with the number of its machine.
    pub(crate) fn pass(&mut self, mut look: impl FnMut(usize, &mut Machine, &CTurn)) {
        self.now += MILLISECOND;
        for at in 0..2 {
            let machine = &mut self.machines[at];
            let handle = machine.handle.0;
            machine.receive(self.now);
            let mut turn = sized::<CTurn>();
            loop {
                // SAFETY: a live handle and a struct.
                let status = unsafe { rebout_poll(handle, &raw mut *turn) };
                assert_eq!(status, Status::Ok, "{}", error(handle));
                look(at, machine, &turn);
                if matches!(turn.now, NowCode::Idle | NowCode::Connecting | NowCode::Finished) {
                    break;
                }
            }
            let id = machine.id;
            self.carry(handle, id);
        }
    }

    /// Runs until both are over.
    pub(crate) fn finish(&mut self) -> [Over; 2] {
        self.run(60_000, |machines| machines.iter().all(|machine| machine.over.is_some()));
        self.machines.each_mut().map(|machine| machine.over.take().unwrap())
    }

    /// Carries what a machine sends. Datagrams to a machine that is gone are lost.
    fn carry(&mut self, handle: *mut Handle, id: u64) {
        loop {
            let (mut to, mut datagram, mut count) = (0, [0; 1_264], 0);
            // SAFETY: a live handle and a buffer of this size.
            unsafe {
                let capacity = datagram.len();
                let status =
                    rebout_take(handle, &raw mut to, datagram.as_mut_ptr(), capacity, &raw mut count);
                assert_eq!(status, Status::Ok, "{}", error(handle));
            }
            if count == 0 {
                return;
            }
            assert_ne!(to, id, "to itself");
            let arrives = self.now + self.latency;
            let receiver = self.machines.iter_mut().chain(&mut self.others).find(|machine| machine.id == to);
            if let Some(machine) = receiver {
                machine.inbox.push_back((arrives, id, datagram[..count].to_vec()));
            }
        }
    }
}
