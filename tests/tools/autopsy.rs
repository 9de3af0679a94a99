//! Two processes play over UDP on this machine, one of them with a fault; both find it and write a bundle, and the
//! bundles are read and re-run.
//!
//! The test program starts itself twice. Nothing here depends on how fast the machine is.

use crate::program::{is_harmless, program};
use games::faulty::{Fault, Faulty, recorded, step_differs};
use rebout::lab::every_fourth;
use rebout::net::{folder, udp::UdpDriver};
use rebout::replay::Recorder;
use rebout::{Autopsy, AutopsyVerdict, Bundle, Config, Event, Frame, Lobby, Player};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Far enough that a test which reaches it has failed.
const NEVER: Duration = Duration::from_secs(60);

const ROLE: &str = "REBOUT_UDP_AUTOPSY";

#[test]
#[ignore = "one side of a match; the other tests start it"]
fn side() {
    let Ok(role) = std::env::var(ROLE) else { return };
    // The line that the test harness has begun is not ours.
    println!();
    match play(&role) {
        Ok(()) => println!("> done"),
        Err(error) => println!("> failed {error}"),
    }
}

/// Plays the side that `role` says: `fault host folder`, where the host itself has `-` for a host.
fn play(role: &str) -> Result<(), Box<dyn Error>> {
    let mut words = role.splitn(3, ' ');
    let fault = match words.next() {
        Some("step") => Fault::Step { into: 100 },
        Some("outside") => Fault::Outside { from: 100 },
        _ => Fault::None,
    };
    let host = words.next().filter(|host| *host != "-");
    let host: Option<SocketAddr> = host.map(str::parse).transpose()?;
    let dir = PathBuf::from(words.next().ok_or("no folder")?);
    let config = Config::new(0x4155_544F).with(|config| {
        config.game.frame_rate = rebout::FrameRate::hz(240);
        config.rollback.delay_frames = Some(0);
        config.timeouts.lost_after = NEVER;
        config.timeouts.no_progress_after = NEVER;
    });
    let mut udp = UdpDriver::bind("127.0.0.1:0".parse()?)?;
    println!("> bound {}", udp.local_addr());
    let mut lobby = match host {
        None => Lobby::host(config)?,
        Some(host) => Lobby::join(config, host)?,
    };
    let seed = loop {
        let deadline = udp.now() + Duration::from_millis(10);
        udp.run_until(&mut lobby, deadline)?;
        if let Some(agreed) = lobby.agreed()? {
            break agreed.seed;
        }
        if udp.now() > NEVER {
            return Err("nobody came".into());
        }
    };
    let mut game = Faulty { fault, ..Faulty::new(seed).ok_or("the seed is 0")? };
    let mut session = lobby.start(udp.now(), &game)?;
    let mut recorder = Recorder::new(seed);
    let mut found: Option<Autopsy> = None;
    while !session.ended() {
        let due = session.next_frame_at();
        udp.run_until(&mut session, due)?;
        let buttons = every_fourth(session.local(), session.current().0, seed);
        session.advance(udp.now(), &mut game, buttons);
        udp.flush(&mut session)?;
        session.confirmed().try_for_each(|(frame, inputs)| recorder.record(frame, inputs))?;
        while let Some(event) = session.poll_event() {
            if let Event::Autopsy(autopsy) = event {
                found = Some(*autopsy);
            }
        }
        if udp.now() > NEVER {
            return Err("it never ended".into());
        }
    }
    udp.close(&mut session, Duration::from_secs(5))?;
    let bundle = Bundle::new("playground", found.ok_or("no autopsy was told")?, recorder.finish())?;
    folder::write(&dir, &bundle.files()?)?;
    Ok(())
}

/// A process that plays one side; gone when this is dropped.
struct Side {
    process: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Side {
    fn start(role: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args(["--ignored", "--exact", "autopsy::side", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program starts once more");
        let out = process.stdout.take().expect("a pipe");
        Self { process, lines: BufReader::new(out).lines() }
    }

    /// The next line that it says; a side says something, or ends, before [`NEVER`].
    fn expect(&mut self, beginning: &str) -> String {
        let line = self
            .lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.strip_prefix("> ")?.to_owned()));
        let line = line.unwrap_or_else(|| panic!("ended before it said {beginning:?}"));
        line.strip_prefix(beginning)
            .unwrap_or_else(|| panic!("{line:?} and not {beginning:?}"))
            .trim()
            .to_owned()
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The answer of the tool about a bundle: exit code, standard output, standard error.
fn examine(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(program("autopsy")).arg(dir).args(args).output().expect("autopsy runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Plays a match with a fault on one side, and reads both bundles.
fn bundles(name: &str, faults: [&str; 2], look: impl Fn(&Path, &Bundle)) {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    let dirs = ["host", "joiner"].map(|side| root.join(side));
    let mut host = Side::start(&format!("{} - {}", faults[0], dirs[0].display()));
    let bound = host.expect("bound");
    let mut joiner = Side::start(&format!("{} {bound} {}", faults[1], dirs[1].display()));
    joiner.expect("bound");
    for side in [&mut host, &mut joiner] {
        side.expect("done");
    }
    for (dir, local) in dirs.iter().zip(Player::BOTH) {
        let bundle = Bundle::read(&folder::read(dir, &Bundle::FILES).expect("written")).expect("a bundle");
        assert_eq!(bundle.autopsy().local, local);
        assert_eq!(bundle.replay().inputs.len(), 430);
        assert!(bundle.autopsy().complete, "{}", bundle.autopsy());
        look(dir, &bundle);
    }
    let _ = std::fs::remove_dir_all(&root);
}

#[test]
fn two_processes_name_the_field_in_which_steps_differ() {
    bundles("udp-step", ["none", "step"], |dir, bundle| {
        let autopsy = bundle.autopsy();
        assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(100), true), "{autopsy}");
        assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "{autopsy}");
        assert_eq!(autopsy.fields[0].path, "fighters[1].hp", "{autopsy}");

        let (code, shown, _) = examine(dir, &[]);
        assert_eq!(code, Some(0), "it can be re-run");
        let named = "first diverging frame: 100, first different after fault, in fighters[1].hp\n";
        assert!(shown.contains(named), "{shown}");
        assert!(shown.contains("fighters[1].hp  "), "{shown}");
        assert!(shown.ends_with("the clean re-run gives the state of player one's machine\n"), "{shown}");
        let (code, _, refused) = examine(dir, &["--game", "chess"]);
        let names =
            "autopsy: no game of the name \"chess\" to re-run it with; there is: playground, duel, swarm\n";
        assert_eq!((code, &*refused), (Some(1), names));
        let [html, json] = ["report.html", "report.json"].map(|name| dir.join(name));
        let (html_file, viewer) = (html.to_str().unwrap(), "https://example.org/?a&b");
        let args = ["--html", html_file, "--viewer", viewer, "--json", json.to_str().unwrap()];
        let (code, ..) = examine(dir, &args);
        assert_eq!(code, Some(0));
        let read = |path| std::fs::read_to_string(path).expect("written");
        let report = read(html.clone());
        assert!(report.contains("<th><code>fighters[1].hp</code></th>"));
        assert!(report.contains("<a href=\"https://example.org/?a&amp;b\">"));
        let (code, ..) = examine(dir, &["--html", html_file, "--viewer", "javascript:alert(1)"]);
        assert_eq!(code, Some(2), "no web page");
        assert!(read(json).contains("\"first_divergence\": 100,"));
        let (code, ..) = examine(&dir.join("nowhere"), &[]);
        assert_eq!(code, Some(2), "nothing there");
    });
}

#[test]
fn two_processes_blame_state_outside_the_snapshot() {
    bundles("udp-outside", ["outside", "none"], |_, bundle| {
        let autopsy = bundle.autopsy();
        assert_eq!(autopsy.verdict, AutopsyVerdict::NotReproducible { one: true, two: false }, "{autopsy}");
        assert_eq!(autopsy.fields[0].path, "fighters[0].cooldown", "{autopsy}");
    });
}

/// The text of a state of that many leaves. Their paths begin alike and have this name at the end.
fn state_of(leaves: u32, name: &str) -> String {
    let lines = (0..leaves).map(|at| format!("projectiles[{at:05}].{name} = 1  # 0x00000001\n"));
    ["# a state\n".to_owned()].into_iter().chain(lines).collect()
}

/// Writes a bundle with other states, runs the tool on it, and returns what that prints.
fn examined(name: &str, game: &str, states: [String; 2]) -> (Option<i32>, String, String) {
    let [(autopsy, replay), _] = recorded(step_differs);
    let mut files = Bundle::new(game, autopsy, replay).expect("it fits").files().expect("written");
    for ((_, bytes), state) in files.iter_mut().skip(2).zip(states) {
        *bytes = state.into_bytes();
    }
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    folder::write(&dir, &files).expect("the disk");
    let done = examine(&dir, &[]);
    std::fs::remove_dir_all(&dir).expect("the disk");
    done
}

#[test]
fn bundle_of_16000_leaves_is_read_and_shown() {
    // No path is on both machines, and all of them begin alike: the worst that a search by path can meet.
    let states = ["one", "two"].map(|name| state_of(16_000, name));
    let (code, shown, _) = examined("many-leaves", "playground", states);
    assert_eq!(code, Some(0), "it can be re-run");
    assert!(shown.contains("differing fields: 32000\n"));
    assert!(shown.contains("\n  projectiles[15999].two  -           1           -\n"));
}

#[test]
fn hostile_bundle_is_shown_escaped() {
    let state = |value: &str| {
        format!("# t\na\u{1b}[2J = {value}\u{85}  # 0x00000001\nb\\u{{202e}} = \\u{{7}}  # 0x00000002\n")
    };
    let states = [state("x\u{2028}"), state("y\u{61c}").replace("01\n", "07\n")];
    let (code, shown, _) = examined("hostile", "playground", states.clone());
    assert_eq!(code, Some(0), "it can be re-run");
    assert!(is_harmless(&shown), "{shown:?}");
    assert!(
        shown.contains(r"a\u{1b}[2J: x\u{2028}\u{85} (player one) / y\u{61c}\u{85} (player two)"),
        "{shown}"
    );
    assert!(shown.contains(r"  b\u{202e}   \u{7}  "), "{shown}");
    let (code, _, reason) = examined("hostile-name", "a\u{202e}\u{200f}b", states);
    assert!(code == Some(1) && is_harmless(&reason), "no such game: {reason:?}");
    let (code, _, reason) = examine(Path::new("no\u{1b}[2Jsuch\u{202e}folder"), &[]);
    assert!(code == Some(2) && reason.contains(r"no\u{1b}[2Jsuch\u{202e}folder"), "{reason:?}");
    assert!(is_harmless(&reason), "{reason:?}");
}
