//! Six kinds of game run on the same engine: a plain `Copy` state, one with heap memory, a core behind a handle, a proxy
//! that borrows an engine's world for one call, a world of floats, and one of things in a map.

use core::time::Duration;
use rebout::fields::Bits;
use rebout::lab::link::LinkConfig;
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::rollback::{EngineConfig, Rollback};
use rebout::{
    Autopsy, AutopsyVerdict, Buttons, Cues, Event, Fields, Frame, Game, Inputs, Player, Save, StateError,
};
use rebout::{SyncTest, checksum, fields};
use std::collections::BTreeMap;

const FRAMES: u32 = 400;
const LAG: u32 = 4;

fn inputs(frame: u32) -> Inputs {
    Inputs::from([Buttons((frame / 5 % 4) as u16), Buttons((frame / 9 % 3) as u16)])
}

/// Runs a game through the engine with player two late, through the sync test, and directly; they agree.
///
/// `W` is what lasts: the game itself, or the world from which `lend` makes a game for one call.
fn runs_everywhere<W, S: Fields>(make: impl Fn() -> W, mut host: impl Host<W, S>) {
    let mut world = make();
    let mut engine = host.engine(&mut world);
    for now in 0..FRAMES + LAG {
        if now < FRAMES {
            engine.confirm(Player::One, Frame(now), inputs(now)[Player::One]).unwrap();
        }
        if let Some(late) = now.checked_sub(LAG) {
            engine.confirm(Player::Two, Frame(late), inputs(late)[Player::Two]).unwrap();
        }
        host.run(&mut world, &mut engine, now < FRAMES);
    }
    assert!(engine.stats().rollbacks > 20, "{:?}", engine.stats());

    let mut directly = make();
    (0..FRAMES).for_each(|frame| host.step(&mut directly, inputs(frame)));
    assert_eq!(host.checksum(&mut world), host.checksum(&mut directly));
    assert_ne!(host.checksum(&mut world), host.checksum(&mut make()), "and something happened");

    let mut tested = make();
    let mut test = host.sync_test(&mut tested);
    (0..FRAMES).for_each(|frame| host.test(&mut tested, &mut test, inputs(frame)));
    assert_eq!(test.finish().unwrap().frames, u64::from(FRAMES));
    assert_eq!(host.checksum(&mut tested), host.checksum(&mut directly));
}

/// The few calls in which an embedder touches the engine. A game that lasts is handed over; a proxy is made again.
trait Host<W, S> {
    fn engine(&mut self, world: &mut W) -> Rollback<S>;
    fn run(&mut self, world: &mut W, engine: &mut Rollback<S>, on: bool);
    fn step(&mut self, world: &mut W, inputs: Inputs);
    fn sync_test(&mut self, world: &mut W) -> SyncTest<S>;
    fn test(&mut self, world: &mut W, test: &mut SyncTest<S>, inputs: Inputs);
    fn checksum(&mut self, world: &mut W) -> u32;
}

/// Writes a `Host`, given how a game is had from what lasts.
macro_rules! host {
    ($host:ident, $world:ty, $snapshot:ty, |$lasting:ident| $game:expr) => {
        struct $host;
        impl Host<$world, $snapshot> for $host {
            fn engine(&mut self, $lasting: &mut $world) -> Rollback<$snapshot> {
                Rollback::new(EngineConfig::default(), &*$game)
            }
            fn run(&mut self, $lasting: &mut $world, engine: &mut Rollback<$snapshot>, on: bool) {
                if on {
                    engine.advance($game);
                } else {
                    engine.mend($game);
                }
            }
            fn step(&mut self, $lasting: &mut $world, inputs: Inputs) {
                $game.step(inputs, &mut Cues::new());
            }
            fn sync_test(&mut self, $lasting: &mut $world) -> SyncTest<$snapshot> {
                SyncTest::new(&*$game, 6, 3)
            }
            fn test(&mut self, $lasting: &mut $world, test: &mut SyncTest<$snapshot>, inputs: Inputs) {
                test.advance($game, inputs).unwrap();
            }
            fn checksum(&mut self, $lasting: &mut $world) -> u32 {
                checksum(&$game.snapshot())
            }
        }
    };
}

// 1. A `Copy` game writes `fields!` and `step`, and nothing else.

#[derive(Clone, Copy)]
struct Plain {
    at: [i32; 2],
    score: u32,
}
fields!(Plain { at, score });

impl Game for Plain {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            self.at[player.index()] += i32::from(inputs[player].buttons().0);
        }
        self.score += u32::from(self.at[0] % 7 == self.at[1] % 5);
    }
}

host!(PlainHost, Plain, Plain, |game| game);

#[test]
fn copy_game_writes_only_fields_and_step() {
    runs_everywhere(|| Plain { at: [0; 2], score: 0 }, PlainHost);
}

// 2. A game with heap memory copies into the snapshot that is there, and so allocates nothing once it is large enough.

#[derive(Clone)]
struct Arrow {
    x: i32,
    left: u16,
}
fields!(Arrow { x, left });

struct Archery {
    arrows: Vec<Arrow>,
    hits: u32,
}

#[derive(Clone)]
struct ArcherySnapshot {
    arrows: Vec<Arrow>,
    hits: u32,
}
fields!(ArcherySnapshot { arrows, hits });

impl Save for Archery {
    type Snapshot = ArcherySnapshot;

    fn snapshot(&self) -> ArcherySnapshot {
        ArcherySnapshot { arrows: self.arrows.clone(), hits: self.hits }
    }

    fn save(&self, slot: &mut ArcherySnapshot) -> Result<(), StateError> {
        slot.arrows.clone_from(&self.arrows);
        slot.hits = self.hits;
        Ok(())
    }

    fn restore(&mut self, snapshot: &ArcherySnapshot) -> Result<(), StateError> {
        self.arrows.clone_from(&snapshot.arrows);
        self.hits = snapshot.hits;
        Ok(())
    }
}

impl Game for Archery {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            if inputs[player].buttons().0 & 1 != 0 {
                self.arrows.push(Arrow {
                    x: player.index() as i32 * 100,
                    left: 5 + (inputs[player].buttons().0 & 3),
                });
            }
        }
        for arrow in &mut self.arrows {
            arrow.x += 3;
            arrow.left -= 1;
        }
        let flying = self.arrows.len();
        self.arrows.retain(|arrow| arrow.left > 0);
        self.hits += (flying - self.arrows.len()) as u32;
    }
}

host!(ArcheryHost, Archery, ArcherySnapshot, |game| game);

#[test]
fn game_with_heap_memory_has_its_own_snapshot() {
    runs_everywhere(|| Archery { arrows: Vec::new(), hits: 0 }, ArcheryHost);
}

// 3. A core behind a handle: it cannot be cloned, only asked to write its memory out and to read it in again.

mod core_library {
    /// Stands for a core in another language: opaque, not `Clone`, its memory as bytes.
    pub(crate) struct Core {
        memory: Box<[u8]>,
    }

    pub(crate) const MEMORY_LEN: usize = 256;

    impl Core {
        pub(crate) fn open() -> Self {
            Self { memory: vec![0; MEMORY_LEN].into_boxed_slice() }
        }

        pub(crate) fn run_frame(&mut self, pads: [u16; 2]) {
            let [one, two] = pads.map(|pad| pad as u8);
            let at = usize::from(self.memory[0]) % (MEMORY_LEN - 4) + 4;
            self.memory[at] = self.memory[at].wrapping_add(one).wrapping_add(1);
            self.memory[at / 2 + 1] ^= two;
            self.memory[0] = self.memory[0].wrapping_mul(5).wrapping_add(one).wrapping_add(3);
        }

        pub(crate) fn write_state(&self, out: &mut [u8]) {
            out.copy_from_slice(&self.memory);
        }

        pub(crate) fn read_state(&mut self, state: &[u8]) {
            self.memory.copy_from_slice(state);
        }
    }
}

struct Handle(core_library::Core);

struct Memory(Box<[u8]>);
fields!(Memory(bytes));

impl Save for Handle {
    type Snapshot = Memory;

    fn snapshot(&self) -> Memory {
        let mut memory = Memory(vec![0; core_library::MEMORY_LEN].into_boxed_slice());
        self.0.write_state(&mut memory.0);
        memory
    }

    fn save(&self, slot: &mut Memory) -> Result<(), StateError> {
        self.0.write_state(&mut slot.0);
        Ok(())
    }

    fn restore(&mut self, snapshot: &Memory) -> Result<(), StateError> {
        self.0.read_state(&snapshot.0);
        Ok(())
    }
}

impl Game for Handle {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.0.run_frame(inputs.0.map(|buttons| buttons.buttons().0));
    }
}

host!(HandleHost, Handle, Memory, |game| game);

#[test]
fn core_behind_an_opaque_handle_saves_itself() {
    runs_everywhere(|| Handle(core_library::Core::open()), HandleHost);
}

// 4. An engine owns the world, and lends it for one call: the game is a proxy that lives no longer than that.

/// Stands for the world of a game engine: much in it is not part of the match.
struct World {
    bodies: Vec<(i32, i32)>,
    frames_drawn: u64,
}

struct Bodies<'w>(&'w mut World);

impl Save for Bodies<'_> {
    type Snapshot = Vec<(i32, i32)>;

    fn snapshot(&self) -> Vec<(i32, i32)> {
        self.0.bodies.clone()
    }

    fn save(&self, slot: &mut Vec<(i32, i32)>) -> Result<(), StateError> {
        slot.clone_from(&self.0.bodies);
        Ok(())
    }

    fn restore(&mut self, snapshot: &Vec<(i32, i32)>) -> Result<(), StateError> {
        self.0.bodies.clone_from(snapshot);
        Ok(())
    }
}

impl Game for Bodies<'_> {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for (at, (x, speed)) in self.0.bodies.iter_mut().enumerate() {
            *speed += i32::from(inputs.0[at % 2].buttons().0) - 1;
            *x = (*x + *speed).rem_euclid(1000);
        }
        self.0.frames_drawn += 1;
    }
}

host!(WorldHost, World, Vec<(i32, i32)>, |world| &mut Bodies(world));

#[test]
fn proxy_borrows_the_world_of_an_engine_for_one_call() {
    runs_everywhere(|| World { bodies: vec![(0, 1); 12], frames_drawn: 0 }, WorldHost);
}

// 5. A world of floats, as a physics engine has it. `Bits` hashes their bit patterns and reports their numbers.

#[derive(Clone, Copy)]
struct Physics {
    height: [Bits<f32>; 2],
    speed: [Bits<f64>; 2],
    frame: u32,
    /// Flips the lowest bit of a float in frame 100: not part of the state.
    flips: bool,
}
fields!(Physics { height, speed, frame, flips: _ });

impl Physics {
    fn new() -> Self {
        Self { height: [Bits(1.0); 2], speed: [Bits(0.0); 2], frame: 0, flips: false }
    }
}

impl Game for Physics {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            let (height, speed) = (&mut self.height[player.index()], &mut self.speed[player.index()]);
            let thrust = f64::from(inputs[player].buttons().0) * 0.013;
            *speed = Bits((**speed + thrust - 0.009) * 0.99);
            *height = Bits((**height + **speed as f32).max(0.25));
        }
        self.frame += 1;
        if self.flips && self.frame == 100 {
            self.height[1] = Bits(f32::from_bits(self.height[1].to_bits() ^ 1));
        }
    }
    fn finished(&self) -> bool {
        self.frame == FRAMES
    }
}

host!(PhysicsHost, Physics, Physics, |game| game);

#[test]
fn world_of_floats_is_compared_bit_by_bit() {
    runs_everywhere(Physics::new, PhysicsHost);
    let flipped = diverged(Play { build: |_| Physics::new(), script: every_fourth }, |game, player| {
        game.flips = player == Player::Two;
    });
    let [field] = &flipped.fields[..] else { panic!("one bit in one field: {flipped}") };
    let [one, two] = [&field.one, &field.two].map(|value| value.as_ref().unwrap().parse::<f32>().unwrap());
    assert_eq!((field.path.as_str(), one.to_bits() ^ two.to_bits()), ("height[1]", 1), "{flipped}");
    assert_eq!((flipped.first_divergence, flipped.exact), (Frame(100), true));
    assert!(flipped.to_string().ends_with("not compared: flips\n"), "{flipped}");
    assert_eq!(flipped.verdict, AutopsyVerdict::StepDiffers);
}

// 6. A world of things that come and go, in a map whose order is that of its keys.

struct Realm {
    units: BTreeMap<u16, u32>,
    frame: u32,
    flips: bool,
}

struct RealmSnapshot {
    units: BTreeMap<u16, u32>,
    frame: u32,
}
fields!(RealmSnapshot { units, frame });

impl Realm {
    fn new() -> Self {
        Self { units: BTreeMap::from([(900, 7)]), frame: 0, flips: false }
    }
}

impl Save for Realm {
    type Snapshot = RealmSnapshot;
    fn snapshot(&self) -> RealmSnapshot {
        RealmSnapshot { units: self.units.clone(), frame: self.frame }
    }
    fn save(&self, slot: &mut RealmSnapshot) -> Result<(), StateError> {
        slot.units.clone_from(&self.units);
        slot.frame = self.frame;
        Ok(())
    }
    fn restore(&mut self, snapshot: &RealmSnapshot) -> Result<(), StateError> {
        self.units.clone_from(&snapshot.units);
        self.frame = snapshot.frame;
        Ok(())
    }
}

impl Game for Realm {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            let held = inputs[player].buttons().0 % 16;
            let id = held * 50 + player.index() as u16 + (self.frame % 40) as u16;
            *self.units.entry(id).or_insert(10) += u32::from(held);
        }
        self.units.retain(|id, life| {
            *life = life.saturating_sub(u32::from(*id != 900));
            *life > 0
        });
        self.frame += 1;
        if self.flips && self.frame == 100 {
            *self.units.entry(900).or_default() ^= 1;
        }
    }
    fn finished(&self) -> bool {
        self.frame == FRAMES
    }
}

host!(RealmHost, Realm, RealmSnapshot, |game| game);

#[test]
fn map_in_the_order_of_its_keys_names_an_entry_by_its_key() {
    runs_everywhere(Realm::new, RealmHost);
    let flipped = diverged(Play { build: |_| Realm::new(), script: every_fourth }, |game, player| {
        game.flips = player == Player::Two;
    });
    let fields: Vec<String> = flipped.fields.iter().map(ToString::to_string).collect();
    assert_eq!(fields, ["units[900].value: 7 (player one) / 6 (player two)"]);
    assert_eq!((flipped.first_divergence, flipped.verdict), (Frame(100), AutopsyVerdict::StepDiffers));
}

/// The autopsy of a match in which `tamper` changes the game of one machine.
fn diverged<G: Game + 'static>(play: Play<G>, tamper: fn(&mut G, Player)) -> Autopsy {
    let mut sim = SimMatch::new(Setup::new(3, LinkConfig::new(Duration::from_millis(40))), play);
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(tamper);
    }
    assert!(sim.run_until(Duration::from_secs(30), |sim| (0..2).all(|id| sim.machine(id).ended())));
    let mut told = sim.machine(0).events.iter().filter_map(|(_, event)| match event {
        Event::Autopsy(autopsy) => Some((**autopsy).clone()),
        _ => None,
    });
    told.next().expect("an autopsy")
}
