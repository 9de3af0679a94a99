//! The reference game with something wrong in it, and how two machines play it. Needs the feature `lab`.

use crate::playground::Playground;
use core::num::NonZero;
use core::time::Duration;
use rebout::lab::link::LinkConfig;
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::replay::{Recorder, Replay};
use rebout::{Autopsy, Config, Cue, Cues, Event, Game, Inputs, Player, Save, Session, StateError};
use std::cell::RefCell;
use std::rc::Rc;

/// The fault of a game, on the machine that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    None,
    /// The step does something else from the step into this frame on: a point of health less, once.
    Step {
        into: u32,
    },
    /// The step takes a point of health in each of these frames and gives it back in the next, so that the states are the
    /// same again after each.
    Passing {
        frames: [u32; 2],
    },
    /// A count of steps, which is not in the snapshot, leaks into the state from this frame on.
    Outside {
        from: u32,
    },
    /// A bit of the state flips in the step into each of these frames, in memory alone: a resimulation that comes when the game has
    /// gone on for some frames is clean.
    Flipped {
        frames: [u32; 2],
    },
    /// The first `left` steps from this frame on take a point of health each, as if somebody else wrote into the state. A
    /// resimulation after them is clean.
    Touched {
        from: u32,
        left: u32,
    },
}

/// A frame is certain when the game has gone on for this many frames.
const SETTLES_AFTER: u32 = 10;

/// The reference game, with or without a fault; it finishes when it has come to frame `last`.
pub struct Faulty {
    pub inner: Playground,
    pub fault: Fault,
    pub steps: u32,
    pub last: u32,
    /// The newest frame that was stepped.
    pub newest: u32,
    /// One in this many frames is a barrier, if any is.
    pub barrier_every: Option<NonZero<u32>>,
}

impl Save for Faulty {
    type Snapshot = Playground;
    fn snapshot(&self) -> Playground {
        self.inner
    }
    fn save(&self, slot: &mut Playground) -> Result<(), StateError> {
        *slot = self.inner;
        Ok(())
    }
    fn restore(&mut self, snapshot: &Playground) -> Result<(), StateError> {
        self.inner = *snapshot;
        Ok(())
    }
}

impl Game for Faulty {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.inner.step(inputs, cues);
        cues.phase("playground", &self.inner);
        if self.inner.frame.is_multiple_of(5) {
            cues.emit(Cue(self.inner.fighters[1].hp.unsigned_abs()));
        }
        self.steps = self.steps.wrapping_add(1);
        let frame = self.inner.frame;
        match self.fault {
            Fault::Step { into } if frame == into => self.inner.fighters[1].hp -= 1,
            Fault::Passing { frames } => {
                self.inner.fighters[1].hp -= i32::from(frames.contains(&frame));
                self.inner.fighters[1].hp += i32::from(frames.contains(&(frame - 1)));
            }
            Fault::Outside { from } if frame >= from => {
                self.inner.fighters[0].cooldown += i32::from(self.steps.is_multiple_of(3));
            }
            Fault::Flipped { frames } if frames.contains(&frame) && self.newest < frame + SETTLES_AFTER => {
                self.inner.fighters[1].hp ^= 4;
            }
            Fault::Touched { from, left: left @ 1.. } if frame >= from => {
                self.inner.fighters[1].hp -= 1;
                self.fault = Fault::Touched { from, left: left - 1 };
            }
            _ => {}
        }
        self.newest = self.newest.max(frame);
        cues.phase("fault", &self.inner);
    }
    fn barrier(&self) -> bool {
        self.barrier_every.is_some_and(|every| self.inner.frame % every == 0)
    }
    fn finished(&self) -> bool {
        self.inner.frame >= self.last
    }
}

impl Faulty {
    /// The game as it should be, which finishes at frame 430; `None` if the seed is 0.
    pub fn new(seed: u32) -> Option<Self> {
        let inner = Playground::new(seed)?;
        Some(Self { inner, fault: Fault::None, steps: 0, last: 430, newest: 0, barrier_every: None })
    }
}

/// The game as it should be; it finishes at frame 430.
pub const PLAY: Play<Faulty> =
    Play { build: |seed| Faulty::new(seed).expect("a seed"), script: every_fourth };

pub const LINK: LinkConfig = LinkConfig::new(Duration::from_millis(50));

/// Two machines that have not begun, of which the ones that `tamper` says are faulty.
pub fn sim_match(
    seed: u64,
    tamper: fn(&mut Faulty, Player),
    link: LinkConfig,
    change: impl Fn(&mut Config),
) -> SimMatch<Faulty> {
    let mut sim = SimMatch::new(Setup::new(seed, link).configure(change), PLAY);
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(tamper);
    }
    sim
}

/// Plays to the end on both machines.
pub fn play_out(sim: &mut SimMatch<Faulty>) {
    assert!(sim.run_until(Duration::from_secs(60), |sim| (0..2).all(|id| sim.machine(id).ended())));
}

/// Player two's step differs into frame 100.
pub fn step_differs(game: &mut Faulty, player: Player) {
    if player == Player::Two {
        game.fault = Fault::Step { into: 100 };
    }
}

/// All autopsies that a machine told of.
pub fn autopsies<G: Game>(sim: &SimMatch<G>, id: usize) -> Vec<Autopsy> {
    let told = sim.machine(id).events.iter().filter_map(|(_, event)| match event {
        Event::Autopsy(autopsy) => Some((**autopsy).clone()),
        _ => None,
    });
    told.collect()
}

/// Records what a machine confirms.
pub fn record(sim: &mut SimMatch<Faulty>, id: usize) -> Rc<RefCell<Recorder>> {
    let recorder = Rc::new(RefCell::new(Recorder::with_capacity(0, 600)));
    let kept = Rc::clone(&recorder);
    sim.world.machine_mut(id).watch = Some(Box::new(move |_, _, session: &Session<Playground>, _| {
        let mut recorder = kept.borrow_mut();
        if recorder.replay().seed == 0 {
            recorder.reset(session.agreed().seed);
        }
        session
            .confirmed()
            .for_each(|(frame, inputs)| recorder.record(frame, inputs).expect("the next frame"));
    }));
    recorder
}

/// A match with an autopsy on both machines, and the replay that each recorded.
pub fn recorded(tamper: fn(&mut Faulty, Player)) -> [(Autopsy, Replay); 2] {
    let mut sim = sim_match(5, tamper, LINK, |_| {});
    let recorders = [0, 1].map(|id| record(&mut sim, id));
    play_out(&mut sim);
    [0, 1].map(|id| {
        let [autopsy] = &autopsies(&sim, id)[..] else { panic!("machine {id} made no autopsy") };
        (autopsy.clone(), recorders[id].borrow().replay().clone())
    })
}
