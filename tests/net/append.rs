//! A file that is appended to by a thread of its own: order, errors of the disk, and a disk that hangs.

use rebout::net::append::{FileAppender, MAX_QUEUED};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("rebout-{}-{name}", std::process::id()))
}

/// Waits until `done`, because the thread works when it pleases.
fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn bytes_are_written_in_order_without_blocking() {
    let path = scratch("order");
    let mut appender = FileAppender::new(File::create(&path).unwrap()).unwrap();
    let mut expected = Vec::new();
    for round in 0..3 {
        for len in [1, 100, 5_000] {
            let bytes = vec![round as u8 + len as u8; len];
            appender.write_all(&bytes).unwrap();
            expected.extend(bytes);
        }
        eventually("written", || std::fs::read(&path).unwrap() == expected);
    }
    appender.write_all(b"the rest").unwrap();
    appender.finish().unwrap();
    expected.extend(b"the rest");
    assert_eq!(std::fs::read(&path).unwrap(), expected);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn many_turns_of_the_queue_lose_nothing() {
    let path = scratch("turns");
    let mut appender = FileAppender::new(File::create(&path).unwrap()).unwrap();
    let mut expected = Vec::new();
    for turn in 0..40_u32 {
        let bytes: Vec<u8> = (0..MAX_QUEUED as u32 * 3 / 4).map(|at| (at * 7 + turn) as u8).collect();
        appender.write_all(&bytes).unwrap();
        appender.flush().unwrap();
        expected.extend(bytes);
    }
    drop(appender);
    assert!(std::fs::read(&path).unwrap() == expected);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn write_longer_than_the_queue_keeps_its_place() {
    let path = scratch("long");
    let mut appender = FileAppender::new(File::create(&path).unwrap()).unwrap();
    appender.write_all(b"header").unwrap();
    let long: Vec<u8> = (0..4 << 20).map(|at: u32| (at ^ at >> 8) as u8).collect();
    appender.flush().unwrap();
    appender.write_all(&long).unwrap();
    appender.write_all(b"chunk").unwrap();
    appender.flush().unwrap();
    appender.write_all(b"chunk").unwrap();
    appender.finish().unwrap();
    assert!(std::fs::read(&path).unwrap() == [b"header", &long[..], b"chunkchunk"].concat());
    std::fs::remove_file(path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_told_once_and_then_everything_is_refused() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let mut appender = FileAppender::new(full()).unwrap();
    appender.write_all(b"lost").unwrap();
    let mut told = None;
    eventually("told", || {
        told = appender.write_all(b"more").err();
        told.is_some()
    });
    assert_eq!(told.unwrap().kind(), ErrorKind::StorageFull);
    assert_eq!(appender.write_all(b"more").unwrap_err().kind(), ErrorKind::Other);

    let mut appender = FileAppender::new(full()).unwrap();
    appender.write_all(b"lost").unwrap();
    assert_eq!(appender.flush().unwrap_err().kind(), ErrorKind::StorageFull);

    let mut appender = FileAppender::new(full()).unwrap();
    appender.write_all(b"lost").unwrap();
    assert_eq!(appender.finish().unwrap_err().kind(), ErrorKind::StorageFull);
}

#[cfg(unix)]
#[test]
fn hanging_disk_fills_the_queue_and_never_blocks() {
    // A pipe that nobody reads: after 64 KiB the thread waits in its write.
    let (reader, writer) = std::io::pipe().unwrap();
    let file = File::from(std::os::fd::OwnedFd::from(writer));
    let mut appender = FileAppender::new(file).unwrap();
    let mut taken = 0;
    // Each turn fills the queue. How much of the first the pipe takes depends on when the thread looks, so the disk counts as
    // hanging only when a flush gives up.
    let gave_up = loop {
        let refused = loop {
            match appender.write_all(&[7; 1_000]) {
                Ok(()) => taken += 1_000,
                Err(error) => break error,
            }
            assert!(taken < 10 * MAX_QUEUED, "the queue has no bound");
        };
        assert_eq!(refused.kind(), ErrorKind::WouldBlock);
        if let Err(error) = appender.flush() {
            break error;
        }
    };
    assert_eq!(gave_up.kind(), ErrorKind::TimedOut);
    assert!(taken > MAX_QUEUED - 1_000, "{taken} bytes");
    assert_eq!(appender.write_all(&[7; 1_000]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(reader);
}
