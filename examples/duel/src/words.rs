//! The events of a match, in words that a player understands.

use std::time::Duration;

use rebout::{Agreed, Autopsy, AutopsyVerdict, Event, FieldDifference, Finish, Player, Reason, Verdict};
use rebout::{Code, is_disruptive};

use crate::exit;
use crate::netgraph::counted;
use crate::picture::{Tone, possessive, says};
use games::duel::{Duel, Phase, RoundEnd};
use stage::characters;

/// Whether the player at this machine left.
pub fn is_own_choice(finish: &Finish) -> bool {
    matches!(finish, Finish::Ended(Reason::LeftHere))
}

/// How the program ends after a match that ended like this.
pub fn exit_code(finish: &Finish) -> u8 {
    match finish {
        Finish::Played(Verdict::Agreed { .. }) | Finish::Ended(Reason::LeftHere | Reason::FrameLimit) => {
            exit::PLAYED
        }
        Finish::Played(Verdict::Differs { .. })
        | Finish::Ended(
            Reason::Desync
            | Reason::VoidChecksums { .. }
            | Reason::NotesWithheld
            | Reason::InputsHeldBack
            | Reason::StateFailed
            | Reason::StateFailedHere
            | Reason::ProtocolViolation,
        ) => exit::FAILED,
        _ => exit::LOST,
    }
}

/// The code to compare with the other player, as lines of a panel.
pub fn code_lines(code: Option<Code>) -> Vec<(String, String)> {
    let Some(code) = code else { return vec![("code".to_owned(), "on its way".to_owned())] };
    let mut lines = vec![
        ("code".to_owned(), code.to_string()),
        (" ".to_owned(), "ask the other player whether theirs is the same".to_owned()),
    ];
    if code.guests_before > 0 {
        let tries = format!("{} came before: expect nobody but your friend", code.guests_before);
        lines.push(("careful".to_owned(), tries));
    }
    lines
}

/// Who plays, and from which seat it is told.
#[derive(Clone, Debug)]
pub struct Players {
    pub names: [String; 2],
    pub local: Player,
}

impl Players {
    /// The first words of a match.
    pub fn welcome(&self, agreed: &Agreed) -> String {
        let side = if self.local.index() == 0 { "left" } else { "right" };
        let trip = match agreed.round_trip {
            Some(trip) => format!("round trip {} ms, ", trip.as_millis()),
            None => String::new(),
        };
        format!(
            "{} on the {side} against {}: {trip}input delay {}",
            self.name(self.local),
            self.other(),
            counted(agreed.delay_frames.into(), "frame")
        )
    }

    pub fn name(&self, player: Player) -> &str {
        &self.names[player.index()]
    }

    pub fn other(&self) -> &str {
        self.name(self.local.other())
    }

    /// Who won, or who would have to be said to have.
    pub fn result(&self, duel: &Duel, finish: &Finish) -> String {
        let winner = match duel.phase {
            Phase::Done { winner } | Phase::MatchOver { winner } => Some(winner),
            _ => None,
        };
        let wins = |winner: Option<Player>| match winner {
            Some(player) => says(self.name(player), "wins.", "win."),
            None => "A draw.".to_owned(),
        };
        match (winner, finish) {
            (Some(winner), _) => wins(winner),
            (None, Finish::Ended(Reason::LeftHere)) => {
                format!("You left and forfeit the match: {}", wins(Some(self.local.other())))
            }
            (None, Finish::Ended(Reason::Left | Reason::Restarted)) => {
                format!("{} left and forfeits the match: {}", self.other(), wins(Some(self.local)))
            }
            (None, Finish::Ended(Reason::VoidChecksums { of })) if *of == self.local => {
                format!(
                    "Your machine came to wrong states and forfeits the match: {}",
                    wins(Some(of.other()))
                )
            }
            (
                None,
                Finish::Ended(Reason::VoidChecksums { .. } | Reason::NotesWithheld | Reason::InputsHeldBack),
            ) => format!("{} forfeits the match: {}", self.other(), wins(Some(self.local))),
            (None, Finish::Played(_)) => "Stopped before the match was decided.".to_owned(),
            (None, _) => "The match was not decided.".to_owned(),
        }
    }

    /// Whether the result of an undecided match says already how it ended.
    pub fn says_why(&self, duel: &Duel, finish: &Finish) -> bool {
        let decided = matches!(duel.phase, Phase::Done { .. } | Phase::MatchOver { .. });
        !decided && matches!(finish, Finish::Ended(Reason::Left | Reason::LeftHere | Reason::Restarted))
    }

    /// The end of the connection, as a sentence.
    pub fn connection(&self, finish: &Finish) -> String {
        let other = self.other();
        match finish {
            Finish::Played(Verdict::Agreed { .. }) => "Both machines agree on every frame.".to_owned(),
            Finish::Played(Verdict::Differs { .. }) => {
                "The two machines ended with different results: this match does not count.".to_owned()
            }
            Finish::Played(Verdict::Unconfirmed { .. }) => {
                format!("{other} was gone before the result could be compared.")
            }
            Finish::Ended(Reason::Left) => format!("{other} left."),
            Finish::Ended(Reason::LeftHere) => format!("{other} has been told that you left."),
            Finish::Ended(Reason::TimedOut) => {
                format!(
                    "The connection to {other} was lost, and {other} did not come back in time. Nobody left."
                )
            }
            Finish::Ended(Reason::NoProgress) => format!("{other}'s game stood still for too long."),
            Finish::Ended(Reason::TooSlow) => {
                format!("{other}'s frames came too slowly to go on: a slow machine, or a slow connection.")
            }
            Finish::Ended(Reason::GaveUp) => {
                format!("{other}'s machine heard nothing from yours for too long and gave up. Nobody left.")
            }
            Finish::Ended(Reason::Restarted) => format!("{other} has started the game anew."),
            Finish::Ended(Reason::Desync) => {
                "The two machines no longer agree about the match, so it was stopped.".to_owned()
            }
            Finish::Ended(Reason::VoidChecksums { of }) if *of == self.local => {
                "Twice your machine came to a state that the inputs do not give.".to_owned()
            }
            Finish::Ended(Reason::VoidChecksums { .. }) => {
                format!("Twice {other}'s machine claimed a state that the inputs do not give.")
            }
            Finish::Ended(Reason::NotesWithheld) => {
                format!("The states differed, and {other}'s machine did not help to find out why.")
            }
            Finish::Ended(Reason::InputsHeldBack) => format!("{other}'s inputs came too late for too long."),
            Finish::Ended(Reason::ProtocolViolation) => {
                format!("{other}'s program broke the rules of the protocol.")
            }
            Finish::Ended(Reason::FrameLimit) => "The match has reached its last possible frame.".to_owned(),
            _ => finish.to_string(),
        }
    }

    /// The match waits for the other player, for so long.
    pub fn interrupted(&self, left: Duration) -> String {
        let seconds = left.as_millis().div_ceil(1_000);
        format!("waiting for {}, {seconds} s: Esc to leave", self.other())
    }

    /// Who has paused the match.
    pub fn paused(&self, by: Player) -> String {
        if by == self.local {
            "you paused the match".to_owned()
        } else {
            format!("{} paused the match", self.other())
        }
    }

    /// The choices of the player in a pause, with the time until the limit.
    pub fn pause_limit(&self, by: Player, left: Duration) -> String {
        let seconds = left.as_millis().div_ceil(1_000);
        let other = self.other();
        match (by == self.local, seconds) {
            (true, 0) => format!("{other} may go on or leave now."),
            (true, _) => format!("{other} may go on in {seconds} s. Whoever leaves forfeits it."),
            (false, 0) => "You may go on, or leave without a forfeit.".to_owned(),
            (false, _) => format!("You may go on in {seconds} s. Whoever leaves forfeits it."),
        }
    }

    /// The countdown at the end of a pause.
    pub fn countdown(&self, left: Duration) -> String {
        format!("the match goes on in {} s", left.as_millis().div_ceil(1_000))
    }

    /// The other one was found by its address, and nobody has compared the code.
    pub fn not_verified(&self, code: Code) -> String {
        format!("not verified: press v if {} has the code {code} too", self.other())
    }

    /// The player has compared the code.
    pub fn verified(&self) -> String {
        format!("verified: it is {}", self.other())
    }

    /// The frames of the other machine come slowly, and the match follows them at this rate, in thousandths. The machine or
    /// the connection may be slow.
    pub fn slow(&self, rate_permille: u16) -> String {
        let percent = rate_permille / 10;
        format!("{}'s frames come slowly: the match runs at {percent} % of its speed", self.other())
    }

    /// The frames of the other machine come in time again.
    pub fn recovered(&self) -> String {
        "the match runs at full speed again".to_owned()
    }

    /// A round that has begun or has been decided.
    pub fn round(&self, duel: &Duel) -> Option<String> {
        let round = duel.round;
        let (winner, end) = match duel.phase {
            Phase::RoundOver { winner, end } => (winner, end),
            Phase::Fight => return Some(format!("Round {round} begins")),
            _ => return None,
        };
        let how = match end {
            RoundEnd::Ko => "by knockout",
            RoundEnd::Time => "on time",
        };
        Some(match winner {
            Some(player) => format!("Round {round}: {} {how}", says(self.name(player), "wins", "win")),
            None => format!("Round {round}: a draw {how}"),
        })
    }

    /// An event of the match at this time, and how urgent it is; `None` if the players need not know.
    pub fn event(&self, event: &Event, now: Duration) -> Option<(String, Tone)> {
        let other = self.other();
        Some(match *event {
            Event::Interrupted { disconnect_at } => {
                (self.interrupted(disconnect_at.saturating_sub(now)), Tone::Alarm)
            }
            Event::Rejoined { player, .. } => {
                let back = if player == self.local { "you are" } else { &format!("{other} is") };
                (format!("{back} back in the match"), Tone::Calm)
            }
            Event::Resumed => (format!("{other} is back"), Tone::Calm),
            Event::Desync(ref desync) => {
                (format!("the two machines disagree about frame {}", desync.frame), Tone::Alarm)
            }
            Event::InputConflict { frame, .. } => {
                let text = format!(
                    "{other}'s machine sent two different inputs for frame {frame}; the first one counts"
                );
                (text, Tone::Warning)
            }
            Event::DelayChanged { delay_frames } => {
                let frames = counted(delay_frames.into(), "frame");
                (format!("the connection changed: your inputs now have {frames} of delay"), Tone::Calm)
            }
            Event::PeerDelay { delay_frames } => {
                let frames = counted(delay_frames.into(), "frame");
                (format!("{other} now plays with {frames} of delay"), Tone::Calm)
            }
            Event::PeerSlow { rate_permille } => (self.slow(rate_permille), Tone::Warning),
            Event::InputsLate { excess } => {
                let ms = excess.as_millis();
                (format!("{other}'s inputs come {ms} ms later than the connection explains"), Tone::Warning)
            }
            Event::SlowRollback { takes, delay_frames, .. } => {
                let (ms, frames) = (takes.as_millis(), counted(delay_frames.into(), "frame"));
                (
                    format!("this machine needs {ms} ms for a rollback; a delay of {frames} helps"),
                    Tone::Warning,
                )
            }
            Event::PeerRecovered => (self.recovered(), Tone::Calm),
            Event::Paused { by } => (self.paused(by), Tone::Calm),
            Event::Resuming { at } => (self.countdown(at.saturating_sub(now)), Tone::Calm),
            Event::PauseEnded => ("the match goes on".to_owned(), Tone::Calm),
            Event::PauseRefused => (format!("{other}'s machine allows no more pauses"), Tone::Warning),
            Event::ClockMistake { offset, .. } => {
                let ms = offset.as_millis();
                (format!("this program reads two clocks that differ by {ms} ms"), Tone::Alarm)
            }
            // Messages of the game's own, which the duel does not send, and the events of later versions.
            _ => return None,
        })
    }

    /// The report about a desync: the first frame and the first field that differ.
    pub fn autopsy(&self, autopsy: &Autopsy) -> Vec<String> {
        let mut lines = vec![match autopsy.fields.first() {
            Some(field) => {
                let since = if autopsy.exact { "since frame" } else { "at the latest since frame" };
                format!("The machines disagree {since} {}: {}", autopsy.first_divergence, self.field(field))
            }
            None => format!("The machines disagree since frame {}.", autopsy.first_divergence),
        }];
        let more = autopsy.fields.len().saturating_sub(1);
        if more > 0 {
            let things = if more == 1 {
                "One more thing differs".to_owned()
            } else {
                format!("{more} more things differ")
            };
            lines.push(format!("{things}; the report has the list."));
        }
        lines.push(match autopsy.verdict {
            AutopsyVerdict::NotReproducible { one: true, two: true } => {
                "The states on both machines are not what their rules give.".to_owned()
            }
            AutopsyVerdict::NotReproducible { one, .. } => {
                let player = if one { Player::One } else { Player::Two };
                format!("The state on {} machine is not what its rules give.", possessive(self.name(player)))
            }
            AutopsyVerdict::StepDiffers => "The two programs do not play by the same rules.".to_owned(),
            AutopsyVerdict::StartDiffers => "They did not begin from the same state.".to_owned(),
            _ => "It is not known whose fault that is.".to_owned(),
        });
        lines
    }

    /// `fighters[1].health: 993 / 1000` as `Ben's health is 993 on Ann's machine and 1000 on Ben's`.
    fn field(&self, field: &FieldDifference) -> String {
        let mut what = field.path.clone();
        for player in Player::BOTH {
            let path = format!("fighters[{}].", player.index());
            if let Some(rest) = field.path.strip_prefix(&path) {
                let rest = match rest {
                    "x" | "y" => "place",
                    "vx" | "vy" => "speed",
                    other => other,
                };
                what = format!("{} {rest}", possessive(self.name(player)));
            }
        }
        let value = |side: &Option<String>| side.clone().unwrap_or_else(|| "nothing".to_owned());
        let (one, two) = (value(&field.one), value(&field.two));
        let machines = Player::BOTH.map(|player| possessive(self.name(player)));
        format!("{what} is {one} on {} machine and {two} on {}", machines[0], machines[1])
    }
}

/// The longest name that is shown.
pub const NAME_CHARACTERS: usize = 16;

/// The name that the other side gives itself. It comes from outside: short, and nothing that moves a cursor or turns
/// the words around it.
pub fn name_in(text: &str) -> String {
    let text: String = text.chars().filter(|character| !is_disruptive(*character)).collect();
    // A character that is not seen would make another name of "You", and many marks would grow over other rows.
    let name: String = characters::visible(&text).chars().take(NAME_CHARACTERS).collect();
    let name = name.trim();
    // "You" is the player at this machine, in every sentence: another one of that name would win in their place.
    let is_taken = name.eq_ignore_ascii_case("you");
    if name.is_empty() || is_taken { "Nameless".to_owned() } else { name.to_owned() }
}

/// Both names by seat, and never the same one twice.
pub fn names_by_seat(seat: Player, own: &str, agreed: &Agreed) -> [String; 2] {
    let mut names = [own.to_owned(), name_in(&String::from_utf8_lossy(&agreed.user_data))];
    if seat == Player::Two {
        names.reverse();
    }
    if names[0] == names[1] {
        names[0].push_str(" 1");
        names[1].push_str(" 2");
    }
    names
}
