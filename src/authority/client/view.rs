//! A client's view of the world: its own player ahead of the server, everybody else behind it.

use super::ClientStats;
use super::own::Own;
use super::scene::Scene;
use super::steps::Steps;
use crate::Frame;
use crate::authority::dialect::{ClientEnd, NumberedInput};
use crate::authority::{ClientConfig, Command, FrameTime, Record, Shown, Terms, World};
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use core::fmt::Debug;

/// A view, as the wire carries time: by frames of the server, or by arrival.
pub(crate) trait View: Debug {
    /// The time of entities, as far as the wire carries it.
    type Stamp;

    fn new(config: &ClientConfig) -> Self;

    /// Takes over the terms of the server, which were written in `frame`.
    fn set_terms(&mut self, terms: &Terms, frame: Frame);

    /// Takes in a round trip. `false` if it is an outlier: the path may have changed.
    fn round_trip(&mut self, sample: Span) -> bool;

    /// Takes in entities. `own` is the id of the own player.
    fn entities(
        &mut self,
        now: Time,
        own: Option<u8>,
        stamp: Self::Stamp,
        shown: &[Shown],
    ) -> Result<(), Refusal>;

    /// The frame of messages that arrive now, if the wire carries none.
    fn arrival_frame(&self, now: Time) -> Frame;

    /// Takes in a reliable record that arrives now.
    fn record(&mut self, now: Time, own: Option<u8>, record: &Record);

    /// Runs up to the first of `times`, on a connection that plays since the second: reconciles, takes the steps that are due with `command`, and
    /// moves the time at which others are drawn. Returns the number of steps.
    fn advance<L: ClientEnd, G: World>(
        &mut self,
        times: (Time, Time),
        link: &mut L,
        world: &G,
        command: Command,
    ) -> u32;

    /// Lists the inputs of the next packet. `false` if none is due. `loss_run` is the longest run of packets lost lately.
    fn next_inputs(&mut self, loss_run: u32, into: &mut Vec<NumberedInput>) -> bool;

    /// The server's time, if it is known.
    fn server_frame(&self, now: Time) -> Option<FrameTime>;

    /// The time at which others are drawn, as the scene counts it.
    fn render_time(&self) -> Option<Time>;

    /// The length of a frame.
    fn frame_nanos(&self) -> i64;

    /// The own player.
    fn own(&self) -> &Own;

    /// Fills in the statistics of the view.
    fn fill(&self, stats: &mut ClientStats);

    fn steps(&self) -> &Steps;
    fn scene(&self) -> &Scene;
}
