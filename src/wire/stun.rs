//! STUN Binding (RFC 8489) without authentication: a request, and the answer with the address that the server sees.

use std::net::{IpAddr, SocketAddr};

/// The identifier of a message.
pub type Id = [u8; 12];

const COOKIE: [u8; 4] = [0x21, 0x12, 0xA4, 0x42];
const REQUEST: [u8; 2] = [0x00, 0x01];
const SUCCESS: [u8; 2] = [0x01, 0x01];
const XOR_MAPPED_ADDRESS: u16 = 0x0020;
const SOFTWARE: u16 = 0x8022;
const HEAD_LEN: usize = 20;

/// The length of a request of ours. It is longer than any answer, so that a server may refuse to send more than it got.
pub const REQUEST_LEN: usize = HEAD_LEN + 4 + PADDING.len();
const PADDING: [u8; 24] = *b"rebout, padded to length";

/// The first byte of a request.
pub const FIRST: u8 = REQUEST[0];
/// The longest answer: to an IPv6 address.
pub const MAX_ANSWER: usize = HEAD_LEN + 8 + 16;

/// The identifier of a STUN message.
pub fn id_of(message: &[u8]) -> Option<Id> {
    message.get(8..HEAD_LEN)?.first_chunk().copied()
}

/// A request with this identifier.
pub fn request(id: &Id) -> [u8; REQUEST_LEN] {
    let mut request = [0; REQUEST_LEN];
    put_head(&mut request, REQUEST, id);
    put_attribute(&mut request, SOFTWARE, &PADDING);
    request
}

/// Writes the answer to a request of the sender at `from`, and returns its length. `None` if this is no request, or if the
/// answer would not be shorter.
pub fn answer(request: &[u8], from: SocketAddr, buf: &mut [u8; MAX_ANSWER]) -> Option<usize> {
    let (head, attributes) = request.split_first_chunk::<HEAD_LEN>()?;
    let is_whole = usize::from(u16::from_be_bytes([head[2], head[3]])) == attributes.len();
    if head[..2] != REQUEST || head[4..8] != COOKIE || !is_whole || attributes.len() % 4 != 0 {
        return None;
    }
    let id = id_of(request)?;
    let mut value = [0; 20];
    value[1] = if from.is_ipv4() { 1 } else { 2 };
    value[2..4].copy_from_slice(&from.port().to_be_bytes());
    let len = match from.ip() {
        IpAddr::V4(ip) => copied(&mut value[4..], &ip.octets()),
        IpAddr::V6(ip) => copied(&mut value[4..], &ip.octets()),
    } + 4;
    mask(&mut value[2..4], &COOKIE);
    mask(&mut value[4..], &masks(&id));
    let whole = buf.get_mut(..HEAD_LEN + 4 + len).filter(|whole| whole.len() < request.len())?;
    put_head(whole, SUCCESS, &id);
    put_attribute(whole, XOR_MAPPED_ADDRESS, &value[..len]);
    Some(whole.len())
}

/// The address in the answer to the request with this identifier. `None` if this is not the answer.
pub fn mapped(answer: &[u8], id: &Id) -> Option<SocketAddr> {
    let (head, mut attributes) = answer.split_first_chunk::<HEAD_LEN>()?;
    if head[..2] != SUCCESS || head[4..8] != COOKIE || head[8..] != *id {
        return None;
    }
    loop {
        let (head, rest) = attributes.split_first_chunk::<4>()?;
        let kind = u16::from_be_bytes([head[0], head[1]]);
        let len = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let value = rest.get(..len)?;
        if kind == XOR_MAPPED_ADDRESS {
            return unmasked(value, id);
        }
        attributes = rest.get(len.next_multiple_of(4)..)?;
    }
}

fn unmasked(value: &[u8], id: &Id) -> Option<SocketAddr> {
    let (head, ip) = value.split_first_chunk::<4>()?;
    let port = u16::from_be_bytes([head[2] ^ COOKIE[0], head[3] ^ COOKIE[1]]);
    let mut octets = [0; 16];
    octets.get_mut(..ip.len())?.copy_from_slice(ip);
    mask(&mut octets, &masks(id));
    match (head[1], ip.len()) {
        (1, 4) => Some((*octets.first_chunk::<4>()?, port).into()),
        (2, 16) => Some((octets, port).into()),
        _ => None,
    }
}

/// The bytes that an IP address is combined with.
fn masks(id: &Id) -> [u8; 16] {
    let mut masks = [0; 16];
    masks[..4].copy_from_slice(&COOKIE);
    masks[4..].copy_from_slice(id);
    masks
}

fn mask(bytes: &mut [u8], masks: &[u8]) {
    bytes.iter_mut().zip(masks).for_each(|(byte, mask)| *byte ^= mask);
}

fn copied(to: &mut [u8], from: &[u8]) -> usize {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    from.len()
}

/// Writes the head of a message with one attribute, which fills the rest of it.
fn put_head(message: &mut [u8], kind: [u8; 2], id: &Id) {
    let len = (message.len() - HEAD_LEN) as u16;
    message[..2].copy_from_slice(&kind);
    message[2..4].copy_from_slice(&len.to_be_bytes());
    message[4..8].copy_from_slice(&COOKIE);
    message[8..HEAD_LEN].copy_from_slice(id);
}

fn put_attribute(message: &mut [u8], kind: u16, value: &[u8]) {
    let attribute = &mut message[HEAD_LEN..];
    attribute[..2].copy_from_slice(&kind.to_be_bytes());
    attribute[2..4].copy_from_slice(&(value.len() as u16).to_be_bytes());
    attribute[4..].copy_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Id = [0xB7, 0xE7, 0xA7, 0x01, 0xBC, 0x34, 0xD6, 0x86, 0xFA, 0x87, 0xDF, 0xAE];

    /// The answer of RFC 5769, section 2.2, without its last two attributes: SOFTWARE and XOR-MAPPED-ADDRESS.
    fn standard() -> Vec<u8> {
        let mut bytes = vec![0x01, 0x01, 0x00, 0x1C, 0x21, 0x12, 0xA4, 0x42];
        bytes.extend(ID);
        bytes.extend([0x80, 0x22, 0x00, 0x0B]);
        bytes.extend(b"test vector ");
        bytes.extend([0x00, 0x20, 0x00, 0x08, 0x00, 0x01, 0xA1, 0x47, 0xE1, 0x12, 0xA6, 0x43]);
        bytes
    }

    fn answer_to(request: &[u8], from: &str) -> Option<Vec<u8>> {
        let mut buf = [0; MAX_ANSWER];
        answer(request, from.parse().unwrap(), &mut buf).map(|len| buf[..len].to_vec())
    }

    #[test]
    fn answer_of_the_standard_is_read() {
        assert_eq!(mapped(&standard(), &ID), Some("192.0.2.1:32853".parse().unwrap()));
    }

    #[test]
    fn answer_to_another_question_or_a_damaged_one_is_refused() {
        for at in (0..2).chain(4..20).chain([22, 36, 37, 38, 39, 41]) {
            let mut bytes = standard();
            bytes[at] ^= 0x11;
            assert_eq!(mapped(&bytes, &ID), None, "byte {at}");
        }
        for len in 0..standard().len() {
            assert_eq!(mapped(&standard()[..len], &ID), None, "{len}");
        }
    }

    #[test]
    fn answers_have_the_bytes_of_the_standard() {
        let answer = answer_to(&request(&ID), "192.0.2.1:32853").unwrap();
        assert_eq!(answer[..4], [0x01, 0x01, 0x00, 0x0C]);
        assert_eq!((&answer[4..20], &answer[20..]), (&standard()[4..20], &standard()[36..]));
    }

    #[test]
    fn requests_get_the_address_of_their_sender() {
        for from in ["192.0.2.1:7000", "[2001:db8::9]:65535"] {
            let answer = answer_to(&request(&ID), from).unwrap();
            assert_eq!(mapped(&answer, &ID), Some(from.parse().unwrap()));
            assert!(answer.len() < REQUEST_LEN);
        }
    }

    #[test]
    fn no_answer_is_as_long_as_its_request() {
        let mut shortest = [usize::MAX; 2];
        for len in (0..64).step_by(4) {
            let mut bytes = vec![0; HEAD_LEN + len];
            put_head(&mut bytes, REQUEST, &ID);
            for (family, from) in ["192.0.2.1:7000", "[2001:db8::9]:7"].into_iter().enumerate() {
                if let Some(answer) = answer_to(&bytes, from) {
                    assert!(answer.len() < bytes.len(), "{len}");
                    shortest[family] = shortest[family].min(bytes.len());
                }
            }
        }
        assert_eq!(shortest, [36, 48]);
    }

    #[test]
    fn other_messages_get_no_answer() {
        for at in 0..8 {
            let mut bytes = request(&ID);
            bytes[at] ^= 0x04;
            assert_eq!(answer_to(&bytes, "192.0.2.1:7"), None, "byte {at}");
        }
        assert_eq!(answer_to(&[&request(&ID)[..], &[0]].concat(), "192.0.2.1:7"), None);
        (0..REQUEST_LEN).for_each(|len| assert_eq!(answer_to(&request(&ID)[..len], "192.0.2.1:7"), None));
    }
}
