//! A match that goes on after one of its machines was started again, without an owner of both: lobbies and sessions by hand.

use core::time::Duration;
use games::playground::Playground;
use rebout::lab::every_fourth;
use rebout::replay::{
    End, Header, Outcome, Recorder, Recording, Remembered, Replay, Resumption, ResumptionError,
    StreamRecorder, Winner,
};
use rebout::{
    Buttons, Config, Cues, Event, FirstState, Frame, Game, Inputs, Lobby, LobbyError, Player, Protocol,
    Saving, Session, checksum,
};
use std::net::SocketAddr;

const TICK: Duration = Duration::from_millis(1);

fn addr(id: usize) -> SocketAddr {
    ([192, 0, 2, id as u8 + 1], 7_000).into()
}

fn config(saving: Saving) -> Config {
    Config::new(5).with(|config| {
        config.lobby.entropy = Some(9);
        (config.rollback.delay_frames, config.rollback.kept_buttons) = (Some(0), Buttons::NONE);
        (config.rollback.saving, config.rollback.window_frames) = (saving, 6);
        config.timeouts.countdown = Duration::from_millis(200);
    })
}

/// Passes all datagrams between two protocols.
fn exchange(now: Duration, [one, two]: [&mut dyn Protocol; 2], addrs: [SocketAddr; 2]) {
    let mut buf = [0; rebout::MAX_DATAGRAM];
    let mut is_quiet = false;
    while !is_quiet {
        is_quiet = true;
        while let Some((_, len)) = one.poll_transmit(now, &mut buf) {
            two.handle_datagram(now, addrs[0], &buf[..len]);
            is_quiet = false;
        }
        while let Some((_, len)) = two.poll_transmit(now, &mut buf) {
            one.handle_datagram(now, addrs[1], &buf[..len]);
            is_quiet = false;
        }
    }
}

/// Runs two lobbies until both have agreed.
fn agree(
    now: &mut Duration,
    host: &mut Lobby,
    joiner: &mut Lobby,
    addrs: [SocketAddr; 2],
) -> Result<(), LobbyError> {
    agree_with(now, host, joiner, addrs, |_| None)
}

/// The same with a host that answers its guest, by the user data of that, with a log.
fn agree_with(
    now: &mut Duration,
    host: &mut Lobby,
    joiner: &mut Lobby,
    addrs: [SocketAddr; 2],
    log: impl Fn(&[u8]) -> Option<FirstState>,
) -> Result<(), LobbyError> {
    for _ in 0..2_000 {
        exchange(*now, [host, joiner], addrs);
        if let Some(log) = host.incoming().and_then(|guest| log(&guest.user_data)) {
            host.accept_with(log);
        }
        if host.agreed()?.is_some() && joiner.agreed()?.is_some() {
            return Ok(());
        }
        *now += TICK;
    }
    Err(LobbyError::NotAgreed)
}

struct Machine {
    session: Session<Playground>,
    game: Playground,
    replay: Recorder,
    events: Vec<Event>,
}

impl Machine {
    fn begin(now: Duration, lobby: Lobby) -> Self {
        let seed = lobby.agreed().unwrap().unwrap().seed;
        let game = Playground::new(seed).unwrap();
        let session = lobby.start(now, &game).unwrap();
        Self { session, game, replay: Recorder::new(seed), events: Vec::new() }
    }

    fn frame(&mut self, now: Duration) {
        if self.session.frame_due(now) {
            let input =
                every_fourth(self.session.local(), self.session.current().0, self.session.agreed().seed);
            self.session.advance(now, &mut self.game, input);
            self.session.confirmed().for_each(|(frame, inputs)| self.replay.record(frame, inputs).unwrap());
        }
        self.events.extend(std::iter::from_fn(|| self.session.poll_event()));
    }
}

/// Runs both machines until each has confirmed `frame`.
fn play(now: &mut Duration, machines: &mut [Machine; 2], addrs: [SocketAddr; 2], frame: u32) {
    let end = *now + Duration::from_secs(60);
    while machines.iter().any(|one| one.session.settled() < Frame(frame)) {
        assert!(
            *now < end,
            "{:?}",
            machines.each_ref().map(|one| (one.session.current(), one.events.clone()))
        );
        let [one, two] = machines;
        exchange(*now, [&mut one.session, &mut two.session], addrs);
        machines.iter_mut().for_each(|one| one.frame(*now));
        *now += TICK;
    }
}

/// A match in which the machine `gone` has just ended, the other one waits, and the first of both recorded it.
fn broken(saving: Saving, gone: usize, frame: u32) -> (Duration, [Machine; 2]) {
    let (mut now, addrs) = (Duration::from_secs(1), [addr(0), addr(1)]);
    let (mut host, mut joiner) =
        (Lobby::host(config(saving)).unwrap(), Lobby::join(config(saving), addr(0)).unwrap());
    agree(&mut now, &mut host, &mut joiner, addrs).unwrap();
    let mut machines = [Machine::begin(now, host), Machine::begin(now, joiner)];
    play(&mut now, &mut machines, addrs, frame);
    // The other machine waits alone.
    let mut buf = [0; rebout::MAX_DATAGRAM];
    for _ in 0..3_000 {
        machines[1 - gone].frame(now);
        while machines[1 - gone].session.poll_transmit(now, &mut buf).is_some() {}
        now += TICK;
    }
    assert!(machines[1 - gone].session.is_stalled());
    (now, machines)
}

/// The log that a machine hands over to a guest with this user data.
fn log_for(machine: &Machine, saving: Saving, user_data: &[u8]) -> Option<FirstState> {
    let Machine { session, game, replay, .. } = machine;
    Resumption::log_for(user_data, session, game, &config(saving), replay.replay())
}

/// The whole log of a machine.
fn log(machine: &Machine, saving: Saving) -> FirstState {
    log_for(machine, saving, b"").expect("a log")
}

/// A lobby in which a machine waits for the other one.
fn waiting(machine: &Machine, saving: Saving) -> Lobby {
    Lobby::host(Resumption::host_config(&machine.session, &config(saving))).unwrap()
}

/// What the other machine knows of the match of this one, with its recording or without.
fn remembered<'a>(machine: &Machine, own: Option<&'a Recording>) -> Remembered<'a> {
    let agreed = machine.session.agreed();
    Remembered { token: agreed.token, seed: agreed.seed, most_frames: 1_000, own }
}

/// The first frames of a match as a recording, of which one may be another.
fn recorded(machine: &Machine, seed: u32, frames: usize, other: Option<usize>) -> Recording {
    let mut recorder = StreamRecorder::new(&Header { game_id: 5, ..Header::new(seed) }, Vec::new()).unwrap();
    for (frame, inputs) in machine.replay.replay().inputs[..frames].iter().enumerate() {
        let inputs = if other == Some(frame) { Inputs::from([Buttons(0x800); 2]) } else { *inputs };
        recorder.record(Frame(frame as u32), inputs).unwrap();
    }
    let end = End { outcome: Outcome::Local, winner: Winner::Undecided };
    Recording::open(recorder.finish(end).unwrap()).unwrap()
}

fn direct(seed: u32, frames: u32) -> u32 {
    let mut game = Playground::new(seed).unwrap();
    for frame in 0..frames {
        let inputs = Inputs(Player::BOTH.map(|player| every_fourth(player, frame, seed)));
        game.step(inputs, &mut Cues::new());
    }
    checksum(&game)
}

#[test]
fn sessions_go_on_with_a_machine_that_was_started_anew() {
    for saving in [Saving::Every, Saving::Sparse] {
        for (gone, frame) in [(0, 1), (1, 7), (0, 130), (1, 131), (0, 300)] {
            let (mut now, machines) = broken(saving, gone, frame);
            let [one, two] = machines;
            let mut waits = if gone == 0 { two } else { one };
            // It comes back at another address, with most of the match or with nothing.
            let addrs = [addr(1 - gone), addr(7)];
            let seed = waits.session.agreed().seed;
            let own = (frame % 2 == 0).then(|| recorded(&waits, seed, frame as usize - 3, None));
            let known = remembered(&waits, own.as_ref());
            let mut host = waiting(&waits, saving);
            let mut back = Lobby::join(Resumption::join_config(&config(saving), &known), addrs[0]).unwrap();
            let log = |user_data: &[u8]| log_for(&waits, saving, user_data);
            agree_with(&mut now, &mut host, &mut back, addrs, log).unwrap();
            let bytes = back.agreed().unwrap().unwrap().first_state.clone();
            let resumption = Resumption::read(&bytes, &config(saving), &known).unwrap();
            assert_eq!(resumption.recording().frames(), waits.session.settled().0);
            let at = waits.session.settled();
            waits.session.rejoin(now, &mut waits.game, host).unwrap();
            assert_eq!((resumption.frame(), waits.session.current()), (at, at), "nothing is predicted");
            let mut game = Playground::new(seed).unwrap();
            let mut replay = Recorder::new(seed);
            for (frame, inputs) in (0..).map(Frame).zip(resumption.recording().inputs()) {
                game.step(inputs, &mut Cues::new());
                replay.record(frame, inputs).unwrap();
            }
            assert_eq!(game, waits.game);
            let session = resumption.resume(now, back, &game).unwrap().unwrap();
            let mut both = [waits, Machine { session, game, replay, events: Vec::new() }];
            let refused = both.each_ref().map(|one| one.session.stats().refused);
            play(&mut now, &mut both, addrs, 420);
            for (one, before) in both.iter().zip(refused) {
                let what = format!("{saving:?}, {gone} is gone in frame {frame}: {:?}", one.events);
                // Each side's stream of inputs stands where the other one's is: nothing has to be sent again to heal it.
                assert_eq!(one.session.stats().refused, before, "{what}");
                assert!(
                    one.events
                        .iter()
                        .any(|event| matches!(event, Event::Rejoined { frame, .. } if *frame == at)),
                    "{what}"
                );
                assert!(
                    !one.events
                        .iter()
                        .any(|event| matches!(event, Event::Desync(_) | Event::InputConflict { .. })),
                    "{what}"
                );
                assert!(one.session.stats().checksums_compared > 0, "{what}");
                let inputs: &Replay = one.replay.replay();
                let mut again = Playground::new(seed).unwrap();
                inputs.inputs[..420].iter().for_each(|inputs| again.step(*inputs, &mut Cues::new()));
                assert_eq!(checksum(&again), direct(seed, 420), "{what}");
            }
        }
    }
}

#[test]
fn session_that_has_gone_on_takes_nobody_back() {
    let (mut now, mut machines) = broken(Saving::Every, 1, 60);
    let (mut host, log) = (waiting(&machines[0], Saving::Every), log(&machines[0], Saving::Every));
    play(&mut now, &mut machines, [addr(0), addr(1)], 80);
    let join = Resumption::join_config(&config(Saving::Every), &remembered(&machines[0], None));
    let mut back = Lobby::join(join, addr(0)).unwrap();
    agree_with(&mut now, &mut host, &mut back, [addr(0), addr(7)], |_| Some(log.clone())).unwrap();
    let Machine { session, game, .. } = &mut machines[0];
    assert_eq!(session.rejoin(now, game, host).unwrap_err(), LobbyError::NotAgreed);
    play(&mut now, &mut machines, [addr(0), addr(1)], 120);
}

#[test]
fn machine_of_another_match_does_not_fit() {
    let (mut now, machines) = broken(Saving::Every, 1, 60);
    let known = remembered(&machines[0], None);
    let other = Remembered { token: known.token ^ 1, ..known };
    for (config, fits) in [
        (Resumption::join_config(&config(Saving::Every), &known), true),
        (Resumption::join_config(&config(Saving::Every), &other), false),
        (config(Saving::Every), false),
    ] {
        let mut host = waiting(&machines[0], Saving::Every);
        let mut back = Lobby::join(config, addr(0)).unwrap();
        let log = |user_data: &[u8]| log_for(&machines[0], Saving::Every, user_data);
        let agreed = agree_with(&mut now, &mut host, &mut back, [addr(0), addr(7)], log);
        assert_eq!(agreed.is_ok(), fits, "{agreed:?}");
    }
}

#[test]
fn log_that_is_not_the_match_is_refused() {
    let (_, machines) = broken(Saving::Every, 1, 90);
    let config = config(Saving::Every);
    let seed = machines[0].session.agreed().seed;
    let log = log(&machines[0], Saving::Every);
    let frames = machines[0].session.settled().0;
    let known = |seed, most_frames| Remembered { seed, most_frames, ..remembered(&machines[0], None) };
    let read = |bytes: &[u8], seed, most| {
        Resumption::read(bytes, &config, &known(seed, most)).map(|log| log.frame())
    };
    assert_eq!(read(&log, seed, frames), Ok(Frame(frames)));
    assert_eq!(read(&log, seed, frames - 1), Err(ResumptionError::TooLong { frames, most: frames - 1 }));
    let other = Err(ResumptionError::Log { why: "it is of another match" });
    assert_eq!(read(&log, seed ^ 1, frames), other);
    let elsewhere = config.clone().with(|config| config.game.content_hash = 9);
    assert_eq!(Resumption::read(&log, &elsewhere, &known(seed, frames)).map(|log| log.frame()), other);
    // Cut anywhere, or with one byte changed, it is refused or says something else about the state alone.
    for len in 0..log.len() {
        assert!(read(&log[..len], seed, frames).is_err(), "{len} bytes");
    }
    for at in 0..log.len() {
        let mut bytes = log.to_vec();
        bytes[at] ^= 0x10;
        // The checksum, and the hash of no frames.
        let says_nothing = (9..13).contains(&at) || (17..25).contains(&at);
        assert_eq!(read(&bytes, seed, frames).is_ok(), says_nothing, "byte {at}");
    }
}

/// The bytes in `docs/vectors/match.txt`.
#[test]
fn head_of_a_log_is_that_of_the_vectors() {
    let vectors = include_str!("../../docs/vectors/match.txt");
    let (_, block) = vectors.split_once("[rejoin-log-head]\n").expect("the block");
    let lines = block.split("\n\n").next().unwrap().lines().map(|line| line.split(';').next().unwrap());
    let bytes: Vec<u8> =
        lines.flat_map(str::split_whitespace).map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    let (_, machines) = broken(Saving::Every, 1, 90);
    let log = log(&machines[0], Saving::Every);
    assert_eq!(bytes, &log[..bytes.len()], "{:02X?}", &log[..bytes.len()]);
}

/// The user data of a machine that comes back with this recording.
fn claim(machine: &Machine, own: &Recording) -> Vec<u8> {
    let known = remembered(machine, Some(own));
    Resumption::join_config(&config(Saving::Every), &known).lobby.user_data
}

/// A recording that goes on to the last frames but 30 leaves only those to be sent.
#[test]
fn only_frames_that_a_machine_lacks_are_sent() {
    let (_, machines) = broken(Saving::Every, 1, 600);
    let (waits, frames) = (&machines[0], machines[0].session.settled().0 as usize);
    let seed = waits.session.agreed().seed;
    let whole = log(waits, Saving::Every);
    for kept in [frames, 400, 31] {
        let own = recorded(waits, seed, kept, None);
        let part = log_for(waits, Saving::Every, &claim(waits, &own)).unwrap();
        let from = u32::from_be_bytes(part[13..17].try_into().unwrap());
        assert_eq!(from as usize, kept - 30);
        // The head of a part is as long as that of all.
        let limit = if kept == frames { whole.len() / 4 } else { whole.len() };
        assert!(part.len() <= limit, "{kept}: {} of {} bytes", part.len(), whole.len());
        let resumption = Resumption::read(&part, &config(Saving::Every), &remembered(waits, Some(&own)));
        let resumption = resumption.unwrap();
        assert!(resumption.recording().inputs().eq(waits.replay.replay().inputs.iter().copied()));
    }
    // With other frames, too few of them, or none it gets all.
    for own in [recorded(waits, seed, 400, Some(7)), recorded(waits, seed, 30, None)] {
        assert_eq!(log_for(waits, Saving::Every, &claim(waits, &own)), Some(whole.clone()));
    }
    let mut endless = claim(waits, &recorded(waits, seed, 400, None));
    endless[..4].copy_from_slice(&u32::MAX.to_be_bytes());
    for user_data in [&endless[..], &endless[..11], b""] {
        assert_eq!(log_for(waits, Saving::Every, user_data), Some(whole.clone()));
    }
}

#[test]
fn log_is_compared_with_a_recording_of_the_own() {
    let (_, machines) = broken(Saving::Every, 1, 90);
    let waits = &machines[0];
    let seed = waits.session.agreed().seed;
    let own = |seed, frames, other| recorded(waits, seed, frames, other);
    let read = |log: &[u8], own: Option<&Recording>| {
        Resumption::read(log, &config(Saving::Every), &remembered(waits, own)).map(|log| log.frame())
    };
    let (whole, at) = (log(waits, Saving::Every), waits.session.settled());
    assert_eq!(read(&whole, Some(&own(seed, 60, None))), Ok(at));
    assert_eq!(read(&whole, Some(&own(seed, 0, None))), Ok(at));
    let contradiction = Err(ResumptionError::Contradiction { frame: Frame(41) });
    assert_eq!(read(&whole, Some(&own(seed, 60, Some(41)))), contradiction);
    assert!(read(&whole, Some(&own(seed ^ 1, 60, None))).is_err());
    // A part is good for the machine alone that has the frames before it.
    let part = log_for(waits, Saving::Every, &claim(waits, &own(seed, 80, None))).unwrap();
    let foreign = Err(ResumptionError::Log { why: "it does not follow this machine's recording" });
    assert_eq!(read(&part, Some(&own(seed, 80, None))), Ok(at));
    assert_eq!(
        read(&part, Some(&own(seed, 80, Some(70)))),
        Err(ResumptionError::Contradiction { frame: Frame(70) })
    );
    for other in [None, Some(own(seed, 80, Some(20))), Some(own(seed, 49, None))] {
        assert_eq!(read(&part, other.as_ref()), foreign);
    }
    for at in 13..25 {
        let mut forged = part.to_vec();
        forged[at] ^= 1;
        assert!(read(&forged, Some(&own(seed, 80, None))).is_err(), "byte {at}");
    }
}

/// A machine that has waited sends a log that goes on for days, in few bytes, to one that was away for a moment.
#[test]
fn endless_log_of_a_machine_that_waited_is_refused() {
    let (mut now, machines) = broken(Saving::Every, 1, 90);
    let (waits, known) = (&machines[0], remembered(&machines[0], None));
    let (whole, frames) = (log(waits, Saving::Every), 1_000_000_u32);
    let mut bytes = whole[..26].to_vec();
    bytes[4..8].copy_from_slice(&frames.to_be_bytes());
    let header = Header { game_id: 5, ..Header::new(known.seed) };
    let mut recorder = StreamRecorder::new(&header, bytes).unwrap();
    (0..frames).for_each(|frame| recorder.record(Frame(frame), Inputs::default()).unwrap());
    let end = End { outcome: Outcome::Local, winner: Winner::Undecided };
    let endless: FirstState = recorder.finish(end).unwrap().into();
    assert!(endless.len() <= Config::MAX_FIRST_STATE as usize, "{} bytes", endless.len());
    let mut host = waiting(waits, Saving::Every);
    let mut back = Lobby::join(Resumption::join_config(&config(Saving::Every), &known), addr(0)).unwrap();
    agree_with(&mut now, &mut host, &mut back, [addr(0), addr(7)], |_| Some(endless.clone())).unwrap();
    let came = back.agreed().unwrap().unwrap().first_state.clone();
    let read = Resumption::read(&came, &config(Saving::Every), &known).map(|log| log.frame());
    assert_eq!(read, Err(ResumptionError::TooLong { frames, most: known.most_frames }));
}

#[test]
fn log_that_leads_to_another_state_is_refused() {
    let (mut now, machines) = broken(Saving::Every, 1, 90);
    let (seed, known) = (machines[0].session.agreed().seed, remembered(&machines[0], None));
    let mut host = waiting(&machines[0], Saving::Every);
    let mut back = Lobby::join(Resumption::join_config(&config(Saving::Every), &known), addr(0)).unwrap();
    let log = |user_data: &[u8]| log_for(&machines[0], Saving::Every, user_data);
    agree_with(&mut now, &mut host, &mut back, [addr(0), addr(7)], log).unwrap();
    let bytes = back.agreed().unwrap().unwrap().first_state.clone();
    let resumption = Resumption::read(&bytes, &config(Saving::Every), &known).unwrap();
    let mut game = Playground::new(seed).unwrap();
    resumption.recording().inputs().for_each(|inputs| game.step(inputs, &mut Cues::new()));
    game.fighters[0].hp -= 1;
    let refused = resumption.resume(now, back, &game).map(|_| ());
    assert!(
        matches!(refused, Err(ResumptionError::Checksum { frame, .. }) if frame == resumption.frame()),
        "{refused:?}"
    );
}
