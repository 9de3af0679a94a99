//! Programs that are killed in the middle of a match over UDP, and started again: real processes, and `kill -9`.

use crate::folder::Folder;
use crate::game::Tally;
use rebout::{Buttons, Config, ConnectOptions, Finish, Game, Inputs, Now, Online, Options, Verdict};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use support::repeats;

const LAST: u32 = 300;
/// How long a machine waits for the other one.
const WAIT: Duration = Duration::from_secs(90);
/// The test that is a player's program, and the variable that tells it which.
const PROGRAM: &str = "killed::program_of_one_player";
const FOLDER: &str = "REBOUT_KILLED_FOLDER";
const ROLE: &str = "REBOUT_KILLED_ROLE";

fn options(folder: &Path, name: &str) -> Options {
    let config = Config::new(0xB0).with(|config| {
        config.game.content_hash = 1;
        (config.rollback.delay_frames, config.rollback.kept_buttons) = (Some(0), Buttons::NONE);
        config.timeouts.countdown = Duration::from_millis(300);
        (config.timeouts.lost_after, config.timeouts.no_progress_after) = (WAIT, WAIT);
    });
    let own = folder.join(name);
    let connect = ConnectOptions::new().bind(([127, 0, 0, 1], 0).into());
    Options::with_config(config)
        .connect(connect)
        .rejoin_in(own.join("tickets"))
        .record_to(own.join("replays"))
}

/// Writes a file that whoever waits for it sees as a whole.
fn put(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    fs::write(&draft, text).unwrap();
    fs::rename(draft, path).unwrap();
}

fn wait_for(path: &Path, limit: Duration) -> Option<String> {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if let Ok(text) = fs::read_to_string(path) {
            return Some(text);
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}

/// The program of one player: hosts, joins, or comes back. Does nothing as a test.
#[test]
fn program_of_one_player() {
    let (Some(folder), Ok(role)) = (env::var_os(FOLDER).map(PathBuf::from), env::var(ROLE)) else { return };
    let (name, comes_back) = role.split_once('-').unwrap();
    let options = options(&folder, name);
    let mut online = if comes_back == "back" {
        let ticket = Options::unfinished_in(folder.join(name).join("tickets")).expect("a ticket");
        Online::rejoin(options, ticket).unwrap()
    } else if name == "host" {
        let host = Online::host(options).unwrap();
        put(&folder.join("invite"), host.share());
        host
    } else {
        Online::join(options, &wait_for(&folder.join("invite"), Duration::from_secs(20)).unwrap()).unwrap()
    };
    let (mut game, mut first) = (None, 0);
    loop {
        match online.wait().unwrap() {
            Now::Begin { seed, .. } => {
                first = seed;
                online.start(game.insert(Tally::new(seed, LAST)));
            }
            Now::Frame => {
                let game = game.as_mut().unwrap();
                online.advance(game, Buttons((game.state.frame / 7 % 32) as u16));
                put(&folder.join(format!("{name}.frame")), &game.state.frame.to_string());
            }
            Now::Finished(finish) => {
                let text = match finish {
                    Finish::Played(Verdict::Agreed { checksum, .. }) => format!("{first} {checksum}"),
                    other => other.to_string(),
                };
                put(&folder.join(format!("{name}.end")), &text);
                return;
            }
            _ => {}
        }
    }
}

struct Program(Child);

impl Program {
    fn start(folder: &Path, role: &str) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args([PROGRAM, "--exact", "--nocapture", "--test-threads=1"])
            .env(FOLDER, folder)
            .env(ROLE, role);
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Program {
    /// Stops the program as a machine that sleeps does, or lets it go on.
    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.0.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // `SIGKILL`: nothing is left to the program.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn unbroken(seed: u32) -> u32 {
    let mut game = Tally::new(seed, LAST);
    while !game.finished() {
        let input = Buttons((game.state.frame / 7 % 32) as u16);
        game.step(Inputs::from([input; 2]), &mut rebout::Cues::new());
    }
    rebout::checksum(&game.state)
}

/// Kills one of the programs when it has come to a frame, and starts it again.
fn play(number: u32) -> Result<(), String> {
    let folder = Folder::new(&format!("killed-{number}"));
    fs::create_dir_all(&folder.0).unwrap();
    let [gone, other] = if number.is_multiple_of(2) { ["host", "join"] } else { ["join", "host"] };
    let mut programs = [gone, other].map(|name| Some(Program::start(&folder.0, &format!("{name}-first"))));
    let frame = 1 + number * 7919 % (LAST - 60);
    let end = Instant::now() + Duration::from_secs(40);
    let at =
        |name: &str| fs::read_to_string(folder.0.join(format!("{name}.frame"))).ok()?.parse::<u32>().ok();
    while at(gone).is_none_or(|at| at < frame) {
        if Instant::now() > end {
            return Err(format!("{number}: no match"));
        }
        thread::sleep(Duration::from_millis(2));
    }
    programs[0] = None;
    thread::sleep(Duration::from_millis(u64::from(number * 337 % 3_000)));
    let _back = Program::start(&folder.0, &format!("{gone}-back"));
    for name in [gone, other] {
        let end = wait_for(&folder.0.join(format!("{name}.end")), Duration::from_secs(60));
        let words: Vec<u32> =
            end.iter().flat_map(|end| end.split(' ')).filter_map(|word| word.parse().ok()).collect();
        if !matches!(words[..], [seed, checksum] if checksum == unbroken(seed)) {
            return Err(format!(
                "{number}: {gone} was killed in frame {frame}, and {name} ended with {end:?}"
            ));
        }
    }
    let kept = ["host", "join"].map(|name| Options::unfinished_in(folder.0.join(name).join("tickets")));
    if kept != [None, None] {
        return Err(format!("{number}: a ticket is left: {kept:?}"));
    }
    Ok(())
}

#[test]
fn killed_program_comes_back_into_the_match() {
    let numbers: Vec<u32> = (0..repeats(20)).collect();
    // A quarter of them at once: they mostly wait.
    for some in numbers.chunks(5) {
        let runs: Vec<_> = some
            .iter()
            .map(|number| {
                thread::spawn({
                    let number = *number;
                    move || play(number)
                })
            })
            .collect();
        for run in runs {
            run.join().unwrap().unwrap();
        }
    }
}

/// For 12 s in a run of everything, and 3 s otherwise.
#[test]
fn stopped_program_goes_on_with_the_match() {
    let folder = Folder::new("stopped");
    fs::create_dir_all(&folder.0).unwrap();
    let [host, join] = ["host-first", "join-first"].map(|role| Program::start(&folder.0, role));
    for (program, name, frame) in [(&host, "host", 60_u32), (&join, "join", 120)] {
        let at = || fs::read_to_string(folder.0.join(format!("{name}.frame"))).ok()?.parse::<u32>().ok();
        let end = Instant::now() + Duration::from_secs(60);
        while at().is_none_or(|at| at < frame) {
            assert!(Instant::now() < end, "{name} is in frame {:?}", at());
            thread::sleep(Duration::from_millis(2));
        }
        program.signal("-STOP");
        thread::sleep(Duration::from_secs(repeats(60) / 5));
        program.signal("-CONT");
    }
    for name in ["host", "join"] {
        let end = wait_for(&folder.0.join(format!("{name}.end")), Duration::from_secs(60)).expect("an end");
        let words: Vec<u32> = end.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert!(matches!(words[..], [seed, checksum] if checksum == unbroken(seed)), "{name}: {end}");
    }
}
