//! Keys and events that no player makes.

use std::time::{Duration, Instant};

use stage::pads::{Codes, Pads};
use stage::{Key, Keyboard, Role};

#[test]
fn keys_that_are_never_let_go_are_bounded() {
    for releases in [false, true] {
        let (mut keyboard, now) = (Keyboard::new(releases), Instant::now());
        for character in ('\u{100}'..'\u{8000}').map(Key::Char) {
            keyboard.press(character, Role::Direction(Key::Up), now);
        }
        assert!(keyboard.held(now).len() <= 64 && keyboard.presses().len() <= 64);
        assert!(keyboard.held(now + Duration::from_secs(9)).len() <= 64);
    }
}

#[test]
fn no_event_of_a_device_panics_or_grows() {
    let pads = Pads::in_memory();
    let slot = pads.plug_in("\u{1b}[2J X-Box \u{202e}").unwrap();
    let mut codes = Codes::of("X-Box");
    let values = [i32::MIN, -1, 0, 1, 2, 127, i32::MAX];
    for (low, high) in values.iter().flat_map(|low| values.map(|high| (*low, high))) {
        for code in (0..0x20).chain(0x110..0x230) {
            codes.set_range(code, low, high);
            for (kind, value) in (0..5).flat_map(|kind| values.map(|value| (kind, value))) {
                if let Some(event) = codes.read(kind, code, value) {
                    pads.apply(slot, event);
                    pads.apply(usize::MAX, event);
                }
            }
        }
    }
    assert!(pads.take_states()[0].presses.len() <= 64);
    let (_, name) = &pads.names()[0];
    assert!(!name.contains(|character: char| character.is_control()), "{name:?}");
}

/// Tags and lengths of the values in a message of PulseAudio.
#[cfg(target_os = "linux")]
const TAGS: [(u8, usize); 12] = [
    (b'L', 4),
    (b'B', 1),
    (b'R', 8),
    (b't', 0),
    (b'N', 0),
    (b'x', 4),
    (b'U', 8),
    (b'u', 8),
    (b'1', 0),
    (b'T', 8),
    (b'P', 0),
    (b'f', 2),
];

#[cfg(target_os = "linux")]
#[test]
fn sound_server_messages_never_panic_and_are_bounded() {
    use stage::sound::PulseMessage;
    let mut state = 0x9E37_79B9_u32;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as usize % below
    };
    let (mut known, mut cut) = (0, 0);
    for _ in 0..60_000 {
        // Those that a stream waits for, and all others of the protocol.
        let command = [61, 64, 14, 57, draw(140)][draw(5)] as u32;
        let mut body = [&[b'L'][..], &command.to_be_bytes(), b"L\0\0\0\0"].concat();
        for _ in 0..draw(12) {
            let (tag, len) = TAGS[if draw(2) == 0 { 0 } else { draw(TAGS.len()) }];
            body.push(tag);
            (0..len).for_each(|_| body.push([0, 1, 255, draw(256) as u8][draw(4)]));
        }
        let length = if draw(20) == 0 { draw(1 << 22) } else { body.len() } as u32;
        let mut bytes = [&length.to_be_bytes()[..], &[0; 16], &body].concat();
        bytes.truncate(if draw(20) == 0 { draw(bytes.len()) } else { bytes.len() });
        match PulseMessage::read(&mut &bytes[..]) {
            Ok(message) => known += usize::from(message.command(35).is_some()),
            Err(_) => cut += 1,
        }
    }
    assert!(known > 3_000 && cut > 2_000, "{known} {cut}");
}
