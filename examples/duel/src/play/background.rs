//! Slow work before a match, such as looking a name up: the stage goes on meanwhile, and the player may leave.

use std::time::Duration;

use stage::BackgroundTask;

use super::attract::AttractMode;
use super::show::leaves;
use super::{FRAME, Failure, FrameClock, seed_of_now};
use crate::picture::Panel;
use crate::view::Screen;

/// An answer that comes sooner needs no words.
const UNSEEN: Duration = Duration::from_millis(60);

/// Does `work` in a thread of its own, with `label` and `text` on the screen if it takes long; `None` if the player leaves.
///
/// # Errors
/// If the work ends without an answer.
pub(super) fn in_background<T: Send + 'static>(
    screen: &Screen,
    (label, text): (&str, &str),
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>, Failure> {
    let task = BackgroundTask::begin(work);
    let gone = |_| Failure::of(format!("{label} {text}: no answer"));
    if let Some(answer) = task.wait(UNSEEN).map_err(gone)? {
        return Ok(Some(answer));
    }
    let mut attract = AttractMode::new(screen, seed_of_now(), ["Kaito".to_owned(), "Rai".to_owned()]);
    attract.show.panel(Some(Panel {
        title: "One moment".to_owned(),
        lines: vec![(label.to_owned(), text.to_owned())],
        footer: "esc leaves".to_owned(),
    }));
    let mut clock = FrameClock::start();
    loop {
        if let Some(answer) = task.wait(Duration::ZERO).map_err(gone)? {
            return Ok(Some(answer));
        }
        if leaves(&attract.show.take_input()) {
            return Ok(None);
        }
        attract.frame();
        clock.wait(FRAME);
    }
}
