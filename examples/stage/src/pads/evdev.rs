//! Gamepads of Linux: the devices in `/dev/input`, one thread for each, and one that looks for new ones.
//!
//! The system lists what a device is where everybody may read it, so that only gamepads are opened: a keyboard is nobody's
//! business.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evdev::{AbsoluteAxisCode, Device, EventSummary, KeyCode};

use super::{PadAxis, PadButton, PadEvent, Pads};

/// How often new devices are looked for.
const LOOK: Duration = Duration::from_secs(1);
/// Where the system lists its devices.
const LIST: &str = "/sys/class/input";
/// The first button of a joystick and of a gamepad. What has either is one of them.
const FIRST_BUTTONS: [u16; 2] = [0x120, 0x130];

/// The devices that have a thread already.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<BTreeSet<String>>>);

impl Open {
    /// Notes a device; `false` if it was noted before.
    fn add(&self, device: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(device.to_owned())
    }

    fn remove(&self, device: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(device);
    }
}

/// Looks for pads for ever.
pub(super) fn watch(pads: &Pads) {
    let open = Open::default();
    loop {
        let mut trouble = None;
        for (device, name) in gamepads() {
            if !open.add(&device) {
                continue;
            }
            if let Err(error) = begin(pads, &open, &device, &name) {
                open.remove(&device);
                if error.kind() == io::ErrorKind::PermissionDenied {
                    trouble = Some(format!("{name} may not be read: add yourself to the group input"));
                }
            }
        }
        pads.tell_trouble(trouble);
        std::thread::sleep(LOOK);
    }
}

/// Starts the thread of a pad.
fn begin(pads: &Pads, open: &Open, device: &str, name: &str) -> io::Result<()> {
    let mut pad = Device::open(format!("/dev/input/{device}"))?;
    let (pads, open, device, name) = (pads.clone(), open.clone(), device.to_owned(), name.to_owned());
    let run = move || {
        if let Some(slot) = pads.plug_in(&name) {
            read(&mut pad, &pads, slot, &name);
            pads.unplug(slot);
        }
        open.remove(&device);
    };
    std::thread::Builder::new().name("pad".to_owned()).spawn(run).map(drop)
}

/// The devices that are gamepads, with their names.
fn gamepads() -> Vec<(String, String)> {
    let Ok(list) = fs::read_dir(LIST) else { return Vec::new() };
    let names = list.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let devices = names.filter(|name| name.starts_with("event")).filter_map(|name| {
        let about = |what: &str| fs::read_to_string(format!("{LIST}/{name}/device/{what}")).ok();
        let is_pad = FIRST_BUTTONS
            .iter()
            .any(|button| has_bit(&about("capabilities/key").unwrap_or_default(), *button));
        let title = about("name")?.trim().to_owned();
        is_pad.then_some((name, title))
    });
    devices.collect()
}

/// Whether a bit is set in the system's list of words in base 16, the highest first.
fn has_bit(words: &str, bit: u16) -> bool {
    let (word, bit) = (usize::from(bit) / usize::BITS as usize, usize::from(bit) % usize::BITS as usize);
    let found = words.split_whitespace().rev().nth(word);
    found.and_then(|word| usize::from_str_radix(word, 16).ok()).is_some_and(|word| word >> bit & 1 == 1)
}

/// Reads one pad until it is pulled out.
fn read(pad: &mut Device, pads: &Pads, slot: usize, name: &str) {
    let ranges = Ranges::of(pad);
    for (code, range) in &ranges.0 {
        if let Some(axis) = axis_of(*code) {
            pads.apply(slot, PadEvent::Axis { axis, value: range.share(range.now) });
        }
    }
    while let Ok(events) = pad.fetch_events() {
        for event in events {
            let told = match event.destructure() {
                // 2 is a repeat of the system, which no pad needs.
                EventSummary::Key(_, KeyCode(code), value @ (0 | 1)) => {
                    button_of(code, name).map(|button| PadEvent::Button { button, down: value == 1 })
                }
                EventSummary::AbsoluteAxis(_, AbsoluteAxisCode(code), value) => {
                    axis_of(code).map(|axis| PadEvent::Axis { axis, value: ranges.share(code, value) })
                }
                _ => None,
            };
            if let Some(event) = told {
                pads.apply(slot, event);
            }
        }
    }
}

/// The values that an axis can have, and the one that it has at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub low: i32,
    pub high: i32,
    pub now: i32,
}

impl Range {
    /// Where a value lies: -1 for the lowest, 1 for the highest.
    pub fn share(&self, value: i32) -> f32 {
        let width = (i64::from(self.high) - i64::from(self.low)).max(1) as f32;
        ((i64::from(value) - i64::from(self.low)) as f32 / width * 2.0 - 1.0).clamp(-1.0, 1.0)
    }
}

/// The range of every axis of a pad.
struct Ranges(Vec<(u16, Range)>);

impl Ranges {
    fn of(pad: &Device) -> Self {
        let Ok(found) = pad.get_absinfo() else { return Self(Vec::new()) };
        let range =
            |info: evdev::AbsInfo| Range { low: info.minimum(), high: info.maximum(), now: info.value() };
        Self(found.map(|(axis, info)| (axis.0, range(info))).collect())
    }

    fn share(&self, code: u16, value: i32) -> f32 {
        let found = self.0.iter().find(|(known, _)| *known == code);
        found.map_or(0.0, |(_, range)| range.share(value))
    }
}

/// The axis of a code of the system.
pub const fn axis_of(code: u16) -> Option<PadAxis> {
    Some(match code {
        0x00 => PadAxis::StickX,
        0x01 => PadAxis::StickY,
        0x02 => PadAxis::TriggerLeft,
        0x05 => PadAxis::TriggerRight,
        0x10 => PadAxis::HatX,
        0x11 => PadAxis::HatY,
        _ => return None,
    })
}

/// The button of a code of the system. The driver of Xbox pads tells X and Y by their letters, and the code of the letter X
/// is the one that others use for the button at the top.
pub fn button_of(code: u16, name: &str) -> Option<PadButton> {
    use PadButton::{
        Down, East, Guide, L1, L2, L3, Left, North, R1, R2, R3, Right, Select, South, Start, Up, West,
    };
    let by_letter = name.contains("X-Box") || name.contains("Xbox");
    Some(match code {
        // A joystick numbers its buttons.
        0x120 => South,
        0x121 => East,
        0x122 => West,
        0x123 => North,
        0x124 => L1,
        0x125 => R1,
        0x126 => L2,
        0x127 => R2,
        0x128 => Select,
        0x129 => Start,
        0x130 => South,
        0x131 => East,
        0x133 if by_letter => West,
        0x134 if by_letter => North,
        0x133 => North,
        0x134 => West,
        0x136 => L1,
        0x137 => R1,
        0x138 => L2,
        0x139 => R2,
        0x13a => Select,
        0x13b => Start,
        0x13c => Guide,
        0x13d => L3,
        0x13e => R3,
        0x220 => Up,
        0x221 => Down,
        0x222 => Left,
        0x223 => Right,
        _ => return None,
    })
}
