use super::super::route::stream_to;
use super::*;
use crate::connect::seal::Randomness;
use crate::wire::rendezvous::{self, Cookie, Grant, Outcome, Packet, Reply, decode, encode};

const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 9);

fn secs(secs: u64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

fn host() -> Signalling {
    let registration = Registration::new(SERVER, &[7; 32], Randomness::Seeded(1)).unwrap();
    Signalling::new(Client::Host(Box::new(registration)))
}

fn joiner() -> Signalling {
    Signalling::new(Client::Joiner(Box::new(
        JoinRequest::new(SERVER, [7; 16], Randomness::Seeded(1)).unwrap(),
    )))
}

/// The news that wait: that the server has answered, or why there is no answer for now.
fn told(signalling: &mut Signalling) -> Vec<String> {
    let mut told = Vec::new();
    loop {
        signalling.silence = None;
        match (signalling.poll_event(), signalling.silence) {
            (None, _) => return told,
            (Some(RendezvousEvent::Registered { .. } | RendezvousEvent::Ticket { .. }), _) => {
                told.push("seen".to_owned());
            }
            (_, Some(NoWay::RendezvousSilent { server: SERVER })) => told.push("silent".to_owned()),
            (_, Some(why)) => told.push(format!("{why:?}")),
            (_, None) => {}
        }
    }
}

/// Runs a signalling, every tenth of a second and at its deadlines, at a server that grants another ticket each time, or refuses.
/// Returns when there were news.
fn run(signalling: &mut Signalling, time: core::ops::Range<u64>, refusal: Option<Denial>) -> Vec<u64> {
    let (mut news, mut buf) = (Vec::new(), [0; 1_200]);
    for tenth in time.start * 10..time.end * 10 {
        let now = Time::ZERO + Span::from_millis(tenth * 100);
        signalling.run(now, || None);
        while let Some((_, len)) = signalling.poll_transmit(now, &mut buf) {
            let answer = match (decode(&buf[..len]).unwrap(), refusal) {
                (Packet::Ask(ask), Some(why)) => {
                    Packet::Reply(Reply { nonce: ask.nonce, outcome: Outcome::Refused(why) })
                }
                (Packet::Ask(ask), None) => {
                    Packet::Grant(Grant { nonce: ask.nonce, observed: SERVER, ticket: tenth, turn: None })
                }
                _ => continue,
            };
            let len = encode(&answer, &mut buf).unwrap();
            signalling.handle(now, SERVER, &buf[..len]);
        }
        // A host that does not answer is none of the server's news.
        let told = told(signalling).into_iter().filter(|told| told != "HostSilent" && told != "silent");
        news.extend(told.map(|_| tenth));
    }
    news
}

#[test]
fn joiner_without_an_answer_asks_for_a_new_ticket() {
    let mut joiner = joiner();
    assert_eq!(run(&mut joiner, 0..1, None), [0]);
    assert_eq!(joiner.ticket, Some(0));
    joiner.post(secs(1), &[crate::wire::seal::INIT; 333]);
    assert!(joiner.deadline() <= secs(2));
    assert_eq!(run(&mut joiner, 1..4, None), [20, 30], "every second, and not more often");
    assert_eq!(joiner.ticket, Some(30));
    joiner.settle();
    assert_eq!(run(&mut joiner, 11..30, None), [0_u64; 0], "it has its answer");
}

#[test]
fn joiner_renews_its_credentials_every_five_minutes() {
    let mut joiner = joiner();
    assert_eq!(run(&mut joiner, 0..299, None), [0]);
    assert_eq!(joiner.deadline(), secs(300));
    assert_eq!(run(&mut joiner, 299..700, None), [3_000, 6_000]);
}

/// The destination and the first byte of the datagrams that are due.
fn sent(signalling: &mut Signalling, now: Time) -> Vec<(SocketAddr, u8)> {
    let mut buf = [0; 1_200];
    signalling.run(now, || Some(1));
    core::iter::from_fn(|| signalling.poll_transmit(now, &mut buf).map(|(to, _)| (to, buf[0]))).collect()
}

#[test]
fn silent_rendezvous_is_asked_over_a_stream() {
    let stream = stream_to(SERVER);
    for (mut signalling, first) in [(host(), 0xE8), (joiner(), 0xE9)] {
        signalling.allow_stream();
        assert_eq!(sent(&mut signalling, secs(0)), [(SERVER, first)]);
        assert!(sent(&mut signalling, secs(1)).iter().all(|(to, _)| *to == SERVER));
        assert!(signalling.deadline() <= secs(2));
        assert_eq!(sent(&mut signalling, secs(2))[0], (stream, 0xE8), "to be opened");
        assert!(signalling.is_server(SERVER) && !signalling.is_server(stream));
        signalling.notice(stream, Notice::Opened);
        assert!(signalling.is_server(stream) && !signalling.is_server(SERVER));
        assert_eq!(sent(&mut signalling, secs(2)), [(stream, first)], "at once");
        signalling.notice(stream, Notice::Closed);
        assert_eq!(sent(&mut signalling, secs(3)), [(SERVER, first)], "at once");
    }
}

#[test]
fn other_addresses_are_asked_after_a_second() {
    let other = SocketAddr::new([192, 0, 2, 2].into(), 9);
    let mut joiner = joiner();
    joiner.set_others(vec![other]);
    assert_eq!(sent(&mut joiner, secs(0)), [(SERVER, 0xE9)]);
    assert_eq!(sent(&mut joiner, secs(1)), [(SERVER, 0xE9), (other, 0xE9)]);
    assert!(joiner.is_server(SERVER) && joiner.is_server(other));
    joiner.handle(secs(1), other, &[]);
    assert!(joiner.is_server(other) && !joiner.is_server(SERVER), "the first that has answered");
    assert_eq!(sent(&mut joiner, secs(2)), [(other, 0xE9)]);
    while joiner.silence().is_none() {
        sent(&mut joiner, secs(9));
        while joiner.poll_event().is_some() {}
    }
    assert!(joiner.is_server(SERVER), "it has fallen silent");
}

#[test]
fn streams_to_all_addresses_are_tried_in_turn() {
    let other = SocketAddr::new([192, 0, 2, 2].into(), 9);
    let mut joiner = joiner();
    joiner.set_others(vec![other]);
    joiner.allow_stream();
    let opened: Vec<_> = (0..4).flat_map(|at| sent(&mut joiner, secs(at))).map(|(to, _)| to).collect();
    for stream in [stream_to(SERVER), stream_to(other)] {
        assert!(opened.contains(&stream), "{opened:?}");
    }
    joiner.notice(stream_to(other), Notice::Opened);
    assert!(joiner.is_server(stream_to(other)) && !joiner.is_server(stream_to(SERVER)));
    joiner.notice(stream_to(SERVER), Notice::Unreachable);
    assert!(joiner.is_server(stream_to(other)), "another one has failed");
}

#[test]
fn refused_certificate_is_told_to_the_player() {
    let mut host = host();
    host.allow_stream();
    (0..7).for_each(|at| drop(sent(&mut host, secs(at))));
    host.notice(stream_to(SERVER), Notice::UnknownIssuer);
    while host.poll_event().is_some() {}
    assert_eq!(host.silence(), Some(NoWay::NoStream { server: SERVER, why: Notice::UnknownIssuer }));
}

#[test]
fn busy_server_is_no_reason_to_give_up() {
    assert_eq!(run(&mut joiner(), 0..2, Some(Denial::Busy)), [0_u64; 0]);
    assert_ne!(run(&mut joiner(), 0..2, Some(Denial::Full)), [0_u64; 0]);
}

#[test]
fn silent_host_is_told_to_a_joiner() {
    let (mut joiner, mut told, mut buf) = (joiner(), Vec::new(), [0; 1_200]);
    run(&mut joiner, 0..1, None);
    joiner.post(secs(1), &[crate::wire::seal::INIT; 333]);
    for at in (1..12).map(secs) {
        while let Some((_, len)) = joiner.poll_transmit(at, &mut buf) {
            let Packet::Post(rendezvous::Post { nonce, .. }) = decode(&buf[..len]).unwrap() else {
                panic!("no POST")
            };
            let len = encode(&Packet::Reply(Reply { nonce, outcome: Outcome::Posted }), &mut buf).unwrap();
            joiner.handle(at, SERVER, &buf[..len]);
        }
        told.extend(super::tests::told(&mut joiner).into_iter().map(|told| (at, told)));
    }
    assert_eq!(told, [(secs(10), "HostSilent".to_owned())], "answers may be lost for a while");
}

/// The news of a host that polls every second. `answers` is given each nonce and time, and returns the server's packets.
fn host_news(secs_run: u64, answers: impl Fn(u64, u64) -> Vec<Packet<'static>>) -> Vec<(u64, String)> {
    let mut host = host();
    let (mut news, mut buf) = (Vec::new(), [0; 1_200]);
    for at in 0..secs_run {
        host.run(secs(at), || Some(1));
        while let Some((_, len)) = host.poll_transmit(secs(at), &mut buf) {
            let Packet::Register(register) = decode(&buf[..len]).unwrap() else { continue };
            for answer in answers(register.nonce, at) {
                let len = encode(&answer, &mut buf).unwrap();
                host.handle(secs(at), SERVER, &buf[..len]);
            }
        }
        news.extend(told(&mut host).into_iter().map(|told| (at, told)));
    }
    news
}

fn refusal(nonce: u64, why: Denial) -> Packet<'static> {
    Packet::Reply(Reply { nonce, outcome: Outcome::Refused(why) })
}

/// The COOKIEs and the GRANT of a server that names these ports of the host. The first is signed.
fn granted(nonce: u64, ports: &[u16]) -> Vec<Packet<'static>> {
    let seen = |port: u16| SocketAddr::new(SERVER.ip(), port);
    let cookie = |port: &u16| Packet::Cookie(Cookie { nonce, cookie: 5, observed: seen(*port) });
    let grant = Packet::Grant(Grant { nonce, observed: seen(ports[0]), ticket: 1, turn: None });
    ports.iter().map(cookie).chain([grant]).collect()
}

#[test]
fn events_of_a_host_become_news_for_its_player() {
    let news = |list: &[(u64, &str)]| -> Vec<(u64, String)> {
        list.iter().map(|(at, what)| (*at, (*what).to_owned())).collect()
    };
    assert_eq!(host_news(7, |_, _| Vec::new()), news(&[(5, "silent")]));
    assert_eq!(
        host_news(7, |nonce, _| vec![refusal(nonce, Denial::Full)]),
        news(&[(0, "Denied { why: Full }")])
    );
    for why in [Denial::Busy, Denial::Held] {
        assert_eq!(host_news(7, |nonce, _| vec![refusal(nonce, why)]), [], "{why:?}");
    }
    // A server that grants in the first second and is then silent, or refuses.
    let first = |nonce, at| if at == 0 { granted(nonce, &[7]) } else { Vec::new() };
    assert_eq!(host_news(62, first), news(&[(0, "seen"), (20, "silent"), (60, "silent")]));
    let then_busy = |nonce, at| {
        if at == 0 { granted(nonce, &[7]) } else { vec![refusal(nonce, Denial::Busy)] }
    };
    assert_eq!(host_news(62, then_busy), news(&[(0, "seen"), (60, "Denied { why: Busy }")]));
    assert_eq!(host_news(2, |nonce, _| granted(nonce, &[7, 66])), news(&[(0, "seen"), (0, "Contested")]));
}

#[test]
fn host_with_other_addresses_registers_at_once() {
    let (mut host, mut buf) = (host(), [0; 1_200]);
    host.run(secs(0), || Some(1));
    while let Some((_, len)) = host.poll_transmit(secs(0), &mut buf) {
        let Packet::Register(register) = decode(&buf[..len]).unwrap() else { continue };
        for answer in granted(register.nonce, &[7]) {
            let len = encode(&answer, &mut buf).unwrap();
            host.handle(secs(0), SERVER, &buf[..len]);
        }
    }
    assert_eq!(sent(&mut host, secs(1)), [], "it is registered");
    host.refresh();
    assert_eq!(sent(&mut host, secs(1)), [(SERVER, 0xE8)]);
}

#[test]
fn host_tells_no_refusal_of_a_busy_server() {
    let refused = |why| {
        let mut host = host();
        let mut buf = [0; 1_200];
        host.run(secs(0), || Some(1));
        let (_, len) = host.poll_transmit(secs(0), &mut buf).unwrap();
        let Packet::Register(register) = decode(&buf[..len]).unwrap() else { panic!("no REGISTER") };
        let outcome = Outcome::Refused(why);
        let len = encode(&Packet::Reply(Reply { nonce: register.nonce, outcome }), &mut buf).unwrap();
        host.handle(secs(0), SERVER, &buf[..len]);
        !told(&mut host).is_empty()
    };
    assert!(!refused(Denial::Busy) && refused(Denial::Full));
}
