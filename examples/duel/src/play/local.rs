//! Two players at one keyboard, through the same engine as any other match: there is only nothing to predict.

use std::path::PathBuf;

use rebout::net::append::FileAppender;
use rebout::replay::{End, Header, Outcome, StreamRecorder};
use rebout::rollback::{Advance, EngineConfig, Rollback};
use rebout::{Buttons, Frame, FrameRate, Player, checksum};

use super::fight_log::FightLog;
use super::prompts::{Answer, Prompts, Question};
use super::rules::{RuledDuel, Rules};
use super::show::{Show, pauses};
use super::{Ending, FRAME, FrameClock, InputSource};
use crate::machine::winner;
use crate::netgraph::{NetSample, counted};
use crate::picture::{Tone, banner};
use crate::view::{InputState, Screen};
use games::duel::buttons::{LEAVE, START};
use games::duel::identity::{GAME_ID, content_hash};
use games::duel::{Duel, Phase};
use stage::menu::Note;

/// How a match at one keyboard is played.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u32,
    pub names: [String; 2],
    /// Where the match is recorded, if it is.
    pub record: Option<PathBuf>,
    pub net: bool,
    pub rules: Rules,
    pub timings: bool,
    /// What the fighters wear.
    pub outfits: [usize; 2],
}

impl Options {
    fn header(&self) -> Header {
        Header {
            game_id: GAME_ID,
            content_hash: content_hash(self.rules.frames),
            frame_rate: Some(FrameRate::hz(60)),
            names: self.names.clone(),
            ..Header::new(self.seed)
        }
    }
}

struct Match<'a> {
    duel: Duel,
    engine: Rollback<Duel>,
    recording: Option<(PathBuf, StreamRecorder<FileAppender>)>,
    /// Why the match is not recorded, or not any more.
    trouble: Option<String>,
    sources: [InputSource; 2],
    rules: Rules,
    show: Show<'a>,
    prompts: Prompts,
    /// The answer to the question of a rematch; who gives it gives it for both.
    answer: Option<Answer>,
    log: FightLog,
}

/// Plays until the match is over or someone leaves.
pub fn local(screen: &Screen, options: &Options, sources: [InputSource; 2]) -> Ending {
    let duel = Duel::new(options.seed);
    let mut game = Match {
        engine: Rollback::new(EngineConfig::default(), &duel),
        recording: None,
        trouble: None,
        show: Show::new(screen, &duel, options.names.clone(), options.net),
        duel,
        sources,
        rules: options.rules,
        prompts: Prompts::default(),
        answer: None,
        log: FightLog::default(),
    };
    game.show.set_outfits(options.outfits);
    if let Some(folder) = &options.record {
        match StreamRecorder::create_in(folder, options.header()) {
            Ok(recording) => game.recording = Some(recording),
            Err(error) => game.note_trouble(format!("Not recorded to {}: {error}", folder.display())),
        }
    }
    let mut clock = FrameClock::start();
    let left = loop {
        let input = game.show.take_input();
        if input.closed || game.decide(&input) {
            break true;
        }
        if game.prompts.is(Question::Pause) {
            game.show.refresh();
        } else if game.frame(&input) == Advance::Ended {
            break false;
        }
        clock.wait(FRAME);
    };
    let mut ending = game.ending(options, left);
    if options.timings {
        ending.lines.push(screen.timings());
    }
    ending
}

impl Match<'_> {
    fn frame(&mut self, input: &InputState) -> Advance {
        let shown = self.duel;
        let buttons = match self.answer {
            Some(Answer::Rematch) => [START; 2],
            Some(_) => [LEAVE; 2],
            None if self.prompts.is_open() => [Buttons::NONE; 2],
            None => Player::BOTH.map(|player| {
                let own = input.of_seat(player.index(), Player::BOTH.len());
                self.sources[player.index()].buttons(&shown, player, &own)
            }),
        };
        for player in Player::BOTH {
            self.engine.press(player, 0, buttons[player.index()]);
        }
        let advanced =
            self.engine.advance(&mut RuledDuel { duel: &mut self.duel, rules: self.rules, asked: None });
        if let Some(error) = self.record().err().filter(|_| self.trouble.is_none()) {
            self.note_trouble(format!("The recording ends early: {error}"));
        }
        self.log.observe(&self.duel, self.engine.cues());
        self.show.net.push(NetSample::default());
        self.show.frame(&self.duel, self.engine.cues());
        advanced
    }

    /// Records what became certain.
    fn record(&mut self) -> Result<(), String> {
        let Some((_, recorder)) = &mut self.recording else { return Ok(()) };
        recorder.record_settled(&self.engine).map_err(|error| error.to_string())?;
        recorder.take_error().map_or(Ok(()), |error| Err(error.to_string()))
    }

    /// Trouble with the recording never stops the match, and is told once.
    fn note_trouble(&mut self, text: String) {
        self.show.tell(text.clone(), Tone::Warning);
        self.trouble = Some(text);
    }

    /// Acts on the questions; `true` if the players leave an undecided match.
    fn decide(&mut self, input: &InputState) -> bool {
        let decided = matches!(self.duel.phase, Phase::MatchOver { .. });
        let answer = self.prompts.answer(input, self.show.sound(), self.duel.fighters[0].character);
        if decided {
            self.answer = self.answer.or(answer);
            if self.answer.is_none() {
                if !self.prompts.is(Question::Rematch) {
                    self.prompts.ask(Question::Rematch);
                }
                if let Some(banner) = banner(self.show.scene()) {
                    self.prompts.set_text(&banner.text, &banner.below);
                }
            }
        } else {
            self.answer = None;
            if answer.is_none() && !self.prompts.is_open() && pauses(input) {
                self.prompts.ask(Question::Pause);
            }
        }
        self.show.menu(self.prompts.menu());
        !decided && answer == Some(Answer::Leave)
    }

    fn ending(mut self, options: &Options, left: bool) -> Ending {
        let name = |player: Player| &options.names[player.index()];
        let result = match self.duel.phase {
            Phase::Done { winner: Some(player) } | Phase::MatchOver { winner: Some(player) } => {
                format!("{} wins.", name(player))
            }
            Phase::Done { winner: None } | Phase::MatchOver { winner: None } => "A draw.".to_owned(),
            _ if left => "Left before the match was decided.".to_owned(),
            _ => "Stopped before the match was decided.".to_owned(),
        };
        let frames = counted(self.engine.settled().0.into(), "frame");
        let mut ending =
            Ending::of([result.clone(), format!("{frames}, checksum {:08X}", checksum(&self.duel))]);
        ending.page =
            [result].into_iter().chain(self.log.lines(&options.names, &self.duel)).map(Note::calm).collect();
        ending.is_own_choice = left || self.answer == Some(Answer::Leave);
        if let Some((path, recorder)) = self.recording.take() {
            let end = End { outcome: Outcome::Local, winner: winner(&self.duel) };
            let is_empty = recorder.next() == Frame::ZERO;
            let ended = recorder.finish(end).and_then(FileAppender::finish);
            if is_empty {
                // Nobody misses it, and nothing can be done about a file that stays.
                let _ = std::fs::remove_file(&path);
            } else {
                ending.lines.push(format!("Recorded to {}", path.display()));
            }
            let trouble = ended.err().map(|error| format!("The recording ends early: {error}"));
            self.trouble = self.trouble.or(trouble);
        }
        ending.page.extend(self.trouble.iter().map(Note::warning));
        ending.lines.extend(self.trouble);
        ending
    }
}
