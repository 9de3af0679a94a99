//! Holds that the code on the pages about embedding is that of the examples, and that this example works.

use crate::offline;
use crate::online;
use crate::online::Stage;
use crate::sticks;
use crate::volley::{DOWN, Volley};
use rebout::replay::{self, RecordError, Recorder};
use rebout::{
    Advanced, Buttons, ConnectOptions, Connection, CueChange, CueEvent, Event, Finish, FirstState, Frame,
    Game, Inputs, Lobby, Online, Options, Player, Protocol, Save, Session, SyncTest, Verdict, checksum,
};
use std::collections::HashMap;
use std::time::Duration;

const PAGES: [(&str, usize); 6] = [
    (include_str!("../../docs/EMBEDDING.md"), 4),
    (include_str!("../../docs/EMULATORS.md"), 8),
    (include_str!("../../docs/ENGINES.md"), 5),
    (include_str!("../../docs/INPUT.md"), 2),
    (include_str!("../../docs/MIGRATING.md"), 3),
    (include_str!("../../docs/REPLAY.md"), 1),
];
const SOURCES: [(&str, &str); 13] = [
    ("main.rs", include_str!("main.rs")),
    ("volley.rs", include_str!("volley.rs")),
    ("online.rs", include_str!("online.rs")),
    ("engine.rs", include_str!("engine.rs")),
    ("own_loop.rs", include_str!("own_loop.rs")),
    ("sync_test.rs", include_str!("sync_test.rs")),
    ("saves.rs", include_str!("saves.rs")),
    ("offline.rs", include_str!("offline.rs")),
    ("playback.rs", include_str!("playback.rs")),
    ("sticks.rs", include_str!("sticks.rs")),
    ("the game on Bevy", include_str!("../bevy/src/online.rs")),
    ("the tug of war on GGRS", include_str!("../../benches/peers/examples/tug_ggrs.rs")),
    ("the tug of war on Rebout", include_str!("../../benches/peers/examples/tug_rebout.rs")),
];

/// Lines without what is left of all of them.
fn dedent<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let least =
        lines.iter().filter(|line| !line.trim().is_empty()).map(|line| indent(line)).min().unwrap_or(0);
    lines.iter().map(|line| line.get(least..).unwrap_or("").trim_end()).collect()
}

/// Whether a source has these lines one after the other, however deep.
fn quotes(source: &str, block: &[&str]) -> bool {
    let lines: Vec<&str> = source.lines().collect();
    lines.windows(block.len()).any(|window| dedent(window) == block)
}

#[test]
fn every_line_of_rust_on_the_pages_is_compiled() {
    PAGES.into_iter().for_each(|(page, least)| compiled(page, least));
}

/// A reader who copies the blocks of the tutorial has these files, without their first comment.
#[test]
fn tutorial_shows_whole_files() {
    let blocks: Vec<&str> =
        PAGES[0].0.split("```rust\n").skip(1).map(|part| part.split("```").next().unwrap()).collect();
    for (at, name) in ["volley.rs", "sync_test.rs", "online.rs"].into_iter().enumerate() {
        let (_, source) = SOURCES.iter().find(|(source, _)| *source == name).unwrap();
        let code = source.split_once("\n\n").unwrap().1;
        assert!(blocks[at] == code, "{name} is not on the page as it is");
    }
    // The fourth is `main.rs`, with more modules and modes in the example.
    assert!(blocks.len() == 4 && blocks[3].contains("fn main()"));
}

fn compiled(page: &str, least: usize) {
    let mut blocks = 0;
    for part in page.split("```rust\n").skip(1) {
        let block = dedent(&part.split("```").next().unwrap().lines().collect::<Vec<_>>());
        // A line of dots stands for what the page leaves out.
        for piece in block.split(|line| line.trim() == "// ...") {
            let piece = dedent(piece);
            assert!(
                piece.is_empty() || SOURCES.iter().any(|(_, source)| quotes(source, &piece)),
                "not in examples/embedding:\n{}",
                piece.join("\n")
            );
        }
        blocks += 1;
    }
    assert!(blocks >= least, "{blocks} blocks of code");
}

/// Holds one button for ever, and keeps what it is told.
#[derive(Default)]
struct Silent {
    held: Buttons,
    said: Vec<String>,
    cues: HashMap<u32, i32>,
    confirmed: u32,
}

impl Stage for Silent {
    fn buttons(&mut self, _: &Volley, _: Player) -> Buttons {
        self.held
    }

    fn cue(&mut self, event: &CueEvent) {
        let open = self.cues.entry(event.id.0).or_default();
        match event.change {
            CueChange::Start { .. } => *open += 1,
            CueChange::Cancel => *open -= 1,
            CueChange::Confirm => {
                *open -= 1;
                self.confirmed += 1;
            }
        }
    }

    fn say(&mut self, text: &str) {
        self.said.push(text.to_owned());
    }

    fn draw(&mut self, _: &Volley, _: f32) {}
}

fn local() -> ConnectOptions {
    ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap())
}

#[test]
fn loop_on_the_parts_plays_over_udp_and_replays() {
    let config = |name: &str| {
        crate::own_loop::config(name).with(|config| config.game.frame_rate = rebout::FrameRate::hz(480))
    };
    let mut here = Connection::host(&local()).unwrap();
    let invite = here.share().to_owned();
    let there = std::thread::spawn(move || {
        let mut connection = Connection::join(&local(), &invite).unwrap();
        let lobby = crate::own_loop::meet(&mut connection, config("two")).unwrap();
        let mut stage = Silent { held: DOWN, ..Silent::default() };
        crate::own_loop::play(&mut connection, lobby, &mut stage).unwrap().verdict
    });
    let lobby = crate::own_loop::meet(&mut here, config("one")).unwrap();
    assert_eq!(lobby.agreed().unwrap().unwrap().user_data, b"two");
    let mut stage = Silent::default();
    let played = crate::own_loop::play(&mut here, lobby, &mut stage).unwrap();
    assert_eq!(played.verdict, there.join().unwrap(), "{:?}", stage.said);
    let Some(Verdict::Agreed { frame, checksum: agreed, .. }) = played.verdict else {
        panic!("{:?}", stage.said)
    };
    assert_eq!(checksum(&played.game), agreed);

    let mut again = Volley::new(played.replay.seed);
    replay::play(&played.replay, &mut again, |_, _| ());
    assert_eq!((played.replay.inputs.len(), checksum(&again)), (frame.0 as usize, agreed));
    assert!(stage.confirmed >= 3 && stage.cues.values().all(|open| *open == 0), "every cue comes to its end");
}

/// The options of the page, at a rate for tests, and with its files in this folder.
fn fast(name: &str, folder: &std::path::Path) -> Options {
    let config =
        crate::own_loop::config(name).with(|config| config.game.frame_rate = rebout::FrameRate::hz(480));
    Options::with_config(config).connect(local()).record_to(folder)
}

#[test]
fn match_of_the_page_is_played_by_invite_and_recorded() {
    let folder = std::env::temp_dir().join(format!("rebout-embedding-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let host = online::open(fast("Ada", &folder), None).unwrap();
    let (invite, there) = (host.share().to_owned(), folder.join("there"));
    let other = std::thread::spawn(move || {
        let (mut online, mut game) = (online::open(fast("Bob", &there), Some(&invite)).unwrap(), None);
        let mut stage = Silent { held: DOWN, ..Silent::default() };
        loop {
            if let Some(finish) = crate::engine::turn(&mut online, &mut game, &mut stage).unwrap() {
                online.close().unwrap();
                return finish;
            }
            std::thread::yield_now();
        }
    });
    let mut stage = Silent::default();
    let finish = online::play(host, &mut stage).unwrap();
    assert_eq!(finish, other.join().unwrap());
    let Finish::Played(Verdict::Agreed { checksum: agreed, .. }) = finish else { panic!("{finish}") };
    assert!(stage.confirmed >= 3 && stage.cues.values().all(|open| *open == 0), "every cue comes to its end");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let file = files.iter().find(|path| path.is_file()).expect("a recording");
    let recording = replay::Recording::open(std::fs::read(file).unwrap()).unwrap();
    assert_eq!(recording.header().names, ["Ada", "Bob"]);
    let mut game = Volley::new(recording.header().seed);
    assert!(recording.verify(&mut game).unwrap() > 0);
    assert_eq!(checksum(&game), agreed);
    let last = Frame(recording.frames());
    assert_eq!(checksum(&crate::playback::state_at(file, last).unwrap()), agreed);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn networking_code_is_short_and_names_few_things() {
    let code: Vec<&str> = include_str!("online.rs")
        .lines()
        .map(|line| line.split("//").next().unwrap().trim())
        .filter(|line| !line.is_empty())
        .collect();
    assert!(code.len() <= 40, "{} lines", code.len());
    let names = code.iter().find_map(|line| line.strip_prefix("use rebout::{")).unwrap();
    assert!(names.split(',').count() <= 12, "{names}");
}

#[test]
fn cabinet_begins_in_the_first_state_of_the_host() {
    let cabinet = || crate::saves::Cabinet { core: crate::saves::Core::new() };
    let (mut host, mut joiner) = (cabinet(), cabinet());
    host.core.run(5, 9);
    assert_ne!(checksum(&host.snapshot()), checksum(&joiner.snapshot()));
    let first_state = FirstState::from(host.state());
    assert!(joiner.begin(&first_state));
    assert_eq!(checksum(&host.snapshot()), checksum(&joiner.snapshot()));
    assert!(!joiner.begin(&FirstState::from(vec![0; 7])), "a state of another core");
    assert!(Online::<crate::saves::CoreState>::host(host.options(1, 60.098_813_897_440_515)).is_ok());
}

#[test]
fn games_of_the_page_pass_the_sync_test() {
    crate::sync_test::sync_test(2_000).unwrap();
    let mut swarm = crate::saves::Swarm { bees: vec![(1, 2); 3], honey: 0, trails: vec![0.5] };
    passes(&mut swarm);
    assert_eq!(swarm.trails.len(), 1, "no part of the state: nothing saves or restores it");
    passes(&mut crate::saves::Cabinet { core: crate::saves::Core::new() });
    let mut emulator = crate::saves::Emulator::new();
    passes(&mut emulator);
    assert!(emulator.picture.is_empty() && crate::saves::Emulator::config().check().is_ok());
    let mut world = crate::saves::World { positions: vec![5; 4], time: 0 };
    let mut test = SyncTest::new(&crate::saves::Lent { world: &mut world }, 8, 1);
    for frame in 0..600 {
        test.advance(&mut crate::saves::Lent { world: &mut world }, inputs(frame)).unwrap();
    }
    test.finish().unwrap();
}

fn inputs(frame: u32) -> Inputs {
    Inputs::from([Buttons((frame / 5 % 4) as u16), Buttons((frame / 9 % 3) as u16)])
}

fn passes<G: Game>(game: &mut G) {
    let mut test = SyncTest::new(&*game, 8, 1);
    for frame in 0..600 {
        test.advance(game, inputs(frame)).unwrap();
    }
    test.finish().unwrap();
}

/// Two protocols with nothing between them, on one clock.
fn exchange<P: Protocol>(now: Duration, pair: &mut [P; 2]) {
    let addrs = ["192.0.2.1:7".parse().unwrap(), "192.0.2.2:7".parse().unwrap()];
    let mut buf = [0; rebout::MAX_DATAGRAM];
    for _ in 0..8 {
        for from in 0..2 {
            while let Some((_, len)) = pair[from].poll_transmit(now, &mut buf) {
                pair[1 - from].handle_datagram(now, addrs[from], &buf[..len]);
            }
        }
    }
}

/// Two sessions at the start of their match, at this time.
fn two_sessions() -> (Duration, [Session<Volley>; 2], Volley) {
    let config = crate::own_loop::config("x").with(|config| config.rollback.delay_frames = Some(0));
    let host = Lobby::host(config.clone()).unwrap();
    let join = Lobby::join(config, "192.0.2.1:7".parse().unwrap()).unwrap();
    let mut lobbies = [host, join];
    let mut now = Duration::from_secs(1);
    while !lobbies.iter().all(|lobby| lobby.agreed().unwrap().is_some()) {
        exchange(now, &mut lobbies);
        now += Duration::from_millis(10);
    }
    let game = Volley::new(lobbies[0].agreed().unwrap().unwrap().seed);
    (now, lobbies.map(|lobby| lobby.start(now, &game).unwrap()), game)
}

#[test]
fn frames_read_again_without_an_advance_are_refused() {
    let (mut now, mut sessions, game) = two_sessions();
    let mut games = [game; 2];
    let (mut stage, mut recorder) = (Silent::default(), Recorder::new(1));
    while sessions[0].settled() < Frame(30) || sessions[0].confirmed().next().is_none() {
        now += Duration::from_millis(4);
        exchange(now, &mut sessions);
        for (at, session) in sessions.iter_mut().enumerate() {
            while session.frame_due(now) {
                session.advance(now, &mut games[at], Buttons::NONE);
                if at == 0 {
                    crate::own_loop::attend(session, &mut recorder, &mut stage).unwrap();
                }
            }
        }
        assert!(now < Duration::from_secs(60), "a match that stands still");
    }
    let whole = recorder.replay().clone();
    let (frame, _) = sessions[0].confirmed().next().unwrap();
    let next = Frame(whole.inputs.len() as u32);
    let again = crate::own_loop::attend(&mut sessions[0], &mut recorder, &mut stage);
    assert_eq!(again, Err(RecordError::Repeated { frame, next }));
    assert_eq!(*recorder.replay(), whole);
}

#[test]
fn words_of_the_peer_are_shown_escaped() {
    let (mut now, mut sessions, _) = two_sessions();
    let evil = "\u{1b}[2J\u{202e}the match is over\r\nyou lost\u{9b}1A";
    sessions[1].send(now, evil.as_bytes()).unwrap();
    sessions[1].send(now, b"\xff\x1b]0;title\x07").unwrap();
    let mut stage = Silent::default();
    for _ in 0..50 {
        now += Duration::from_millis(20);
        exchange(now, &mut sessions);
        crate::own_loop::hear(&mut sessions[0], &mut stage);
    }
    assert_eq!(
        stage.said,
        [r"\u{1b}[2J\u{202e}the match is over\u{d}\u{a}you lost\u{9b}1A", "\u{fffd}\\u{1b}]0;title\\u{7}"]
    );
    let mut agreed = sessions[0].agreed().clone();
    agreed.user_data = evil.as_bytes()[..19].to_vec();
    assert_eq!(crate::own_loop::name_of(&agreed), r"\u{1b}[2J\u{202e}the match is");
}

#[test]
fn engine_loop_hears_of_the_end_without_a_peer() {
    let (mut now, mut sessions, game) = two_sessions();
    let mut games = [game; 2];
    let mut last = [Advanced::NotDue; 2];
    // Until the first of them knows its last state; then the other is never heard of again.
    while last[0] != Advanced::Ended {
        now += Duration::from_millis(4);
        exchange(now, &mut sessions);
        for (at, session) in sessions.iter_mut().enumerate() {
            while session.frame_due(now) {
                last[at] = session.advance(now, &mut games[at], Buttons::NONE);
            }
        }
        assert!(now < Duration::from_secs(600), "a match without an end");
    }
    let [session, _] = &mut sessions;
    assert!(!session.ended(), "the other side has not said anything yet");
    let (mut stage, mut recorder) = (Silent::default(), Recorder::new(1));
    let mut buf = [0; rebout::MAX_DATAGRAM];
    let mut verdict = None;
    for _ in 0..20_000 {
        now += Duration::from_millis(4);
        while session.poll_transmit(now, &mut buf).is_some() {}
        while session.frame_due(now) {
            assert_eq!(session.advance(now, &mut games[0], Buttons::NONE), Advanced::Ended);
            verdict = crate::own_loop::attend(session, &mut recorder, &mut stage).unwrap().or(verdict);
        }
        // The end may come with no frame after it.
        verdict = crate::own_loop::hear(session, &mut stage).or(verdict);
    }
    assert!(session.ended() && !session.frame_due(now));
    assert!(matches!(verdict, Some(Verdict::Unconfirmed { .. })), "{verdict:?}");
    assert!(!matches!(session.poll_event(), Some(Event::Disconnected { .. })), "told once");
}

#[test]
fn match_at_one_machine_ends_and_its_replay_is_the_match() {
    let mut now = Duration::from_secs(3);
    let mut stage = Silent { held: DOWN, ..Silent::default() };
    let played = offline::play_offline(5, &mut stage, |until| {
        now = now.max(until);
        now
    });
    let played = played.expect("a match");
    assert!(played.game.finished() && played.replay.inputs.len() > 100);
    let mut again = Volley::new(5);
    replay::play(&played.replay, &mut again, |_, _| {});
    assert_eq!(checksum(&again), checksum(&played.game));
    assert!(now < Duration::from_secs(600), "frames come at 60 a second of this clock");
}

#[test]
fn two_pads_are_read_into_one_input() {
    let pad = |buttons| sticks::Pad { buttons, left: (0, 0), trigger: 0 };
    let two = sticks::read_two([&pad(DOWN), &pad(Buttons(0x8000))]);
    assert_eq!((two.pad(0), two.pad(1), two.pad(2)), (DOWN, Buttons(0x8000), Buttons::NONE));
}

#[test]
fn pad_that_trembles_gives_the_same_input() {
    let read = |x, y, trigger| sticks::read(&sticks::Pad { buttons: DOWN, left: (x, y), trigger });
    assert_eq!(read(20_000, 300, 200), read(20_400, -300, 210));
    let input = read(-32_768, 0, 255);
    assert!(input.holds(DOWN));
    assert_eq!([0, 1, 2, 3].map(|axis| input.axis(axis)), [-127, 0, 112, 0]);
}

#[test]
fn memory_named_at_run_time_is_reported_by_address() {
    let regions = |byte| {
        let region = crate::saves::Region { name: "wram".to_owned(), base: 0x7E_0000, bytes: vec![1, byte] };
        crate::saves::Regions(vec![region])
    };
    assert_eq!(rebout::diff(&regions(2), &regions(3))[0].to_string(), "wram[0x7e0001]: 2 / 3");
}
