//! Encoding of sealed packets: heads, and the packets that have nothing sealed in them.

use super::{
    CONTROL, CONTROL_HEAD_LEN, DATA_HEAD_LEN, Form, INIT, INIT_HEAD_LEN, InitHead, Kind, MAC_LEN, Pattern,
    REQUEST, RESP, RESP_HEAD_LEN, RETRY, Request, Retry, VERSION,
};
use crate::wire::bytes::Writer;

/// Writes a REQUEST and its mac, and returns its length; `None` if `buf` is too small.
pub fn encode_request(request: &Request, mac: impl FnOnce(&[u8]) -> u64, buf: &mut [u8]) -> Option<usize> {
    let mut writer = Writer::new(buf);
    put_opening(&mut writer, REQUEST, request.pattern, request.index, request.nonce);
    writer.zeros(request.pattern.request_len() - MAC_LEN - writer.len());
    put_mac(request.pattern.request_len(), mac, buf)
}

/// Writes a RETRY and its mac, and returns its length; `None` if `buf` is too small.
pub fn encode_retry(retry: &Retry, mac: impl FnOnce(&[u8]) -> u64, buf: &mut [u8]) -> Option<usize> {
    let mut writer = Writer::new(buf);
    writer.u8(RETRY);
    writer.u16(retry.index);
    writer.u64(retry.nonce);
    writer.u64(retry.cookie);
    if let Some(key) = &retry.open_key {
        writer.put(key);
    }
    let len = writer.len() + MAC_LEN;
    put_mac(len, mac, buf)
}

/// The head of an INIT as bytes.
#[must_use]
pub fn init_head(head: &InitHead) -> [u8; INIT_HEAD_LEN] {
    let mut bytes = [0; INIT_HEAD_LEN];
    let mut writer = Writer::new(&mut bytes);
    put_opening(&mut writer, INIT, head.pattern, head.index, head.nonce);
    writer.u64(head.cookie);
    bytes
}

/// Puts the mac behind the first `len - 8` bytes of `buf`, and returns `len`; `None` if `buf` is too small.
pub fn put_mac(len: usize, mac: impl FnOnce(&[u8]) -> u64, buf: &mut [u8]) -> Option<usize> {
    let (covered, slot) = buf.get_mut(..len)?.split_last_chunk_mut::<MAC_LEN>()?;
    *slot = mac(covered).to_be_bytes();
    Some(len)
}

/// The head of a RESP as bytes.
#[must_use]
pub fn resp_head(index: u16) -> [u8; RESP_HEAD_LEN] {
    let [i0, i1] = index.to_be_bytes();
    [RESP, i0, i1]
}

/// The head of DATA as bytes. `counter` is the whole one.
#[must_use]
#[inline]
pub fn data_head(form: Form, index: u16, counter: u64) -> [u8; DATA_HEAD_LEN] {
    let ([i0, i1], [c0, c1]) = (index.to_be_bytes(), (counter as u16).to_be_bytes());
    [form.first_byte(), i0, i1, c0, c1]
}

/// The head of a control packet as bytes. `counter` is the whole one.
#[must_use]
pub fn control_head(index: u16, counter: u64, kind: Kind) -> [u8; CONTROL_HEAD_LEN] {
    let ([i0, i1], [c0, c1, c2, c3]) = (index.to_be_bytes(), (counter as u32).to_be_bytes());
    [CONTROL, i0, i1, c0, c1, c2, c3, kind.number()]
}

fn put_opening(writer: &mut Writer<'_>, first: u8, pattern: Pattern, index: u16, nonce: u64) {
    writer.u8(first);
    writer.u8(VERSION);
    writer.u8(pattern as u8);
    writer.u16(index);
    writer.u64(nonce);
}
