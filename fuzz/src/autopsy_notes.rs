//! Notes of a desync autopsy.

use rebout::lab::wire::autopsy::encode_again;
use rebout::lab::wire::message::MAX_AUTOPSY;

/// The longest text that is written; a reader takes up to 255 bytes.
const MAX_TEXT: usize = 200;

pub fn run(data: &[u8]) {
    let data = &data[..data.len().min(MAX_AUTOPSY)];
    let Some(again) = encode_again(data) else { return };
    let has_long_text = data[0] == 5 && data.iter().any(|byte| usize::from(*byte) > MAX_TEXT);
    if !has_long_text {
        assert_eq!(again, data);
    }
    assert_eq!(encode_again(&again).as_ref(), Some(&again));
}

pub fn seeds() -> Vec<Vec<u8>> {
    let table = [&[4, 2, 0, 0, 0xC8, 3][..], &[9; 1_024]].concat();
    let notes: [&[u8]; 7] = [
        &[1, 0, 0, 0, 60, 0, 0, 0, 30],
        &[2, 1, 0, 0, 0, 2, 9, 0, 0, 0, 7, 1, 2, 3, 4],
        &[3, 0, 0, 0, 3, 0, 0, 0, 24],
        &table,
        &[5, 0, 2, b'h', b'p', 1, 0, 0, 0, 75, 2, b'-', b'1', 0, 0, 0],
        &[6, 0, 3, b'h', b'i', b't', 1, 2, 3, 4, 0, 0, 0, 7, 0, 0, 0, 0, 9, 0, 0, 0, 24],
        &[7, 0, 0, 0, 60],
    ];
    notes.map(<[u8]>::to_vec).to_vec()
}
