//! A replay in memory as a file, and back: of version 1 where it can hold the match, otherwise of version 2.

use super::{Header, ReadError, Recording, Replay, StreamRecorder, Tail, WriteError};
use crate::{Frame, Input};

impl Replay {
    /// The bytes of a file: of version 1, or of version 2 if an input has an axis that is not at rest, or if there is a first
    /// state.
    ///
    /// ```
    /// use rebout::replay::Replay;
    /// use rebout::{Buttons, Input};
    ///
    /// let tilted = Input::from(Buttons(1)).with_axis(1, -90);
    /// let replay = Replay { seed: 7, inputs: vec![[tilted, Input::NEUTRAL].into()], ..Replay::default() };
    /// assert_eq!(Replay::of_file(&replay.to_file()?)?, replay);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A replay that could not be read again: seed 0, or more frames than a file holds.
    pub fn to_file(&self) -> Result<Vec<u8>, WriteError> {
        let axes = self.inputs.iter().flat_map(|inputs| inputs.0).map(Input::axes_used).max();
        let axes = axes.unwrap_or(0);
        if axes == 0 && self.first_state.is_empty() {
            let mut file = Vec::new();
            self.write(&mut file)?;
            return Ok(file);
        }
        let first_state = self.first_state.clone();
        let header = Header { axes, first_state, ..Header::new(self.seed) };
        let mut recorder = StreamRecorder::new(&header, Vec::new())?;
        for (frame, inputs) in (0..).map(Frame).zip(&self.inputs) {
            let too_many = |_| WriteError::TooManyFrames { frames: self.inputs.len() };
            recorder.record(frame, *inputs).map_err(too_many)?;
        }
        Ok(recorder.leave_open()?)
    }

    /// Reads the bytes of a file of either version, of which nothing is missing.
    ///
    /// # Errors
    /// The first rule that the file breaks. [`Recording::open`] takes a file that was cut.
    pub fn of_file(file: &[u8]) -> Result<Self, ReadError> {
        let recording = Recording::open(file.to_vec())?;
        match recording.tail() {
            Tail::Whole | Tail::Open => Ok(recording.to_replay()),
            tail => Err(ReadError::Tail(tail)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buttons, Inputs};

    fn replay(frames: u32, axes: usize) -> Replay {
        let input = |frame: u32| {
            let input = Input::from(Buttons((frame / 7) as u16));
            (0..axes).fold(input, |input, axis| input.with_axis(axis, (frame / 3) as i8 ^ axis as i8))
        };
        Replay {
            seed: 9,
            inputs: (0..frames).map(|frame| Inputs([input(frame), input(frame + 1)])).collect(),
            ..Replay::default()
        }
    }

    #[test]
    fn match_is_read_back_in_the_version_that_holds_it() {
        for (axes, version) in [(0, 1), (1, 2), (6, 2)] {
            let replay = replay(500, axes);
            let file = replay.to_file().unwrap();
            assert_eq!(file[4], version);
            assert_eq!(Replay::of_file(&file).unwrap(), replay);
        }
        assert!(replay(0, 6).to_file().unwrap().len() == super::super::HEADER_LEN, "no input has an axis");
    }

    #[test]
    fn cut_or_damaged_file_is_refused_and_never_read_in_part() {
        let whole = replay(300, 2);
        let file = whole.to_file().unwrap();
        for len in 0..file.len() {
            // At the end of a chunk nothing tells that more has followed.
            if let Ok(part) = Replay::of_file(&file[..len]) {
                let tail = Recording::open(file[..len].to_vec()).unwrap().tail();
                assert_eq!(tail, Tail::Open, "{len} bytes");
                assert!(whole.inputs.starts_with(&part.inputs));
            }
        }
        let mut damaged = file.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let error = Replay::of_file(&damaged).unwrap_err().to_string();
        assert!(error.contains("damaged") || error.contains("cut"), "{error}");
    }

    #[test]
    fn axes_of_player_two_alone_are_written() {
        let tilted = Input::NEUTRAL.with_axis(5, 1);
        let replay = Replay { seed: 9, inputs: vec![Inputs([Input::NEUTRAL, tilted])], ..Replay::default() };
        assert_eq!(Replay::of_file(&replay.to_file().unwrap()).unwrap(), replay);
    }

    #[test]
    fn first_state_is_written_and_read() {
        let replay = Replay { first_state: vec![7; 100_000].into(), ..replay(90, 0) };
        let file = replay.to_file().unwrap();
        assert_eq!((file[4], Replay::of_file(&file).unwrap()), (2, replay));
    }

    #[test]
    fn seed_0_is_refused_in_both_versions() {
        for axes in [0, 3] {
            let replay = Replay { seed: 0, ..replay(5, axes) };
            assert!(replay.to_file().is_err());
        }
    }
}
