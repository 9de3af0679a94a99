//! The engine without a network: state, rollback, cues, the sync test, replays, and the games it is tested with.

mod ahead;
mod barrier;
mod costs;
mod cues;
mod failing;
mod fields;
mod fields_errors;
mod games;
mod playback;
mod playground;
mod recording;
mod recording_rules;
mod replay;
mod replay_vector;
mod rollback;
mod saving;
mod shown;
mod sync_test;
mod unsaved_and_trials;
