//! Two sealed lobbies meet in as many round trips as bare ones, and play a whole match.

use core::time::Duration;
use games::playground::PLAY;
use rebout::lab::sim::{EntryKind, Recording};
use rebout::lab::{Bout, HOST, JOINER, Setup};
use rebout::net::link::{Chance, LinkConfig};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Link {
    Bare,
    Invited,
    Open,
}

fn bout(seed: u64, link: LinkConfig, kind: Link) -> Bout<games::playground::Playground> {
    let mut setup = Setup::new(seed, link);
    setup.start_within = ms(1);
    let mut bout = Bout::new(setup, PLAY);
    match kind {
        Link::Bare => {}
        Link::Invited => bout.seal(seed),
        Link::Open => bout.seal_open(seed),
    }
    bout
}

/// When each machine has begun.
fn begun(bout: &mut Bout<games::playground::Playground>) -> [Duration; 2] {
    assert!(
        bout.step_until(Duration::from_secs(30), |bout| {
            [HOST, JOINER].iter().all(|id| bout.machine(*id).started_at.is_some())
        }),
        "{bout:?} {:?} {:?}",
        bout.machine(0).seal.as_ref().unwrap().stats(),
        bout.machine(1).seal.as_ref().unwrap().stats()
    );
    [HOST, JOINER].map(|id| bout.machine(id).started_at.unwrap())
}

#[test]
fn a_sealed_handshake_has_the_round_trips_of_a_bare_one() {
    let times = [Link::Bare, Link::Invited, Link::Open]
        .map(|kind| begun(&mut bout(1, LinkConfig::new(ms(40)), kind)));
    assert_eq!(times[0], times[1]);
    assert_eq!(times[0], times[2]);
    let [host, joiner] = times[0];
    assert!((ms(200)..ms(202)).contains(&host) && (ms(240)..ms(242)).contains(&joiner), "{times:?}");
}

#[test]
fn a_sealed_match_is_played_whole_and_nothing_of_it_is_plain() {
    for kind in [Link::Invited, Link::Open] {
        let link = LinkConfig { loss: Chance::percent(5), jitter: ms(10), ..LinkConfig::new(ms(40)) };
        let mut bout = bout(2, link, kind);
        bout.world.network_mut().record(Recording::Full);
        assert!(bout.run_until_frame(1_200), "{bout:?}");
        assert_eq!(bout.flaw(true), None);
        let entries = bout.world.network().transcript().entries();
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Sent) {
            assert!(rebout::wire::seal::is_sealed(&entry.datagram), "{entry:?}");
        }
        for id in [HOST, JOINER] {
            let stats = bout.machine(id).seal.as_ref().unwrap().stats();
            assert_eq!((stats.refused_total(), stats.connections), (0, 1), "{kind:?} {stats:?}");
        }
    }
}
