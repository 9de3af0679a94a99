//! The structs, numbers and functions of libretro's interface that the cabinet uses. Their layouts are those of `libretro.h`.

use std::ffi::{c_char, c_uint, c_void};

use libloading::Library;

pub(super) const API_VERSION: c_uint = 1;
pub(super) const DEVICE_JOYPAD: c_uint = 1;
/// The kind of a device without the part that a core adds to it.
pub(super) const DEVICE_MASK: c_uint = 0xFF;
/// Asks for all buttons of a pad as one number.
pub(super) const JOYPAD_MASK: c_uint = 256;
/// A command that libretro may still change.
pub(super) const EXPERIMENTAL: c_uint = 0x1_0000;

/// The commands of the environment callback.
pub(super) mod command {
    use std::ffi::c_uint;

    pub(in super::super) const GET_CAN_DUPE: c_uint = 3;
    pub(in super::super) const SET_MESSAGE: c_uint = 6;
    pub(in super::super) const SHUTDOWN: c_uint = 7;
    pub(in super::super) const SET_PERFORMANCE_LEVEL: c_uint = 8;
    pub(in super::super) const GET_SYSTEM_DIRECTORY: c_uint = 9;
    pub(in super::super) const SET_PIXEL_FORMAT: c_uint = 10;
    pub(in super::super) const SET_INPUT_DESCRIPTORS: c_uint = 11;
    pub(in super::super) const SET_HW_RENDER: c_uint = 14;
    pub(in super::super) const GET_VARIABLE: c_uint = 15;
    pub(in super::super) const SET_VARIABLES: c_uint = 16;
    pub(in super::super) const GET_VARIABLE_UPDATE: c_uint = 17;
    pub(in super::super) const SET_SUPPORT_NO_GAME: c_uint = 18;
    pub(in super::super) const SET_FRAME_TIME_CALLBACK: c_uint = 21;
    pub(in super::super) const GET_INPUT_DEVICE_CAPABILITIES: c_uint = 24;
    pub(in super::super) const GET_LOG_INTERFACE: c_uint = 27;
    pub(in super::super) const GET_SAVE_DIRECTORY: c_uint = 31;
    pub(in super::super) const SET_SYSTEM_AV_INFO: c_uint = 32;
    pub(in super::super) const SET_SUBSYSTEM_INFO: c_uint = 34;
    pub(in super::super) const SET_CONTROLLER_INFO: c_uint = 35;
    pub(in super::super) const SET_MEMORY_MAPS: c_uint = 36;
    pub(in super::super) const SET_GEOMETRY: c_uint = 37;
    pub(in super::super) const GET_LANGUAGE: c_uint = 39;
    pub(in super::super) const SET_SERIALIZATION_QUIRKS: c_uint = 44;
    pub(in super::super) const GET_AUDIO_VIDEO_ENABLE: c_uint = 47;
    pub(in super::super) const GET_INPUT_BITMASKS: c_uint = 51;
}

pub(super) type EnvironmentFn = unsafe extern "C" fn(c_uint, *mut c_void) -> bool;
pub(super) type VideoFn = unsafe extern "C" fn(*const c_void, c_uint, c_uint, usize);
pub(super) type SampleFn = unsafe extern "C" fn(i16, i16);
pub(super) type BatchFn = unsafe extern "C" fn(*const i16, usize) -> usize;
pub(super) type PollFn = unsafe extern "C" fn();
pub(super) type InputFn = unsafe extern "C" fn(c_uint, c_uint, c_uint, c_uint) -> i16;
pub(super) type FrameTimeFn = unsafe extern "C" fn(i64);

#[repr(C)]
pub(super) struct SystemInfo {
    pub(super) library_name: *const c_char,
    pub(super) library_version: *const c_char,
    pub(super) valid_extensions: *const c_char,
    pub(super) need_fullpath: bool,
    pub(super) block_extract: bool,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Geometry {
    pub(super) base_width: c_uint,
    pub(super) base_height: c_uint,
    pub(super) max_width: c_uint,
    pub(super) max_height: c_uint,
    pub(super) aspect_ratio: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct AvInfo {
    pub(super) geometry: Geometry,
    pub(super) fps: f64,
    pub(super) sample_rate: f64,
}

#[repr(C)]
pub(super) struct GameInfo {
    pub(super) path: *const c_char,
    pub(super) data: *const c_void,
    pub(super) size: usize,
    pub(super) meta: *const c_char,
}

/// A key and a value; also the two words of a list's end, which are null.
#[repr(C)]
pub(super) struct VariableText {
    pub(super) key: *const c_char,
    pub(super) value: *const c_char,
}

#[repr(C)]
pub(super) struct Message {
    pub(super) text: *const c_char,
    pub(super) frames: c_uint,
}

#[repr(C)]
pub(super) struct FrameTime {
    pub(super) callback: Option<FrameTimeFn>,
    pub(super) reference_micros: i64,
}

#[repr(C)]
pub(super) struct MemoryMap {
    pub(super) descriptors: *const MemoryDescriptor,
    pub(super) count: c_uint,
}

#[repr(C)]
pub(super) struct MemoryDescriptor {
    pub(super) flags: u64,
    pub(super) ptr: *mut c_void,
    pub(super) offset: usize,
    pub(super) start: usize,
    pub(super) select: usize,
    pub(super) disconnect: usize,
    pub(super) len: usize,
    pub(super) space: *const c_char,
}

/// The functions of a core. They stay valid while the library is loaded.
pub(super) struct Functions {
    pub(super) set_environment: unsafe extern "C" fn(EnvironmentFn),
    pub(super) set_video_refresh: unsafe extern "C" fn(VideoFn),
    pub(super) set_audio_sample: unsafe extern "C" fn(SampleFn),
    pub(super) set_audio_sample_batch: unsafe extern "C" fn(BatchFn),
    pub(super) set_input_poll: unsafe extern "C" fn(PollFn),
    pub(super) set_input_state: unsafe extern "C" fn(InputFn),
    pub(super) init: unsafe extern "C" fn(),
    pub(super) deinit: unsafe extern "C" fn(),
    pub(super) api_version: unsafe extern "C" fn() -> c_uint,
    pub(super) get_system_info: unsafe extern "C" fn(*mut SystemInfo),
    pub(super) get_system_av_info: unsafe extern "C" fn(*mut AvInfo),
    pub(super) set_controller_port_device: unsafe extern "C" fn(c_uint, c_uint),
    pub(super) run: unsafe extern "C" fn(),
    pub(super) serialize_size: unsafe extern "C" fn() -> usize,
    pub(super) serialize: unsafe extern "C" fn(*mut c_void, usize) -> bool,
    pub(super) unserialize: unsafe extern "C" fn(*const c_void, usize) -> bool,
    pub(super) load_game: unsafe extern "C" fn(*const GameInfo) -> bool,
    pub(super) unload_game: unsafe extern "C" fn(),
    pub(super) get_memory_data: unsafe extern "C" fn(c_uint) -> *mut c_void,
    pub(super) get_memory_size: unsafe extern "C" fn(c_uint) -> usize,
}

impl Functions {
    /// Finds every function, or names the first that the library does not have.
    pub(super) fn of(library: &Library) -> Result<Self, &'static str> {
        macro_rules! find {
            ($name:literal) => {{
                let symbol: &'static str = $name;
                // SAFETY: the symbol is used with the type that libretro's interface gives a function of this name. A library
                // that exports another thing under it is no core, which nothing can tell in advance.
                *unsafe { library.get(symbol.as_bytes()) }.map_err(|_| symbol)?
            }};
        }
        Ok(Self {
            set_environment: find!("retro_set_environment"),
            set_video_refresh: find!("retro_set_video_refresh"),
            set_audio_sample: find!("retro_set_audio_sample"),
            set_audio_sample_batch: find!("retro_set_audio_sample_batch"),
            set_input_poll: find!("retro_set_input_poll"),
            set_input_state: find!("retro_set_input_state"),
            init: find!("retro_init"),
            deinit: find!("retro_deinit"),
            api_version: find!("retro_api_version"),
            get_system_info: find!("retro_get_system_info"),
            get_system_av_info: find!("retro_get_system_av_info"),
            set_controller_port_device: find!("retro_set_controller_port_device"),
            run: find!("retro_run"),
            serialize_size: find!("retro_serialize_size"),
            serialize: find!("retro_serialize"),
            unserialize: find!("retro_unserialize"),
            load_game: find!("retro_load_game"),
            unload_game: find!("retro_unload_game"),
            get_memory_data: find!("retro_get_memory_data"),
            get_memory_size: find!("retro_get_memory_size"),
        })
    }
}
