//! How a match that is left or given up is told to the other side, whatever the link does at that moment.

use crate::round::{ENDLESS, Round, round};
use core::time::Duration;
use rebout::lab::forge::{Knows, label, message};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::wire::message::{Leaving, LeavingWhy, Message};
use rebout::lab::{HOST, JOINER, Play, Setup, SimMatch, addresses, every_fourth};
use rebout::wire::WireFrame;
use rebout::{Event, Frame, Protocol, Reason, Verdict};
use support::repeats;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// How often each goodbye is tried: the figures in the documents are of 1,000.
fn runs() -> u64 {
    repeats(1_000)
}

/// A match that is about to be left.
fn playing(seed: u64, link: LinkConfig) -> SimMatch<Round> {
    let mut sim = SimMatch::new(Setup::new(seed, link), ENDLESS);
    assert!(sim.run_until_frame(30), "the match never began");
    // At any moment of a frame.
    let moment = sim.world.draw(ms(50));
    sim.run_for(moment);
    sim
}

/// The reason for which the match is over for a machine.
fn reason(sim: &SimMatch<Round>, id: usize) -> Option<Reason> {
    match sim.ending(id) {
        Some(Event::Disconnected { reason }) => Some(*reason),
        _ => None,
    }
}

/// In how many of the runs a goodbye was told as anything but a goodbye, with the link cut for `gap` at that moment.
fn misreported_goodbyes(link: LinkConfig, gap: Duration) -> u64 {
    let otherwise = (0..runs()).filter(|seed| {
        let mut sim = playing(*seed, link);
        let (leaver, now) = ((seed % 2) as usize, sim.world.now());
        sim.world.network_mut().cut_both(HOST, JOINER, now, now + gap);
        sim.session_mut(leaver).leave();
        assert!(sim.run_until(secs(8), |sim| sim.ending(1 - leaver).is_some()));
        reason(&sim, 1 - leaver) != Some(Reason::Left)
    });
    otherwise.count() as u64
}

#[test]
fn goodbye_is_told_through_a_gap_at_that_moment() {
    for gap in [30, 300] {
        assert_eq!(
            misreported_goodbyes(LinkConfig::new(ms(40)), ms(gap)),
            0,
            "of {} with a gap of {gap} ms",
            runs()
        );
    }
}

#[test]
fn goodbye_is_told_although_inputs_overtake_it() {
    for jitter in [50, 100, 200] {
        let link = LinkConfig { jitter: ms(jitter), ..LinkConfig::new(ms(40)) };
        assert_eq!(
            misreported_goodbyes(link, Duration::ZERO),
            0,
            "of {} with a jitter of {jitter} ms",
            runs()
        );
    }
}

#[test]
fn goodbye_on_a_lossy_link_is_lost_only_if_all_of_it_is() {
    let link = LinkConfig { loss: Chance::percent(30), jitter: ms(20), ..LinkConfig::new(ms(40)) };
    // Eight packets, of which any will do: 0.3^8 is 1 in 15,000.
    let lost = misreported_goodbyes(link, Duration::ZERO);
    assert!(lost <= 1, "{lost} of {} at 30 % loss", runs());
}

#[test]
fn returning_machine_is_told_that_the_peer_gave_up() {
    for away in [HOST, JOINER] {
        // What waits in the socket of a machine that is away is not more than that holds.
        let setup =
            Setup::new(7, LinkConfig::new(ms(30))).configure(|config| config.timeouts.lost_after = secs(3));
        let mut sim = SimMatch::new(setup, ENDLESS);
        assert!(sim.run_until_frame(30));
        let now = sim.world.now();
        sim.world.pause(away, now, secs(10));
        sim.run_for(secs(11));
        assert_eq!(reason(&sim, 1 - away), Some(Reason::TimedOut));
        assert_eq!(reason(&sim, away), Some(Reason::GaveUp), "{sim:?}");
        let (told_at, _) = sim.machine(away).events.last().expect("told");
        let back = sim.world.clock(away).local(now + secs(10));
        assert!(*told_at < back + ms(200), "as soon as it is back: {told_at:?}, {back:?}");
    }
}

#[test]
fn returning_machine_is_not_told_that_the_peer_left() {
    for pause in [31, 40] {
        for away in [HOST, JOINER] {
            let mut sim = playing(7, LinkConfig::new(ms(30)));
            let now = sim.world.now();
            sim.world.pause(away, now, secs(pause));
            sim.run_for(secs(pause + 33));
            // Its socket was full when the other gave up, so it may have to find out by itself.
            let told = reason(&sim, away);
            assert!(matches!(told, Some(Reason::GaveUp | Reason::TimedOut)), "{pause} s: {told:?}");
        }
    }
}

#[test]
fn giving_up_is_told_as_such_although_packets_are_lost() {
    for seed in 0..200 {
        let lossy = LinkConfig { loss: Chance::percent(30), ..LinkConfig::new(ms(30)) };
        let impatient = |config: &mut rebout::Config| {
            (config.timeouts.lost_after, config.timeouts.no_progress_after) = (secs(5), secs(10));
        };
        let mut sim = SimMatch::new(Setup::new(seed, lossy).configure(impatient), ENDLESS);
        assert!(sim.run_until_frame(30), "the match never began");
        // One direction is cut: the other machine still hears, and nobody leaves.
        let now = sim.world.now();
        sim.world.network_mut().cut(JOINER, HOST, now, now + secs(30));
        assert!(sim.run_until(secs(20), |sim| sim.ending(JOINER).is_some()));
        assert_eq!(reason(&sim, HOST), Some(Reason::TimedOut));
        let told = reason(&sim, JOINER);
        assert!(matches!(told, Some(Reason::GaveUp | Reason::NoProgress)), "seed {seed}: {told:?}");
    }
}

#[test]
fn leaving_is_not_reported_as_giving_up() {
    // A peer whose goodbye says that it gave up, although frames came until then.
    let mut sim = SimMatch::new(Setup::new(3, LinkConfig::new(ms(30))), ENDLESS);
    sim.eavesdrop();
    assert!(sim.run_until_frame(60));
    let Knows { header, token, .. } = Knows::of(&sim, HOST);
    let end = WireFrame(sim.machine(JOINER).overheard.as_ref().expect("eavesdropped on").said_end);
    sim.world.stop(JOINER);
    let leaving = Message::Leaving(Leaving { token, end, why: LeavingWhy::GaveUp });
    sim.inject(HOST, addresses()[JOINER], &message(header, &leaving));
    sim.run_for(ms(100));
    assert_eq!(reason(&sim, HOST), Some(Reason::Left));
}

#[test]
fn match_that_is_over_without_the_peers_verdict_falls_silent() {
    let play = Play { build: |seed| round(seed, 300), script: every_fourth };
    let mut sim = SimMatch::new(Setup::new(8, LinkConfig::new(ms(30))), play);
    sim.eavesdrop();
    let current =
        |sim: &SimMatch<Round>| sim.machine(JOINER).session().map_or(Frame::ZERO, rebout::Session::current);
    assert!(sim.step_until(secs(20), |sim| current(sim) >= Frame(300)));
    // Its inputs are on their way, and the host is never told that they and its own have arrived.
    sim.world.stop(JOINER);
    sim.run_for(secs(40));
    assert!(matches!(sim.ending(HOST), Some(Event::Ended(Verdict::Unconfirmed { .. }))), "{sim:?}");
    let before = sim.said().count();
    sim.run_for(secs(60));
    let said: Vec<String> = sim.said().skip(before).map(|said| label(said.datagram)).collect();
    assert_eq!(said.len(), 0, "{:?}", said.first());
    assert!(!sim.machine(HOST).lingers());
}
