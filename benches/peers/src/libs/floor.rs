//! A loop by hand: the same saves, restores and steps, and the fewest bytes that carry the inputs. No handshake, no acks,
//! no pacing, nothing checked: the least that two machines could do.

use super::{CADENCE_FRAMES, Setup};
use crate::link::{Buffer, End, buffer};
use crate::sim_match::{FRAME_NS, Machine, Report};
use crate::world::World;
use std::hint::black_box;
use std::time::Instant;

/// How many of the last inputs a packet carries.
const CARRIED: u32 = 16;
/// How many frames of inputs and beliefs are kept.
const KEPT: usize = 64;
/// The states are copied, which never fails.
const COPIED: &str = "a copy never fails";

pub(super) struct ByHand<W> {
    world: W,
    snapshots: Vec<W>,
    setup: Setup,
    end: End,
    due: u64,
    frame: u32,
    /// The first frame whose remote input is not known.
    known: u32,
    own: [u16; KEPT],
    remote: [u16; KEPT],
    /// The remote input that each frame was stepped on.
    believed: [u16; KEPT],
    inbox: Buffer,
    report: Report,
}

impl<W: World> ByHand<W> {
    pub(super) fn new(world: W, setup: Setup, end: End) -> Self {
        let slots = setup.depth_frames as usize + 2;
        let snapshots = (0..slots).map(|_| world.clone()).collect();
        let due = end.now.get();
        let (own, remote, believed) = ([0; KEPT], [0; KEPT], [0; KEPT]);
        let (frame, known, report) = (0, 0, Report::default());
        Self {
            world,
            snapshots,
            setup,
            end,
            due,
            frame,
            known,
            own,
            remote,
            believed,
            inbox: buffer(),
            report,
        }
    }

    /// Takes in packets; the first frame that was stepped on a wrong input.
    fn receive(&mut self) -> Option<u32> {
        let mut wrong = None;
        while let Some(len) = self.end.receive(&mut self.inbox) {
            let (head, inputs) = self.inbox[..len].split_at(4);
            let end = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
            let start = end - (inputs.len() / 2) as u32;
            for (frame, input) in (start..end).zip(inputs.as_chunks::<2>().0) {
                if frame != self.known {
                    continue;
                }
                let input = u16::from_le_bytes(*input);
                self.remote[frame as usize % KEPT] = input;
                if frame < self.frame && self.believed[frame as usize % KEPT] != input && wrong.is_none() {
                    wrong = Some(frame);
                }
                self.known += 1;
            }
        }
        wrong
    }

    fn step(&mut self, frame: u32) {
        let newest = frame.min(self.known.max(1) - 1);
        let remote = if self.known == 0 { 0 } else { self.remote[newest as usize % KEPT] };
        self.believed[frame as usize % KEPT] = remote;
        let own = self.own[frame as usize % KEPT];
        self.world.step_on(if self.end.me == 0 { [own, remote] } else { [remote, own] });
    }

    fn save(&mut self, frame: u32) {
        let slots = self.snapshots.len();
        self.world.save(&mut self.snapshots[frame as usize % slots]).expect(COPIED);
    }

    fn send(&self) {
        let mut packet = [0; 4 + 2 * CARRIED as usize];
        packet[..4].copy_from_slice(&self.frame.to_le_bytes());
        let carried = self.frame.min(CARRIED);
        for (slot, frame) in packet[4..].chunks_exact_mut(2).zip(self.frame - carried..self.frame) {
            slot.copy_from_slice(&self.own[frame as usize % KEPT].to_le_bytes());
        }
        self.end.send(&packet[..4 + 2 * carried as usize]);
    }
}

impl<W: World> Machine for ByHand<W> {
    fn turn(&mut self) {
        black_box(Instant::now());
        let wrong = self.receive();
        self.due += FRAME_NS;
        if let Some(wrong) = wrong {
            let slots = self.snapshots.len();
            self.world.restore(&self.snapshots[wrong as usize % slots]).expect(COPIED);
            for again in wrong..self.frame {
                if again > wrong {
                    self.save(again);
                }
                self.step(again);
            }
            self.report.resimulated += u64::from(self.frame - wrong);
        }
        if self.frame >= self.known + self.setup.depth_frames {
            self.report.stalled += 1;
            return;
        }
        if self.setup.checksums && self.frame.is_multiple_of(CADENCE_FRAMES) {
            let slots = self.snapshots.len();
            black_box(self.snapshots[self.known as usize % slots].checksum());
        }
        self.own[self.frame as usize % KEPT] = self.setup.script.held(self.end.me, self.frame);
        self.save(self.frame);
        self.step(self.frame);
        self.frame += 1;
        self.send();
    }

    fn wake(&self) -> u64 {
        self.due
    }

    fn frame(&self) -> Option<u32> {
        Some(self.frame)
    }

    fn report(&self) -> Report {
        self.report
    }

    fn state(&self) -> u32 {
        self.world.checksum()
    }
}
