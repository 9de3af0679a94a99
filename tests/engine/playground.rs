//! The reference game against its rules: once more from the text, phase by phase, and cases worked out by hand. The
//! golden value lands no hit, so that it says nothing about combat.

use games::playground::{ATTACK, Action, HIT, JUMP, LEFT, Playground, RIGHT};
use proptest::prelude::*;
use rebout::{Buttons, Cues, Game, Inputs, SimHash, checksum};

const IDLE: i32 = 0;
const RUN: i32 = 1;
const JUMPING: i32 = 2;
const ATTACKING: i32 = 3;
const STUNNED: i32 = 4;

/// A player as the text has it: eleven numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct P {
    x: i32,
    y: i32,
    vx: i32,
    vy: i32,
    facing: i32,
    action: i32,
    hitstun: i32,
    hp: i32,
    cooldown: i32,
    active: i32,
    has_hit: i32,
}

struct Text {
    frame: u32,
    p: [P; 2],
    rng: u32,
}

impl Text {
    fn new(seed: u32) -> Self {
        let p = |x, facing| P {
            x,
            y: 0,
            vx: 0,
            vy: 0,
            facing,
            action: IDLE,
            hitstun: 0,
            hp: 100,
            cooldown: 0,
            active: 0,
            has_hit: 0,
        };
        Self { frame: 0, p: [p(4000, 1), p(16000, -1)], rng: seed }
    }

    fn step(&mut self, held: [u16; 2]) {
        let [left, right, jump, attack] = [1, 2, 4, 8].map(|bit| held.map(|held| held & bit != 0));
        // A
        self.frame += 1;
        // B
        for p in &mut self.p {
            if p.cooldown > 0 {
                p.cooldown -= 1;
            }
        }
        for p in &mut self.p {
            if p.hitstun > 0 {
                p.hitstun -= 1;
                if p.hitstun == 0 {
                    p.action = IDLE;
                }
            }
        }
        // C
        for (p, attack) in self.p.iter_mut().zip(attack) {
            if p.action != STUNNED && attack && p.cooldown == 0 {
                p.action = ATTACKING;
                p.active = 5;
                p.cooldown = 30;
                p.has_hit = 0;
            }
        }
        // D
        for (seat, p) in self.p.iter_mut().enumerate() {
            if p.action == STUNNED {
                continue;
            }
            if right[seat] {
                p.x += 300;
                p.facing = 1;
            } else if left[seat] {
                p.x -= 300;
                p.facing = -1;
            }
            if right[seat] || left[seat] {
                if p.action != JUMPING && p.action != ATTACKING {
                    p.action = RUN;
                }
            } else if p.action == RUN {
                p.action = IDLE;
            }
            if jump[seat] && p.y == 0 && p.action != JUMPING {
                p.vy = 500;
                p.action = JUMPING;
            }
            p.x = p.x.clamp(0, 19400);
        }
        // E
        for p in &mut self.p {
            p.vy -= 40;
            p.y += p.vy;
            if p.y <= 0 {
                p.y = 0;
                p.vy = 0;
                if p.action == JUMPING {
                    p.action = IDLE;
                }
            }
        }
        // F
        for p in &mut self.p {
            if p.active > 0 {
                p.active -= 1;
                if p.active == 0 && p.action == ATTACKING {
                    p.action = IDLE;
                }
            }
        }
        // G
        let hits = [(0, 1), (1, 0)].map(|(a, d)| {
            let (a, d) = (self.p[a], self.p[d]);
            let (x0, x1) = if a.facing == 1 { (a.x + 600, a.x + 1300) } else { (a.x - 700, a.x) };
            let wide = x0 < d.x + 600 && x1 > d.x;
            let high = a.y < d.y + 900 && a.y + 700 > d.y;
            a.active > 0 && a.has_hit == 0 && wide && high
        });
        for (a, d) in [(0, 1), (1, 0)] {
            if hits[a] {
                self.p[a].has_hit = 1;
                self.p[d].hp = (self.p[d].hp - 25).max(0);
                self.p[d].hitstun = 20;
                self.p[d].action = STUNNED;
            }
        }
    }

    fn checksum(&self) -> u32 {
        let mut hash = SimHash::new();
        hash.word(self.frame);
        for p in &self.p {
            let P { x, y, vx, vy, facing, action, hitstun, hp, cooldown, active, has_hit } = *p;
            for number in [x, y, vx, vy, facing, action, hitstun, hp, cooldown, active, has_hit] {
                hash.word(number as u32);
            }
        }
        hash.word(self.rng);
        hash.finish()
    }
}

fn step_both(seed: u32, inputs: impl IntoIterator<Item = Inputs>) -> Text {
    let (mut text, mut game) = (Text::new(seed), Playground::new(seed).unwrap());
    assert_eq!(text.checksum(), checksum(&game));
    for inputs in inputs {
        text.step(inputs.0.map(|held| held.buttons().0));
        game.step(inputs, &mut Cues::new());
        assert_eq!(text.checksum(), checksum(&game), "frame {}: {:?}\n{game:?}", text.frame, text.p);
    }
    text
}

#[test]
fn text_reaches_the_golden_value_too() {
    assert_eq!(step_both(1, (0..1000).map(games::playground::script::golden)).checksum(), 0x41B7_3DB7);
}

#[test]
fn scripted_fights_go_by_the_text() {
    for seed in 1..40 {
        let text = step_both(seed, games::playground::script::fight(seed, 1200).unwrap());
        assert!(text.p.iter().all(|p| p.hp < 100), "seed {seed}: {:?}", text.p);
    }
}

proptest! {
    #[test]
    fn any_inputs_go_by_the_text(
        seed in 1_u32..,
        runs in prop::collection::vec((any::<u16>(), any::<u16>(), 1_usize..25), 1..60),
        meet in 0_usize..25,
    ) {
        let arbitrary = runs.into_iter().flat_map(|(one, two, frames)| {
            std::iter::repeat_n(Inputs::from([Buttons(one), Buttons(two)]), frames)
        });
        step_both(seed, std::iter::repeat_n(Inputs::from([RIGHT, LEFT]), meet).chain(arbitrary));
    }
}

/// Steps `frames` times with the same buttons; how many hits each player has landed.
fn hold_buttons(game: &mut Playground, one: Buttons, two: Buttons, frames: usize) -> [usize; 2] {
    let mut cues = Cues::new();
    let mut hits = [0; 2];
    for _ in 0..frames {
        cues.clear();
        game.step(Inputs::from([one, two]), &mut cues);
        for (hits, cue) in hits.iter_mut().zip(HIT) {
            *hits += usize::from(cues.as_slice().contains(&cue));
        }
    }
    hits
}

/// Both 1200 apart, facing each other.
fn face_to_face() -> Playground {
    let mut game = Playground::new(1).unwrap();
    hold_buttons(&mut game, RIGHT, LEFT, 18);
    assert_eq!((game.fighters[0].x, game.fighters[1].x), (9_400, 10_600));
    game
}

#[test]
fn attack_hits_once_for_25_and_stuns_for_20_frames() {
    let mut game = face_to_face();
    assert_eq!(hold_buttons(&mut game, ATTACK, Buttons::NONE, 1), [1, 0]);
    let [one, two] = game.fighters;
    assert_eq!((one.active, one.cooldown, one.has_hit, one.action), (4, 30, true, Action::Attack));
    assert_eq!((two.hp, two.hitstun, two.action), (75, 20, Action::Hitstun));
    assert_eq!(hold_buttons(&mut game, ATTACK, RIGHT, 19), [0, 0]);
    assert_eq!((game.fighters[1].x, game.fighters[1].hitstun), (10_600, 1), "it cannot walk away");
    hold_buttons(&mut game, Buttons::NONE, RIGHT, 1);
    assert_eq!((game.fighters[1].x, game.fighters[1].action), (10_900, Action::Run));
}

#[test]
fn two_attacks_in_one_frame_both_land() {
    let mut game = face_to_face();
    assert_eq!(hold_buttons(&mut game, ATTACK, ATTACK, 1), [1, 1]);
    assert_eq!(game.fighters.map(|fighter| fighter.hp), [75, 75]);
}

#[test]
fn attack_reaches_to_just_below_1300_and_not_behind() {
    for (apart, back, hits) in
        [(1_299, false, 1), (1_300, false, 0), (1, false, 1), (0, false, 0), (600, true, 0)]
    {
        let mut game = face_to_face();
        game.fighters[1].x = game.fighters[0].x + apart;
        game.fighters[0].facing = if back { -1 } else { 1 };
        assert_eq!(
            hold_buttons(&mut game, ATTACK, Buttons::NONE, 6)[0],
            hits,
            "{apart} apart, back turned: {back}"
        );
    }
}

#[test]
fn fifth_hit_changes_nothing_but_the_stun() {
    let mut game = face_to_face();
    let hits: usize = (0..5).map(|_| hold_buttons(&mut game, ATTACK, Buttons::NONE, 30)[0]).sum();
    assert_eq!((hits, game.fighters[1].hp), (5, 0));
    assert!(!game.finished(), "nothing special happens");
}

#[test]
fn jump_takes_24_frames_and_ends_an_attack() {
    let mut game = Playground::new(1).unwrap();
    hold_buttons(&mut game, JUMP | ATTACK, Buttons::NONE, 1);
    let one = game.fighters[0];
    assert_eq!((one.action, one.active, one.vy, one.y), (Action::Jump, 4, 460, 460));
    let landed = (2..60).find(|_| {
        hold_buttons(&mut game, Buttons::NONE, Buttons::NONE, 1);
        game.fighters[0].y == 0
    });
    // 460 + 420 + ... is positive up to 23 frames; the sum of 24 is 0.
    assert_eq!((landed, game.fighters[0].action), (Some(24), Action::Idle));
}
