//! One machine's end of a match: the line, the session, the state and the recordings.

use std::io;
use std::time::Duration;

use rebout::replay::{RecordError, Recorder, Replay};
use rebout::{Buttons, ConfigError, Cue, Event, Lobby, LobbyError, Player, Session, checksum};

use super::line::Line;
use super::reel::{Reel, Saved};
use super::rules::{Bout, Rules};
use crate::netgraph::Played;
use games::duel::Duel;

/// How long the last word may take to get through.
const LINGER: Duration = Duration::from_secs(2);

pub(super) struct Table {
    pub line: Line,
    pub session: Session<Duel>,
    pub duel: Duel,
    rules: Rules,
    /// In memory, for the report about a desync.
    recorder: Recorder,
    unrecorded: Option<RecordError>,
    reel: Option<Reel>,
    /// The cues that the steps of the last `advance` asked for, resimulated ones too; kept only where they are heard.
    asked: Option<Vec<Cue>>,
}

impl Table {
    /// Begins the match that the lobby has agreed on.
    ///
    /// # Errors
    /// If it has not.
    pub(super) fn begin(
        line: Line,
        lobby: Lobby,
        rules: Rules,
        reel: Option<Reel>,
    ) -> Result<Self, LobbyError> {
        let seed = lobby.agreed()?.ok_or(LobbyError::NotAgreed)?.seed;
        let mut duel = Duel::new(seed);
        let session = lobby.start(line.now(), &Bout { duel: &mut duel, rules, asked: None })?;
        Ok(Self {
            line,
            session,
            duel,
            rules,
            recorder: Recorder::new(seed),
            unrecorded: None,
            reel,
            asked: None,
        })
    }

    /// Notes from now on what every step asks for.
    pub(super) fn listen_to_steps(&mut self) {
        self.asked = Some(Vec::new());
    }

    /// What the steps of the last `advance` asked for; `None` if nobody listens to them.
    pub(super) fn asked(&self) -> Option<&[Cue]> {
        self.asked.as_deref()
    }

    pub(super) fn seat(&self) -> Player {
        self.session.local()
    }

    /// Moves packets until the next frame is due.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        let due = self.session.next_frame_at();
        self.line.run_until(&mut self.session, due)
    }

    /// Moves packets for a moment without playing: the match rests, and the connection stays.
    pub(super) fn rest(&mut self, time: Duration) -> io::Result<()> {
        let deadline = self.line.now() + time;
        self.line.run_until(&mut self.session, deadline)
    }

    /// Plays a frame, sends what it has to say, and records what became certain.
    pub(super) fn advance(&mut self, buttons: Buttons) -> io::Result<Played> {
        let (shown, frame) = (self.duel, self.session.current());
        let before = self.session.stats().rollback.resimulated_frames;
        let now = self.line.now();
        if let Some(asked) = &mut self.asked {
            asked.clear();
        }
        let mut bout = Bout { duel: &mut self.duel, rules: self.rules, asked: self.asked.as_mut() };
        let advanced = self.session.advance(now, &mut bout, buttons);
        self.line.flush(&mut self.session)?;
        for (frame, inputs) in self.session.confirmed() {
            let recorded = self.recorder.record(frame, inputs);
            self.unrecorded = self.unrecorded.or(recorded.err());
        }
        if let Some(reel) = &mut self.reel {
            reel.session(&self.session);
        }
        let resimulated_frames = (self.session.stats().rollback.resimulated_frames - before) as u32;
        Ok(Played { advanced, shown, frame, resimulated_frames })
    }

    /// The next event of the session, which the recording keeps too.
    pub(super) fn poll_event(&mut self) -> Option<Event> {
        let event = self.session.poll_event()?;
        if let Some(reel) = &mut self.reel {
            reel.hear(self.session.local(), &event);
        }
        Some(event)
    }

    /// Changes the input delay of this machine.
    pub(super) fn set_delay(&mut self, delay_frames: u8) -> Result<(), ConfigError> {
        self.session.set_delay(self.line.now(), delay_frames)?;
        if let Some(reel) = &mut self.reel {
            reel.delay(self.session.local(), delay_frames);
        }
        Ok(())
    }

    /// Why the match is not recorded any more, told once.
    pub(super) fn recording_trouble(&mut self) -> Option<String> {
        self.reel.as_mut()?.take_trouble()
    }

    /// Ends the recording, if there is one.
    pub(super) fn finish_recording(&mut self) -> Option<Saved> {
        let last = *self.certain();
        Some(self.reel.take()?.finish(&last, false))
    }

    /// Sees to it that the last word gets through.
    pub(super) fn close(&mut self) {
        // If it does not, the other side learns it by our silence.
        let _ = self.line.close(&mut self.session, LINGER);
    }

    /// The newest state that is certain: what the recorded inputs lead to.
    pub(super) fn certain(&self) -> &Duel {
        self.session.snapshot(self.session.settled()).unwrap_or(&self.duel)
    }

    pub(super) fn checksum(&self) -> u32 {
        checksum(self.certain())
    }

    pub(super) fn replay(&self) -> &Replay {
        self.recorder.replay()
    }

    /// Why the replay ends before the match does, if it does.
    pub(super) fn unrecorded(&self) -> Option<RecordError> {
        self.unrecorded
    }
}
