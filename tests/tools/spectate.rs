//! The recorder of a tournament as a program: a match is played here over UDP, and received, verified and written there.

use crate::program::{is_harmless, program};
use games::duel::bot::{Bot, Level};
use games::duel::{Duel, identity};
use rebout::replay::{Outcome, Recording, Tail};
use rebout::{
    BroadcastConfig, Config, ConnectOptions, Cues, Finish, FrameRate, Game, Inputs, Now, Online, Options,
    Save, StateError, Verdict,
};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use support::program::Running;

/// The frames of a match.
const FRAMES: u32 = 720;

/// The duel, lent to a session for one call, up to a frame.
struct Short<'a>(&'a mut Duel);

impl Save for Short<'_> {
    type Snapshot = Duel;

    fn snapshot(&self) -> Duel {
        *self.0
    }

    fn save(&self, slot: &mut Duel) -> Result<(), StateError> {
        *slot = *self.0;
        Ok(())
    }

    fn restore(&mut self, snapshot: &Duel) -> Result<(), StateError> {
        *self.0 = *snapshot;
        Ok(())
    }
}

impl Game for Short<'_> {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.0.step(inputs, cues);
    }

    fn finished(&self) -> bool {
        self.0.finished() || self.0.age >= FRAMES
    }
}

fn options(name: &str) -> Options {
    let config = Config::new(identity::GAME_ID).with(|config| {
        config.game.frame_rate = FrameRate::hz(240);
        config.rollback.delay_frames = Some(1);
    });
    let local = ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap());
    Options::with_config(config).connect(local).name(name)
}

/// Two bots, one of whom has spectators.
struct Players {
    seats: [(Online<Duel>, Duel, Bot, Option<Finish>); 2],
    /// The frame that nobody plays beyond.
    until: u32,
}

impl Players {
    fn new() -> Self {
        let host: Online<Duel> = Online::host(options("Ada").spectators(BroadcastConfig::default())).unwrap();
        let guest = Online::join(options("Bob"), host.share()).unwrap();
        let bots = [1, 2].map(|seed| Bot::new(seed, Level::Normal));
        let [one, two] = bots;
        let seats = [(host, Duel::new(1), one, None), (guest, Duel::new(1), two, None)];
        Self { seats, until: u32::MAX }
    }

    fn invite(&self) -> String {
        self.seats[0].0.share_to_watch().unwrap()
    }

    /// Plays until `done`, at most for two minutes: other tests share the machine.
    fn play(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let began = Instant::now();
        while !done(self) {
            assert!(began.elapsed() < Duration::from_secs(120), "nothing after 120 s");
            for (online, duel, bot, finish) in &mut self.seats {
                match online.poll().unwrap() {
                    Now::Begin { seed, .. } => {
                        *duel = Duel::new(seed);
                        online.start(&Short(duel));
                    }
                    Now::Frame if duel.age < self.until => {
                        let buttons = bot.buttons(duel, online.local().unwrap());
                        online.advance(&mut Short(duel), buttons);
                    }
                    Now::Finished(ended) => *finish = Some(ended),
                    _ => {}
                }
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The checksum that both have agreed on.
    fn checksum(&self) -> u32 {
        match &self.seats[0].3 {
            Some(Finish::Played(Verdict::Agreed { checksum, .. })) => *checksum,
            other => panic!("{other:?}"),
        }
    }

    /// Whether both have the result.
    fn are_done(&self) -> bool {
        self.seats.iter().all(|one| one.3.is_some())
    }
}

/// A file that is gone when the test is.
struct Target(PathBuf);

impl Target {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rebout-{}-spectate-{name}.rplk", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn spectate(invite: &str, to: &Target) -> Command {
    let mut command = Command::new(program("spectate"));
    command.args([invite, "--bind", "127.0.0.1", "--to"]).arg(&to.0);
    command
}

fn run(args: &[&str]) -> Output {
    Command::new(program("spectate")).args(args).output().unwrap()
}

#[test]
fn match_is_received_verified_and_written_while_it_runs() {
    let (mut players, to) = (Players::new(), Target::new("live"));
    let mut spectate = Running::start(&mut spectate(&players.invite(), &to));
    // From its middle on the match is slow. The file has frames before it ends.
    let mut turns = 0;
    players.play(|players| {
        turns += 1;
        players.until = FRAMES / 2 + turns / 50;
        std::fs::read(&to.0).is_ok_and(|bytes| bytes.len() > 200)
    });
    let growing = Recording::open(std::fs::read(&to.0).unwrap()).unwrap();
    assert!(growing.frames() > 0 && growing.end().is_none());
    players.until = u32::MAX;
    players.play(|players| players.are_done() && spectate.has_ended());
    let (rest, code, errors) = spectate.end();
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{rest}");
    assert!(is_harmless(&rest) && rest.contains("receiving: Ada against Bob"), "{rest}");
    let checksum = players.checksum();
    let last = rest.lines().last().unwrap();
    assert!(last.starts_with(&format!("{FRAMES} frames, ")), "{last}");
    assert!(last.ends_with(&format!(" checksums verified, agreed, {checksum:08X}")), "{last}");
    let bytes = std::fs::read(&to.0).unwrap();
    let recording = Recording::open(bytes.clone()).unwrap();
    assert_eq!((recording.tail(), recording.frames()), (Tail::Whole, FRAMES));
    assert_eq!(recording.end().unwrap().outcome, Outcome::Agreed { checksum });
    assert_eq!(
        recording.verify(&mut Duel::new(recording.header().seed)).unwrap(),
        recording.checksums().count() as u32
    );
    // Another one who comes after the end gets the same bytes.
    let again = Target::new("again");
    let mut late = self::spectate(&players.invite(), &again);
    let late = Running::start(&mut late);
    players.play(|_| std::fs::read(&again.0).is_ok_and(|got| got.len() >= bytes.len()));
    assert_eq!(std::fs::read(&again.0).unwrap(), bytes);
    drop(late);
}

#[test]
fn closed_output_does_not_end_the_recording() {
    let (mut players, to) = (Players::new(), Target::new("closed"));
    let mut child = spectate(&players.invite(), &to);
    let mut child = child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    players.play(|players| players.are_done() && child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let recording = Recording::open(std::fs::read(&to.0).unwrap()).unwrap();
    assert_eq!((recording.tail(), recording.frames()), (Tail::Whole, FRAMES));
}

#[test]
fn bad_invites_and_files_are_refused_in_one_line() {
    let (players, to) = (Players::new(), Target::new("refused"));
    let path = to.0.to_str().unwrap();
    let watch = players.invite();
    let refused = |args: &[&str], words: &str| {
        let output = run(args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {error}");
        assert!(error.starts_with("spectate: ") && error.lines().count() == 1, "{error}");
        assert!(error.contains(words) && is_harmless(&error), "{error}");
    };
    refused(&[players.seats[0].0.share(), "--to", path], "no invite to watch");
    refused(&["\u{1b}[2Jnobody", "--to", path], "");
    let mut typo = watch.clone();
    let last = typo.pop().unwrap();
    typo.push(if last == '0' { '1' } else { '0' });
    refused(&[&typo, "--to", path], "");
    assert!(!to.0.exists(), "nothing is written for them");
    std::fs::write(&to.0, "mine").unwrap();
    refused(&[&watch, "--to", path], "exists");
    assert_eq!(std::fs::read_to_string(&to.0).unwrap(), "mine");
}

#[test]
fn invite_of_a_host_that_is_gone_ends_with_the_reason() {
    let (players, to) = (Players::new(), Target::new("gone"));
    let invite = players.invite();
    drop(players);
    let (rest, code, error) = Running::start(&mut spectate(&invite, &to)).end();
    assert_eq!(code, Some(1), "{rest}{error}");
    assert!(error.starts_with("spectate: ") && error.lines().count() == 1, "{error}");
}
