//! A loop of your own on the parts, as the end of `docs/EMBEDDING.md` explains it: a connection, a lobby, a session, a recorder.

use crate::online::Stage;
use crate::volley::Volley;
use rebout::replay::{RecordError, Recorder, Replay};
use rebout::{Agreed, Config, Connection, Event, Lobby, Session, Verdict, shown};
use std::error::Error;
use std::time::Duration;

/// Identifies this game; packets of other games at the port are refused.
const GAME_ID: u64 = 0x566F_6C6C_6579;

pub(crate) fn config(name: &str) -> Config {
    let mut config = Config::new(GAME_ID);
    config.game.content_hash = 1; // of whatever must be alike: build, stage, rules
    config.lobby.user_data = name.as_bytes().to_vec(); // the other side sees it, at most 64 bytes
    config
}

/// Waits for someone to join, or joins.
pub(crate) fn meet(connection: &mut Connection, config: Config) -> Result<Lobby, Box<dyn Error>> {
    let mut lobby = connection.lobby(config)?;
    // Refused, incompatible, timed out: `agreed` is an error that says so.
    while lobby.agreed()?.is_none() {
        let deadline = connection.now() + Duration::from_millis(16);
        connection.run_until(&mut lobby, deadline)?; // moves packets while it waits
        if let Some(failure) = connection.failure() {
            return Err(failure.into()); // no path to the host
        }
    }
    Ok(lobby)
}

/// The name that the other player goes by. It comes from outside: `shown` escapes control characters.
pub(crate) fn name_of(agreed: &Agreed) -> String {
    shown(&String::from_utf8_lossy(&agreed.user_data)).into_owned()
}

/// Plays the match that was agreed on, to its end.
pub(crate) fn play(
    connection: &mut Connection,
    lobby: Lobby,
    stage: &mut impl Stage,
) -> Result<Played, Box<dyn Error>> {
    let seed = lobby.agreed()?.ok_or("nobody to play with")?.seed;
    let mut game = Volley::new(seed); // only now: the seed is the host's
    let mut session = lobby.start(connection.now(), &game)?;
    let mut recorder = Recorder::new(seed);
    let mut verdict = None;
    while !session.ended() {
        let due = session.next_frame_at();
        let now = connection.run_until(&mut session, due)?; // moves packets while it waits
        let buttons = stage.buttons(&game, session.local());
        session.advance(now, &mut game, buttons); // rolls back, steps, queues what to send
        connection.flush(&mut session)?; // out before drawing, not after
        verdict = attend(&mut session, &mut recorder, stage)?.or(verdict);
        stage.draw(&game, 1.0);
    }
    verdict = hear(&mut session, stage).or(verdict); // events alone: what `advance` said was read
    connection.close(&mut session, Duration::from_secs(2))?; // the last message gets through
    stage.say(&figures(&session));
    Ok(Played { verdict, game, replay: recorder.finish() })
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
pub(crate) fn figures(session: &Session<Volley>) -> String {
    let stats = session.stats();
    let rtt = stats.round_trip.unwrap_or_default().as_millis();
    let loss = 100.0 * stats.loss_out.unwrap_or(0.0);
    let (stalled, again) = (stats.stalled_frames, stats.rollback.resimulated_frames);
    format!("{rtt} ms, {loss:.0} % lost, {stalled} frames waited, {again} of {} stepped again", stats.frames)
}
