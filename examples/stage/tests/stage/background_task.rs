//! Slow work beside a picture: nobody waits for it longer than they want.

use std::sync::mpsc::channel;
use std::time::Duration;

use stage::{BackgroundTask, Unanswered};

/// Far enough that a test which reaches it has failed.
const NEVER: Duration = Duration::from_secs(60);

#[test]
fn whoever_asks_goes_on_until_the_answer_is_there() {
    let (release, held) = channel::<()>();
    let task = BackgroundTask::begin(move || held.recv().map(|()| 7));
    for _ in 0..3 {
        assert_eq!(task.wait(Duration::ZERO), Ok(None));
    }
    release.send(()).expect("it waits");
    assert_eq!(task.wait(NEVER), Ok(Some(Ok(7))));
}

#[test]
fn work_that_nobody_waits_for_any_more_is_left_to_itself() {
    let (release, held) = channel::<()>();
    let (done, end) = channel();
    let task = BackgroundTask::begin(move || {
        let _ = held.recv();
        done.send(()).expect("the test waits");
    });
    drop(task);
    release.send(()).expect("it waits");
    end.recv_timeout(NEVER).expect("it has ended");
}

#[test]
fn work_that_ends_without_an_answer_keeps_nobody_waiting() {
    let task: BackgroundTask<()> = BackgroundTask::begin(|| std::panic::resume_unwind(Box::new("gone")));
    assert_eq!(task.wait(NEVER), Err(Unanswered));
}
