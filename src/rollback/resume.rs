//! Going on in the middle of a match: at a machine that was restarted, and at one that has waited for it.

use super::Rollback;
use super::queue::KEPT_FRAMES;
use crate::{Frame, Game, Inputs, Player, StateError};

impl<S> Rollback<S> {
    /// Goes on at `frame`, in whose state the game is. `past` ends with the confirmed inputs of the frame before it: as many of them
    /// as are kept are known again.
    pub(crate) fn resume_at(&mut self, frame: Frame, past: &[Inputs]) {
        self.reset();
        (self.current, self.settled, self.settled_before) = (frame, frame, frame);
        let kept = &past[past.len().saturating_sub(KEPT_FRAMES as usize)..];
        for player in Player::BOTH {
            let queue = &mut self.queues[player.index()];
            queue.begin_at(Frame(frame.0.saturating_sub(kept.len() as u32)));
            kept.iter().for_each(|inputs| queue.push(inputs[player]));
            debug_assert_eq!(queue.next(), frame, "the past ends before the frame");
        }
        self.snapshots.drop_all(frame);
    }

    /// Undoes every frame that is not settled. Their cues are cancelled in the next [`advance`](Self::advance), and confirmed inputs
    /// stay.
    pub(crate) fn undo_predicted<G: Game<Snapshot = S>>(&mut self, game: &mut G) -> Result<(), StateError> {
        let settled = self.settled;
        if settled == self.current {
            return Ok(());
        }
        self.go_back(settled, game)?;
        self.cues.withdraw(settled, self.current);
        self.snapshots.truncate_after(settled);
        (self.current, self.mispredicted) = (settled, None);
        self.forget_ahead();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::rollback::{Advance, EngineConfig, Rollback};
    use crate::{Buttons, Cues, Frame, Game, Inputs, Player, Saving};

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Sum {
        sum: u32,
    }
    crate::fields!(Sum { sum });

    impl Game for Sum {
        fn step(&mut self, inputs: Inputs, _: &mut Cues) {
            let [one, two] = Player::BOTH.map(|player| u32::from(inputs[player].buttons().0));
            self.sum = self.sum.wrapping_mul(31) + one + 7 * two;
        }
    }

    fn press(engine: &mut Rollback<Sum>, player: Player, frame: u32) {
        let buttons = Buttons((frame % 5) as u16 + player.index() as u16);
        engine.confirm(player, Frame(frame), buttons).unwrap();
    }

    fn engine(saving: Saving) -> (Rollback<Sum>, Sum) {
        let game = Sum { sum: 1 };
        let config = EngineConfig { saving, cadence_frames: 30, ..EngineConfig::default() };
        (Rollback::new(config, &game), game)
    }

    /// The engine of a machine that waits in frame 308 for the other player's input of frame 300, and one that is restarted.
    #[test]
    fn engine_goes_on_where_the_other_one_waits() {
        for saving in [Saving::Every, Saving::Sparse] {
            let ((mut waits, mut here), mut past, mut states) = (engine(saving), Vec::new(), Vec::new());
            for frame in 0..308 {
                states.push(here);
                press(&mut waits, Player::One, frame);
                if frame < 300 {
                    press(&mut waits, Player::Two, frame);
                }
                assert_eq!(waits.advance(&mut here), Advance::Stepped);
                past.extend(waits.newly_confirmed().map(|(_, inputs)| inputs));
            }
            assert_eq!((waits.settled(), past.len()), (Frame(300), 300));
            waits.undo_predicted(&mut here).unwrap();
            assert_eq!((waits.current(), here), (Frame(300), states[300]), "{saving:?}");

            let (mut anew, mut there) = engine(saving);
            past.iter().for_each(|inputs| there.step(*inputs, &mut Cues::unseen()));
            anew.resume_at(Frame(300), &past);
            assert_eq!(
                (anew.next_input(Player::One), anew.next_input(Player::Two)),
                (Frame(300), Frame(300))
            );
            assert_eq!(anew.settled_inputs(Frame(299)), past.last().copied());
            (300..308).for_each(|frame| press(&mut anew, Player::One, frame));
            for frame in 300..400 {
                for engine in [&mut waits, &mut anew] {
                    press(engine, Player::Two, frame);
                    if frame >= 308 {
                        press(engine, Player::One, frame);
                    }
                }
                assert_eq!(
                    (waits.advance(&mut here), anew.advance(&mut there)),
                    (Advance::Stepped, Advance::Stepped)
                );
                assert_eq!(here, there, "{saving:?}, frame {frame}");
            }
        }
    }
}
