//! A spectator over UDP whose host is gone and comes back, on a clock that the test lets jump.

use super::*;
use crate::{Buttons, Config, Cues, Finish, FrameRate, Game, Inputs, Now, Online, Options, fields};
use std::path::Path;
use std::time::Instant;

const LAST: u32 = 200;

#[derive(Clone, Copy)]
struct Sum {
    sum: u32,
    frame: u32,
}
fields!(Sum { sum, frame });

impl Game for Sum {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        let pressed = inputs.0.iter().map(|input| u32::from(input.buttons().0)).sum::<u32>();
        (self.sum, self.frame) = (self.sum.wrapping_mul(31) + pressed, self.frame + 1);
    }

    fn finished(&self) -> bool {
        self.frame >= LAST
    }
}

fn local() -> ConnectOptions {
    ConnectOptions::new().bind("127.0.0.1:0".parse().unwrap())
}

fn options(folder: &Path, name: &str) -> Options {
    let config = Config::new(0xB0).with(|config| {
        config.game.frame_rate = FrameRate::hz(240);
        config.timeouts.countdown = Duration::from_millis(100);
    });
    let options = Options::with_config(config).connect(local()).name(name);
    options.rejoin_in(folder.join(name)).spectators(BroadcastConfig::default())
}

struct Machine {
    online: Online<Sum>,
    game: Sum,
    finish: Option<Finish>,
}

impl Machine {
    fn new(online: Online<Sum>) -> Self {
        Self { online, game: Sum { sum: 0, frame: 0 }, finish: None }
    }

    fn turn(&mut self) {
        match self.online.wait().unwrap() {
            Now::Begin { seed, .. } => {
                self.game = Sum { sum: seed, frame: 0 };
                self.online.start(&self.game);
            }
            Now::Frame => {
                let held = Buttons((self.game.frame / 7 % 16) as u16);
                self.online.advance(&mut self.game, held);
            }
            Now::Finished(finish) => self.finish = Some(finish),
            _ => {}
        }
    }
}

/// Runs machines and the spectator until `done`, at most half a minute.
fn run(machines: &mut [&mut Machine], watch: &mut Watch, done: impl Fn(&[&mut Machine], &Watch) -> bool) {
    let began = Instant::now();
    while !done(machines, watch) {
        machines.iter_mut().for_each(|one| one.turn());
        watch.wait(Duration::from_millis(1)).unwrap();
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", watch.spectator().state());
    }
}

#[test]
fn spectator_asks_a_host_that_came_back_on_a_new_connection() {
    let folder = std::env::temp_dir().join(format!("rebout-watch-again-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut host = Machine::new(Online::host(options(&folder, "Ada")).unwrap());
    let mut guest = Machine::new(Online::join(options(&folder, "Bob"), host.online.share()).unwrap());
    let invite = host.online.share_to_watch().unwrap();
    let mut watch = Watch::join(&local(), &invite).unwrap();
    run(&mut [&mut host, &mut guest], &mut watch, |both, watch| {
        both[0].game.frame >= 60 && !watch.spectator().bytes().is_empty()
    });
    let first = watch.connection.driver().local_addr();
    drop(host);
    let ticket = Options::unfinished_in(folder.join("Ada")).unwrap();
    watch.connection.skip(Duration::from_secs(9));
    run(&mut [&mut guest], &mut watch, |_, watch| !watch.spectator().bytes().is_empty());
    assert_eq!(watch.spectator().state(), Watching::Receiving, "nine seconds are no silence yet");
    watch.connection.skip(Duration::from_secs(2));
    let port = |watch: &Watch| watch.connection.driver().local_addr();
    run(&mut [&mut guest], &mut watch, |_, watch| port(watch) != first);
    // The host is silent for longer: another connection is opened ten seconds after the last one, and not before.
    let second = port(&watch);
    for (jump, is_new) in [(8, false), (3, true)] {
        watch.connection.skip(Duration::from_secs(jump));
        let state = Watching::Silent;
        run(&mut [&mut guest], &mut watch, |_, watch| {
            if is_new { port(watch) != second } else { watch.spectator().state() != state }
        });
        assert_eq!(port(&watch) != second, is_new, "{jump} s");
    }
    let mut host = Machine::new(Online::rejoin(options(&folder, "Ada"), ticket).unwrap());
    assert_eq!(host.online.share_to_watch(), Some(invite));
    run(&mut [&mut host, &mut guest], &mut watch, |both, watch| {
        both.iter().all(|one| one.finish.is_some()) && watch.spectator().state() == Watching::Complete
    });
    assert_eq!(watch.spectator().match_number(), 2);
    let recording = crate::replay::Recording::open(watch.spectator().bytes().to_vec()).unwrap();
    let game = &mut Sum { sum: recording.header().seed, frame: 0 };
    assert!(recording.frames() == LAST && recording.verify(game).unwrap() > 0);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn silent_host_is_asked_again_every_ten_seconds() {
    let (options, text) = (ConnectOptions::new(), String::new());
    let mut again = Again { options, text, join: Connection::join, at: Duration::ZERO };
    let asked: Vec<u64> = (25..60).filter(|at| again.is_due(Duration::from_secs(*at))).collect();
    assert_eq!(asked, [25, 35, 45, 55]);
}
