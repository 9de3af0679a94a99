//! Gamepads of Linux: the devices in `/dev/input`, one thread for each, and one that looks for new ones.
//!
//! The system lists what a device is where everybody may read it, so that only gamepads are opened: a keyboard is nobody's
//! business.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evdev::{Device, EventType};

use super::{Codes, Pads};

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
    let mut codes = Codes::of(name);
    if let Ok(axes) = pad.get_absinfo() {
        for (axis, info) in axes {
            codes.set_range(axis.0, info.minimum(), info.maximum());
            // A stick that is held while it is plugged in counts.
            if let Some(event) = codes.read(EventType::ABSOLUTE.0, axis.0, info.value()) {
                pads.apply(slot, event);
            }
        }
    }
    while let Ok(events) = pad.fetch_events() {
        for event in events {
            if let Some(told) = codes.read(event.event_type().0, event.code(), event.value()) {
                pads.apply(slot, told);
            }
        }
    }
}
