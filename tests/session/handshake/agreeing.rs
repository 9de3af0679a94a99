//! The terms that two machines agree on, over any link.

use crate::pair::{Pair, SOON, addr, config, events, ms, pair, pair_of, pair_with, plays, set_latency};
use core::time::Duration;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{HOST, JOINER, Play, Setup, SimMatch, every_fourth};
use rebout::{Config, ConfigError, Event, Lobby, LobbyError, Player, Protocol, Refusal};
use std::net::SocketAddr;

#[test]
fn two_machines_agree_and_play() {
    let mut pair = pair();
    plays(&mut pair, 60);
    let agreed = [HOST, JOINER].map(|id| pair.session_mut(id).agreed().clone());
    assert_eq!(agreed.each_ref().map(|agreed| agreed.seat), [Player::One, Player::Two]);
    assert_eq!(agreed.each_ref().map(|agreed| agreed.seed), [77, 77]);
    assert_eq!(agreed.each_ref().map(|agreed| agreed.is_host), [true, false]);
    assert_eq!(agreed[0].token, agreed[1].token);
    assert_eq!(agreed.each_ref().map(|agreed| agreed.peer), [addr(JOINER), addr(HOST)]);
    assert_eq!(agreed.each_ref().map(|agreed| &agreed.user_data[..]), [&b"joiner"[..], b"host"]);
    assert_eq!(
        [HOST, JOINER].map(|id| pair.machine(id).refused().total()),
        [0, 0],
        "nothing is out of order"
    );
}

#[test]
fn two_machines_agree_on_every_link() {
    let percent = |percent| Chance::from_percent(percent).unwrap();
    let base = LinkConfig::new(ms(40));
    let links = [
        ("lossy", LinkConfig { loss: percent(50.0), ..base }),
        ("duplicating", LinkConfig { duplicate: percent(50.0), ..base }),
        ("reordering", LinkConfig { reorder: percent(30.0), reorder_delay: ms(200), ..base }),
        ("jittering", LinkConfig { jitter: ms(80), keep_order: false, ..base }),
        ("truncating", LinkConfig { truncate: percent(20.0), ..base }),
    ];
    let play = Play { build: |seed| crate::round::round(seed, u32::MAX), script: every_fourth };
    for (name, link) in links {
        for seed in 0..6 {
            for delay in [Some(0), None] {
                let setup = Setup::new(seed, link).configure(|config| config.rollback.delay_frames = delay);
                let mut sim = SimMatch::new(setup, play);
                let agreed = sim.run_until(Duration::from_secs(10), |sim| {
                    (0..2).all(|id| sim.machine(id).session().is_some())
                });
                let errors = [0, 1].map(|id| sim.machine(id).error);
                assert!(agreed, "{name}, seed {seed}, delay {delay:?}: {errors:?}");
                let [one, two] = [0, 1].map(|id| sim.machine(id).agreed().cloned().expect("agreed"));
                assert_eq!(
                    (one.token, one.seed, one.seat.other()),
                    (two.token, two.seed, two.seat),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn any_message_of_the_handshake_may_be_lost() {
    let messages = [
        (JOINER, "HELLO"),
        (HOST, "CHALLENGE"),
        (HOST, "OFFER"),
        (JOINER, "CONNECT_REQ"),
        (HOST, "CONNECT_ACK"),
        (HOST, "PING"),
        (JOINER, "PONG"),
        (HOST, "HEARTBEAT"),
        (JOINER, "RBN1"),
        (HOST, "RBN1"),
        (JOINER, "DELAY"),
    ];
    for (from, what) in messages {
        for times in [1, 2, 5] {
            for delay in [Some(0), None] {
                let configs =
                    [HOST, JOINER].map(|id| config(id).with(|config| config.rollback.delay_frames = delay));
                let mut pair = pair_with(configs);
                set_latency(&mut pair, ms(60));
                pair.lose(from, what, times);
                let agreed = pair.step_until(SOON + SOON, |pair| {
                    pair.machine(HOST).has_agreed() && pair.machine(JOINER).has_agreed()
                });
                assert!(agreed, "{what} lost {times} times: {pair:?}");
                plays(&mut pair, 30);
            }
        }
    }
}

#[test]
fn request_may_acknowledge_any_of_the_last_four_offers() {
    for repeated in 1..=3 {
        let mut pair = pair();
        let offers = |pair: &Pair| pair.said_by(HOST, "OFFER").len();
        assert!(pair.step_until(SOON, |pair| offers(pair) == 1));
        // The first OFFER is under way. The HELLO comes again, and every OFFER that answers it is lost.
        pair.lose(HOST, "OFFER", u32::MAX);
        let hello = pair.said_by(JOINER, "HELLO")[0].to_vec();
        for again in 0..repeated {
            pair.inject(HOST, addr(JOINER), &hello);
            assert!(pair.step_until(SOON, |pair| offers(pair) == again + 2));
        }
        assert!(pair.said_by(JOINER, "CONNECT_REQ").is_empty(), "it acknowledges the first alone");
        plays(&mut pair, 30);
    }
}

#[test]
fn overtaken_offer_still_begins_a_match_in_order() {
    for taken in 4..=7 {
        let mut pair = pair();
        let offers = |pair: &Pair| pair.said_by(HOST, "OFFER").len();
        pair.lose(HOST, "OFFER", taken - 1);
        assert!(pair.step_until(SOON, |pair| offers(pair) == 1));
        let hello = pair.said_by(JOINER, "HELLO")[0].to_vec();
        for sent in 2..=7 {
            pair.inject(HOST, addr(JOINER), &hello);
            assert!(pair.step_until(SOON, |pair| offers(pair) == sent));
            if sent == taken as usize {
                pair.lose(HOST, "OFFER", u32::MAX);
            }
        }
        plays(&mut pair, 30);
        let refused = [HOST, JOINER].map(|id| pair.machine(id).refused().total());
        assert_eq!(refused, [0, 0], "OFFER {taken} of 7: {pair:?}");
    }
}

#[test]
fn valid_input_stands_in_for_a_connect_ack_that_never_comes() {
    let mut pair = pair();
    pair.lose(HOST, "CONNECT_ACK", u32::MAX);
    plays(&mut pair, 60);
    assert!(!pair.said_by(HOST, "CONNECT_ACK").is_empty(), "it was sent, and lost");
}

#[test]
fn default_delay_is_the_one_the_host_measured() {
    let configs = [HOST, JOINER].map(|id| config(id).with(|config| config.rollback.delay_frames = None));
    let mut pair = pair_with(configs);
    set_latency(&mut pair, ms(60));
    plays(&mut pair, 60);
    // ceil(0.03 * 121 + 0.5 - 3)
    assert_eq!([HOST, JOINER].map(|id| pair.session_mut(id).delay_frames()), [2, 2]);
    assert_eq!([HOST, JOINER].map(|id| pair.session_mut(id).agreed().peer_delay_frames), [2, 2]);
    assert_eq!(events(&pair, HOST), [Event::PeerDelay { delay_frames: 2 }], "the joiner says so");
}

#[test]
fn each_side_may_have_its_own_delay_and_the_host_has_its_seat() {
    let mut configs = [config(HOST), config(JOINER)];
    (configs[HOST].rollback.delay_frames, configs[HOST].lobby.seat) = (Some(1), Player::Two);
    configs[JOINER].rollback.delay_frames = Some(4);
    let mut pair = pair_with(configs);
    plays(&mut pair, 60);
    let [host, joiner] = [HOST, JOINER].map(|id| pair.session_mut(id).agreed().clone());
    assert_eq!((host.delay_frames, host.peer_delay_frames, host.seat), (1, 4, Player::Two));
    assert_eq!((joiner.delay_frames, joiner.peer_delay_frames, joiner.seat), (4, 1, Player::One));
    assert_eq!(events(&pair, HOST), [], "everybody knew from the start");
}

#[test]
fn user_data_of_any_allowed_length_arrives() {
    for len in [0, 1, 63, 64] {
        let data = |id: usize| vec![id as u8 + 1; len];
        let configs = [HOST, JOINER].map(|id| config(id).with(|config| config.lobby.user_data = data(id)));
        let mut pair = pair_with(configs);
        plays(&mut pair, 10);
        assert_eq!(pair.session_mut(HOST).agreed().user_data, data(JOINER));
        assert_eq!(pair.session_mut(JOINER).agreed().user_data, data(HOST));
    }
    let long = config(HOST).with(|config| config.lobby.user_data = vec![0; 65]);
    assert!(matches!(Lobby::host(long), Err(LobbyError::Config(_))));
}

#[test]
fn two_that_join_each_other_meet() {
    for entropy in 0..8 {
        for delay in [Some(0), None] {
            let lobbies = [HOST, JOINER].map(|id| {
                let config = config(id).with(|config| {
                    config.lobby.entropy = Some(entropy * 2 + id as u64);
                    config.rollback.delay_frames = delay;
                });
                Lobby::join(config, addr(1 - id)).unwrap()
            });
            let mut pair = pair_of(lobbies);
            plays(&mut pair, 60);
            let hosts = [HOST, JOINER].map(|id| pair.session_mut(id).agreed().is_host);
            assert!(hosts[0] != hosts[1], "one hosts: {hosts:?}");
        }
    }
}

#[test]
fn every_lobby_of_one_config_is_another() {
    let config = config(JOINER).with(|config| config.lobby.entropy = None);
    let hellos = [0, 1].map(|_| {
        let mut lobby = Lobby::join(config.clone(), addr(HOST)).unwrap();
        let mut buf = [0; 1_200];
        let (_, len) = lobby.poll_transmit(ms(1), &mut buf).expect("a HELLO");
        buf[..len].to_vec()
    });
    assert_ne!(hellos[0], hellos[1], "the nonce of a rematch is a new one");
}

#[test]
fn address_of_ipv4_inside_ipv6_is_the_same_as_plain_ipv4() {
    let SocketAddr::V4(plain) = addr(HOST) else { panic!("the pair has plain addresses") };
    let mapped = SocketAddr::from((plain.ip().to_ipv6_mapped(), plain.port()));
    let mut lobby = Lobby::join(config(JOINER), mapped).unwrap();
    let (to, _) = lobby.poll_transmit(ms(1), &mut [0; 1_200]).expect("a HELLO");
    assert_eq!(to, addr(HOST));
}

#[test]
fn packets_that_overtake_the_offer_do_not_disturb_the_channel() {
    let play = Play { build: |seed| crate::round::round(seed, u32::MAX), script: every_fourth };
    for seed in 0..200 {
        let link = LinkConfig { jitter: ms(30), ..LinkConfig::new(ms(40)) };
        let delay = if seed % 2 == 0 { Some(0) } else { None };
        let setup = Setup::new(seed, link).configure(|config| config.rollback.delay_frames = delay);
        let mut sim = SimMatch::new(setup, play);
        sim.eavesdrop();
        assert!(sim.run_until_frame(60), "seed {seed}");
        let resyncs = [HOST, JOINER].map(|id| sim.said_by(id, "RESYNC").len());
        assert_eq!(resyncs, [0, 0], "seed {seed}: {sim:?}");
    }
}

#[test]
fn joiner_takes_its_own_advice_on_the_delay() {
    let mut configs = [config(HOST), config(JOINER)];
    (configs[HOST].rollback.delay_frames, configs[JOINER].rollback.delay_frames) = (Some(8), None);
    let mut pair = pair_with(configs);
    set_latency(&mut pair, ms(5));
    plays(&mut pair, 60);
    let own = pair.session_mut(JOINER).delay_frames();
    assert!(own <= 1, "a link of 10 ms asks for no delay of {own}");
    assert_eq!(pair.session_mut(JOINER).agreed().peer_delay_frames, 8, "that is the host's own affair");
    assert_eq!(pair.session_mut(HOST).agreed().peer_delay_frames, own, "told by a DELAY");
}

#[test]
fn advised_delay_fits_beside_the_window() {
    let mut pair = pair_with([HOST, JOINER].map(|id| {
        config(id).with(|config| {
            (config.rollback.delay_frames, config.rollback.window_frames) = (None, 22);
        })
    }));
    // A link of 1,200 ms needs 38 frames of window and delay, and 30 are allowed.
    set_latency(&mut pair, ms(600));
    plays(&mut pair, 30);
    assert_eq!([HOST, JOINER].map(|id| pair.session_mut(id).delay_frames()), [8, 8], "30 together");
}

#[test]
fn offer_without_checksums_is_refused() {
    for cadence in [0_u16, 601, u16::MAX] {
        let mut pair = pair();
        pair.lose(HOST, "OFFER", u32::MAX);
        assert!(pair.step_until(SOON, |pair| !pair.said_by(HOST, "OFFER").is_empty()));
        let mut offer = pair.said_by(HOST, "OFFER")[0].to_vec();
        assert_eq!(offer[37..39], [0, 30], "the cadence");
        offer[37..39].copy_from_slice(&cadence.to_be_bytes());
        pair.inject(JOINER, addr(HOST), &offer);
        assert_eq!(pair.machine(JOINER).refused().of(Refusal::MalformedMessage), 1, "a cadence of {cadence}");
        assert!(pair.said_by(JOINER, "CONNECT_REQ").is_empty());
        pair.run_for(ms(300));
        assert!(pair.said_by(JOINER, "CONNECT_REQ").is_empty());
    }
}

#[test]
fn two_joiners_with_the_same_entropy_meet() {
    let lobbies = [HOST, JOINER].map(|id| {
        let config = config(id).with(|config| config.lobby.entropy = Some(5));
        Lobby::join(config, addr(1 - id)).unwrap()
    });
    let mut pair = pair_of(lobbies);
    plays(&mut pair, 60);
}

#[test]
fn zero_timeouts_are_refused() {
    type Change = fn(&mut Config);
    let limits: [(&str, Change); 4] = [
        ("lost_after", |config| {
            (config.timeouts.interrupted_after, config.timeouts.lost_after) = Default::default();
        }),
        ("no_progress_after", |config| config.timeouts.no_progress_after = Duration::ZERO),
        ("too_slow_after", |config| config.timeouts.too_slow_after = Duration::ZERO),
        ("join_timeout", |config| config.timeouts.join_timeout = Duration::ZERO),
    ];
    for (limit, change) in limits {
        let mut config = config(HOST);
        change(&mut config);
        let error = ConfigError::NoPatience { limit };
        assert_eq!(config.check(), Err(error));
        assert_eq!(error.to_string(), format!("{limit} must not be 0"));
        assert!(matches!(Lobby::host(config), Err(LobbyError::Config(found)) if found == error));
    }
    for (cadence_frames, fits) in [(0, false), (1, true), (600, true), (601, false), (u16::MAX, false)] {
        let config = config(HOST).with(|config| config.cadence_frames = cadence_frames);
        assert_eq!(config.check().is_ok(), fits, "a cadence of {cadence_frames}");
    }
}

#[test]
fn round_trips_of_up_to_three_seconds_are_measured() {
    for rtt in [390, 450, 800, 1_500, 3_000] {
        let configs = [HOST, JOINER]
            .map(|id| config(id).with(|config| config.timeouts.join_timeout = Duration::from_secs(60)));
        let mut pair = pair_with(configs);
        set_latency(&mut pair, ms(rtt / 2));
        plays(&mut pair, 30);
        pair.run_for(Duration::from_secs(8));
        for id in [HOST, JOINER] {
            let stats = pair.machine(id).stats();
            let measured = stats.round_trip.expect("pongs came");
            assert!(measured.abs_diff(ms(rtt)) < ms(rtt / 20 + 10), "{rtt} ms: {measured:?}");
            // A late CONNECT_REQ is out of place; no numbers and no PONG are.
            let refused = [Refusal::UnaskedPong, Refusal::FarSequence, Refusal::AckUnsent];
            assert_eq!(refused.map(|refusal| stats.refused.of(refusal)), [0; 3], "{rtt} ms");
        }
    }
}
