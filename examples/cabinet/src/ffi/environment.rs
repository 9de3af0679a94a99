//! The answers to a core's questions and wishes. A command that is not known gets `false`, as libretro asks for.

use std::ffi::{CStr, CString, c_char, c_uint, c_void};

use super::abi::{
    AvInfo, DEVICE_JOYPAD, EXPERIMENTAL, FrameTime, Geometry, MemoryMap, Message, VariableText, command,
};
use super::core::MappedRegion;
use super::frontend::{Frontend, PixelFormat, Variable, with_frontend};
use super::log;

/// Options that one core can have.
const MAX_VARIABLES: usize = 512;
/// Regions of memory that one core can name.
const MAX_REGIONS: c_uint = 256;

/// An event that a core has told of outside of its picture and sound.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// The core wants to end.
    Shutdown,
    /// Its picture has another size.
    Geometry { width: usize, height: usize },
    /// Its frame rate or its sample rate has changed.
    Timing { fps: f64, sample_rate: f64 },
    /// It wants to draw with the graphics card.
    HardwareRender,
    /// A message for the player.
    Message(String),
}

/// SAFETY of a call: `data` points to what the command takes.
pub(super) unsafe extern "C" fn environment(command: c_uint, data: *mut c_void) -> bool {
    with_frontend(false, |frontend| answer(frontend, command & !EXPERIMENTAL, data))
}

/// Writes an answer, if there is a place for it.
fn put<T>(data: *mut c_void, value: T) -> bool {
    if data.is_null() {
        return false;
    }
    // SAFETY: a core hands over a place for a value of the type that the command names.
    unsafe { data.cast::<T>().write_unaligned(value) };
    true
}

/// Reads the value of a command.
fn get<T>(data: *const c_void) -> Option<T> {
    // SAFETY: a core hands over a value of the type that the command names. Each type here is made of numbers and pointers, for
    // which every pattern of bits is valid.
    (!data.is_null()).then(|| unsafe { data.cast::<T>().read_unaligned() })
}

/// The text of a C string; empty for null.
pub(super) fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: a core hands over C strings, which live for the call.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

fn answer(frontend: &Frontend, command: c_uint, data: *mut c_void) -> bool {
    match command {
        command::GET_CAN_DUPE => put(data, true),
        command::GET_VARIABLE_UPDATE => {
            put(data, false);
            false
        }
        command::GET_LANGUAGE => put::<c_uint>(data, 0),
        command::GET_INPUT_BITMASKS => true,
        command::GET_INPUT_DEVICE_CAPABILITIES => put::<u64>(data, 1 << DEVICE_JOYPAD),
        command::GET_SYSTEM_DIRECTORY => put(data, frontend.system.as_ptr()),
        command::GET_SAVE_DIRECTORY => put(data, frontend.saves.as_ptr()),
        // Bit 0 is the picture and bit 1 the sound. A step that nobody sees needs neither.
        command::GET_AUDIO_VIDEO_ENABLE => put::<c_uint>(data, if frontend.is_shown() { 3 } else { 0 }),
        command::GET_LOG_INTERFACE => log::function().is_some_and(|function| put(data, function)),
        command::SET_PERFORMANCE_LEVEL
        | command::SET_INPUT_DESCRIPTORS
        | command::SET_SUPPORT_NO_GAME
        | command::SET_SUBSYSTEM_INFO
        | command::SET_CONTROLLER_INFO => true,
        command::SET_PIXEL_FORMAT => match get::<c_uint>(data) {
            Some(0) => set_format(frontend, PixelFormat::Rgb1555),
            Some(1) => set_format(frontend, PixelFormat::Xrgb8888),
            Some(2) => set_format(frontend, PixelFormat::Rgb565),
            _ => false,
        },
        command::SET_MESSAGE => get::<Message>(data).is_some_and(|message| {
            let _ = message.frames;
            frontend.wish(Wish::Message(text(message.text)));
            true
        }),
        command::SHUTDOWN => {
            frontend.wish(Wish::Shutdown);
            true
        }
        command::SET_HW_RENDER => {
            frontend.wish(Wish::HardwareRender);
            false
        }
        command::SET_GEOMETRY => get::<Geometry>(data).is_some_and(|geometry| {
            let before = frontend.av_info.get();
            frontend.av_info.set(AvInfo { geometry, ..before });
            true
        }),
        command::SET_SYSTEM_AV_INFO => get::<AvInfo>(data).is_some_and(|info| {
            frontend.wish(Wish::Timing { fps: info.fps, sample_rate: info.sample_rate });
            frontend.av_info.set(info);
            true
        }),
        command::SET_FRAME_TIME_CALLBACK => get::<FrameTime>(data).is_some_and(|time| {
            frontend.frame_time.set(time.callback.map(|callback| (callback, time.reference_micros)));
            true
        }),
        command::SET_SERIALIZATION_QUIRKS => get::<u64>(data).is_some_and(|quirks| {
            frontend.quirks.set(quirks);
            true
        }),
        command::SET_VARIABLES => set_variables(frontend, data.cast()),
        command::GET_VARIABLE => get_variable(frontend, data),
        command::SET_MEMORY_MAPS => get::<MemoryMap>(data).is_some_and(|map| set_regions(frontend, &map)),
        _ => false,
    }
}

fn set_format(frontend: &Frontend, format: PixelFormat) -> bool {
    frontend.format.set(format);
    true
}

/// Reads a list of options, each as `key` and `what it is; value|value|value`.
fn set_variables(frontend: &Frontend, list: *const VariableText) -> bool {
    let mut variables = Vec::new();
    for at in 0..MAX_VARIABLES {
        // SAFETY: the list has an entry here, because none of those before was its end.
        let Some(VariableText { key, value }) = get(unsafe { list.add(at) }.cast()) else { return false };
        if key.is_null() {
            break;
        }
        let (key, words) = (text(key), text(value));
        let values = words.split_once("; ").map_or("", |(_, values)| values);
        let values: Vec<String> = values.split('|').map(str::to_owned).collect();
        let value = frontend.options.get(&key).filter(|value| values.contains(value)).unwrap_or(&values[0]);
        if let (Ok(key), Ok(value)) = (CString::new(key), CString::new(value.as_str())) {
            variables.push(Variable { key, value, values });
        }
    }
    frontend.variables.borrow_mut().push(variables);
    true
}

fn get_variable(frontend: &Frontend, data: *mut c_void) -> bool {
    let Some(asked) = get::<VariableText>(data) else { return false };
    if asked.key.is_null() {
        return false;
    }
    // SAFETY: the key is a C string of the core.
    let key = unsafe { CStr::from_ptr(asked.key) };
    let variables = frontend.variables.borrow();
    let found = variables.last().and_then(|list| list.iter().find(|variable| *variable.key == *key));
    // The text stays where it is: a list is never changed, and never dropped before the core.
    let value = found.map_or(std::ptr::null(), |variable| variable.value.as_ptr());
    put(data, VariableText { key: asked.key, value }) && found.is_some()
}

fn set_regions(frontend: &Frontend, map: &MemoryMap) -> bool {
    if map.descriptors.is_null() || map.count > MAX_REGIONS {
        return false;
    }
    // SAFETY: the core hands over so many descriptors, which live for this call.
    let descriptors = unsafe { std::slice::from_raw_parts(map.descriptors, map.count as usize) };
    let regions = descriptors.iter().filter_map(|region| MappedRegion::of(region, &text(region.space)));
    *frontend.mapped.borrow_mut() = regions.collect();
    true
}
