//! A tug of war on GGRS, for `docs/MIGRATING.md`: `tug_rebout.rs` is the same game on Rebout. Run it twice, as 0 and as 1.

use ggrs::{
    Config, DesyncDetection, GgrsError, GgrsEvent, GgrsRequest, PlayerType, PredictRepeatLast,
    SessionBuilder, SessionState, UdpNonBlockingSocket,
};
use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Clone)]
struct Tug {
    rope: i32,
    held: [bool; 2],
}

impl Tug {
    fn step(&mut self, pulls: [bool; 2]) {
        for player in 0..2 {
            let pressed = pulls[player] && !self.held[player];
            self.rope += i32::from(pressed) * [-1, 1][player];
        }
        self.held = pulls;
    }

    fn checksum(&self) -> u128 {
        u128::from(self.rope as u32) << 2 | u128::from(self.held[0]) << 1 | u128::from(self.held[1])
    }
}

struct Types;

impl Config for Types {
    type Input = u16;
    type InputPredictor = PredictRepeatLast;
    type State = Tug;
    type Address = SocketAddr;
}

fn play(me: usize) -> Result<i32, Box<dyn Error>> {
    let other: SocketAddr = format!("127.0.0.1:{}", 7100 + 1 - me).parse()?;
    let mut session = SessionBuilder::<Types>::new()
        .with_num_players(2)?
        .with_desync_detection_mode(DesyncDetection::On { interval: 10 })
        .add_player(PlayerType::Local, me)?
        .add_player(PlayerType::Remote(other), 1 - me)?
        .start_p2p_session(UdpNonBlockingSocket::bind_to_port(7100 + me as u16)?)?;
    let mut game = Tug { rope: 0, held: [false; 2] };
    let mut due = Instant::now();
    while session.confirmed_frame() < 600 {
        session.poll_remote_clients();
        for event in session.events() {
            match event {
                GgrsEvent::DesyncDetected { frame, .. } => eprintln!("desync in frame {frame}"),
                GgrsEvent::Disconnected { .. } => return Ok(game.rope),
                _ => {}
            }
        }
        if Instant::now() >= due && session.current_state() == SessionState::Running {
            due += Duration::from_micros(if session.frames_ahead() > 0 { 18_333 } else { 16_667 });
            session.add_local_input(me, read_keys(me, session.current_frame()))?;
            let requests = match session.advance_frame() {
                Err(GgrsError::PredictionThreshold) => continue, // too far ahead: wait for inputs
                requests => requests?,
            };
            for request in requests {
                match request {
                    GgrsRequest::SaveGameState { cell, frame } => {
                        cell.save(frame, Some(game.clone()), Some(game.checksum()));
                    }
                    GgrsRequest::LoadGameState { cell, .. } => game = cell.load().ok_or("not saved")?,
                    GgrsRequest::AdvanceFrame { inputs } => game.step([inputs[0].0 != 0, inputs[1].0 != 0]),
                }
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(game.rope)
}

/// Keys of a player who presses every few frames.
fn read_keys(me: usize, frame: i32) -> u16 {
    u16::from(frame % [5, 7][me] == 0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let me = std::env::args().nth(1).ok_or("name the player: 0 or 1")?.parse::<usize>()?.min(1);
    println!("the rope is at {}", play(me)?);
    Ok(())
}
