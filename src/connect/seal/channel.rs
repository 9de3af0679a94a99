//! The keys and counters of one connection: DATA and control packets sealed and opened, without an allocation.

use super::cipher::Cipher;
use super::hash::hash;
use super::noise::Split;
use super::random::Secret;
use super::stats::SealRefusal;
use crate::channel::window::Window;
use crate::wire::seal::{
    self, CONTROL_HEAD_LEN, Control, DATA_HEAD_LEN, Data, Form, Kind, PADDED_LEN, TAG_LEN,
};

/// A connection ends after this many packets with a bad tag, long before a forgery of one becomes likely.
const MAX_FAILED: u64 = 1 << 36;

/// A packet is taken up to 1,024 counters behind the newest.
const WINDOW_WORDS: usize = 16;

/// The longest text of a control packet.
pub(super) const MAX_TEXT: usize = PADDED_LEN;

/// A packet that was opened: its length, and whether no newer one was opened before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) len: usize,
    pub(super) newest: bool,
}

/// The two directions of a connection.
#[derive(Debug)]
pub(super) struct Channel {
    sealing: Cipher,
    opening: Cipher,
    /// The number of the connection at the peer.
    index: u16,
    /// The counter of the next packet.
    next: u64,
    /// How many of the packets before it were control packets.
    controls: u64,
    window: Window<WINDOW_WORDS>,
    failed: u64,
    /// The private key by which one of the two machines proves later that it was here.
    rejoin_key: Secret,
}

impl Channel {
    /// `index` is the number of the connection at the peer.
    pub(super) fn new(split: &Split, is_host: bool, index: u16) -> Option<Self> {
        let [from_joiner, from_host] = &split.keys;
        let (sealing, opening) = if is_host { (from_host, from_joiner) } else { (from_joiner, from_host) };
        Some(Self {
            sealing: Cipher::new(&sealing.0)?,
            opening: Cipher::new(&opening.0)?,
            index,
            next: 0,
            controls: 0,
            window: Window::new(),
            failed: 0,
            rejoin_key: Secret(hash(b"rejoin", &[&from_joiner.0, &from_host.0, &split.hash])),
        })
    }

    /// A private key that only the two machines of this connection know.
    pub(super) fn rejoin_key(&self) -> [u8; 32] {
        self.rejoin_key.0
    }

    /// How many datagrams of the inner protocol were sealed.
    pub(super) fn sealed(&self) -> u64 {
        self.next - self.controls
    }

    /// Whether so much was forged that the connection has to end.
    pub(super) fn is_worn_out(&self) -> bool {
        self.failed >= MAX_FAILED
    }

    /// The next forged packet ends the connection.
    #[cfg(test)]
    pub(super) fn wear_out(&mut self) {
        self.failed = MAX_FAILED - 1;
    }

    /// Seals the datagram in the first `len` bytes of `buf` in place, and returns the new length.
    #[inline]
    pub(super) fn seal_data(&mut self, buf: &mut [u8], len: usize) -> Option<usize> {
        let form = Form::of(buf.get(..len)?);
        let dropped = form.dropped().len();
        let end = len - dropped + DATA_HEAD_LEN;
        let sealed = buf.get_mut(..end + TAG_LEN)?;
        if dropped != DATA_HEAD_LEN {
            sealed.copy_within(dropped..len, DATA_HEAD_LEN);
        }
        let counter = self.next;
        self.next += 1;
        let head = seal::data_head(form, self.index, counter);
        let (front, text) = sealed.split_first_chunk_mut::<DATA_HEAD_LEN>()?;
        *front = head;
        let (text, slot) = text.split_last_chunk_mut::<TAG_LEN>()?;
        *slot = self.sealing.seal(counter, &head, text)?;
        Some(end + TAG_LEN)
    }

    /// Writes a control packet, and returns its length.
    pub(super) fn seal_control(&mut self, kind: Kind, text: &[u8], buf: &mut [u8]) -> Option<usize> {
        let counter = self.next;
        self.next += 1;
        self.controls += 1;
        let len = CONTROL_HEAD_LEN + text.len() + TAG_LEN;
        let head = seal::control_head(self.index, counter, kind);
        let (front, rest) = buf.get_mut(..len)?.split_first_chunk_mut::<CONTROL_HEAD_LEN>()?;
        *front = head;
        let (body, slot) = rest.split_last_chunk_mut::<TAG_LEN>()?;
        body.copy_from_slice(text);
        *slot = self.sealing.seal(counter, &head, body)?;
        Some(len)
    }

    /// Opens DATA into the front of `buf`, as the datagram that it was.
    #[inline]
    pub(super) fn open_data(&mut self, data: &Data<'_>, buf: &mut [u8]) -> Result<Opened, SealRefusal> {
        let dropped = data.form.dropped();
        let whole = buf.get_mut(..dropped.len() + data.sealed.len()).ok_or(SealRefusal::NoPacket)?;
        let (front, sealed) = whole.split_at_mut(dropped.len());
        let newest = self.open(self.window.near_16(data.counter), &data.head, data.sealed, sealed)?;
        front.copy_from_slice(dropped);
        Ok(Opened { len: whole.len() - TAG_LEN, newest })
    }

    /// Opens a control packet into the front of `text`.
    pub(super) fn open_control(
        &mut self,
        control: &Control<'_>,
        text: &mut [u8; MAX_TEXT + TAG_LEN],
    ) -> Result<Opened, SealRefusal> {
        let sealed = text.get_mut(..control.sealed.len()).ok_or(SealRefusal::NoPacket)?;
        let counter = self.window.near_32(control.counter);
        let newest = self.open(counter, &control.head, control.sealed, sealed)?;
        Ok(Opened { len: sealed.len() - TAG_LEN, newest })
    }

    /// Opens a packet with a counter that is new. Returns whether no newer one was opened before.
    #[inline]
    fn open(
        &mut self,
        counter: u64,
        head: &[u8],
        packet: &[u8],
        buf: &mut [u8],
    ) -> Result<bool, SealRefusal> {
        if !self.window.is_new(counter) {
            return Err(SealRefusal::Replayed);
        }
        buf.copy_from_slice(packet);
        if !self.opening.open(counter, head, buf) {
            self.failed += 1;
            return Err(SealRefusal::BadTag);
        }
        Ok(self.window.take(counter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::seal::random::Secret;
    use seal::Packet;

    fn split() -> Split {
        Split {
            keys: [Secret([1; 32]), Secret([2; 32])],
            hash: [0; 32],
            ephemerals: (Secret([3; 32]), [0; 32]),
        }
    }

    fn pair() -> [Channel; 2] {
        [Channel::new(&split(), true, 7).unwrap(), Channel::new(&split(), false, 9).unwrap()]
    }

    fn sealed(channel: &mut Channel, datagram: &[u8]) -> Vec<u8> {
        let mut buf = [0; 1_200];
        buf[..datagram.len()].copy_from_slice(datagram);
        let len = channel.seal_data(&mut buf, datagram.len()).unwrap();
        buf[..len].to_vec()
    }

    fn opened(channel: &mut Channel, packet: &[u8]) -> Result<Vec<u8>, SealRefusal> {
        let mut buf = [0; 1_200];
        match seal::decode(packet).unwrap() {
            Packet::Data(data) => channel.open_data(&data, &mut buf).map(|opened| buf[..opened.len].to_vec()),
            Packet::Control(control) => {
                let mut text = [0; MAX_TEXT + TAG_LEN];
                channel.open_control(&control, &mut text).map(|opened| text[..opened.len].to_vec())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rejoin_key_is_that_of_both_sides_and_of_no_other_connection() {
        let [host, joiner] = pair().map(|channel| channel.rejoin_key());
        assert_eq!(host, joiner);
        let other = Split { hash: [1; 32], ..split() };
        assert_ne!(Channel::new(&other, true, 7).unwrap().rejoin_key(), host);
    }

    #[test]
    fn every_form_comes_out_as_it_went_in_with_its_own_overhead() {
        let [mut host, mut joiner] = pair();
        for (datagram, more) in [
            (&b"RBN1\x01 inputs"[..], 16),
            (b"GAME control", 17),
            (b"RBN1\x02 another version", 21),
            (b"", 21),
            (&[7; 1_179], 21),
        ] {
            let packet = sealed(&mut host, datagram);
            assert_eq!(packet.len(), datagram.len() + more);
            assert_eq!(opened(&mut joiner, &packet).as_deref(), Ok(datagram));
            assert_eq!(opened(&mut joiner, &packet), Err(SealRefusal::Replayed));
            let back = sealed(&mut joiner, datagram);
            assert_ne!(back[5..], packet[5..], "each direction has its own key");
            let mut mirrored = Channel::new(&split(), false, 9).unwrap();
            assert_eq!(opened(&mut mirrored, &back), Err(SealRefusal::BadTag));
            assert_eq!(opened(&mut host, &back).as_deref(), Ok(datagram));
        }
        assert_eq!(host.seal_data(&mut [0; 20], 0), None, "no room");
    }

    #[test]
    fn every_bit_of_data_and_control_is_covered() {
        let [mut host, mut joiner] = pair();
        let mut buf = [0; 64];
        let len = host.seal_control(Kind::Challenge, &[5; 8], &mut buf).unwrap();
        for packet in [sealed(&mut host, b"RBN1\x01 inputs"), buf[..len].to_vec()] {
            for bit in 0..packet.len() * 8 {
                let mut bad = packet.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                let taken = match seal::decode(&bad) {
                    // The number of the connection is another's, and no key is tried.
                    Ok(Packet::Data(Data { index, .. }) | Packet::Control(Control { index, .. })) => {
                        index == 9 && opened(&mut joiner, &bad).is_ok()
                    }
                    _ => false,
                };
                assert!(!taken, "bit {bit}");
            }
            assert!(opened(&mut joiner, &packet).is_ok());
        }
    }

    #[test]
    fn counters_pass_16_bits_and_control_packets_resync_them() {
        let [mut host, mut joiner] = pair();
        for sent in 0..70_000_u32 {
            let packet = sealed(&mut host, b"x");
            if sent < 20_000 || sent % 30_000 == 0 {
                assert!(opened(&mut joiner, &packet).is_ok(), "packet {sent}");
            }
        }
        let lost = (0..40_000).map(|_| sealed(&mut host, b"x")).last().unwrap();
        assert_eq!(opened(&mut joiner, &lost), Err(SealRefusal::Replayed), "16 bits name another counter");
        let mut buf = [0; 64];
        let len = host.seal_control(Kind::Found, b"", &mut buf).unwrap();
        assert!(opened(&mut joiner, &buf[..len]).is_ok());
        assert!(opened(&mut joiner, &lost).is_ok(), "and now they name it");
    }

    #[test]
    fn channel_wears_out() {
        let [mut host, mut joiner] = pair();
        joiner.wear_out();
        let mut packet = sealed(&mut host, b"x");
        packet[5] ^= 1;
        assert!(!joiner.is_worn_out());
        assert_eq!(opened(&mut joiner, &packet), Err(SealRefusal::BadTag));
        assert!(joiner.is_worn_out());
    }

    #[test]
    fn control_packets_are_opened_once_and_forged_ones_counted() {
        let [mut host, mut joiner] = pair();
        let mut find = || {
            let mut buf = [0; 64];
            let len = host.seal_control(Kind::Find, b"", &mut buf).unwrap();
            buf[..len].to_vec()
        };
        let packet = find();
        assert_eq!(opened(&mut joiner, &packet), Ok(Vec::new()));
        assert_eq!(opened(&mut joiner, &packet), Err(SealRefusal::Replayed));
        joiner.wear_out();
        let mut forged = find();
        *forged.last_mut().unwrap() ^= 1;
        assert_eq!(opened(&mut joiner, &forged), Err(SealRefusal::BadTag));
        assert!(joiner.is_worn_out());
    }
}
