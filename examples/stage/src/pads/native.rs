//! Gamepads of Windows and macOS, by `gilrs`.

use std::collections::BTreeMap;
use std::time::Duration;

use gilrs::{Axis, Button, Event, EventType, Gilrs};

use super::{PadAxis, PadButton, PadEvent, Pads};

/// The longest wait for an event.
const WAIT: Duration = Duration::from_secs(1);

/// Reads every pad for ever.
pub(super) fn watch(pads: &Pads) {
    let mut gilrs = match Gilrs::new() {
        Ok(gilrs) => gilrs,
        Err(error) => return pads.tell_trouble(Some(format!("no gamepads: {error}"))),
    };
    let mut slots: BTreeMap<usize, usize> = BTreeMap::new();
    let here: Vec<_> = gilrs.gamepads().map(|(id, pad)| (usize::from(id), pad.name().to_owned())).collect();
    for (id, name) in here {
        slots.extend(pads.plug_in(&name).map(|slot| (id, slot)));
    }
    loop {
        let Some(Event { id, event, .. }) = gilrs.next_event_blocking(Some(WAIT)) else { continue };
        let number = usize::from(id);
        match event {
            EventType::Connected if !slots.contains_key(&number) => {
                slots.extend(pads.plug_in(gilrs.gamepad(id).name()).map(|slot| (number, slot)));
            }
            EventType::Disconnected => {
                if let Some(slot) = slots.remove(&number) {
                    pads.unplug(slot);
                }
            }
            other => {
                if let (Some(slot), Some(event)) = (slots.get(&number), read(other)) {
                    pads.apply(*slot, event);
                }
            }
        }
    }
}

fn read(event: EventType) -> Option<PadEvent> {
    Some(match event {
        EventType::ButtonPressed(button, _) => PadEvent::Button { button: button_of(button)?, down: true },
        EventType::ButtonReleased(button, _) => PadEvent::Button { button: button_of(button)?, down: false },
        EventType::AxisChanged(axis, value, _) => {
            let (axis, value) = axis_of(axis, value)?;
            PadEvent::Axis { axis, value }
        }
        _ => return None,
    })
}

/// Up is 1 there and -1 here.
const fn axis_of(axis: Axis, value: f32) -> Option<(PadAxis, f32)> {
    Some(match axis {
        Axis::LeftStickX => (PadAxis::StickX, value),
        Axis::LeftStickY => (PadAxis::StickY, -value),
        Axis::DPadX => (PadAxis::HatX, value),
        Axis::DPadY => (PadAxis::HatY, -value),
        _ => return None,
    })
}

const fn button_of(button: Button) -> Option<PadButton> {
    Some(match button {
        Button::South => PadButton::South,
        Button::East => PadButton::East,
        Button::West => PadButton::West,
        Button::North => PadButton::North,
        Button::LeftTrigger => PadButton::L1,
        Button::RightTrigger => PadButton::R1,
        Button::LeftTrigger2 => PadButton::L2,
        Button::RightTrigger2 => PadButton::R2,
        Button::Select => PadButton::Select,
        Button::Start => PadButton::Start,
        Button::Mode => PadButton::Guide,
        Button::LeftThumb => PadButton::L3,
        Button::RightThumb => PadButton::R3,
        Button::DPadLeft => PadButton::Left,
        Button::DPadRight => PadButton::Right,
        Button::DPadUp => PadButton::Up,
        Button::DPadDown => PadButton::Down,
        _ => return None,
    })
}
