//! Poses: what every action looks like, as the angles of a skeleton.

use games::duel::moves::Move;
use games::duel::{Action, Character, Fighter};

/// The angles of a skeleton, in degrees. Limbs: 0 hangs down, 90 points ahead, 180 up. Spine and head: 0 is upright,
/// positive leans ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub spine: f32,
    pub head: f32,
    /// Upper arm and forearm of the arm nearer to us.
    pub near_arm: [f32; 2],
    pub far_arm: [f32; 2],
    /// Thigh and shin of the leg nearer to us.
    pub near_leg: [f32; 2],
    pub far_leg: [f32; 2],
    /// The whole body about the hips.
    pub turn: f32,
    /// How far the hips are above where the feet would have them.
    pub lift: f32,
}

const fn pose(
    spine: f32,
    head: f32,
    near_arm: [f32; 2],
    far_arm: [f32; 2],
    near_leg: [f32; 2],
    far_leg: [f32; 2],
) -> Pose {
    Pose { spine, head, near_arm, far_arm, near_leg, far_leg, turn: 0.0, lift: 0.0 }
}

const STANCE: Pose = pose(9.0, 4.0, [28.0, 112.0], [48.0, 118.0], [-26.0, -40.0], [34.0, -6.0]);
const CROUCH: Pose = pose(24.0, 6.0, [42.0, 128.0], [62.0, 126.0], [28.0, -74.0], [84.0, -14.0]);
const GUARD: Pose = pose(-9.0, 8.0, [62.0, 162.0], [74.0, 158.0], [-30.0, -30.0], [26.0, 2.0]);
const LOW_GUARD: Pose = pose(16.0, 22.0, [72.0, 166.0], [84.0, 160.0], [30.0, -76.0], [86.0, -12.0]);
const SQUAT: Pose = pose(26.0, 10.0, [-30.0, 20.0], [-20.0, 30.0], [22.0, -58.0], [62.0, -22.0]);
const LEAP: Pose = pose(8.0, -4.0, [70.0, 130.0], [100.0, 140.0], [20.0, -40.0], [78.0, -6.0]);
const FALL: Pose = pose(14.0, 18.0, [100.0, 130.0], [120.0, 150.0], [-4.0, -46.0], [52.0, -30.0]);
const TUCK: Pose = pose(20.0, 10.0, [40.0, 100.0], [60.0, 110.0], [66.0, -52.0], [96.0, -28.0]);

const JAB_BACK: Pose = pose(0.0, 4.0, [10.0, 122.0], [-18.0, 118.0], [-28.0, -40.0], [30.0, -8.0]);
const JAB: Pose = pose(18.0, 2.0, [20.0, 136.0], [90.0, 92.0], [-38.0, -44.0], [42.0, -2.0]);
const ROUNDHOUSE_BACK: Pose = pose(2.0, 6.0, [40.0, 120.0], [-20.0, 60.0], [92.0, -18.0], [6.0, -10.0]);
const ROUNDHOUSE: Pose = pose(-34.0, -4.0, [-36.0, 20.0], [64.0, 128.0], [112.0, 108.0], [-4.0, -12.0]);
const LOW_KICK_BACK: Pose = pose(22.0, 10.0, [40.0, 128.0], [56.0, 128.0], [22.0, -80.0], [66.0, -40.0]);
const LOW_KICK: Pose = pose(8.0, 12.0, [44.0, 134.0], [60.0, 138.0], [30.0, -84.0], [80.0, 76.0]);
const SWEEP_BACK: Pose = pose(30.0, 16.0, [20.0, 60.0], [50.0, 120.0], [52.0, -70.0], [70.0, -50.0]);
const SWEEP: Pose = pose(-26.0, 6.0, [-42.0, -20.0], [70.0, 120.0], [78.0, 82.0], [44.0, -80.0]);
const KNEE_BACK: Pose = pose(12.0, 10.0, [40.0, 110.0], [60.0, 110.0], [40.0, -60.0], [70.0, -30.0]);
const KNEE: Pose = pose(26.0, 14.0, [-10.0, 40.0], [80.0, 130.0], [4.0, -70.0], [74.0, 8.0]);
const FLYING_BACK: Pose = pose(4.0, 8.0, [60.0, 130.0], [80.0, 140.0], [80.0, -50.0], [50.0, -60.0]);
const FLYING: Pose = pose(-16.0, 8.0, [-30.0, 20.0], [90.0, 140.0], [58.0, 56.0], [60.0, -74.0]);
const CAST_BACK: Pose = pose(-4.0, 2.0, [-58.0, 6.0], [-38.0, 30.0], [-34.0, -34.0], [36.0, -10.0]);
const CAST: Pose = pose(27.0, 2.0, [80.0, 88.0], [88.0, 92.0], [-50.0, -56.0], [62.0, 2.0]);
const RISING_BACK: Pose = pose(34.0, 10.0, [-30.0, 10.0], [20.0, 70.0], [24.0, -66.0], [74.0, -18.0]);
const RISING: Pose = pose(-10.0, -22.0, [-20.0, 50.0], [166.0, 176.0], [-14.0, -22.0], [86.0, -30.0]);
const CHARGE_BACK: Pose = pose(30.0, 4.0, [-30.0, 60.0], [30.0, 120.0], [20.0, -50.0], [50.0, -30.0]);
const CHARGE: Pose = pose(62.0, 30.0, [-50.0, 20.0], [60.0, 140.0], [-58.0, -70.0], [74.0, -10.0]);
const HEEL_BACK: Pose = pose(-14.0, -6.0, [-30.0, 20.0], [80.0, 130.0], [156.0, 150.0], [10.0, -40.0]);
const HEEL: Pose = pose(22.0, 16.0, [-50.0, 0.0], [60.0, 120.0], [64.0, 60.0], [20.0, -60.0]);
const PALM_BACK: Pose = pose(-2.0, 4.0, [20.0, 130.0], [-40.0, 100.0], [-28.0, -40.0], [30.0, -8.0]);
const PALM: Pose = pose(24.0, 2.0, [-20.0, 60.0], [92.0, 90.0], [-44.0, -48.0], [50.0, -2.0]);
const HAMMER_BACK: Pose = pose(-18.0, -6.0, [150.0, 200.0], [160.0, 210.0], [-24.0, -36.0], [32.0, -8.0]);
const HAMMER: Pose = pose(34.0, 10.0, [84.0, 70.0], [92.0, 76.0], [-46.0, -54.0], [56.0, 0.0]);
const GRAB_BACK: Pose = pose(0.0, 4.0, [20.0, 60.0], [10.0, 60.0], [-26.0, -40.0], [30.0, -8.0]);
const GRAB: Pose = pose(20.0, 2.0, [72.0, 96.0], [84.0, 88.0], [-38.0, -46.0], [46.0, -2.0]);
const HEAVE: Pose = pose(-24.0, -10.0, [128.0, 150.0], [140.0, 150.0], [-16.0, -26.0], [30.0, -10.0]);
const HURL: Pose = pose(40.0, 16.0, [58.0, 50.0], [74.0, 64.0], [-36.0, -50.0], [60.0, 0.0]);

const HELD: Pose = pose(-12.0, -24.0, [50.0, 90.0], [60.0, 100.0], [-12.0, -30.0], [20.0, -8.0]);
const REELING: Pose = pose(-30.0, -46.0, [-24.0, 34.0], [18.0, 62.0], [-40.0, -34.0], [12.0, -2.0]);
const DOUBLED: Pose = pose(44.0, 54.0, [10.0, 56.0], [20.0, 74.0], [-14.0, -44.0], [44.0, -22.0]);
const LOW_REELING: Pose = pose(-8.0, -34.0, [-10.0, 50.0], [40.0, 80.0], [24.0, -78.0], [78.0, -10.0]);
const FLUNG: Pose =
    Pose { turn: -66.0, ..pose(-14.0, -30.0, [110.0, 140.0], [80.0, 120.0], [30.0, 4.0], [58.0, 20.0]) };
const LYING: Pose =
    Pose { turn: -90.0, ..pose(0.0, 4.0, [40.0, 10.0], [150.0, 166.0], [6.0, -4.0], [34.0, -30.0]) };
const SITTING_UP: Pose =
    Pose { turn: -30.0, ..pose(30.0, 20.0, [-40.0, -30.0], [40.0, 60.0], [80.0, -30.0], [110.0, 10.0]) };
const CHEER: Pose = pose(-6.0, -10.0, [160.0, 176.0], [168.0, 160.0], [-12.0, -10.0], [14.0, 6.0]);
const BROODING: Pose = pose(0.0, -4.0, [40.0, 150.0], [44.0, 146.0], [-12.0, -10.0], [14.0, 6.0]);
const KNEELING: Pose = pose(34.0, 46.0, [14.0, 26.0], [30.0, 44.0], [4.0, -92.0], [84.0, -2.0]);

impl Pose {
    /// The way to `other`: 0 is this pose, 1 is that.
    pub fn toward(&self, other: &Self, share: f32) -> Self {
        let blend = |from: f32, to: f32| from + (to - from) * share;
        let limb = |from: [f32; 2], to: [f32; 2]| [blend(from[0], to[0]), blend(from[1], to[1])];
        Self {
            spine: blend(self.spine, other.spine),
            head: blend(self.head, other.head),
            near_arm: limb(self.near_arm, other.near_arm),
            far_arm: limb(self.far_arm, other.far_arm),
            near_leg: limb(self.near_leg, other.near_leg),
            far_leg: limb(self.far_leg, other.far_leg),
            turn: blend(self.turn, other.turn),
            lift: blend(self.lift, other.lift),
        }
    }
}

/// A pose, and how fast a body goes into it: the share of the way in one frame.
pub struct Target {
    pub pose: Pose,
    pub quickness: f32,
}

const fn gentle(pose: Pose) -> Target {
    Target { pose, quickness: 0.28 }
}

const fn sharp(pose: Pose) -> Target {
    Target { pose, quickness: 0.7 }
}

/// The pose that a fighter should have now. `age` drives the parts that never stand still.
pub fn target_of(fighter: &Fighter, age: u32) -> Target {
    let since = f32::from(fighter.since);
    match fighter.action {
        Action::Stand => gentle(breathing(STANCE, age)),
        Action::WalkForward => Target { pose: walking(since * 0.30), quickness: 0.5 },
        Action::WalkBack => Target { pose: walking(-since * 0.26), quickness: 0.5 },
        Action::Crouch => gentle(breathing(CROUCH, age)),
        Action::Guard | Action::Block => sharp(if fighter.crouching { LOW_GUARD } else { GUARD }),
        Action::JumpSquat | Action::Land => sharp(SQUAT),
        Action::Air => gentle(match fighter.vy.to_num::<f32>() {
            speed if speed > 3.5 => LEAP,
            speed if speed > -4.0 => TUCK,
            _ => FALL,
        }),
        Action::Attack(attack) => attacking(attack, fighter, age),
        Action::Holding if fighter.since < 10 => sharp(GRAB),
        Action::Holding if fighter.since < 21 => gentle(HEAVE),
        Action::Holding => sharp(HURL),
        Action::Held if fighter.since < 10 => sharp(HELD),
        Action::Held => gentle(FLUNG),
        Action::Hit if fighter.crouching => sharp(LOW_REELING),
        Action::Hit => {
            let reels = if fighter.combo_hits % 2 == 1 { REELING } else { DOUBLED };
            if fighter.stun > 7 { sharp(reels) } else { gentle(STANCE) }
        }
        Action::Launched => {
            let falling = (-fighter.vy.to_num::<f32>()).clamp(-6.0, 6.0) * 4.0;
            sharp(Pose { turn: FLUNG.turn - falling, ..FLUNG })
        }
        Action::Down => sharp(LYING),
        Action::Rise if fighter.since < 8 => gentle(SITTING_UP),
        Action::Rise => gentle(CROUCH),
        Action::Victory => {
            let bounce = (since * 0.16).sin();
            let cheer = if since < 18.0 { BROODING } else { CHEER };
            gentle(Pose { lift: bounce.max(0.0) * 5.0, ..cheer })
        }
        Action::Defeat => gentle(breathing(KNEELING, age)),
    }
}

fn attacking(attack: Move, fighter: &Fighter, age: u32) -> Target {
    let data = fighter.data(attack);
    let is_rai = fighter.character == Character::Rai;
    let rest = if fighter.airborne() {
        FALL
    } else if fighter.crouching {
        CROUCH
    } else {
        breathing(STANCE, age)
    };
    let (back, out) = match attack {
        Move::StandLight if is_rai => (PALM_BACK, PALM),
        Move::StandLight => (JAB_BACK, JAB),
        Move::StandHeavy if is_rai => (HAMMER_BACK, HAMMER),
        Move::StandHeavy => (ROUNDHOUSE_BACK, ROUNDHOUSE),
        Move::CrouchLight => (LOW_KICK_BACK, LOW_KICK),
        Move::CrouchHeavy => (SWEEP_BACK, SWEEP),
        Move::AirLight => (KNEE_BACK, KNEE),
        Move::AirHeavy => (FLYING_BACK, FLYING),
        Move::Fireball => (CAST_BACK, CAST),
        Move::Rising => (RISING_BACK, RISING),
        Move::Throw => (GRAB_BACK, GRAB),
        Move::Charge => (CHARGE_BACK, CHARGE),
        Move::Heel => (HEEL_BACK, HEEL),
    };
    // The blow stays out a little longer than it hurts: the eye needs that.
    let lasts = match attack {
        Move::Fireball => 14,
        Move::Rising => 20,
        _ => data.active + 3,
    };
    // He is down behind the shoulder before it strikes.
    let windup = if attack == Move::Charge { 6 } else { data.startup };
    if fighter.since + 2 < windup {
        Target { pose: back, quickness: 0.5 }
    } else if fighter.since < data.startup + lasts {
        Target { pose: out, quickness: 0.75 }
    } else {
        Target { pose: rest, quickness: 0.22 }
    }
}

fn breathing(pose: Pose, age: u32) -> Pose {
    let breath = (age as f32 * 0.11).sin();
    let bend = breath * 3.0;
    Pose {
        spine: pose.spine + breath * 1.6,
        near_arm: [pose.near_arm[0] + breath * 3.0, pose.near_arm[1] - breath * 4.0],
        far_arm: [pose.far_arm[0] - breath * 2.5, pose.far_arm[1] + breath * 4.0],
        near_leg: [pose.near_leg[0] - bend, pose.near_leg[1] - bend],
        far_leg: [pose.far_leg[0] + bend, pose.far_leg[1] - bend],
        ..pose
    }
}

fn walking(phase: f32) -> Pose {
    let stride = |phase: f32| {
        let swing = phase.sin();
        // The knee bends while the leg comes forward.
        let bend = (phase.cos()).max(0.0) * 42.0;
        let thigh = 4.0 + swing * 27.0;
        [thigh + bend * 0.4, thigh - 10.0 - bend]
    };
    let sway = phase.sin() * 7.0;
    Pose {
        near_leg: stride(phase),
        far_leg: stride(phase + core::f32::consts::PI),
        near_arm: [STANCE.near_arm[0] - sway, STANCE.near_arm[1] - sway],
        far_arm: [STANCE.far_arm[0] + sway, STANCE.far_arm[1] + sway],
        ..STANCE
    }
}
