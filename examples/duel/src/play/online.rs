//! A match against another machine, with a player at this one: the loop that an embedder copies.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use rebout::replay::Header;
use rebout::{Advanced, Agreed, Autopsy, Buttons, Config, Event, OnDesync};

use super::asks::{Answer, Asks, Question};
use super::line::Line;
use super::link::Link;
use super::meet::{Way, meet, names_by_seat};
use super::reel::{Reel, Saved};
use super::rules::Wishes;
use super::show::{Show, leaves, pauses};
use super::table::Table;
use super::words::{Cast, Over};
use super::{Ending, FRAME, Failure, Hand, record};
use crate::netgraph::{Played, counted};
use crate::picture::{Tone, banner};
use crate::view::{Hands, Screen};
use games::duel::Phase;
use games::duel::buttons::{LEAVE, START};
use stage::Key;

/// A stall shorter than this is not worth a word.
const FELT_STALL_FRAMES: u32 = 10;

/// The side of this machine in a match.
pub struct Seat {
    pub hand: Hand,
    pub wishes: Wishes,
    /// Where the match is recorded, if it is.
    pub record: Option<PathBuf>,
    /// The net graph is open from the beginning.
    pub net: bool,
    /// Nobody is there to be asked.
    pub in_haste: bool,
    /// What the fighters wear.
    pub outfits: [usize; 2],
    pub timings: bool,
    /// Sounds come from the steps themselves, past the ledger of cues.
    pub without_cues: bool,
}

struct Match<'a> {
    table: Table,
    hand: Hand,
    cast: Cast,
    show: Show<'a>,
    link: Option<Link>,
    /// The peer's address, as the line knows it.
    peer: SocketAddr,
    /// The line goes to somebody whom nobody has verified, and the player knows.
    warned: bool,
    disconnect_at: Option<Duration>,
    stalled_in_a_row: u32,
    /// The rematch has been declined, or the game is to be left once the match is decided.
    declines: bool,
    wants_rematch: bool,
    asks: Asks,
    /// The last words about the rounds.
    told_round: Option<String>,
    autopsy: Option<Autopsy>,
    over: Option<Over>,
}

/// Finds the other machine and plays until the match is over or someone leaves.
///
/// # Errors
/// If there was no match, in words for the player.
pub fn online(
    screen: &Screen,
    seat: Seat,
    mut line: Line,
    way: &Way,
    link: Option<Link>,
) -> Result<Ending, Failure> {
    let mut config = seat.wishes.config();
    // A match that means something different on each screen is no match.
    config.on_desync = OnDesync::Stop;
    if link.is_some() {
        patient(&mut config);
    }
    let asks = !seat.in_haste && matches!(seat.hand, Hand::Keys(_));
    let mut lobby = way.lobby(config, asks).map_err(Failure::of)?;
    let here = [seat.wishes.name.clone(), "?".to_owned()];
    let Some(mut agreed) = meet(screen, &mut line, &mut lobby, way, &here, seat.outfits)? else {
        return Ok(Ending { is_own_choice: true, ..Ending::of(["Left before the match began.".to_owned()]) });
    };
    let cast = Cast { names: names_by_seat(agreed.seat, &seat.wishes.name, &agreed), local: agreed.seat };
    let header = Header::of_match(&seat.wishes.config(), &agreed);
    let reel = seat.record.as_ref().map(|folder| Reel::begin(folder, header, &cast.names));
    let mut table = Table::begin(line, lobby, seat.wishes.rules, reel).map_err(Failure::of)?;
    if seat.without_cues {
        table.listen_to_steps();
    }
    let mut show = Show::new(screen, &table.duel, cast.names.clone(), seat.net);
    show.dress(seat.outfits);
    show.tell(welcome(&cast, &agreed), Tone::Calm);
    let mut game = Match {
        table,
        hand: seat.hand,
        cast,
        show,
        link,
        peer: agreed.peer,
        warned: false,
        disconnect_at: None,
        stalled_in_a_row: 0,
        declines: false,
        wants_rematch: false,
        asks: Asks::default(),
        told_round: None,
        autopsy: None,
        over: None,
    };
    let over = game.play(&mut agreed)?;
    game.table.close();
    let mut ending = game.ending(over, seat.record.as_deref());
    if seat.timings {
        ending.lines.push(screen.timings());
    }
    Ok(ending)
}

/// A player who pauses a match against the bot may come back after lunch.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Lets a match rest for as long as the player wants.
pub(super) fn patient(config: &mut Config) {
    (config.timeouts.no_progress_after, config.timeouts.too_slow_after) = (PATIENCE, PATIENCE);
}

fn welcome(cast: &Cast, agreed: &Agreed) -> String {
    let side = if cast.local.index() == 0 { "left" } else { "right" };
    let trip = match agreed.round_trip {
        Some(trip) => format!("round trip {} ms, ", trip.as_millis()),
        None => String::new(),
    };
    format!(
        "{} on the {side} against {}: {trip}input delay {}",
        cast.name(cast.local),
        cast.other(),
        counted(agreed.delay_frames.into(), "frame")
    )
}

impl Match<'_> {
    fn play(&mut self, agreed: &mut Agreed) -> Result<Over, Failure> {
        loop {
            self.hear();
            if let Some(over) = self.over {
                return Ok(over);
            }
            if self.asks.is(Question::Pause) {
                self.rest()?;
                continue;
            }
            self.table.wait()?;
            let hands = self.show.hands();
            self.obey(&hands);
            let buttons = self.buttons(&hands);
            self.doubt();
            let played = self.table.advance(buttons)?;
            if let Some(text) = self.table.recording_trouble() {
                self.show.tell(text, Tone::Warning);
            }
            if played.advanced != Advanced::NotDue {
                self.show.net.note(&self.table.session, &played);
                self.show.net.link = self.link.as_ref().map_or_else(String::new, ToString::to_string);
                self.greet(agreed);
                self.warn(&played);
                let (duel, cues) = (&self.table.duel, self.table.session.cues());
                match self.table.asked() {
                    Some(asked) => self.show.frame_without_cues(duel, cues, asked),
                    None => self.show.frame(duel, cues),
                }
            }
        }
    }

    fn buttons(&mut self, hands: &Hands) -> Buttons {
        let mut buttons = if self.asks.is_open() {
            Buttons::NONE
        } else {
            self.hand.buttons(&self.table.duel, self.table.seat(), hands)
        };
        if self.wants_rematch {
            buttons |= START;
        }
        if self.declines {
            buttons |= LEAVE;
        }
        buttons
    }

    /// A moment of a paused match against the bot: packets move, and nobody plays.
    fn rest(&mut self) -> Result<(), Failure> {
        self.table.rest(FRAME)?;
        let hands = self.show.hands();
        let answer = if hands.closed { Some(Answer::Leave) } else { self.asks.answer(&hands) };
        if let Some(answer) = answer {
            self.asks.close();
            self.pause(false);
            if answer == Answer::Leave {
                self.table.session.leave();
            }
        }
        self.show.menu(self.asks.menu());
        self.show.refresh();
        Ok(())
    }

    fn pause(&mut self, is_paused: bool) {
        self.link.iter().for_each(|link| link.pause(is_paused));
        if is_paused {
            self.asks.ask(Question::Pause);
        }
    }

    /// Handles the events of the session.
    fn hear(&mut self) {
        while let Some(event) = self.table.poll_event() {
            match event {
                Event::Interrupted { disconnect_at } => {
                    self.disconnect_at = Some(disconnect_at);
                    let left = disconnect_at.saturating_sub(self.table.line.now());
                    self.show.tell(self.cast.interrupted(left), Tone::Alarm);
                }
                Event::Resumed => {
                    self.disconnect_at = None;
                    self.show.tell(format!("{} is back", self.cast.other()), Tone::Calm);
                }
                Event::Desync(desync) => {
                    let text = format!("the two machines disagree about frame {}", desync.frame);
                    self.show.tell(text, Tone::Alarm);
                }
                Event::Autopsy(autopsy) => self.autopsy = Some(*autopsy),
                Event::InputConflict { frame, .. } => {
                    let other = self.cast.other();
                    let text = format!(
                        "{other}'s machine changed its mind about frame {frame}: the first word counts"
                    );
                    self.show.tell(text, Tone::Warning);
                }
                Event::PeerDelay { delay_frames } => {
                    let frames = counted(delay_frames.into(), "frame");
                    let text = format!("{} now plays with {frames} of delay", self.cast.other());
                    self.show.tell(text, Tone::Calm);
                }
                Event::PeerSlow { rate_permille } => {
                    self.show.tell(self.cast.slow(rate_permille), Tone::Warning);
                }
                Event::InputsLate { excess } => {
                    let (other, ms) = (self.cast.other(), excess.as_millis());
                    let text = format!("{other}'s inputs come {ms} ms later than the connection explains");
                    self.show.tell(text, Tone::Warning);
                }
                Event::PeerRecovered => self.show.tell(self.cast.recovered(), Tone::Calm),
                Event::Ended(verdict) => self.over = Some(Over::Played(verdict)),
                Event::Disconnected { reason } => self.over = Some(Over::Early(reason)),
                // Messages of the game's own, which the duel does not send, and the events of later versions.
                _ => {}
            }
        }
    }

    /// Greets a joiner again once its machine has measured the round trip too, which the host had from the handshake.
    fn greet(&mut self, agreed: &mut Agreed) {
        if agreed.round_trip.is_none() && self.show.net.round_trip_millis.is_some() {
            agreed.round_trip = self.table.session.stats().round_trip;
            self.show.say(welcome(&self.cast, agreed), Tone::Calm);
        }
    }

    /// Says that nobody has compared the code, once there is one to compare.
    fn doubt(&mut self) {
        if self.warned || self.table.line.is_verified(self.peer) {
            return;
        }
        if let Some(code) = self.table.line.code(self.peer) {
            self.show.tell(self.cast.not_verified(code), Tone::Warning);
            self.warned = true;
        }
    }

    /// Keys that are not buttons: leaving, the delay, the link.
    fn obey(&mut self, hands: &Hands) {
        let decided = matches!(self.table.certain().phase, Phase::MatchOver { .. });
        self.decide(hands, decided);
        self.ask_for_rematch(decided);
        self.show.menu(self.asks.menu());
        if self.asks.is_open() {
            return;
        }
        for key in hands.presses.iter().filter(|key| !self.hand.uses(**key)) {
            if let Some(text) = self.link.as_mut().and_then(|link| link.press(*key)) {
                self.show.tell(text, Tone::Calm);
            }
            if *key == Key::Char('v') && self.warned && self.table.line.verify(self.peer) {
                self.show.tell(self.cast.verified(), Tone::Calm);
            }
            let delay = self.table.session.delay_frames();
            let delay = match key {
                Key::F(2) => delay.saturating_sub(1),
                Key::F(3) => delay + 1,
                _ => continue,
            };
            let text = match self.table.set_delay(delay) {
                Ok(()) => format!("your input delay: {}", counted(delay.into(), "frame")),
                Err(error) => error.to_string(),
            };
            self.show.tell(text, Tone::Calm);
        }
    }

    /// Leaving, by all its ways.
    fn decide(&mut self, hands: &Hands, decided: bool) {
        if hands.closed {
            return self.table.session.leave();
        }
        let answer = self.asks.answer(hands);
        let says_no = match answer {
            Some(Answer::Rematch) => {
                self.wants_rematch = true;
                return;
            }
            Some(Answer::GoOn) => return,
            Some(Answer::Leave) => true,
            None if self.asks.is_open() => false,
            // The bot waits for somebody who cannot see it; another player does not.
            None if self.link.is_some() && !decided => pauses(hands),
            None => leaves(hands),
        };
        match (says_no, &self.hand) {
            (false, _) => {}
            // Nobody forfeits a match that is over: the rematch is declined, and both machines come to the same end.
            _ if decided => self.declines = true,
            (true, Hand::Keys(_)) if answer.is_none() && self.link.is_some() => self.pause(true),
            (true, Hand::Keys(_)) if answer.is_none() => self.asks.ask(Question::Leave),
            _ => self.table.session.leave(),
        }
    }

    /// Asks whoever plays here for a rematch, as long as the game waits for one.
    fn ask_for_rematch(&mut self, decided: bool) {
        if !decided {
            self.wants_rematch = false;
            if self.asks.is(Question::Rematch) {
                self.asks.close();
            }
            return;
        }
        let is_player = matches!(self.hand, Hand::Keys(_)) && self.show.is_seen();
        if is_player && !self.wants_rematch && !self.declines {
            if !self.asks.is(Question::Rematch) {
                self.asks.ask(Question::Rematch);
            }
            if let Some(banner) = banner(self.show.scene()) {
                self.asks.word(&banner.text, &banner.below);
            }
        }
    }

    /// Tells the player of an interrupted connection, of a stall that can be felt, and of the rounds.
    fn warn(&mut self, played: &Played) {
        // Who cut the line must not wonder how to mend it.
        let cut = self.link.as_ref().and_then(Link::cut_words);
        if let Some(disconnect_at) = self.disconnect_at {
            let left = disconnect_at.saturating_sub(self.table.line.now());
            let interrupted = self.cast.interrupted(left);
            let text = cut.map_or_else(|| interrupted.clone(), |cut| format!("{cut}; {interrupted}"));
            self.show.say(text, Tone::Alarm);
        } else if let Some(cut) = cut {
            self.show.say(cut, Tone::Warning);
        } else if played.advanced == Advanced::Stalled {
            self.stalled_in_a_row += 1;
            if self.stalled_in_a_row == FELT_STALL_FRAMES {
                self.show.say(format!("waiting for {}", self.cast.other()), Tone::Warning);
            }
        } else {
            self.stalled_in_a_row = 0;
        }
        let told = self.cast.round(self.table.certain());
        if told.is_some() && told != self.told_round {
            self.show.tell_aside(told.as_deref().unwrap_or_default());
            self.told_round = told;
        }
    }

    fn ending(&mut self, over: Over, folder: Option<&std::path::Path>) -> Ending {
        let saved = self.table.finish_recording();
        let certain = self.table.certain();
        let mut lines = vec![self.cast.result(certain, over), self.cast.connection(over)];
        let replay = self.table.replay();
        if let Some(autopsy) = &self.autopsy {
            lines.extend(self.cast.autopsy(autopsy));
            if let Some(folder) = folder {
                lines.push(record::save_desync(autopsy, replay, folder));
            }
        }
        let frames = counted(replay.inputs.len() as u64, "frame");
        lines.push(format!("{frames}, checksum {:08X}", self.table.checksum()));
        lines.extend(self.table.line.way().map(super::reaching::Way::line));
        lines.extend(saved.iter().flat_map(Saved::lines));
        Ending { lines, code: over.exit_code(), is_own_choice: over.is_own_choice() || self.declines }
    }
}
