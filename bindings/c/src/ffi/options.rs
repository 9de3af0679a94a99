//! The options of a match.

use super::args::{self, Sized32};
use super::features::{asking, routers_of, spectators_of, trusting};
use crate::safe::fault::Fault;
use rebout::{
    BroadcastConfig, Buttons, Config, ConnectOptions, FrameRate, OnDesync, Options, Player, PlayerKey,
    Prediction, Randomness, Saving,
};
use std::ffi::c_char;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::ptr;
use std::time::Duration;

/// Who may join a host, for `rebout_options.access`.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum Access {
    /// Who has the invite. Encrypted, and nobody can pose as the host.
    Invite = 0,
    /// Who knows the address. Encrypted; the players compare a code.
    Open = 1,
    /// Who knows the address, without encryption. Both sides have to name it.
    Bare = 2,
    /// Who has the offer, and sends back an answer.
    Manual = 3,
    /// Whomever a transport of the caller's brings, which encrypts and authenticates by itself.
    Transport = 4,
}

/// Whether a relay may carry the match, for `rebout_options.relay`.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum Relay {
    /// Where no direct path works.
    Allow = 0,
    /// Never.
    Never = 1,
    /// Always: the other player never learns an address of this machine.
    Only = 2,
}

/// Which frames are saved, for `rebout_options.saving`.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum SavingCode {
    /// As measured before the first frame.
    Auto = 0,
    /// Every frame.
    Every = 1,
    /// As few as possible: a rollback steps more frames again.
    Sparse = 2,
}

/// The prediction of a missing input, for `rebout_options.prediction`.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum PredictionCode {
    /// The last input goes on.
    RepeatLast = 0,
    /// Nothing is pressed.
    Neutral = 1,
}

/// The reaction to a desync, for `rebout_options.on_desync`.
#[repr(u32)]
#[derive(Clone, Copy, Debug)]
pub enum OnDesyncCode {
    /// The game is told, the two machines find out which region differs, and the match goes on.
    Report = 0,
    /// The game is told, and the match goes on.
    GoOn = 1,
    /// As `REPORT`, and the match is over.
    Stop = 2,
    /// As `STOP`, unless the live state of one machine alone had gone wrong: it is then mended, once in a match. Both machines need it.
    Mend = 3,
}

/// The options of a match. Call `rebout_options_init` first. Texts are UTF-8 and may be NULL; nothing is kept of the caller's memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct COptions {
    /// `sizeof(rebout_options)`.
    pub size: u32,
    /// `REBOUT_ACCESS_*`.
    pub access: u32,
    /// Any number that names the game. Both machines have the same.
    pub game_id: u64,
    /// A hash of all that must be equal on both machines: build, stage, rules.
    pub content_hash: u64,
    /// Frames a second, as a fraction: 60 and 1 by default. Both machines have the same.
    pub rate_numerator: u32,
    /// The denominator.
    pub rate_denominator: u32,
    /// Axes of an input, 0 to 6. Both machines have the same.
    pub axes: u32,
    /// Pads at each machine, 1 to 4; more than one leaves no room for axes. Both machines have the same.
    pub pads: u32,
    /// The host's own seat: 0 for player one, 1 for player two.
    pub seat: u32,
    /// The seed of the game, from the host; 0 draws one.
    pub seed: u32,
    /// 1: the host decides about each guest, `REBOUT_NOW_GUEST`.
    pub ask: u32,
    /// The longest first state that this machine takes from a host, in bytes; 0 takes none.
    pub first_state_limit: u32,
    /// The player's name, which the other side sees: its first 64 bytes.
    pub name: *const c_char,
    /// Up to 64 bytes for the other side in place of a name.
    pub user_data: *const u8,
    /// How many.
    pub user_data_bytes: usize,
    /// The host's first state, from which both machines build their game, at most 4 MiB.
    pub first_state: *const u8,
    /// How many bytes.
    pub first_state_bytes: usize,
    /// Records each match into a file of this folder.
    pub record_to: *const c_char,
    /// Writes the report about a desync into a folder of this folder.
    pub bundles_to: *const c_char,
    /// The address to bind, such as `0.0.0.0:7000`; NULL is every interface.
    pub bind: *const c_char,
    /// Addresses under which others reach this machine, with commas in between.
    pub public_addresses: *const c_char,
    /// The rendezvous at which the two meet: `host:port` or `host`.
    pub rendezvous: *const c_char,
    /// The STUN server for an offer.
    pub stun: *const c_char,
    /// The certificate authorities to trust, a PEM file, in place of Mozilla's list.
    pub authorities: *const c_char,
    /// The file in which a host keeps its key, so that old invites stay valid.
    pub key_file: *const c_char,
    /// Appends the keys of all connections to this file. For a developer's own matches.
    pub key_log: *const c_char,
    /// The UDP port; 0 is any. Not together with `bind`.
    pub port: u32,
    /// `REBOUT_RELAY_*`.
    pub relay: u32,
    /// 1: a host asks its router to forward its port.
    pub port_mapping: u32,
    /// 1: the invite has no addresses of this machine, only the rendezvous.
    pub leave_addresses_out: u32,
    /// The most frames that are predicted, 0 to 22.
    pub window_frames: u32,
    /// The input delay, 0 to 24; -1 takes the one that the measured link suggests.
    pub delay_frames: i32,
    /// By how many frames the session may raise a measured delay.
    pub added_delay_frames: u32,
    /// `REBOUT_PREDICTION_*`.
    pub prediction: u32,
    /// `REBOUT_SAVING_*`.
    pub saving: u32,
    /// How many frames `rebout_look_ahead` steps, 0 to 8.
    pub look_ahead_frames: u32,
    /// The buttons whose presses are kept while the match stalls.
    pub kept_buttons: u32,
    /// A cue that a rollback moves by at most this many frames is the same cue.
    pub cue_moves_within: u32,
    /// Frames from one compared checksum to the next, from the host.
    pub cadence_frames: u32,
    /// Pauses of each player that this machine agrees to.
    pub pauses: u32,
    /// `REBOUT_ON_DESYNC_*`.
    pub on_desync: u32,
    /// How long a joiner waits for an answer.
    pub join_timeout_ms: u32,
    /// After how long without a frame the game is told.
    pub interrupted_after_ms: u32,
    /// How long the match waits through an outage.
    pub lost_after_ms: u32,
    /// How long without a new frame, although packets come.
    pub no_progress_after_ms: u32,
    /// How long at less than a quarter of the rate.
    pub too_slow_after_ms: u32,
    /// The oldest inputs that are borne; 0 is no limit.
    pub max_input_age_ms: u32,
    /// How long the other player may pause.
    pub max_pause_ms: u32,
    /// The countdown after a pause.
    pub countdown_ms: u32,
    /// 0. Not 0 makes every random number a function of it: for simulations alone, because who knows it knows every key.
    pub entropy: u64,
    /// The file of the player's own key, which is made if it does not exist: the other player knows this one again by it.
    pub player_key_file: *const c_char,
    /// Plays with these players only: their public keys in 64 hexadecimal digits each, with commas in between.
    pub only: *const c_char,
    /// A folder. While a match runs, a file in it has the key with which `rebout_rejoin` brings this player back.
    pub rejoin_in: *const c_char,
    /// After how many seconds the invites of a host are not valid any more; 0 is never.
    pub invite_valid_secs: u32,
    /// The most spectators of a host by invite, at most 255; 0 lets in nobody.
    pub max_spectators: u32,
    /// The age at which anything of a match is sent to spectators, at most 600,000.
    pub watch_delay_ms: u32,
    /// The most bits in a second for all spectators together.
    pub watch_bits_per_second: u32,
    /// 1: spectators get the messages of the players.
    pub watch_messages: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: begins with a u32, and has numbers and pointers only.
unsafe impl Sized32 for COptions {
    const NAME: &'static str = "rebout_options";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        let config = Config::new(0);
        let millis = |time: Duration| time.as_millis() as u32;
        let (rollback, timeouts) = (&config.rollback, &config.timeouts);
        Self {
            size: size_of::<Self>() as u32,
            access: Access::Invite as u32,
            game_id: 0,
            content_hash: 0,
            rate_numerator: config.game.frame_rate.numerator(),
            rate_denominator: config.game.frame_rate.denominator(),
            axes: config.game.axes.into(),
            pads: config.game.pads.into(),
            seat: 0,
            seed: 0,
            ask: 0,
            first_state_limit: 0,
            name: ptr::null(),
            user_data: ptr::null(),
            user_data_bytes: 0,
            first_state: ptr::null(),
            first_state_bytes: 0,
            record_to: ptr::null(),
            bundles_to: ptr::null(),
            bind: ptr::null(),
            public_addresses: ptr::null(),
            rendezvous: ptr::null(),
            stun: ptr::null(),
            authorities: ptr::null(),
            key_file: ptr::null(),
            key_log: ptr::null(),
            port: 0,
            relay: Relay::Allow as u32,
            port_mapping: 1,
            leave_addresses_out: 0,
            window_frames: rollback.window_frames.into(),
            delay_frames: -1,
            added_delay_frames: rollback.added_delay_frames.into(),
            prediction: PredictionCode::RepeatLast as u32,
            saving: SavingCode::Auto as u32,
            look_ahead_frames: rollback.look_ahead_frames.into(),
            kept_buttons: rollback.kept_buttons.0.into(),
            cue_moves_within: rollback.cue_moves_within,
            cadence_frames: config.cadence_frames.into(),
            pauses: config.pauses.into(),
            on_desync: OnDesyncCode::Report as u32,
            join_timeout_ms: millis(timeouts.join_timeout),
            interrupted_after_ms: millis(timeouts.interrupted_after),
            lost_after_ms: millis(timeouts.lost_after),
            no_progress_after_ms: millis(timeouts.no_progress_after),
            too_slow_after_ms: millis(timeouts.too_slow_after),
            max_input_age_ms: 0,
            max_pause_ms: millis(timeouts.max_pause),
            countdown_ms: millis(timeouts.countdown),
            entropy: 0,
            player_key_file: ptr::null(),
            only: ptr::null(),
            rejoin_in: ptr::null(),
            invite_valid_secs: 0,
            max_spectators: 0,
            watch_delay_ms: 0,
            watch_bits_per_second: BroadcastConfig::default().bits_per_second,
            watch_messages: 0,
            reserved: 0,
        }
    }
}

/// The options of a match, as the library takes them.
pub(super) struct Chosen {
    pub(super) config: Config,
    pub(super) connect: ConnectOptions,
    pub(super) name: String,
    pub(super) record_to: Option<PathBuf>,
    bundles_to: Option<PathBuf>,
    rejoin_in: Option<PathBuf>,
    pub(super) spectators: Option<BroadcastConfig>,
}

impl Chosen {
    /// The options of an online match.
    pub(super) fn online(self) -> Options {
        let mut options = Options::with_config(self.config).connect(self.connect);
        if let Some(folder) = self.record_to {
            options = options.record_to(folder);
        }
        if let Some(folder) = self.bundles_to {
            options = options.bundles_to(folder);
        }
        if let Some(folder) = self.rejoin_in {
            options = options.rejoin_in(folder);
        }
        if let Some(config) = self.spectators {
            options = options.spectators(config);
        }
        options
    }
}

/// A number that fits a narrower type.
pub(super) fn narrow<T: TryFrom<u32>>(value: u32, name: &str) -> Result<T, Fault> {
    T::try_from(value).map_err(|_| Fault::invalid(format_args!("options->{name} is {value}: too much")))
}

/// One of a few choices.
pub(super) fn choice<T: Copy>(value: u32, choices: &[T], name: &str) -> Result<T, Fault> {
    let chosen = choices.get(value as usize).copied();
    chosen.ok_or_else(|| Fault::invalid(format_args!("options->{name} is {value}, which is no choice")))
}

/// A switch: 0 or 1.
pub(super) fn switch(value: u32, name: &str) -> Result<bool, Fault> {
    choice(value, &[false, true], name)
}

/// An address of this machine.
pub(super) fn addr(text: &str, name: &str) -> Result<SocketAddr, Fault> {
    text.trim()
        .parse()
        .map_err(|_| Fault::invalid(format_args!("{name}: {text:?} is no address with a port")))
}

/// The public key of a player.
fn player_of(digits: &str) -> Result<PlayerKey, Fault> {
    let wrong =
        || Fault::invalid(format_args!("options->only: {digits:?} is no key of 64 hexadecimal digits"));
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? << 4 | digit(*low)?) as u8);
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    let key = bytes.filter(|_| odd.is_empty()).and_then(|bytes| bytes.try_into().ok());
    key.map(PlayerKey).ok_or_else(wrong)
}

/// Reads the options of the caller.
///
/// # Safety
/// `options` is NULL or a struct as its documentation says.
pub(super) unsafe fn read(options: *const COptions) -> Result<Chosen, Fault> {
    // SAFETY: the caller's promise.
    let given = unsafe { args::read(options, "options")? };
    // SAFETY: texts of the caller's, or NULL; each is copied before this function returns.
    let text = |pointer, name: &str| unsafe { args::text_or_none(pointer, name) };
    let name = text(given.name, "options->name")?.unwrap_or_default().to_owned();
    // SAFETY: bytes of the caller's.
    let user_data = unsafe { args::bytes(given.user_data, given.user_data_bytes, "options->user_data")? };
    // SAFETY: bytes of the caller's.
    let first_state =
        unsafe { args::bytes(given.first_state, given.first_state_bytes, "options->first_state")? };
    if !name.is_empty() && !user_data.is_empty() {
        return Err(Fault::invalid("options: a name and user_data use the same bytes, name one of them"));
    }
    if first_state.len() > Config::MAX_FIRST_STATE as usize {
        return Err(Fault::invalid(format_args!(
            "options->first_state has {} bytes, more than 4 MiB",
            first_state.len()
        )));
    }
    let mut config = config_of(&given)?;
    config.lobby.user_data =
        if name.is_empty() { user_data.to_vec() } else { cut(&name, 64).as_bytes().to_vec() };
    config.lobby.first_state = first_state.to_vec().into();
    config.check().map_err(|error| Fault::invalid(format_args!("options: {error}")))?;

    let mut connect = access_of(&given)?;
    if let Some(bind) = text(given.bind, "options->bind")? {
        connect = connect.bind(addr(bind, "options->bind")?);
    }
    for public in
        text(given.public_addresses, "options->public_addresses")?.iter().flat_map(|list| list.split(','))
    {
        connect = connect.public(addr(public, "options->public_addresses")?);
    }
    if let Some(server) = text(given.rendezvous, "options->rendezvous")? {
        connect = connect.rendezvous(server);
    }
    if let Some(server) = text(given.stun, "options->stun")? {
        connect = asking(connect, server)?;
    }
    if let Some(file) = text(given.authorities, "options->authorities")? {
        connect = trusting(connect, file)?;
    }
    if let Some(file) = text(given.key_file, "options->key_file")? {
        connect = connect.keep_key_in(file);
    }
    if let Some(file) = text(given.key_log, "options->key_log")? {
        connect = connect.log_keys_to(file);
    }
    if let Some(file) = text(given.player_key_file, "options->player_key_file")? {
        connect = connect.keep_player_key_in(file);
    }
    for player in text(given.only, "options->only")?.iter().flat_map(|list| list.split(',')) {
        connect = connect.only(player_of(player.trim())?);
    }
    let record_to = text(given.record_to, "options->record_to")?.map(PathBuf::from);
    let bundles_to = text(given.bundles_to, "options->bundles_to")?.map(PathBuf::from);
    let rejoin_in = text(given.rejoin_in, "options->rejoin_in")?.map(PathBuf::from);
    let spectators = spectators_of(&given)?;
    Ok(Chosen { config, connect, name, record_to, bundles_to, rejoin_in, spectators })
}

/// The longest beginning of a text that fits into `max` bytes.
fn cut(text: &str, max: usize) -> &str {
    let end = (0..=text.len().min(max)).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// The numbers of the options.
fn config_of(given: &COptions) -> Result<Config, Fault> {
    let mut config = Config::new(given.game_id);
    let game = &mut config.game;
    game.content_hash = given.content_hash;
    game.frame_rate = FrameRate::ratio(given.rate_numerator, given.rate_denominator);
    game.axes = narrow(given.axes, "axes")?;
    game.pads = narrow(given.pads, "pads")?;
    let lobby = &mut config.lobby;
    lobby.seat = choice(given.seat, &Player::BOTH, "seat")?;
    lobby.seed = (given.seed != 0).then_some(given.seed);
    lobby.ask_before_accepting = switch(given.ask, "ask")?;
    lobby.first_state_limit = given.first_state_limit;
    lobby.entropy = (given.entropy != 0).then_some(given.entropy);
    let rollback = &mut config.rollback;
    rollback.window_frames = narrow(given.window_frames, "window_frames")?;
    rollback.delay_frames = match given.delay_frames {
        -1 => None,
        frames => Some(narrow(u32::try_from(frames).unwrap_or(u32::MAX), "delay_frames")?),
    };
    rollback.added_delay_frames = narrow(given.added_delay_frames, "added_delay_frames")?;
    rollback.prediction =
        choice(given.prediction, &[Prediction::RepeatLast, Prediction::Neutral], "prediction")?;
    rollback.saving = choice(given.saving, &[Saving::Auto, Saving::Every, Saving::Sparse], "saving")?;
    rollback.look_ahead_frames = narrow(given.look_ahead_frames, "look_ahead_frames")?;
    rollback.kept_buttons = Buttons(narrow(given.kept_buttons, "kept_buttons")?);
    rollback.cue_moves_within = given.cue_moves_within;
    let timeouts = &mut config.timeouts;
    let millis = |ms: u32| Duration::from_millis(ms.into());
    timeouts.join_timeout = millis(given.join_timeout_ms);
    timeouts.interrupted_after = millis(given.interrupted_after_ms);
    timeouts.lost_after = millis(given.lost_after_ms);
    timeouts.no_progress_after = millis(given.no_progress_after_ms);
    timeouts.too_slow_after = millis(given.too_slow_after_ms);
    timeouts.max_input_age = (given.max_input_age_ms != 0).then_some(millis(given.max_input_age_ms));
    timeouts.max_pause = millis(given.max_pause_ms);
    timeouts.countdown = millis(given.countdown_ms);
    config.cadence_frames = narrow(given.cadence_frames, "cadence_frames")?;
    config.pauses = narrow(given.pauses, "pauses")?;
    config.on_desync = choice(
        given.on_desync,
        &[OnDesync::Report, OnDesync::GoOn, OnDesync::Stop, OnDesync::Mend],
        "on_desync",
    )?;
    Ok(config)
}

/// Who may join, and by which ways, as far as numbers say it.
fn access_of(given: &COptions) -> Result<ConnectOptions, Fault> {
    let ways = [
        ConnectOptions::new,
        || ConnectOptions::new().open(),
        || ConnectOptions::new().bare(),
        || ConnectOptions::new().manual_signalling(),
        || ConnectOptions::new().encrypted_by_transport(),
    ];
    let mut connect = choice(given.access, &ways, "access")?();
    if given.port != 0 {
        if !given.bind.is_null() {
            return Err(Fault::invalid("options: bind has a port already, leave port at 0"));
        }
        connect = connect.port(narrow(given.port, "port")?);
    }
    connect = routers_of(connect, given)?;
    if given.invite_valid_secs != 0 {
        connect = connect.invites_valid_for(Duration::from_secs(given.invite_valid_secs.into()));
    }
    if given.entropy != 0 {
        connect = connect.randomness(Randomness::Seeded(given.entropy));
    }
    Ok(connect)
}

#[cfg(test)]
mod tests;
