//! Slow work beside a picture: nobody waits for it longer than they want.

use std::sync::mpsc::channel;
use std::time::Duration;

use stage::{BackgroundTask, Unanswered};

/// Far enough that a test which reaches it has failed.
const NEVER: Duration = Duration::from_secs(60);

#[test]
fn background_task_does_not_block_its_caller() {
    let (release, held) = channel::<()>();
    let task = BackgroundTask::begin(move || held.recv().map(|()| 7));
    for _ in 0..3 {
        assert_eq!(task.wait(Duration::ZERO), Ok(None));
    }
    release.send(()).expect("it waits");
    assert_eq!(task.wait(NEVER), Ok(Some(Ok(7))));
}

#[test]
fn dropped_background_task_runs_to_its_end() {
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
fn panicking_background_task_is_reported() {
    let task: BackgroundTask<()> = BackgroundTask::begin(|| std::panic::resume_unwind(Box::new("gone")));
    assert_eq!(task.wait(NEVER), Err(Unanswered));
}
