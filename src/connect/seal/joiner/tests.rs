use super::*;
use crate::wire::seal::Packet;

const HOST: [u8; 4] = [192, 0, 2, 1];

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn keys(byte: u8) -> noise::KeyPair {
    noise::KeyPair::new(Secret([byte; 32]))
}

/// A joiner by address that has sent a REQUEST.
fn requesting() -> Joiner {
    let host = (HOST, 7).into();
    let mut join = Joiner::new(None, vec![host], host, 77, 5);
    join.request(at(0), &mut Outbox::new());
    join
}

/// The joiner takes a RETRY with a good mac; the INIT that it answers, if it does.
fn retried(join: &mut Joiner, ms: u64, from: SocketAddr, retry: &Retry) -> Result<Vec<u8>, SealRefusal> {
    let (mut buf, mut out) = ([0; INIT_LEN], Outbox::new());
    let len = seal::encode_retry(retry, |covered| Mac::open().write(covered), &mut buf).unwrap();
    let key = join.key_for(Arrival { now: at(ms), from, datagram: &buf[..len] }, retry)?;
    let index = 100 + join.attempts.len() as u16;
    join.retry(at(ms), from, (retry, key), (index, Secret([index as u8; 32])), &mut out)?;
    let (to, len) = out.pop(&mut buf).unwrap();
    assert_eq!(to, from);
    Ok(buf[..len].to_vec())
}

#[test]
fn retry_counts_only_for_its_request_and_source() {
    let mut join = requesting();
    let (host, unexpected) = ((HOST, 7).into(), Err(SealRefusal::Unexpected));
    let good = Retry { index: 5, nonce: 77, cookie: 1, open_key: Some(keys(1).public) };
    assert_eq!(retried(&mut join, 80, (HOST, 8).into(), &good), unexpected, "another address");
    assert_eq!(retried(&mut join, 80, host, &Retry { nonce: 78, ..good }), unexpected);
    assert_eq!(retried(&mut join, 80, host, &Retry { index: 6, ..good }), unexpected);
    assert_eq!(retried(&mut join, 80, host, &Retry { open_key: None, ..good }), Err(SealRefusal::BadMac));
    assert!(retried(&mut join, 80, host, &good).is_ok());
    assert_eq!(retried(&mut join, 90, host, &Retry { cookie: 2, ..good }), unexpected, "an INIT waits");
    assert!(
        retried(&mut join, 90, host, &Retry { index: 100, ..good }).is_ok(),
        "that INIT's cookie was bad"
    );
}

#[test]
fn four_inits_wait_and_the_first_answer_ends_them_all() {
    let (mut join, host) = (requesting(), (HOST, 7).into());
    let retry = |byte| Retry { index: 5, nonce: 77, cookie: 1, open_key: Some(keys(byte).public) };
    let inits: Vec<_> = (1..=4).map(|byte| retried(&mut join, 80, host, &retry(byte)).unwrap()).collect();
    assert_eq!(retried(&mut join, 90, host, &retry(9)), Err(SealRefusal::Limited));
    let answered = [0, 2].map(|which: usize| {
        let resp = answered(&keys(which as u8 + 1), &inits[which], &[3; 30]);
        let Ok(Packet::Resp(resp)) = seal::decode(&resp) else { panic!("a RESP") };
        join.resp(at(160), &resp, &mut [0; INIT_LEN]).map(|joined| joined.peer.index)
    });
    assert_eq!(answered, [Ok(100), Err(SealRefusal::Unexpected)], "a later answer is of nobody");
    assert_eq!(retried(&mut join, 170, host, &retry(5)), Err(SealRefusal::Unexpected), "no REQUEST was sent");
}

/// The RESP of a host to an INIT, with this text.
fn answered(keys: &noise::KeyPair, init: &[u8], text: &[u8]) -> Vec<u8> {
    let Ok(Packet::Init(init)) = seal::decode(init) else { panic!("an INIT") };
    let accepted = noise::accept(keys, init.prologue, Secret([9; 32]), init.message, &mut [0; INIT_LEN]);
    let mut resp = vec![0; INIT_LEN];
    let head = seal::resp_head(init.head.index);
    resp[..head.len()].copy_from_slice(&head);
    let (_, len) = accepted.unwrap().0.answer(text, &mut resp[head.len()..]).unwrap();
    resp.truncate(head.len() + len);
    resp
}

#[test]
fn round_trip_is_the_shorter_of_retry_and_resp() {
    let (host, good) =
        ((HOST, 7).into(), Retry { index: 5, nonce: 77, cookie: 1, open_key: Some(keys(1).public) });
    for (retried_at, resp_at, trip) in [(80, 900, 80), (700, 790, 90)] {
        let mut join = requesting();
        let init = retried(&mut join, retried_at, host, &good).unwrap();
        let resp = answered(&keys(1), &init, &[3; 30]);
        let Ok(Packet::Resp(resp)) = seal::decode(&resp) else { panic!("a RESP") };
        let joined = join.resp(at(resp_at), &resp, &mut [0; INIT_LEN]);
        assert_eq!(joined.map(|joined| joined.paths.round_trip()), Ok(Span::from_millis(trip)));
    }
    // An INIT without an answer: the second REQUEST begins the time again.
    let mut join = requesting();
    retried(&mut join, 80, host, &good).unwrap();
    join.request(at(1_100), &mut Outbox::new());
    retried(&mut join, 1_180, host, &good).unwrap();
    assert_eq!(join.attempts[1].first_trip, Span::from_millis(80));
}

#[test]
fn resp_without_its_front_is_refused() {
    let (mut join, host) = (requesting(), (HOST, 7).into());
    let good = Retry { index: 5, nonce: 77, cookie: 1, open_key: Some(keys(1).public) };
    let init = retried(&mut join, 80, host, &good).unwrap();
    let resp = answered(&keys(1), &init, &[3; 17]);
    let Ok(Packet::Resp(resp)) = seal::decode(&resp) else { panic!("a RESP") };
    assert_eq!(join.resp(at(160), &resp, &mut [0; INIT_LEN]).map(|_| ()), Err(SealRefusal::BadHandshake));
}

#[test]
fn numbers_in_use_are_known_and_inits_by_signal_are_bounded() {
    let mut join = Joiner::new(Some(Secret([7; 32])), Vec::new(), (HOST, 7).into(), 77, 5);
    for index in 10..20 {
        assert!(join.by_signal(at(0), 1, (index, Secret([index as u8; 32])), &[0; PADDED_LEN]).is_some());
    }
    let used: Vec<u16> = (0..30).filter(|index| join.uses(*index)).collect();
    assert_eq!(used, [5, 16, 17, 18, 19]);
}

#[test]
fn inits_by_signal_and_to_addresses_leave_each_other_alone() {
    let (key, host) = (keys(1), SocketAddr::from((HOST, 7)));
    let mut join = Joiner::new(Some(Secret(key.public)), Vec::new(), host, 77, 5);
    join.ask_at([host].into_iter());
    let signal = |join: &mut Joiner, ms, index: u16| {
        join.by_signal(at(ms), 1, (index, Secret([index as u8; 32])), &[0; PADDED_LEN]).unwrap()
    };
    let first = signal(&mut join, 0, 200);
    join.request(at(0), &mut Outbox::new());
    let retry = Retry { index: 5, nonce: 77, cookie: 1, open_key: None };
    let (mut buf, mac) = ([0; INIT_LEN], Mac::of(&key.public));
    let len = seal::encode_retry(&retry, |covered| mac.write(covered), &mut buf).unwrap();
    let arrival = Arrival { now: at(10), from: host, datagram: &buf[..len] };
    let host_key = join.key_for(arrival, &retry).expect("the INIT by signalling is none that waits here");
    let mut out = Outbox::new();
    join.retry(at(10), host, (&retry, host_key), (100, Secret([9; 32])), &mut out).unwrap();
    let (_, len) = out.pop(&mut buf).unwrap();
    let direct = buf[..len].to_vec();
    // The newest INIT is one by signalling, and the one to the address is repeated.
    signal(&mut join, 20, 201);
    assert_eq!(said(&mut join, 200), Some(0xE2));
    for index in 202..204 {
        signal(&mut join, 300, index);
    }
    let take = |join: &mut Joiner, init: &[u8]| {
        let resp = answered(&key, init, &[3; 30]);
        let Ok(Packet::Resp(resp)) = seal::decode(&resp) else { panic!("a RESP") };
        join.resp(at(400), &resp, &mut [0; INIT_LEN]).map(|joined| joined.peer.index)
    };
    assert_eq!(take(&mut join, &first), Ok(200), "four of each kind wait");
    assert_eq!(take(&mut join, &direct), Ok(100), "keys by signalling have no path yet");
    assert_eq!(take(&mut join, &first), Err(SealRefusal::Unexpected));
}

/// The first byte of the packet that the joiner sends for one of the inner protocol at this time.
fn said(join: &mut Joiner, ms: u64) -> Option<u8> {
    let (mut buf, mut out) = ([0; INIT_LEN], Outbox::new());
    if join.is_due(at(ms)) {
        join.request(at(ms), &mut out);
    }
    out.pop(&mut buf).map(|_| buf[0])
}

#[test]
fn requests_are_a_tenth_of_a_second_apart() {
    let mut join = requesting();
    assert_eq!([99, 100, 199, 200].map(|ms| said(&mut join, ms)), [None, Some(0xE0), None, Some(0xE0)]);
}

#[test]
fn init_is_repeated_for_a_second_then_a_request_is_sent() {
    let mut join = requesting();
    let good = Retry { index: 5, nonce: 77, cookie: 1, open_key: Some(keys(1).public) };
    retried(&mut join, 80, (HOST, 7).into(), &good).unwrap();
    assert_eq!([980, 1_080].map(|ms| said(&mut join, ms)), [Some(0xE2), Some(0xE0)]);
}

#[test]
fn attempts_by_address_expire_and_four_may_succeed() {
    let (mut join, host) = (requesting(), (HOST, 7).into());
    let retry = |byte| Retry { index: 5, nonce: 77, cookie: 1, open_key: Some(keys(byte).public) };
    (1..=4).for_each(|byte| drop(retried(&mut join, 80, host, &retry(byte)).unwrap()));
    assert_eq!(retried(&mut join, 2_079, host, &retry(9)), Err(SealRefusal::Limited));
    assert!(retried(&mut join, 2_080, host, &retry(9)).is_ok());
    assert_eq!(join.attempts.len(), 1);
    (join.succeeded, join.requests.first_at) = (3, Some(at(3_000)));
    assert!(retried(&mut join, 3_100, host, &retry(8)).is_ok());
    join.succeeded = 4;
    assert_eq!(retried(&mut join, 3_100, host, &retry(7)), Err(SealRefusal::Unexpected));
    assert_eq!(said(&mut join, 9_000), None);
}
