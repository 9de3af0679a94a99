//! Several pads at each machine: a game for four on the simulated and the sealed path, offline, in a replay and in a
//! take-over.

use crate::pair::{self, pair_with, plays};
use core::time::Duration;
use games::tag::{self, TAG, Tag};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::stress::{Plan, Stress, Turn, random_pads};
use rebout::lab::{HOST, JOINER, Play, Setup, SimMatch};
use rebout::replay::{End, Header, Outcome, Playback, Recording, Replay, StreamRecorder, Winner};
use rebout::wire::rbn1::{Flags, InputPacket};
use rebout::{
    Advanced, Buttons, Config, Cues, Event, Frame, Game, Input, Inputs, Offline, Player, SyncTest, Verdict,
    checksum,
};

const FRAMES: u32 = 600;

/// Random inputs of all pads of a player. Pads beyond the agreed ones are pressed too, and must be dropped.
fn pressed(player: Player, frame: Frame) -> Input {
    random_pads(&Turn { game: &(), player, frame, seed: 9 }, Buttons(0x1F), 4)
}

fn config() -> Config {
    Config::new(0xB0).with(|config| {
        config.game.pads = tag::PADS;
        config.lobby.seed = Some(5);
    })
}

fn setup(seed: u64) -> Setup {
    let link = LinkConfig { loss: Chance::percent(5), ..LinkConfig::new(Duration::from_millis(40)) };
    Setup::new(seed, link).configure(|config| {
        config.game.pads = tag::PADS;
        config.lobby.seed = Some(5);
    })
}

/// A match of four players at two machines, and its true inputs.
fn played(seed: u64, prepare: impl FnOnce(&mut SimMatch<Tag>)) -> (SimMatch<Tag>, Vec<Inputs>) {
    let play = Play { build: |seed| Tag::until(seed, FRAMES), script: |_, _, _| Input::NEUTRAL };
    let mut sim = SimMatch::new(setup(seed), play);
    for id in 0..2 {
        sim.world.machine_mut(id).input_source =
            Some(Box::new(|_, session, _| pressed(session.local(), session.current())));
    }
    sim.record();
    prepare(&mut sim);
    assert!(sim.run_until(Duration::from_secs(60), |sim| (0..2).all(|id| sim.machine(id).ended())));
    assert_eq!(sim.divergence(), None, "every frame is that of a direct simulation");
    let [one, two] = [0, 1].map(|id| sim.ending(id).expect("an end"));
    assert!(matches!(one, Event::Ended(Verdict::Agreed { frame: Frame(FRAMES), .. })), "{one:?}");
    assert_eq!(one, two);
    assert!((0..2).all(|id| sim.machine(id).stats().rollback.rollbacks > 20));
    let inputs = sim.take_record();
    (sim, inputs)
}

/// Holds that every pad of both players was pressed, and no pad beyond them.
fn assert_pads_were_pressed(inputs: &[Inputs]) {
    assert_eq!(inputs.len(), FRAMES as usize);
    for player in Player::BOTH {
        for pad in 0..4 {
            let presses = inputs.iter().filter(|inputs| inputs.pad(player, pad) != Buttons::NONE).count();
            assert_eq!(presses > 100, pad < usize::from(tag::PADS), "{player}, pad {pad}: {presses}");
        }
    }
}

#[test]
fn four_players_at_two_machines_agree() {
    let (sim, inputs) = played(1, |_| ());
    assert_pads_were_pressed(&inputs);
    let tags = sim.direct().expect("a match").tagged;
    assert!(tags.iter().sum::<u32>() > 0, "{tags:?}");
}

#[cfg(feature = "seal")]
#[test]
fn four_players_agree_on_a_sealed_link() {
    let (_, inputs) = played(2, |sim| sim.seal(2));
    assert_pads_were_pressed(&inputs);
}

#[test]
fn match_of_pads_is_recorded_and_taken_over() {
    let (sim, inputs) = played(3, |_| ());
    let agreed = sim.machine(0).agreed().expect("a match");
    let header = Header::of_match(&setup(3).configs[0], agreed);
    assert_eq!((header.pads, header.axes), (2, 0));
    let mut recorder = StreamRecorder::new(&header, Vec::new()).unwrap();
    let mut tag = Tag::until(agreed.seed, FRAMES);
    for (frame, inputs) in (0..).map(Frame).zip(&inputs) {
        recorder.record(frame, *inputs).unwrap();
        tag.step(*inputs, &mut Cues::new());
    }
    let third = Inputs([Input::NEUTRAL.with_pad(2, TAG), Input::NEUTRAL]);
    let refused = recorder.record(Frame(FRAMES), third).unwrap_err().to_string();
    assert_eq!(
        refused,
        format!("frame {FRAMES} has an axis or a pad beyond the 0 axes and 2 pads of the header")
    );
    recorder.checksum(Frame(FRAMES), checksum(&tag));
    let end = End { outcome: Outcome::Local, winner: Winner::Draw };
    let file = recorder.finish(end).unwrap();
    let recording = Recording::open(file.clone()).unwrap();
    assert_eq!(recording.header().pads, 2);
    assert!(recording.inputs().eq(inputs.iter().copied()));
    assert_eq!(recording.verify(&mut Tag::until(agreed.seed, FRAMES)).unwrap(), 1);
    assert!(recording.write_version_1(&mut Vec::new()).is_err(), "version 1 has one pad");
    let replay = recording.to_replay();
    assert_eq!(Replay::of_file(&replay.to_file().unwrap()).unwrap(), replay);

    let mut playback = Playback::new(Tag::until(agreed.seed, FRAMES), recording);
    playback.seek(Frame(FRAMES / 2));
    let mut live = playback.take_over(Duration::ZERO, &config()).unwrap();
    let mut taken = Vec::new();
    while !live.ended() {
        live.advance(live.next_frame_at(), |_, recorded| {
            let mut inputs = recorded.expect("within the recording");
            inputs[Player::One] = inputs[Player::One].with_pad(1, TAG).with_pad(3, TAG);
            inputs
        });
        taken.extend(live.confirmed().map(|(_, inputs)| inputs));
    }
    let before = &inputs[FRAMES as usize / 2..];
    assert_eq!(taken.len(), before.len());
    for (taken, before) in taken.iter().zip(before) {
        let mut expected = *before;
        expected[Player::One] = expected[Player::One].with_pad(1, TAG);
        assert_eq!(*taken, expected, "the fourth pad is dropped");
    }
}

#[test]
fn offline_pads_are_those_of_the_config() {
    let mut tag = Tag::until(5, FRAMES);
    let mut direct = tag;
    let mut offline = Offline::new(Duration::ZERO, &config(), &tag).unwrap();
    let mut played = Vec::new();
    while !offline.ended() {
        let frame = offline.current();
        let inputs = Inputs(Player::BOTH.map(|player| pressed(player, frame)));
        assert_ne!(offline.advance(offline.next_frame_at(), &mut tag, inputs), Advanced::NotDue);
        played.extend(offline.confirmed().map(|(_, inputs)| inputs));
    }
    assert_pads_were_pressed(&played);
    played.iter().for_each(|inputs| direct.step(*inputs, &mut Cues::new()));
    assert_eq!(tag, direct);
}

#[test]
fn sync_test_holds_for_every_pad() {
    let inputs = |frame| Inputs(Player::BOTH.map(|player| pressed(player, Frame(frame))));
    let mut tag = Tag::new(5);
    let mut test = SyncTest::new(&tag, 8, 3);
    (0..FRAMES).for_each(|frame| test.advance(&mut tag, inputs(frame)).unwrap());
    test.finish().unwrap();
}

#[test]
fn pads_travel_as_axes_and_one_pad_as_before() {
    for (pads, axes) in [(1, 0), (2, 2), (3, 4), (4, 6)] {
        let mut pair =
            pair_with([HOST, JOINER].map(|id| pair::config(id).with(|config| config.game.pads = pads)));
        plays(&mut pair, 60);
        let flags = Flags::VERSION_1.and(Flags::TIME).and(Flags::LOSS);
        let flags = if pads > 1 { flags.and(Flags::AXES) } else { flags };
        for side in [HOST, JOINER] {
            let said = pair.said_by(side, "RBN1");
            assert!(said.len() > 50);
            for bytes in said {
                assert_eq!(InputPacket::decode(bytes, flags).expect("an agreed packet").axes(), axes);
            }
        }
    }
}

#[test]
fn taps_of_every_pad_in_a_stall_are_kept() {
    let setup = Setup::new(1, LinkConfig::clean()).configure(|config| {
        (config.rollback.kept_buttons, config.game.pads) = (TAG, 4);
    });
    let play = Play { build: Tag::new, script: |_, _, _| Input::NEUTRAL };
    let mut sim = SimMatch::new(setup, play);
    assert!(sim.run_until_frame(30));
    sim.record();
    let (cut_at, cut_until) = (sim.world.now(), sim.world.now() + Duration::from_secs(1));
    sim.world.network_mut().cut_both(0, 1, cut_at, cut_until);
    let begin = cut_until - Duration::from_millis(60);
    sim.world.machine_mut(0).input_source = Some(Box::new(move |now, _, _| {
        // One pad after the other, for two frames each, and a direction that is not kept.
        let pad = now.saturating_sub(begin).as_millis() as usize / 17;
        if now < begin || pad > 3 { Input::NEUTRAL } else { Input::NEUTRAL.with_pad(pad, TAG | tag::LEFT) }
    }));
    sim.run_for(Duration::from_secs(3));
    let player = sim.machine(0).session().expect("a match").local();
    let inputs = sim.take_record();
    let kept = inputs.iter().map(|inputs| inputs[player]).find(|input| *input != Input::NEUTRAL);
    let kept = kept.expect("a press");
    assert!((0..3).all(|pad| kept.pad(pad).holds(TAG)), "{kept:?}");
    assert!((0..2).all(|pad| !kept.pad(pad).holds(tag::LEFT)), "{kept:?}");
}

#[test]
fn stress_test_presses_every_pad() {
    let plan = || Plan { match_frames: 600, ..Plan::default() };
    let report = Stress::new(Tag::new).pads(tag::PADS).plan(plan()).run(600 * 3 * 13);
    assert!(report.is_well(), "{report}");
    let idle = Stress::new(Tag::new).pads(4).press(|turn| random_pads(turn, Buttons(0x1F), 3)).plan(plan());
    let report = idle.run(1).to_string();
    assert!(report.contains("a pad was never pressed"), "{report}");
}
