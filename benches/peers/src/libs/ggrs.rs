//! GGRS in the loop of its guide: poll, drain events, slow down by `frames_ahead`, add the input, advance, fulfil the
//! requests. A turn with a frame is polled by `advance_frame` alone, which the guide allows and which costs least.

use super::{CADENCE_FRAMES, Setup};
use crate::link::{Buffer, End, buffer};
use crate::sim_match::{FRAME_NS, Machine, Report};
use crate::world::{Script, World};
use ggrs::{
    Config, DesyncDetection, GgrsEvent, GgrsRequest, Message, NonBlockingSocket, P2PSession, PlayerType,
    PredictRepeatLast, SessionBuilder, SessionState, SyncTestSession,
};
use std::cell::Cell;
use std::hint::black_box;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Instant;

pub(super) struct Types<W>(PhantomData<W>);

impl<W: World> Config for Types<W> {
    type Input = u16;
    type InputPredictor = PredictRepeatLast;
    type State = W;
    type Address = SocketAddr;
}

/// A socket on a simulated link. Encodes and decodes as the library's own UDP socket does.
pub(super) struct Socket {
    end: End,
    inbox: Buffer,
}

impl Socket {
    pub(super) fn new(end: End) -> Self {
        Self { end, inbox: buffer() }
    }
}

impl NonBlockingSocket<SocketAddr> for Socket {
    fn send_to(&mut self, message: &Message, _: &SocketAddr) {
        let bytes = bincode::serialize(message).expect("a message can be encoded");
        self.end.aside_send(&bytes);
    }

    fn receive_all_messages(&mut self) -> Vec<(SocketAddr, Message)> {
        let mut messages = Vec::new();
        while let Some(len) = self.end.aside_receive(&mut self.inbox) {
            if let Ok(message) = bincode::deserialize(&self.inbox[..len]) {
                messages.push((super::address(1 - self.end.me), message));
            }
        }
        messages
    }
}

pub(super) struct Ggrs<W: World> {
    session: P2PSession<Types<W>>,
    world: W,
    setup: Setup,
    sparse: bool,
    me: usize,
    now: Rc<Cell<u64>>,
    due: u64,
    running: bool,
    stalled_ns: u64,
    resimulated: u64,
}

impl<W: World> Ggrs<W> {
    pub(super) fn new(
        world: W,
        setup: Setup,
        sparse: bool,
        me: usize,
        peer: SocketAddr,
        socket: impl NonBlockingSocket<SocketAddr> + 'static,
        now: Rc<Cell<u64>>,
    ) -> Self {
        let detection = if setup.checksums {
            DesyncDetection::On { interval: CADENCE_FRAMES }
        } else {
            DesyncDetection::Off
        };
        let player = |at| if at == me { PlayerType::Local } else { PlayerType::Remote(peer) };
        let session = SessionBuilder::<Types<W>>::new()
            .with_fps(60)
            .and_then(|builder| {
                builder
                    .with_max_prediction_window(setup.depth_frames as usize + 1)
                    .with_sparse_saving_mode(sparse)
                    .with_desync_detection_mode(detection)
                    .add_player(player(0), 0)
            })
            .and_then(|builder| builder.add_player(player(1), 1))
            .and_then(|builder| builder.start_p2p_session(socket))
            .expect("a session");
        let due = now.get();
        Self { session, world, setup, sparse, me, now, due, running: false, stalled_ns: 0, resimulated: 0 }
    }

    /// The time of a frame: a machine that is ahead takes a tenth longer, as in the library's own example.
    fn frame_ns(&self) -> u64 {
        let ahead = self.setup.paced && self.session.frames_ahead() > 0;
        FRAME_NS + if ahead { FRAME_NS / 10 } else { 0 }
    }

    fn fulfil(&mut self, requests: Vec<GgrsRequest<Types<W>>>) -> u64 {
        let mut stepped = 0;
        for request in requests {
            match request {
                GgrsRequest::SaveGameState { cell, frame } => {
                    let hash = self.setup.hashes(frame as u32, self.sparse);
                    let checksum = hash.then(|| u128::from(self.world.checksum()));
                    cell.save(frame, Some(self.world.clone()), checksum);
                }
                GgrsRequest::LoadGameState { cell, .. } => self.world = cell.load().expect("it was saved"),
                GgrsRequest::AdvanceFrame { inputs } => {
                    self.world.step_on([inputs[0].0, inputs[1].0]);
                    stepped += 1;
                }
            }
        }
        stepped
    }
}

#[inline(never)]
fn counted_poll<W: World>(session: &mut P2PSession<Types<W>>) {
    session.poll_remote_clients();
    drain(session);
}

fn drain<W: World>(session: &mut P2PSession<Types<W>>) {
    for event in session.events() {
        assert!(!matches!(event, GgrsEvent::DesyncDetected { .. }), "the states of GGRS differ");
        black_box(event);
    }
}

/// Polls too, so that a turn with a frame needs no poll of its own.
#[inline(never)]
fn counted_advance<W: World>(
    session: &mut P2PSession<Types<W>>,
    me: usize,
    held: u16,
) -> Vec<GgrsRequest<Types<W>>> {
    session.add_local_input(me, held).expect("a local player");
    let requests = session.advance_frame().expect("it is running");
    drain(session);
    requests
}

impl<W: World> Machine for Ggrs<W> {
    fn turn(&mut self) {
        // The guide's loop reads the clock twice a turn.
        black_box((Instant::now(), Instant::now()));
        let due = self.now.get() >= self.due;
        if !due || !self.running {
            counted_poll(&mut self.session);
        }
        if !due {
            return;
        }
        let frame_ns = self.frame_ns();
        self.due += frame_ns;
        self.running = self.session.current_state() == SessionState::Running;
        if self.running {
            let frame = self.session.current_frame();
            let held = self.setup.script.held(self.me, frame as u32);
            let requests = counted_advance(&mut self.session, self.me, held);
            let new = u64::from(self.session.current_frame() > frame);
            self.stalled_ns += frame_ns * (1 - new);
            self.resimulated += self.fulfil(requests) - new;
        }
    }

    fn wake(&self) -> u64 {
        self.due
    }

    fn frame(&self) -> Option<u32> {
        self.running.then(|| self.session.current_frame() as u32)
    }

    fn report(&self) -> Report {
        Report { stalled: self.stalled_ns / FRAME_NS, resimulated: self.resimulated }
    }

    fn state(&self) -> u32 {
        self.world.checksum()
    }
}

/// Plays frames of a sync test at a depth. States are compared by `hash`, which the game supplies.
pub(crate) fn sync_test<W: World>(
    bytes: usize,
    depth: u32,
    frames: u32,
    script: Script,
    hash: impl Fn(&W) -> u32,
) {
    let mut session: SyncTestSession<Types<W>> = SessionBuilder::new()
        .with_max_prediction_window(depth as usize + 1)
        .with_check_distance(depth as usize)
        .start_synctest_session()
        .expect("a session");
    let mut world = W::new(bytes);
    for frame in 0..frames {
        for player in 0..2 {
            session.add_local_input(player, script.held(player, frame)).expect("a player");
        }
        for request in session.advance_frame().expect("the game is deterministic") {
            match request {
                GgrsRequest::SaveGameState { cell, frame } => {
                    let checksum = u128::from(hash(&world));
                    cell.save(frame, Some(world.clone()), Some(checksum));
                }
                GgrsRequest::LoadGameState { cell, .. } => world = cell.load().expect("it was saved"),
                GgrsRequest::AdvanceFrame { inputs } => world.step_on([inputs[0].0, inputs[1].0]),
            }
        }
    }
    black_box(world.checksum());
}
