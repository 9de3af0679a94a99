//! Four games of `docs/EMBEDDING.md` and `docs/EMULATORS.md` that are not `Copy`: one with heap memory, one behind a handle, an
//! emulator's core, and one whose world belongs to an engine.

use rebout::{
    Config, Cues, Fields, FirstState, FrameRate, Game, Inputs, Options, Pages, Player, Save, Saving,
    StateError, Visitor, fields,
};

// 1. Heap memory: the snapshot has the same fields, and is overwritten in place.

pub(crate) struct Swarm {
    pub(crate) bees: Vec<(i32, i32)>,
    pub(crate) honey: u32,
    /// Rebuilt whenever it is drawn; no part of the state.
    pub(crate) trails: Vec<f32>,
}

pub(crate) struct SwarmSnapshot {
    bees: Vec<(i32, i32)>,
    honey: u32,
}
fields!(SwarmSnapshot { bees, honey });

impl Save for Swarm {
    type Snapshot = SwarmSnapshot;

    fn snapshot(&self) -> SwarmSnapshot {
        SwarmSnapshot { bees: self.bees.clone(), honey: self.honey }
    }

    fn save(&self, slot: &mut SwarmSnapshot) -> Result<(), StateError> {
        slot.bees.clone_from(&self.bees); // into the memory that is there
        slot.honey = self.honey;
        Ok(())
    }

    fn restore(&mut self, snapshot: &SwarmSnapshot) -> Result<(), StateError> {
        self.bees.clone_from(&snapshot.bees);
        self.honey = snapshot.honey;
        Ok(())
    }
}

impl Game for Swarm {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            let held = i32::from(inputs[player].buttons().0);
            for bee in self.bees.iter_mut().skip(player.index()).step_by(2) {
                *bee = (bee.0 + held, bee.1 ^ bee.0);
            }
            if held > 2 && self.bees.len() < 64 {
                self.bees.push((held, 0));
            }
        }
        self.honey += self.bees.len() as u32;
    }
}

// 2. A core behind a handle: a library, an emulator. Its own serialization fills a byte array.

pub(crate) const CORE_BYTES: usize = 1_024;

/// Stands for what a foreign library offers.
pub(crate) struct Core {
    memory: [u8; CORE_BYTES],
    /// Pictures drawn so far.
    pictures: u64,
}

impl Core {
    pub(crate) fn new() -> Self {
        Self { memory: [1; CORE_BYTES], pictures: 0 }
    }

    pub(crate) fn serialize(&self, into: &mut [u8; CORE_BYTES]) -> bool {
        *into = self.memory;
        true
    }

    pub(crate) fn unserialize(&mut self, from: &[u8; CORE_BYTES]) -> bool {
        self.memory = *from;
        true
    }

    /// Whether the next frame reads a stage from the disk.
    pub(crate) fn loads_next(&self) -> bool {
        self.memory[0] == 0
    }

    /// Draws the picture, which is no part of the state.
    pub(crate) fn render(&mut self) {
        self.pictures += 1;
    }

    pub(crate) fn run(&mut self, one: u16, two: u16) {
        let at = usize::from(self.memory[0]) * 3 % CORE_BYTES;
        self.memory[at] = self.memory[at].wrapping_add(one as u8 ^ (two << 4) as u8);
        self.memory[0] = self.memory[0].wrapping_add(7);
    }
}

pub(crate) struct Cabinet {
    pub(crate) core: Core,
}

impl Cabinet {
    /// The options of both machines. `av_info_fps` is the frame rate that the core gives.
    pub(crate) fn options(&self, content_hash: u64, av_info_fps: f64) -> Options {
        let mut config = Config::new(0x636f_7265);
        config.game.content_hash = content_hash; // the core's version and options, and the checksum of the ROM
        config.game.frame_rate = FrameRate::from_f64(av_info_fps); // 60.0988 is 39375000/655171
        Options::with_config(config).first_state(self.state()).first_state_limit(CORE_BYTES as u32)
    }

    pub(crate) fn state(&self) -> Vec<u8> {
        self.snapshot().memory.to_vec()
    }

    /// Takes over the host's state before the match; whether the core could.
    pub(crate) fn begin(&mut self, first_state: &FirstState) -> bool {
        let state: Result<&[u8; CORE_BYTES], _> = first_state[..].try_into();
        state.is_ok_and(|state| self.core.unserialize(state))
    }
}

pub(crate) struct CoreState {
    memory: Box<[u8; CORE_BYTES]>,
}
fields!(CoreState { memory });

impl Save for Cabinet {
    type Snapshot = CoreState;

    fn snapshot(&self) -> CoreState {
        let mut state = CoreState { memory: Box::new([0; CORE_BYTES]) };
        let _ = self.save(&mut state); // a failure ends the match with the first frame
        state
    }

    fn save(&self, slot: &mut CoreState) -> Result<(), StateError> {
        slot.memory.fill(0); // a core may leave bytes unwritten
        let is_saved = self.core.serialize(&mut slot.memory);
        is_saved.then_some(()).ok_or_else(|| StateError::new("the core did not serialize its state"))
    }

    fn restore(&mut self, snapshot: &CoreState) -> Result<(), StateError> {
        let is_restored = self.core.unserialize(&snapshot.memory);
        is_restored.then_some(()).ok_or_else(|| StateError::new("the core did not take its state back"))
    }
}

impl Game for Cabinet {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.core.run(inputs[Player::One].buttons().0, inputs[Player::Two].buttons().0);
        if cues.is_shown() {
            self.core.render();
        }
    }

    fn barrier(&self) -> bool {
        self.core.loads_next()
    }
}

// 3. An emulator's core in Rust, whose memory is `Pages`: a save copies the pages that were written.

pub(crate) struct Emulator {
    memory: Pages,
    program_counter: u16,
    /// Drawn from the memory; no part of the state.
    pub(crate) picture: Vec<u8>,
}

pub(crate) struct Machine {
    memory: Pages,
    program_counter: u16,
}
fields!(Machine { memory, program_counter });

impl Emulator {
    pub(crate) fn new() -> Self {
        Self { memory: Pages::from(vec![1; 1 << 16]), program_counter: 0, picture: Vec::new() }
    }

    pub(crate) fn config() -> Config {
        let mut config = Config::new(0x656d_756c);
        config.rollback.saving = Saving::Every; // a step is long, and a save of pages short
        config
    }
}

impl Save for Emulator {
    type Snapshot = Machine;

    fn snapshot(&self) -> Machine {
        Machine { memory: self.memory.clone(), program_counter: self.program_counter }
    }

    fn save(&self, slot: &mut Machine) -> Result<(), StateError> {
        self.memory.save(&mut slot.memory)?; // the pages that differ, a kibibyte each
        slot.program_counter = self.program_counter;
        Ok(())
    }

    fn restore(&mut self, snapshot: &Machine) -> Result<(), StateError> {
        self.memory.restore(&snapshot.memory)?;
        self.program_counter = snapshot.program_counter;
        Ok(())
    }
}

impl Game for Emulator {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            self.memory.write(player.index() * 2, &inputs[player].buttons().0.to_le_bytes());
        }
        for _ in 0..100 {
            let at = usize::from(self.program_counter);
            let sum = self.memory[at].wrapping_mul(5).wrapping_add(self.memory[0] ^ self.memory[2]);
            self.memory.set(at, sum);
            self.program_counter = self.program_counter.wrapping_mul(25).wrapping_add(u16::from(sum));
        }
    }
}

// 4. A world that an engine owns: the game is a proxy that borrows it for the length of one call.

/// Stands for an engine's world.
pub(crate) struct World {
    pub(crate) positions: Vec<i32>,
    pub(crate) time: u32,
}

pub(crate) struct Lent<'a> {
    pub(crate) world: &'a mut World,
}

#[derive(Clone)]
pub(crate) struct WorldSnapshot {
    positions: Vec<i32>,
    time: u32,
}
fields!(WorldSnapshot { positions, time });

impl Save for Lent<'_> {
    type Snapshot = WorldSnapshot;

    fn snapshot(&self) -> WorldSnapshot {
        WorldSnapshot { positions: self.world.positions.clone(), time: self.world.time }
    }

    fn save(&self, slot: &mut WorldSnapshot) -> Result<(), StateError> {
        slot.positions.clone_from(&self.world.positions);
        slot.time = self.world.time;
        Ok(())
    }

    fn restore(&mut self, snapshot: &WorldSnapshot) -> Result<(), StateError> {
        self.world.positions.clone_from(&snapshot.positions);
        self.world.time = snapshot.time;
        Ok(())
    }
}

impl Game for Lent<'_> {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for (at, position) in self.world.positions.iter_mut().enumerate() {
            *position += i32::from(inputs[Player::BOTH[at % 2]].buttons().0);
        }
        self.world.time += 1;
    }
}

// 5. Memory that a core names at run time.

pub(crate) struct Region {
    pub(crate) name: String,
    pub(crate) base: u32,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) struct Regions(pub(crate) Vec<Region>);

impl Fields for Region {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.addressed(self.base, &self.bytes);
    }
}

impl Fields for Regions {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        self.0.iter().for_each(|region| visitor.field(&region.name, region));
    }
}
