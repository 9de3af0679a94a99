//! PAUSE and RESUME in a match that is not paused.

use super::{BOTH, MATCH, Make, Refused, Table, ordered};
use crate::hostile::phase::Phase::Playing;
use crate::hostile::table::Source::Peer;
use rebout::Refusal;
use rebout::lab::forge::{Knows, message};
use rebout::lab::wire::message::{Message, Ordered, Pause, PauseStep, Resume};
use rebout::wire::WireFrame;

pub(super) fn all(table: &mut Table) {
    let misplaced = Refused(Refusal::OutOfPlace);
    let resume: Make = |k| {
        let resume = Resume { token: k.token ^ 1, frame: WireFrame(k.known), left_millis: 0 };
        message(k.header, &Message::Resume(resume))
    };
    table.add("RESUME of another match", MATCH, BOTH, &[Peer], resume, Refused(Refusal::WrongToken));
    let early: Make = |k| {
        let resume = Resume { token: k.token, frame: WireFrame(k.known), left_millis: 0 };
        message(k.header, &Message::Resume(resume))
    };
    table.add("RESUME without a pause", MATCH, BOTH, &[Peer], early, misplaced);
    for (name, step, ahead) in [
        ("PAUSE far ahead", PauseStep::Asks, 1_000),
        ("PAUSE of frame 2^30", PauseStep::Asks, 1 << 30),
        ("PAUSE that agrees to nothing", PauseStep::Agrees, 0),
        ("PAUSE that refuses nothing", PauseStep::Refuses, 0),
    ] {
        let make = move |k: &Knows| {
            let frame = WireFrame(k.known + ahead);
            ordered(k, 0, Ordered::Pause(Pause { step, frame, limit_secs: 1 }))
        };
        table.add(name, &[Playing], BOTH, &[Peer], make, misplaced);
    }
}
