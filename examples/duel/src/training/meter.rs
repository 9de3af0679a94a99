//! The frame data of the last move: the frames of the table, and the advantage as it was measured.

use rebout::Player;

use games::duel::moves::Move;
use games::duel::{Action, Character, Duel, Fighter};

/// What a move met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contact {
    Nothing,
    Hit,
    Blocked,
}

/// The figures of one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveReport {
    pub character: Character,
    pub attack: Move,
    pub contact: Contact,
    /// Frames that the attacker was free before the other; negative if after. `None` until both are.
    pub advantage_frames: Option<i32>,
    /// Frames that the projectile of the move has flown so far, until it met something.
    pub flight_frames: Option<u16>,
}

impl MoveReport {
    pub fn name(&self) -> &'static str {
        Self::name_of(self.attack)
    }

    /// The name of a move.
    pub fn name_of(attack: Move) -> &'static str {
        match attack {
            Move::StandLight => "light",
            Move::StandHeavy => "heavy",
            Move::CrouchLight => "low light",
            Move::CrouchHeavy => "sweep",
            Move::AirLight => "air light",
            Move::AirHeavy => "air heavy",
            Move::Fireball => "fireball",
            Move::Rising => "rising strike",
            Move::Throw => "throw",
            Move::Charge => "charge",
            Move::Heel => "heel",
        }
    }

    /// Start-up, active frames and recovery, as the table has them.
    pub fn frames(&self) -> [u16; 3] {
        let data = self.character.data(self.attack);
        [data.startup, data.active, data.recovery]
    }
}

/// Watches one player's moves, frame by frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    last: Option<MoveReport>,
    frame: i32,
    /// The frame in which the attacker was free again, and that of the other.
    free: [Option<i32>; 2],
    since: u16,
}

impl Meter {
    /// The last move, if there was one.
    pub fn last(&self) -> Option<&MoveReport> {
        self.last.as_ref()
    }

    /// Takes in the state after one frame.
    pub fn watch(&mut self, duel: &Duel, player: Player) {
        self.frame += 1;
        let (own, other) = (duel.fighter(player), duel.fighter(player.other()));
        if let Action::Attack(attack) = own.action {
            let is_new = own.since < self.since || self.last.is_none_or(|last| last.attack != attack);
            if is_new || self.free[0].is_some() {
                self.last = Some(MoveReport {
                    character: own.character,
                    attack,
                    contact: Contact::Nothing,
                    advantage_frames: None,
                    flight_frames: None,
                });
                self.free = [None; 2];
            }
            self.since = own.since;
        } else {
            self.since = 0;
        }
        let Some(last) = &mut self.last else { return };
        if last.advantage_frames.is_some() {
            return;
        }
        if let Some(projectile) = own.projectile.filter(|_| last.attack == Move::Fireball) {
            last.flight_frames = Some(projectile.since);
        }
        match contact_of(other) {
            Contact::Nothing => {}
            contact if last.contact == Contact::Nothing && self.free[1].is_none() => last.contact = contact,
            _ => {}
        }
        if last.contact != Contact::Nothing && is_free(other) {
            self.free[1].get_or_insert(self.frame);
        }
        if is_free(own) {
            self.free[0].get_or_insert(self.frame);
        }
        if let [Some(own), Some(other)] = self.free {
            last.advantage_frames = Some(other - own);
        }
    }
}

/// On the ground or in the air, and able to act.
fn is_free(fighter: &Fighter) -> bool {
    (fighter.is_free() || fighter.action == Action::Air || fighter.action == Action::JumpSquat)
        && fighter.hitstop == 0
}

fn contact_of(other: &Fighter) -> Contact {
    match other.action {
        Action::Hit | Action::Launched | Action::Held => Contact::Hit,
        Action::Block => Contact::Blocked,
        _ => Contact::Nothing,
    }
}
