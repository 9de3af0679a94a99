//! The loops of `docs/EMBEDDING.md`: one that lets the driver sleep, and one for an engine that owns the loop.

use crate::volley::Volley;
use rebout::net::udp::UdpDriver;
use rebout::replay::{RecordError, Recorder, Replay};
use rebout::{
    Agreed, Buttons, Config, CueEvent, Event, Lobby, Player, Session, SyncTest, SyncTestError, Verdict, shown,
};
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

/// The surroundings of the game: keys, sound, a picture.
pub(crate) trait Stage {
    fn buttons(&mut self, game: &Volley, seat: Player) -> Buttons;
    fn cue(&mut self, event: &CueEvent);
    fn say(&mut self, text: &str);
    fn draw(&mut self, game: &Volley, phase: f32);
}

/// Names this game among all others that might knock at the port.
const GAME_ID: u64 = 0x566F_6C6C_6579;

pub(crate) fn config(name: &str) -> Config {
    let mut config = Config::new(GAME_ID);
    config.content_hash = 1; // of whatever must be alike: build, stage, rules
    config.user_data = name.as_bytes().to_vec(); // the other side sees it, at most 64 bytes
    config
}

/// Waits for someone to join, or joins.
pub(crate) fn meet(
    udp: &mut UdpDriver,
    config: Config,
    host: Option<SocketAddr>,
) -> Result<Lobby, Box<dyn Error>> {
    let mut lobby = match host {
        None => Lobby::host(config)?,
        Some(host) => Lobby::join(config, host)?,
    };
    // Refused, incompatible, timed out: `agreed` is an error that says so.
    while lobby.agreed()?.is_none() {
        let deadline = udp.now() + Duration::from_millis(16);
        udp.run_until(&mut lobby, deadline)?; // moves packets while it waits
    }
    Ok(lobby)
}

/// The name that the other player goes by. It comes from outside: `shown` takes what plays with a terminal out of it.
pub(crate) fn name_of(agreed: &Agreed) -> String {
    shown(&String::from_utf8_lossy(&agreed.user_data)).into_owned()
}

/// Plays the match that was agreed on, to its end.
pub(crate) fn play(
    udp: &mut UdpDriver,
    lobby: Lobby,
    stage: &mut impl Stage,
) -> Result<Played, Box<dyn Error>> {
    let seed = lobby.agreed()?.ok_or("nobody to play with")?.seed;
    let mut game = Volley::new(seed); // only now: the seed is the host's
    let mut session = lobby.start(udp.now(), &game)?;
    let mut recorder = Recorder::new(seed);
    let mut verdict = None;
    while !session.ended() {
        let due = session.next_frame_at();
        let now = udp.run_until(&mut session, due)?; // moves packets while it waits
        let buttons = stage.buttons(&game, session.local());
        session.advance(now, &mut game, buttons); // rolls back, steps, queues what to send
        udp.flush(&mut session)?; // out before drawing, not after
        verdict = attend(&mut session, &mut recorder, stage)?.or(verdict);
        stage.draw(&game, 1.0);
    }
    verdict = hear(&mut session, stage).or(verdict); // events alone: what `advance` said was read
    udp.close(&mut session, Duration::from_secs(2))?; // the last word gets through
    stage.say(&connection(&session));
    Ok(Played { verdict, game, replay: recorder.finish() })
}

/// Plays the match in the loop of an engine, which turns when the screen does.
pub(crate) fn play_in_turns(
    udp: &mut UdpDriver,
    lobby: Lobby,
    stage: &mut impl Stage,
) -> Result<Played, Box<dyn Error>> {
    let seed = lobby.agreed()?.ok_or("nobody to play with")?.seed;
    let (mut game, mut recorder) = (Volley::new(seed), Recorder::new(seed));
    let mut session = lobby.start(udp.now(), &game)?;
    let mut verdict = None;
    while !session.ended() {
        verdict = turn(udp, &mut session, &mut game, &mut recorder, stage)?.or(verdict);
        std::thread::sleep(Duration::from_millis(4)); // the engine's other work
    }
    verdict = hear(&mut session, stage).or(verdict); // the last may have come in a datagram, with no frame after it
    udp.close(&mut session, Duration::from_secs(2))?;
    stage.say(&connection(&session));
    Ok(Played { verdict, game, replay: recorder.finish() })
}

/// One turn of an engine that owns the loop. Never blocks.
pub(crate) fn turn(
    udp: &mut UdpDriver,
    session: &mut Session<Volley>,
    game: &mut Volley,
    recorder: &mut Recorder,
    stage: &mut impl Stage,
) -> Result<Option<Verdict>, Box<dyn Error>> {
    let mut verdict = None;
    let now = udp.poll(session)?;
    while session.frame_due(now) {
        let buttons = stage.buttons(game, session.local());
        session.advance(now, game, buttons);
        udp.flush(session)?;
        verdict = attend(session, recorder, stage)?.or(verdict); // after every `advance`, and once
    }
    stage.draw(game, session.phase(now));
    Ok(verdict)
}

/// How a match went.
pub(crate) struct Played {
    /// `None` if it was over before its end.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) game: Volley,
    pub(crate) replay: Replay,
}

/// The recording, sounds and events, once after each `advance`.
pub(crate) fn attend(
    session: &mut Session<Volley>,
    recorder: &mut Recorder,
    stage: &mut impl Stage,
) -> Result<Option<Verdict>, RecordError> {
    for (frame, inputs) in session.confirmed() {
        recorder.record(frame, inputs)?;
    }
    for event in session.cues() {
        stage.cue(event);
    }
    Ok(hear(session, stage))
}

/// The events, which may be asked for at any time: each is told once.
pub(crate) fn hear(session: &mut Session<Volley>, stage: &mut impl Stage) -> Option<Verdict> {
    let mut verdict = None;
    while let Some(event) = session.poll_event() {
        match event {
            Event::Interrupted { .. } => stage.say("Waiting for the other player ..."),
            Event::Resumed => stage.say("The other player is back."),
            Event::Message(bytes) => stage.say(&shown(&String::from_utf8_lossy(&bytes))), // anything at all
            Event::Disconnected { reason } => stage.say(&format!("The match is over: {reason}.")),
            Event::Ended(how) => {
                stage.say(&format!("The match is over: {how}."));
                verdict = Some(how);
            }
            // For the log, and the bug report.
            Event::Desync(desync) => stage.say(&format!("{desync:?}")),
            Event::Autopsy(autopsy) => stage.say(&autopsy.to_string()),
            Event::InputConflict { frame, .. } => stage.say(&format!("two inputs for frame {frame}")),
            // `PeerDelay`, and the events of later versions.
            _ => {}
        }
    }
    verdict
}

/// The corner of the screen that players look at when it does not feel right.
pub(crate) fn connection(session: &Session<Volley>) -> String {
    let stats = session.stats();
    let rtt = stats.round_trip.unwrap_or_default().as_millis();
    let loss = 100.0 * stats.loss_out.unwrap_or(0.0);
    let (stalled, again) = (stats.stalled_frames, stats.rollback.resimulated_frames);
    format!("{rtt} ms, {loss:.0} % lost, {stalled} frames waited, {again} of {} stepped again", stats.frames)
}

/// Finds state that a rollback would break, on one machine and without a peer.
pub(crate) fn sync_test(frames: u32) -> Result<(), SyncTestError> {
    let mut game = Volley::new(1);
    let mut test = SyncTest::new(&game, 8, 1);
    for frame in 0..frames {
        let [one, two] = [frame / 7 % 3, frame / 11 % 3].map(|held| Buttons(held as u16));
        test.advance(&mut game, [one, two])?;
    }
    test.finish().map(|_| ())
}
