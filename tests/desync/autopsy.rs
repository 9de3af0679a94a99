//! When two machines disagree, they find out since which frame, about which field, and whose fault it is.

use core::time::Duration;
use games::faulty::{Fault, Faulty, LINK, PLAY};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{Play, Setup, SimMatch, every_fourth};
use rebout::{
    Autopsy, AutopsyVerdict, Config, Cues, Event, Frame, Game, Inputs, OnDesync, Player, Reason, Save,
    StateError, Verdict, fields,
};
use support::repeats;

fn play(tamper: fn(&mut Faulty, Player), link: LinkConfig, change: impl Fn(&mut Config)) -> SimMatch<Faulty> {
    let mut sim = SimMatch::new(Setup::new(5, link).configure(change), PLAY);
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(tamper);
    }
    assert!(sim.run_until(Duration::from_secs(60), |sim| (0..2).all(|id| sim.machine(id).ended())));
    sim
}

fn autopsies(sim: &SimMatch<Faulty>) -> [Autopsy; 2] {
    [0, 1].map(|id| {
        let events = &sim.machine(id).events;
        let mut found = events.iter().filter_map(|(_, event)| match event {
            Event::Autopsy(autopsy) => Some((**autopsy).clone()),
            _ => None,
        });
        let autopsy = found.next().unwrap_or_else(|| panic!("machine {id} made no autopsy: {events:?}"));
        assert!(found.next().is_none(), "told once");
        autopsy
    })
}

#[test]
fn step_that_differs_is_told_with_the_frame_and_the_field() {
    let sim = play(
        |game, player| {
            if player == Player::Two {
                game.fault = Fault::Step { into: 100 };
            }
        },
        LINK,
        |_| {},
    );
    for autopsy in autopsies(&sim) {
        assert_eq!(autopsy.last_match, Some(Frame(90)), "{autopsy}");
        assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(100), true), "{autopsy}");
        assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "{autopsy}");
        let [field] = &autopsy.fields[..] else { panic!("{autopsy}") };
        assert_eq!(field.path, "fighters[1].hp");
        let (one, two): (i32, i32) =
            (field.one.clone().unwrap().parse().unwrap(), field.two.clone().unwrap().parse().unwrap());
        assert_eq!(one, two + 1);
        assert!(autopsy.complete);
        assert_eq!(autopsy.states[0].len(), 24);
        assert_eq!(autopsy.inputs.first().unwrap().0, Frame(90));
    }
}

#[test]
fn state_outside_the_snapshot_is_blamed_on_its_machine() {
    for (player, verdict) in [
        (Player::One, AutopsyVerdict::NotReproducible { one: true, two: false }),
        (Player::Two, AutopsyVerdict::NotReproducible { one: false, two: true }),
    ] {
        let tamper: fn(&mut Faulty, Player) = match player {
            Player::One => |game, seat| {
                if seat == Player::One {
                    game.fault = Fault::Outside { from: 100 };
                }
            },
            Player::Two => |game, seat| {
                if seat == Player::Two {
                    game.fault = Fault::Outside { from: 100 };
                }
            },
        };
        let sim = play(tamper, LINK, |_| {});
        for autopsy in autopsies(&sim) {
            assert_eq!(autopsy.verdict, verdict, "{autopsy}");
            assert_eq!(autopsy.fields[0].path, "fighters[0].cooldown", "{autopsy}");
            assert!(autopsy.exact);
        }
    }
    let sim = play(|game, _| game.fault = Fault::Outside { from: 100 }, LINK, |_| {});
    for autopsy in autopsies(&sim) {
        assert_eq!(autopsy.verdict, AutopsyVerdict::NotReproducible { one: true, two: true }, "{autopsy}");
    }
}

#[test]
fn first_states_that_differ_are_told_as_such() {
    let sim = play(
        |game, player| {
            if player == Player::One {
                game.inner.fighters[0].hp = 90;
            }
        },
        LINK,
        |_| {},
    );
    for autopsy in autopsies(&sim) {
        assert_eq!((autopsy.last_match, autopsy.first_divergence), (None, Frame(0)), "{autopsy}");
        assert_eq!(autopsy.verdict, AutopsyVerdict::StartDiffers, "{autopsy}");
        assert_eq!(autopsy.fields[0].to_string(), "fighters[0].hp: 90 (player one) / 100 (player two)");
    }
}

#[test]
fn difference_after_the_last_checksum_is_found_by_the_verdict() {
    for on_desync in [OnDesync::Report, OnDesync::Stop] {
        let sim = play(
            |game, player| {
                if player == Player::One {
                    game.fault = Fault::Step { into: 428 };
                }
            },
            LINK,
            |config| config.on_desync = on_desync,
        );
        for (id, autopsy) in autopsies(&sim).into_iter().enumerate() {
            assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(428), true), "{autopsy}");
            assert_eq!(autopsy.fields[0].path, "fighters[1].hp", "{autopsy}");
            let last = sim.machine(id).events.last().map(|(_, event)| event.clone());
            assert!(matches!(last, Some(Event::Ended(Verdict::Differs { .. }))), "{last:?}");
        }
    }
}

#[test]
fn autopsy_completes_at_loss_and_reordering() {
    let link = LinkConfig {
        loss: Chance::percent(20),
        jitter: Duration::from_millis(60),
        ..LinkConfig::new(Duration::from_millis(50))
    };
    let sim = play(
        |game, player| {
            if player == Player::Two {
                game.fault = Fault::Step { into: 100 };
            }
        },
        link,
        |_| {},
    );
    for autopsy in autopsies(&sim) {
        assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(100), true), "{autopsy}");
        assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers, "{autopsy}");
    }
}

#[test]
fn config_says_whether_to_look_and_whether_to_stop() {
    let tamper: fn(&mut Faulty, Player) = |game, player| {
        if player == Player::Two {
            game.fault = Fault::Step { into: 100 };
        }
    };
    let sim = play(tamper, LINK, |config| config.on_desync = OnDesync::GoOn);
    for id in 0..2 {
        let events: Vec<&Event> = sim.machine(id).events.iter().map(|(_, event)| event).collect();
        assert!(
            matches!(events[..], [Event::Desync(_), Event::Ended(Verdict::Differs { .. })]),
            "{events:?}"
        );
    }
    let sim = play(tamper, LINK, |config| config.on_desync = OnDesync::Stop);
    for id in 0..2 {
        let events: Vec<&Event> = sim.machine(id).events.iter().map(|(_, event)| event).collect();
        assert!(
            matches!(
                events[..],
                [Event::Desync(_), Event::Autopsy(_), Event::Disconnected { reason: Reason::Desync }]
            ),
            "{events:?}"
        );
    }
}

#[test]
fn game_is_left_as_it_was() {
    let sim = play(
        |game, player| {
            if player == Player::Two {
                game.fault = Fault::Step { into: 100 };
            }
        },
        LINK,
        |_| {},
    );
    // The tampered machine differs by exactly its fault; the other one still is what the direct simulation says.
    let [one, two] = [0, 1].map(|id| sim.machine(id).game().unwrap().inner);
    assert_eq!(one.frame, two.frame);
    let direct = sim.direct().unwrap().inner;
    assert_eq!(rebout::diff(&one, &direct), []);
    assert_ne!(rebout::diff(&two, &direct), []);
}

/// A large state: a difference in it must not cost its size.
struct Memory {
    ram: Vec<u8>,
    frame: u32,
    flips: bool,
}

struct MemorySnapshot {
    frame: u32,
    ram: Vec<u8>,
}
fields!(MemorySnapshot { frame, ram });

impl Save for Memory {
    type Snapshot = MemorySnapshot;
    fn snapshot(&self) -> MemorySnapshot {
        MemorySnapshot { frame: self.frame, ram: self.ram.clone() }
    }
    fn save(&self, slot: &mut MemorySnapshot) -> Result<(), StateError> {
        slot.frame = self.frame;
        slot.ram.copy_from_slice(&self.ram[..]);
        Ok(())
    }
    fn restore(&mut self, snapshot: &MemorySnapshot) -> Result<(), StateError> {
        self.frame = snapshot.frame;
        self.ram.copy_from_slice(&snapshot.ram[..]);
        Ok(())
    }
}

impl Game for Memory {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.frame += 1;
        for player in Player::BOTH {
            let at = self.frame as usize * 977 % self.ram.len();
            self.ram[at] = self.ram[at].wrapping_add(inputs[player].buttons().0 as u8 + 1);
        }
        if self.flips && self.frame == 47 {
            self.ram[123_456] ^= 0x40;
        }
    }
}

#[test]
fn large_state_costs_a_few_kibibytes_to_compare() {
    let build = |_| Memory { ram: vec![0; repeats(1 << 20)], frame: 0, flips: false };
    let play = Play { build, script: every_fourth };
    let mut sim = SimMatch::new(Setup::new(3, LINK), play);
    for id in 0..2 {
        sim.world.machine_mut(id).tamper = Some(|game, player| game.flips = player == Player::Two);
    }
    let has_autopsy = |sim: &SimMatch<Memory>, id: usize| {
        sim.machine(id).events.iter().find_map(|(_, event)| match event {
            Event::Autopsy(autopsy) => Some((**autopsy).clone()),
            _ => None,
        })
    };
    assert!(sim.run_until(Duration::from_secs(20), |sim| (0..2).all(|id| has_autopsy(sim, id).is_some())));
    for id in 0..2 {
        let autopsy = has_autopsy(&sim, id).unwrap();
        assert_eq!((autopsy.first_divergence, autopsy.exact), (Frame(47), true), "{autopsy}");
        assert_eq!(autopsy.verdict, AutopsyVerdict::StepDiffers);
        let [field] = &autopsy.fields[..] else { panic!("{autopsy}") };
        assert_eq!(field.path, "ram[123456]");
    }
    let frames_played = u64::from(sim.machine(0).session().unwrap().current().0);
    let control = sim.machine(0).stats().bytes_out.saturating_sub(frames_played * 45);
    assert!(control < 8 * 1024, "{control} bytes beside the inputs");
}
