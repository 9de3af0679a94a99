//! The game of `docs/EMBEDDING.md`: two paddles and a ball, in integers.

use rebout::{Buttons, Cue, Cues, Game, Inputs, Player, Rng, fields};

pub(crate) const UP: Buttons = Buttons(1);
pub(crate) const DOWN: Buttons = Buttons(2);

pub(crate) const BOUNCE: Cue = Cue(1);
pub(crate) const POINT: Cue = Cue(2);

const COURT: (i32, i32) = (400, 240);
const REACH: i32 = 24;
const PADDLE_SPEED: i32 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) vx: i32,
    pub(crate) vy: i32,
}
fields!(Ball { x, y, vx, vy });

#[derive(Clone, Copy, Debug)]
pub(crate) struct Volley {
    pub(crate) paddles: [i32; 2],
    pub(crate) ball: Ball,
    pub(crate) points: [u32; 2],
    pub(crate) rng: Rng,
}
fields!(Volley { paddles, ball, points, rng });

impl Game for Volley {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        for player in Player::BOTH {
            let way = i32::from(inputs[player].holds(DOWN)) - i32::from(inputs[player].holds(UP));
            let paddle = &mut self.paddles[player.index()];
            *paddle = (*paddle + way * PADDLE_SPEED).clamp(0, COURT.1);
        }
        self.ball.x += self.ball.vx;
        self.ball.y += self.ball.vy;
        if !(0..=COURT.1).contains(&self.ball.y) {
            self.ball.vy = -self.ball.vy;
            self.ball.y = self.ball.y.clamp(0, COURT.1);
        }
        let defender = match self.ball.x {
            ..=0 => Player::One,
            x if x >= COURT.0 => Player::Two,
            _ => return,
        };
        if (self.ball.y - self.paddles[defender.index()]).abs() <= REACH {
            self.ball.x = self.ball.x.clamp(0, COURT.0);
            self.ball.vx = -self.ball.vx;
            self.ball.vy = self.rng.range(-4, 4);
            cues.emit(BOUNCE);
        } else {
            self.points[defender.other().index()] += 1;
            self.serve();
            cues.emit(POINT);
        }
    }

    fn finished(&self) -> bool {
        self.points.iter().any(|points| *points >= 3)
    }
}

impl Volley {
    /// The first state, from the seed that both machines agreed on.
    pub(crate) fn new(seed: u32) -> Self {
        let mut game = Self {
            paddles: [COURT.1 / 2; 2],
            ball: Ball { x: 0, y: 0, vx: 0, vy: 0 },
            points: [0; 2],
            rng: Rng::new(seed).expect("an agreed seed is never 0"),
        };
        game.serve();
        game
    }

    fn serve(&mut self) {
        let vx = if self.rng.chance(1, 2) { 5 } else { -5 };
        self.ball = Ball { x: COURT.0 / 2, y: COURT.1 / 2, vx, vy: self.rng.range(-4, 4) }; // -4 to 4, both included
    }
}
