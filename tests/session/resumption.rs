//! A match that goes on after one of its machines was started anew, without an owner of both: lobbies and sessions by hand.

use core::time::Duration;
use games::playground::Playground;
use rebout::lab::every_fourth;
use rebout::replay::{
    End, Header, Outcome, Recorder, Recording, Replay, Resumption, ResumptionError, StreamRecorder, Winner,
};
use rebout::{
    Buttons, Config, Cues, Event, Frame, Game, Inputs, Lobby, LobbyError, Player, Protocol, Saving, Session,
    checksum,
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
    for _ in 0..2_000 {
        exchange(*now, [host, joiner], addrs);
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

/// The log that the machine `id` would hand over, and the config of its lobby.
fn log(machine: &Machine, saving: Saving) -> Config {
    let Machine { session, game, replay, .. } = machine;
    Resumption::host_config(session, game, &config(saving), replay.replay()).expect("a log")
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
            let token = waits.session.agreed().token;
            // It comes back at another address.
            let addrs = [addr(1 - gone), addr(7)];
            let mut host = Lobby::host(log(&waits, saving)).unwrap();
            let mut back = Lobby::join(Resumption::join_config(&config(saving), token), addrs[0]).unwrap();
            agree(&mut now, &mut host, &mut back, addrs).unwrap();
            let seed = waits.session.agreed().seed;
            let bytes = back.agreed().unwrap().unwrap().first_state.clone();
            let resumption = Resumption::read(&bytes, &config(saving), seed, 1_000).unwrap();
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
            play(&mut now, &mut both, addrs, 420);
            for one in &both {
                let what = format!("{saving:?}, {gone} is gone in frame {frame}: {:?}", one.events);
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
    let host_config = log(&machines[0], Saving::Every);
    play(&mut now, &mut machines, [addr(0), addr(1)], 80);
    let mut host = Lobby::host(host_config).unwrap();
    let token = machines[0].session.agreed().token;
    let mut back = Lobby::join(Resumption::join_config(&config(Saving::Every), token), addr(0)).unwrap();
    agree(&mut now, &mut host, &mut back, [addr(0), addr(7)]).unwrap();
    let Machine { session, game, .. } = &mut machines[0];
    assert_eq!(session.rejoin(now, game, host).unwrap_err(), LobbyError::NotAgreed);
    play(&mut now, &mut machines, [addr(0), addr(1)], 120);
}

#[test]
fn machine_of_another_match_does_not_fit() {
    let (mut now, machines) = broken(Saving::Every, 1, 60);
    let token = machines[0].session.agreed().token;
    for (config, fits) in [
        (Resumption::join_config(&config(Saving::Every), token), true),
        (Resumption::join_config(&config(Saving::Every), token ^ 1), false),
        (config(Saving::Every), false),
    ] {
        let mut host = Lobby::host(log(&machines[0], Saving::Every)).unwrap();
        let mut back = Lobby::join(config, addr(0)).unwrap();
        let agreed = agree(&mut now, &mut host, &mut back, [addr(0), addr(7)]);
        assert_eq!(agreed.is_ok(), fits, "{agreed:?}");
    }
}

#[test]
fn log_that_is_not_the_match_is_refused() {
    let (_, machines) = broken(Saving::Every, 1, 90);
    let config = config(Saving::Every);
    let seed = machines[0].session.agreed().seed;
    let log = log(&machines[0], Saving::Every).lobby.first_state;
    let frames = machines[0].session.settled().0;
    let read = |bytes: &[u8], seed, most| Resumption::read(bytes, &config, seed, most).map(|log| log.frame());
    assert_eq!(read(&log, seed, frames), Ok(Frame(frames)));
    assert_eq!(read(&log, seed, frames - 1), Err(ResumptionError::TooLong { frames, most: frames - 1 }));
    let other = Err(ResumptionError::Log { why: "it is of another match" });
    assert_eq!(read(&log, seed ^ 1, frames), other);
    let elsewhere = config.clone().with(|config| config.game.content_hash = 9);
    assert_eq!(Resumption::read(&log, &elsewhere, seed, frames).map(|log| log.frame()), other);
    // Cut anywhere, or with one byte changed, it is refused or says something else about the state alone.
    for len in 0..log.len() {
        assert!(read(&log[..len], seed, frames).is_err(), "{len} bytes");
    }
    for at in 0..log.len() {
        let mut bytes = log.to_vec();
        bytes[at] ^= 0x10;
        let is_checksum = (9..13).contains(&at);
        assert_eq!(read(&bytes, seed, frames).is_ok(), is_checksum, "byte {at}");
    }
}

/// The bytes in `docs/WIRE.md`.
#[test]
fn head_of_a_log_is_that_of_the_page() {
    let page = include_str!("../../docs/WIRE.md");
    let (_, block) = page.split_once("```log head\n").expect("the block");
    let lines = block.split("```").next().unwrap().lines().map(|line| line.split(';').next().unwrap());
    let bytes: Vec<u8> =
        lines.flat_map(str::split_whitespace).map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    let (_, machines) = broken(Saving::Every, 1, 90);
    let log = log(&machines[0], Saving::Every).lobby.first_state;
    assert_eq!(bytes, &log[..bytes.len()], "{:02X?}", &log[..bytes.len()]);
}

#[test]
fn log_is_compared_with_a_recording_of_the_own() {
    let (_, machines) = broken(Saving::Every, 1, 90);
    let seed = machines[0].session.agreed().seed;
    let log = log(&machines[0], Saving::Every).lobby.first_state;
    let resumption = Resumption::read(&log, &config(Saving::Every), seed, 1_000).unwrap();
    let own = |seed, frames: usize, other: Option<usize>| {
        let mut recorder =
            StreamRecorder::new(&Header { game_id: 5, ..Header::new(seed) }, Vec::new()).unwrap();
        for (frame, inputs) in machines[0].replay.replay().inputs[..frames].iter().enumerate() {
            let inputs = if other == Some(frame) { Inputs::from([Buttons(0x800); 2]) } else { *inputs };
            recorder.record(Frame(frame as u32), inputs).unwrap();
        }
        let end = End { outcome: Outcome::Local, winner: Winner::Undecided };
        Recording::open(recorder.finish(end).unwrap()).unwrap()
    };
    assert_eq!(resumption.check_against(&own(seed, 60, None)), Ok(()));
    assert_eq!(resumption.check_against(&own(seed, 0, None)), Ok(()));
    let contradiction = ResumptionError::Contradiction { frame: Frame(41) };
    assert_eq!(resumption.check_against(&own(seed, 60, Some(41))), Err(contradiction));
    assert!(resumption.check_against(&own(seed ^ 1, 60, None)).is_err());
}

#[test]
fn log_that_leads_to_another_state_is_refused() {
    let (mut now, machines) = broken(Saving::Every, 1, 90);
    let (seed, token) = (machines[0].session.agreed().seed, machines[0].session.agreed().token);
    let mut host = Lobby::host(log(&machines[0], Saving::Every)).unwrap();
    let mut back = Lobby::join(Resumption::join_config(&config(Saving::Every), token), addr(0)).unwrap();
    agree(&mut now, &mut host, &mut back, [addr(0), addr(7)]).unwrap();
    let bytes = back.agreed().unwrap().unwrap().first_state.clone();
    let resumption = Resumption::read(&bytes, &config(Saving::Every), seed, 1_000).unwrap();
    let mut game = Playground::new(seed).unwrap();
    resumption.recording().inputs().for_each(|inputs| game.step(inputs, &mut Cues::new()));
    game.fighters[0].hp -= 1;
    let refused = resumption.resume(now, back, &game).map(|_| ());
    assert!(
        matches!(refused, Err(ResumptionError::Checksum { frame, .. }) if frame == resumption.frame()),
        "{refused:?}"
    );
}
