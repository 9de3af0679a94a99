//! A libretro core that is loaded with its content.

use std::ffi::{CString, c_uint, c_void};
use std::fmt;
use std::path::{Path, PathBuf};

use libloading::Library;

use super::abi::{API_VERSION, AvInfo, DEVICE_JOYPAD, Functions, GameInfo, MemoryDescriptor, SystemInfo};
use super::environment::{Wish, environment, text};
use super::frontend::{Entered, Frontend, Options, Phase, batch, input, poll, sample, video};
use crate::content::Content;
use crate::scratch::Scratch;

/// The largest state that is handled.
pub(crate) const MAX_STATE: usize = 32 << 20;
/// The largest region of memory that is compared. A core maps its ROM too.
const MAX_REGION: usize = 2 << 20;
/// The kinds of memory that libretro numbers: the last number is the video memory.
const KINDS: [&str; 4] = ["sram", "rtc", "wram", "vram"];

/// The parts of loading a core, in their order. A core that crashes does so in one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Open,
    Init,
    LoadGame,
    Run,
    Serialize,
    Restore,
    Ready,
}

impl Stage {
    pub const ALL: [Self; 7] =
        [Self::Open, Self::Init, Self::LoadGame, Self::Run, Self::Serialize, Self::Restore, Self::Ready];

    /// The word by which a probing process tells its parent.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Init => "init",
            Self::LoadGame => "load_game",
            Self::Run => "run",
            Self::Serialize => "serialize",
            Self::Restore => "unserialize",
            Self::Ready => "ready",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "while it was opened",
            Self::Init => "in its initialisation",
            Self::LoadGame => "while it loaded the content",
            Self::Run => "in its first frames",
            Self::Serialize => "while it saved its state",
            Self::Restore => "while it restored its state",
            Self::Ready => "after its first frames",
        })
    }
}

/// Why a core cannot be used, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoreError {
    /// The library or its copy cannot be opened.
    NotOpened { path: PathBuf, why: String },
    /// The library is no core.
    NoCore { path: PathBuf, missing: String },
    /// The core speaks another version of libretro.
    ApiVersion { version: u32 },
    /// The core does not take the content.
    Refused { core: String, content: String, log: Vec<String>, system: PathBuf },
    /// The core draws with the graphics card.
    HardwareRender { core: String },
    /// The core gives no frame rate that can be played.
    FrameRate { core: String, fps: String },
    /// The core cannot save its state.
    NoStates { core: String },
    /// The state of the core is larger than any that is handled.
    StateTooLarge { core: String, bytes: usize },
    /// The core has no such option, or the option has no such value.
    Option { core: String, key: String, known: String },
    /// A child process that tried the core did not get to the end.
    Probe { stage: Stage, how: String },
}

impl fmt::Display for CoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpened { path, why } => write!(f, "{} cannot be opened: {why}", path.display()),
            Self::NoCore { path, missing } => {
                write!(f, "{} is no libretro core: it has no {missing}", path.display())
            }
            Self::ApiVersion { version } => {
                write!(
                    f,
                    "the core speaks version {version} of libretro, and the cabinet version {API_VERSION}"
                )
            }
            Self::Refused { core, content, log, system } => {
                write!(f, "{core} does not take {content}")?;
                let firmware = ["bios", "firmware", "rom image"];
                let wants = |line: &String| firmware.iter().any(|word| line.to_lowercase().contains(word));
                if log.iter().any(wants) {
                    write!(
                        f,
                        "; it may want a BIOS in {} (--system names another folder)",
                        system.display()
                    )?;
                }
                log.iter().rev().take(3).rev().try_for_each(|line| write!(f, "\n  its log: {line}"))
            }
            Self::HardwareRender { core } => {
                write!(f, "{core} draws with the graphics card, which the cabinet does not offer")
            }
            Self::FrameRate { core, fps } => {
                write!(f, "{core} says that it runs at {fps} frames a second, which no match can")
            }
            Self::NoStates { core } => {
                write!(f, "{core} cannot save its state, and without that there is no rollback")
            }
            Self::StateTooLarge { core, bytes } => {
                let (mib, most) = (bytes >> 20, MAX_STATE >> 20);
                write!(f, "a state of {core} has {mib} MiB, and the cabinet handles {most}")
            }
            Self::Option { core, key, known } => write!(f, "{core} has no option {key}: {known}"),
            Self::Probe { stage, how } => {
                write!(f, "the core {how} {stage}; it was tried in a process of its own, and nothing is lost")
            }
        }
    }
}

impl std::error::Error for CoreError {}

/// The facts about a core and its content that do not change.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub name: String,
    pub version: String,
    pub fps: f64,
    pub sample_rate: f64,
    /// The width of the picture by its height, as it is to be shown.
    pub aspect: f32,
}

/// A region of memory that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    pub name: String,
    /// The address of its first byte, as a debugger knows it.
    pub base: u32,
    pub len: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A pointer of the core's memory map.
    Mapped(*const u8),
    /// A number of libretro's: the core is asked for the pointer each time.
    Kind(c_uint),
}

/// A region of a core's memory map.
#[derive(Clone, Debug)]
pub(super) struct MappedRegion {
    name: String,
    base: u32,
    len: usize,
    start: *const u8,
}

impl MappedRegion {
    /// The region of a descriptor; `None` if it never changes, is not there, or is too large.
    pub(super) fn of(descriptor: &MemoryDescriptor, space: &str) -> Option<Self> {
        let MemoryDescriptor { flags, ptr, offset, start, len, select, disconnect, .. } = *descriptor;
        let _ = (select, disconnect);
        if ptr.is_null() || flags & 1 != 0 || !(1..=MAX_REGION).contains(&len) {
            return None;
        }
        let kind = match flags >> 2 & 7 {
            1 => "wram",
            2 => "sram",
            4 => "vram",
            _ => "mem",
        };
        let name = if space.is_empty() { kind.to_owned() } else { format!("{kind}_{space}") };
        Some(Self {
            name,
            base: u32::try_from(start).unwrap_or(0),
            len,
            start: ptr.cast::<u8>().cast_const().wrapping_add(offset),
        })
    }
}

/// A core with its content. It is bound to the thread that loaded it.
pub struct Core {
    functions: Functions,
    frontend: Box<Frontend>,
    facts: Facts,
    regions: Vec<Region>,
    is_loaded: bool,
    /// The content, which a core may read as long as it runs.
    _content: (Content, CString),
    /// Dropped last: the functions are in it.
    _library: Library,
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// Copies a library into a folder of its own.
fn copied(path: &Path) -> Result<(Scratch, PathBuf), CoreError> {
    let failed = |why: String| CoreError::NotOpened { path: path.to_owned(), why };
    let folder = Scratch::new().map_err(failed)?;
    let copy = folder.path().join("core").with_extension(std::env::consts::DLL_EXTENSION);
    std::fs::copy(path, &copy).map_err(|why| failed(why.to_string()))?;
    Ok((folder, copy))
}

impl Core {
    /// Loads a copy of a core of its own, and its content. `tell` is called before each part.
    ///
    /// # Errors
    /// Why the core cannot be used.
    pub fn load(
        path: &Path,
        content: &Content,
        options: &Options,
        tell: &mut dyn FnMut(Stage),
    ) -> Result<Self, CoreError> {
        tell(Stage::Open);
        let (folder, copy) = copied(path)?;
        // SAFETY: the initialisers of a core's library run here. They are foreign code that the player has asked for.
        let library = unsafe { Library::new(&copy) };
        drop(folder);
        let opened =
            |why: libloading::Error| CoreError::NotOpened { path: path.to_owned(), why: cause(&why) };
        let library = library.map_err(opened)?;
        let functions = Functions::of(&library)
            .map_err(|missing| CoreError::NoCore { path: path.to_owned(), missing: missing.to_owned() })?;
        // SAFETY: a function of libretro without arguments, which may be called at any time.
        let version = unsafe { (functions.api_version)() };
        if version != API_VERSION {
            return Err(CoreError::ApiVersion { version });
        }
        let frontend = Box::new(Frontend::new(options, &content.system, content.saves.path()));
        let path = CString::new(content.path.to_string_lossy().as_bytes()).unwrap_or_default();
        let facts =
            Facts { name: String::new(), version: String::new(), fps: 0.0, sample_rate: 0.0, aspect: 1.0 };
        let mut core = Self {
            functions,
            frontend,
            facts,
            regions: Vec::new(),
            is_loaded: false,
            _content: (content.clone(), path),
            _library: library,
        };
        core.init(tell);
        core.load_game(content, tell)?;
        core.check_options()?;
        core.regions = core.found_regions();
        Ok(core)
    }

    fn init(&mut self, tell: &mut dyn FnMut(Stage)) {
        tell(Stage::Init);
        let _entered = Entered::new(&self.frontend, Phase::Setup);
        // SAFETY: the order is that of libretro: the environment first, then the initialisation. The callbacks are functions of
        // this program, and live as long as it.
        unsafe {
            (self.functions.set_environment)(environment);
            (self.functions.set_video_refresh)(video);
            (self.functions.set_audio_sample)(sample);
            (self.functions.set_audio_sample_batch)(batch);
            (self.functions.set_input_poll)(poll);
            (self.functions.set_input_state)(input);
            (self.functions.init)();
        }
    }

    fn load_game(&mut self, content: &Content, tell: &mut dyn FnMut(Stage)) -> Result<(), CoreError> {
        tell(Stage::LoadGame);
        let _entered = Entered::new(&self.frontend, Phase::Setup);
        let mut info = SystemInfo {
            library_name: std::ptr::null(),
            library_version: std::ptr::null(),
            valid_extensions: std::ptr::null(),
            need_fullpath: false,
            block_extract: false,
        };
        // SAFETY: the place for the answer is of the type that the function fills.
        unsafe { (self.functions.get_system_info)(&raw mut info) };
        (self.facts.name, self.facts.version) = (text(info.library_name), text(info.library_version));
        let (kept, path) = &self._content;
        let is_in_memory = !info.need_fullpath;
        let game = GameInfo {
            path: path.as_ptr(),
            data: if is_in_memory { kept.bytes.as_ptr().cast() } else { std::ptr::null() },
            size: if is_in_memory { kept.bytes.len() } else { 0 },
            meta: std::ptr::null(),
        };
        // SAFETY: path and bytes are kept for as long as the core.
        self.is_loaded = unsafe { (self.functions.load_game)(&raw const game) };
        let core = self.facts.name.clone();
        if self.frontend.take_wishes().contains(&Wish::HardwareRender) {
            return Err(CoreError::HardwareRender { core });
        }
        if !self.is_loaded {
            return Err(CoreError::Refused {
                core,
                content: content.name(),
                log: self.frontend.lines(),
                system: content.system.clone(),
            });
        }
        let mut av_info = AvInfo::default();
        // SAFETY: as above; a game is loaded, as the function demands.
        unsafe { (self.functions.get_system_av_info)(&raw mut av_info) };
        self.frontend.av_info.set(av_info);
        let geometry = av_info.geometry;
        let square = geometry.base_width.max(1) as f32 / geometry.base_height.max(1) as f32;
        self.facts.aspect = if geometry.aspect_ratio > 0.0 { geometry.aspect_ratio } else { square };
        (self.facts.fps, self.facts.sample_rate) = (av_info.fps, av_info.sample_rate);
        if !(1.0..=1_000.0).contains(&av_info.fps) {
            return Err(CoreError::FrameRate { core, fps: av_info.fps.to_string() });
        }
        for port in 0..4 {
            // SAFETY: any port may be named; a core ignores one that it does not have.
            unsafe { (self.functions.set_controller_port_device)(port, DEVICE_JOYPAD) };
        }
        Ok(())
    }

    /// Whether each option that the player has chosen is one of the core's.
    fn check_options(&self) -> Result<(), CoreError> {
        let variables = self.frontend.variables();
        for (key, value) in &self.frontend.options {
            let found = variables.iter().find(|variable| variable.key.to_bytes() == key.as_bytes());
            let known = match found {
                Some(variable) if variable.values.contains(value) => continue,
                Some(variable) => format!("{value}; it can be {}", variable.values.join(", ")),
                None => {
                    let keys: Vec<_> = variables.iter().map(|known| known.key.to_string_lossy()).collect();
                    format!("it has {}", if keys.is_empty() { "none".into() } else { keys.join(", ") })
                }
            };
            return Err(CoreError::Option { core: self.facts.name.clone(), key: key.clone(), known });
        }
        Ok(())
    }

    /// The regions of the memory map, and the kinds of libretro that it does not have.
    fn found_regions(&self) -> Vec<Region> {
        let mut regions: Vec<Region> = Vec::new();
        for MappedRegion { name, base, len, start } in self.frontend.mapped.borrow().iter().cloned() {
            let overlaps = |known: &Region| match known.place {
                Place::Mapped(at) => at.addr() < start.addr() + len && start.addr() < at.addr() + known.len,
                Place::Kind(_) => false,
            };
            if !regions.iter().any(overlaps) {
                regions.push(Region { name, base, len, place: Place::Mapped(start) });
            }
        }
        let _entered = Entered::new(&self.frontend, Phase::Setup);
        for (kind, name) in (0..).zip(KINDS) {
            // SAFETY: a game is loaded, as both functions demand. A core without such a memory answers null or 0.
            let (start, len) =
                unsafe { ((self.functions.get_memory_data)(kind), (self.functions.get_memory_size)(kind)) };
            let is_known = regions.iter().any(|known| match known.place {
                Place::Mapped(at) => (at.addr()..at.addr() + known.len).contains(&start.addr()),
                Place::Kind(_) => false,
            });
            if !start.is_null() && (1..=MAX_REGION).contains(&len) && !is_known {
                regions.push(Region { name: name.to_owned(), base: 0, len, place: Place::Kind(kind) });
            }
        }
        // A name stands for one region: the second of a kind is `mem2`.
        for at in (1..regions.len()).rev() {
            let same = regions[..at].iter().filter(|before| before.name == regions[at].name).count();
            if same > 0 {
                regions[at].name += &(same + 1).to_string();
            }
        }
        regions
    }

    /// The facts about the core.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The side of the cabinet: picture, sound, options, log.
    pub fn frontend(&self) -> &Frontend {
        &self.frontend
    }

    /// The regions of memory that have a name.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Copies a region into a slot; zeros if the core has taken it away.
    pub fn read(&self, region: &Region, slot: &mut Vec<u8>) {
        let _entered = Entered::new(&self.frontend, Phase::Setup);
        let start = match region.place {
            Place::Mapped(start) => start,
            // SAFETY: a game is loaded, as the function demands.
            Place::Kind(kind) => unsafe { (self.functions.get_memory_data)(kind) }.cast::<u8>().cast_const(),
        };
        slot.clear();
        if start.is_null() {
            return slot.resize(region.len, 0);
        }
        // SAFETY: the core has said that its memory has so many bytes here, for as long as the game is loaded. No call of the core
        // is on meanwhile, so that nothing writes there.
        slot.extend_from_slice(unsafe { std::slice::from_raw_parts(start, region.len) });
    }

    /// Runs a frame on the buttons of each port. A step that is not shown makes neither picture nor sound.
    pub fn run(&mut self, pads: [u16; 4], is_shown: bool) {
        self.frontend.begin_step(pads, is_shown);
        let _entered = Entered::new(&self.frontend, Phase::Run);
        if let Some((callback, reference)) = self.frontend.frame_time.get() {
            // SAFETY: the core has handed over this callback for each frame.
            unsafe { callback(reference) };
        }
        // SAFETY: a game is loaded, as the function demands.
        unsafe { (self.functions.run)() };
    }

    /// The size of a state now; 0 if there is none.
    pub fn state_size(&self) -> usize {
        let _entered = Entered::new(&self.frontend, Phase::Serialize);
        // SAFETY: a game is loaded, as the function demands.
        unsafe { (self.functions.serialize_size)() }
    }

    /// Saves the state into a slot of its size; whether the core could. It may leave bytes as they are.
    pub fn serialize(&self, slot: &mut [u8]) -> bool {
        let _entered = Entered::new(&self.frontend, Phase::Serialize);
        // SAFETY: the slot has as many bytes as the call says.
        unsafe { (self.functions.serialize)(slot.as_mut_ptr().cast::<c_void>(), slot.len()) }
    }

    /// Restores a state; whether the core could.
    pub fn unserialize(&mut self, state: &[u8]) -> bool {
        let _entered = Entered::new(&self.frontend, Phase::Restore);
        // SAFETY: the state has as many bytes as the call says.
        unsafe { (self.functions.unserialize)(state.as_ptr().cast::<c_void>(), state.len()) }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        let _entered = Entered::new(&self.frontend, Phase::Setup);
        // SAFETY: the initialisation came before; the library is closed after this.
        unsafe {
            if self.is_loaded {
                (self.functions.unload_game)();
            }
            (self.functions.deinit)();
        }
    }
}

/// The deepest cause of an error, which is the loader's own text.
fn cause(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
