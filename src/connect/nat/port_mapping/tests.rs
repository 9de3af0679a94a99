use super::*;

const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const PORT: u16 = 7_000;
const NONCE: [u8; 12] = *b"twelve bytes";
const PUBLIC: [u8; 4] = [203, 0, 113, 9];

fn at(text: &str) -> SocketAddrV4 {
    text.parse().unwrap()
}

fn gateway() -> SocketAddrV4 {
    at("10.0.0.1:5351")
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn route(is_known: bool) -> Route {
    Route { own: OWN, gateway: Ipv4Addr::new(10, 0, 0, 1), is_known }
}

fn mapping() -> PortMapping {
    PortMapping::new(route(true), PORT, NONCE)
}

/// The datagram that is due.
fn datagram(mapping: &mut PortMapping, now: Duration) -> Vec<u8> {
    match mapping.poll(now) {
        Some(Request::Datagram(to, message)) if to == gateway() => message,
        other => panic!("{other:?}"),
    }
}

/// The request on a stream that is due, as text.
fn stream(mapping: &mut PortMapping, now: Duration) -> String {
    match mapping.poll(now) {
        Some(Request::Stream(to, message)) if to == at("10.0.0.1:5000") => {
            String::from_utf8(message).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

/// The answer of a PCP server to a request.
fn pcp(request: &[u8], result: u8, lifetime: u32, ip: [u8; 4], port: u16) -> Vec<u8> {
    let mut answer = request.to_vec();
    (answer[1], answer[3]) = (0x81, result);
    answer[4..8].copy_from_slice(&lifetime.to_be_bytes());
    answer[8..24].fill(0);
    answer[42..44].copy_from_slice(&port.to_be_bytes());
    answer[44..].copy_from_slice(&Ipv4Addr::from(ip).to_ipv6_mapped().octets());
    answer
}

/// A mapping that PCP has granted at time zero.
fn granted(lifetime: u32, ip: [u8; 4], port: u16) -> PortMapping {
    let mut mapping = mapping();
    let request = datagram(&mut mapping, Duration::ZERO);
    mapping.handle(Duration::ZERO, gateway(), &pcp(&request, 0, lifetime, ip, port));
    mapping
}

#[test]
fn pcp_mapping_is_renewed_at_half_its_life_and_given_back() {
    let mut mapping = granted(3_600, PUBLIC, 7_001);
    assert_eq!(mapping.outside(), Some(at("203.0.113.9:7001").into()));
    assert_eq!(mapping.deadline(), Some((ms(1_800_000), false)));
    assert_eq!(mapping.poll(ms(1_799_999)), None);
    let renewal = datagram(&mut mapping, ms(1_800_000));
    assert_eq!((&renewal[42..44], &renewal[56..]), (&7_001_u16.to_be_bytes()[..], &PUBLIC[..]));
    mapping.handle(ms(1_800_010), gateway(), &pcp(&renewal, 0, 3_600, PUBLIC, 7_001));
    assert_eq!(mapping.deadline(), Some((ms(3_600_010), false)));

    mapping.release(ms(2_000_000));
    assert_eq!(mapping.outside(), None);
    let end = datagram(&mut mapping, ms(2_000_000));
    assert_eq!((&end[4..8], &end[24..36], &end[40..42]), (&[0; 4][..], &NONCE[..], &PORT.to_be_bytes()[..]));
    // A router that goes on is not asked for ever.
    mapping.handle(ms(2_000_010), gateway(), &pcp(&end, 0, 3_600, PUBLIC, 7_001));
    assert_eq!((mapping.deadline(), mapping.poll(ms(2_000_010)), mapping.outside()), (None, None, None));
}

#[test]
fn answers_of_others_and_garbage_are_ignored() {
    let mut mapping = mapping();
    let request = datagram(&mut mapping, Duration::ZERO);
    let good = pcp(&request, 0, 3_600, PUBLIC, 7_001);
    for (from, place, len) in [
        ("10.0.0.3:5351", 0, 60),
        ("10.0.0.1:5350", 0, 60),
        ("203.0.113.9:5351", 0, 60),
        ("10.0.0.1:5351", 1, 60),
        ("10.0.0.1:5351", 24, 60),
        ("10.0.0.1:5351", 35, 60),
        ("10.0.0.1:5351", 36, 60),
        ("10.0.0.1:5351", 41, 60),
        ("10.0.0.1:5351", 59, 59),
        ("10.0.0.1:5351", 59, 1),
        ("10.0.0.1:5351", 59, 0),
        ("10.0.0.1:5351", 1_199, 1_200),
    ] {
        let mut forged = good.clone();
        forged.resize(1_200, 7);
        forged[place] ^= u8::from(place > 0);
        mapping.handle(ms(1), at(from), &forged[..len]);
        assert_eq!(mapping.outside(), None, "{from} {place} {len}");
    }
    mapping.handle(ms(1), gateway(), &good);
    assert!(mapping.outside().is_some(), "the question is still open");
    mapping.handle(ms(2), gateway(), &pcp(&request, 0, 3_600, [203, 0, 113, 66], 1));
    assert_eq!(mapping.outside(), Some(at("203.0.113.9:7001").into()), "nothing is asked any more");
}

#[test]
fn only_a_public_address_is_taken_and_others_are_given_back() {
    for (ip, port) in [
        ([10, 0, 0, 7], 7),
        ([192, 168, 1, 1], 7),
        ([172, 16, 0, 1], 7),
        ([100, 64, 0, 1], 7),
        ([127, 0, 0, 1], 7),
        ([169, 254, 1, 1], 7),
        ([224, 0, 0, 1], 7),
        ([239, 255, 255, 250], 1_900),
        ([240, 0, 0, 1], 7),
        ([255, 255, 255, 255], 7),
        ([0, 0, 0, 0], 7),
        (PUBLIC, 0),
    ] {
        let mut mapping = granted(3_600, ip, port);
        assert_eq!(mapping.outside(), None, "{ip:?}:{port}");
        let end = datagram(&mut mapping, ms(1));
        assert_eq!(end[4..8], [0; 4], "{ip:?}:{port}");
        mapping.handle(ms(2), gateway(), &pcp(&end, 0, 0, ip, port));
        assert_eq!(mapping.deadline(), None);
    }
}

#[test]
fn lifetimes_are_bounded_both_ways() {
    for (lifetime, renewal) in [(u32::MAX, 1_800), (7_200, 1_800), (120, 60), (1, 30)] {
        let deadline = granted(lifetime, PUBLIC, 7_001).deadline();
        assert_eq!(deadline, Some((Duration::from_secs(renewal), false)), "{lifetime}");
    }
    let mut refused = granted(0, PUBLIC, 7_001);
    assert_eq!(refused.outside(), None);
    assert_eq!(datagram(&mut refused, ms(1)), [0, 0], "the next protocol is asked");
}

#[test]
fn router_with_nat_pmp_alone_is_asked_in_its_version() {
    let mut mapping = mapping();
    datagram(&mut mapping, Duration::ZERO);
    mapping.handle(ms(5), gateway(), &[0, 0x81, 0, 1, 0, 0, 0, 9]);
    assert_eq!(datagram(&mut mapping, ms(5)), [0, 0]);
    let address = [0, 0x80, 0, 0, 0, 0, 0, 9, 203, 0, 113, 9];
    for (from, answer) in [
        (at("10.0.0.3:5351"), &address[..]),
        (gateway(), &address[..11]),
        (gateway(), &[0, 0x81, 0, 0, 0, 0, 0, 9, 203, 0, 113, 9]),
        (gateway(), &[]),
    ] {
        mapping.handle(ms(6), from, answer);
        assert_eq!(mapping.poll(ms(6)), None);
    }
    mapping.handle(ms(7), gateway(), &address);
    let asked = datagram(&mut mapping, ms(7));
    assert_eq!(asked, [0, 1, 0, 0, 0x1b, 0x58, 0x1b, 0x58, 0, 0, 0x0e, 0x10]);
    let mapped = |inside: [u8; 2]| {
        [&[0, 0x81, 0, 0, 0, 0, 0, 9], &inside[..], &[0x1b, 0x59, 0, 0, 0x0e, 0x10]].concat()
    };
    mapping.handle(ms(8), gateway(), &mapped([1, 1]));
    assert_eq!(mapping.outside(), None, "the port of another program");
    mapping.handle(ms(9), gateway(), &mapped(PORT.to_be_bytes()));
    assert_eq!(mapping.outside(), Some(at("203.0.113.9:7001").into()));

    mapping.release(ms(10));
    assert_eq!(datagram(&mut mapping, ms(10)), [0, 1, 0, 0, 0x1b, 0x58, 0, 0, 0, 0, 0, 0]);
    mapping.handle(ms(11), gateway(), &mapped(PORT.to_be_bytes()));
    assert_eq!(mapping.deadline(), None);
}

#[test]
fn silent_router_is_asked_six_times() {
    let (mut mapping, mut asked, mut last) = (mapping(), Vec::new(), Duration::ZERO);
    while let Some((deadline, is_listening)) = mapping.deadline() {
        assert!(is_listening && deadline >= last);
        last = deadline;
        asked.extend(mapping.poll(deadline));
    }
    let search = at("239.255.255.250:1900");
    let to: Vec<_> = asked
        .iter()
        .map(|request| match request {
            Request::Datagram(to, _) | Request::Stream(to, _) => *to,
        })
        .collect();
    assert_eq!(to, [gateway(), gateway(), gateway(), gateway(), search, search]);
    assert_eq!(last, ms(750 + 750 + 3_600));
    mapping.release(last);
    assert_eq!(mapping.poll(last), None, "nothing is to be given back");
}

#[test]
fn flood_of_datagrams_ends_a_question() {
    let mut mapping = mapping();
    datagram(&mut mapping, Duration::ZERO);
    for _ in 0..MAX_HEARD {
        assert_eq!(mapping.deadline(), Some((ms(250), true)));
        mapping.handle(ms(1), at("10.0.0.3:5351"), &[7; 60]);
    }
    assert_eq!(datagram(&mut mapping, ms(1)), [0, 0], "the next protocol is asked");
}

#[test]
fn release_during_a_question_sends_one_datagram_and_ends() {
    let mut mapping = mapping();
    datagram(&mut mapping, Duration::ZERO);
    mapping.release(ms(1));
    assert_eq!(mapping.deadline(), Some((Duration::ZERO, false)));
    assert_eq!(datagram(&mut mapping, ms(1))[4..8], [0; 4]);
    assert_eq!(mapping.deadline(), None);
}

#[test]
fn lost_mapping_is_asked_for_by_every_protocol_again() {
    let mut mapping = granted(3_600, PUBLIC, 7_001);
    let renewal = datagram(&mut mapping, ms(1_800_000));
    mapping.handle(ms(1_800_001), gateway(), &pcp(&renewal, 2, 3_600, PUBLIC, 7_001));
    assert_eq!(mapping.outside(), None, "the peer is not told of it any more");
    let again = datagram(&mut mapping, ms(1_800_001));
    assert_eq!(again.len(), 60, "PCP first");
    mapping.handle(ms(1_800_002), gateway(), &pcp(&again, 2, 0, PUBLIC, 7_001));
    assert_eq!(datagram(&mut mapping, ms(1_800_002)), [0, 0], "then the others");
}

// UPnP-IGD.

const LOCATION: &str = "HTTP/1.1 200 OK\r\nST: x\r\nLOCATION: http://10.0.0.1:5000/root.xml\r\n\r\n";

fn http(status: u16, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn service(kind: &str, control: &str) -> String {
    format!(
        "<service><serviceType>urn:schemas-upnp-org:service:{kind}</serviceType>\
         <controlURL>{control}</controlURL></service>"
    )
}

fn address(ip: &str) -> Vec<u8> {
    http(200, &format!("<r><NewExternalIPAddress>{ip}</NewExternalIPAddress></r>"))
}

/// A mapping that has just sent its search.
fn searching(is_known: bool) -> PortMapping {
    let mut mapping = PortMapping::new(route(is_known), PORT, NONCE);
    loop {
        let (deadline, _) = mapping.deadline().unwrap();
        if let Some(Request::Datagram(to, message)) = mapping.poll(deadline)
            && to == at("239.255.255.250:1900")
        {
            assert!(message.starts_with(b"M-SEARCH * HTTP/1.1\r\n") && message.ends_with(b"\r\n\r\n"));
            return mapping;
        }
    }
}

/// A mapping whose router has sent this description, at a time.
fn described(description: &str) -> (PortMapping, Duration) {
    let mut mapping = searching(true);
    let now = ms(2_000);
    mapping.handle(now, at("10.0.0.1:1900"), LOCATION.as_bytes());
    assert!(stream(&mut mapping, now).starts_with("GET /root.xml HTTP/1.1\r\nHost: 10.0.0.1:5000\r\n"));
    mapping.handle(now, at("10.0.0.1:5000"), &http(200, description));
    (mapping, now)
}

#[test]
fn igd_maps_the_next_port_if_one_is_taken_and_deletes_its_own() {
    let from = at("10.0.0.1:5000");
    let services = service("Layer3Forwarding:1", "/l3") + &service("WANIPConnection:1", "ctl/IPConn");
    let (mut mapping, now) = described(&services);
    let asked = stream(&mut mapping, now);
    assert!(asked.starts_with("POST /ctl/IPConn HTTP/1.1\r\n"), "{asked}");
    assert!(
        asked.contains("SOAPAction: \"urn:schemas-upnp-org:service:WANIPConnection:1#GetExternalIPAddress\"")
    );
    mapping.handle(now, from, &address("203.0.113.9"));
    let asked = stream(&mut mapping, now);
    for argument in [
        "<NewExternalPort>7000<",
        "<NewInternalPort>7000<",
        "<NewInternalClient>10.0.0.2<",
        "<NewProtocol>UDP<",
        "<NewLeaseDuration>3600<",
    ] {
        assert!(asked.contains(argument), "{asked}");
    }
    mapping.handle(now, from, &http(500, "<e><errorCode>718</errorCode></e>"));
    assert!(stream(&mut mapping, now).contains("<NewExternalPort>8009<"));
    mapping.handle(now, from, &http(200, "<ok/>"));
    assert_eq!(mapping.outside(), Some(at("203.0.113.9:8009").into()));

    let renew_at = now + Duration::from_secs(1_800);
    assert!(stream(&mut mapping, renew_at).contains("GetExternalIPAddress"));
    mapping.handle(renew_at, from, &address("203.0.113.10"));
    assert!(stream(&mut mapping, renew_at).contains("<NewExternalPort>8009<"));
    mapping.handle(renew_at, from, &http(200, "<ok/>"));
    assert_eq!(mapping.outside(), Some(at("203.0.113.10:8009").into()), "the provider has changed it");

    mapping.release(renew_at);
    let asked = stream(&mut mapping, renew_at);
    assert!(asked.contains("#DeletePortMapping") && asked.contains("<NewExternalPort>8009<"));
    mapping.handle(renew_at, from, &http(200, "<ok/>"));
    assert_eq!(mapping.deadline(), None);
}

#[test]
fn igd_deletes_no_mapping_that_it_was_not_granted() {
    let (mut mapping, now) = described(&service("WANIPConnection:1", "/ctl"));
    stream(&mut mapping, now);
    mapping.handle(now, at("10.0.0.1:5000"), &address("203.0.113.9"));
    for port in [7_000, 8_009, 9_018, 10_027] {
        assert!(stream(&mut mapping, now).contains(&format!("<NewExternalPort>{port}<")));
        mapping.handle(now, at("10.0.0.1:5000"), &http(500, "<errorCode>718</errorCode>"));
    }
    assert_eq!((mapping.deadline(), mapping.outside()), (None, None), "four ports are tried");
    // 725: only mappings without an end are supported.
    let (mut mapping, now) = described(&service("WANIPConnection:1", "/ctl"));
    stream(&mut mapping, now);
    mapping.handle(now, at("10.0.0.1:5000"), &address("203.0.113.9"));
    stream(&mut mapping, now);
    mapping.handle(now, at("10.0.0.1:5000"), &http(500, "<errorCode>725</errorCode>"));
    assert_eq!((mapping.deadline(), mapping.outside()), (None, None));
    let (mut mapping, now) = described(&service("WANIPConnection:1", "/ctl"));
    mapping.release(now);
    assert_eq!((mapping.poll(now), mapping.deadline()), (None, None));
}

#[test]
fn igd_search_takes_the_answer_of_the_router_about_itself() {
    let elsewhere = LOCATION.replace("10.0.0.1:5000", "10.0.0.7:5000");
    let outside = LOCATION.replace("10.0.0.1:5000", "203.0.113.7:80");
    let own = LOCATION.replace("10.0.0.1:5000", "10.0.0.2:80");
    for (is_known, from, answer) in [
        (true, "10.0.0.7:1900", LOCATION),
        (true, "10.0.0.7:1900", elsewhere.as_str()),
        (true, "10.0.0.1:1900", elsewhere.as_str()),
        (true, "10.0.0.1:1900", &LOCATION.replace("200 OK", "404 No")),
        (true, "10.0.0.1:1900", &LOCATION.replace("LOCATION", "LOCAL")),
        (true, "10.0.0.1:1900", "\r\n\r\n"),
        (false, "203.0.113.7:1900", outside.as_str()),
        (false, "10.0.0.2:1900", own.as_str()),
    ] {
        let mut mapping = searching(is_known);
        mapping.handle(ms(1_501), at(from), answer.as_bytes());
        assert_eq!(mapping.poll(ms(1_501)), None, "{from} {answer}");
    }
    // Where the system does not name the gateway, any router in this network may answer.
    let mut mapping = searching(false);
    mapping.handle(ms(1_501), at("10.0.0.7:1900"), elsewhere.as_bytes());
    assert!(matches!(mapping.poll(ms(1_501)), Some(Request::Stream(to, _)) if to == at("10.0.0.7:5000")));
}

#[test]
fn igd_asks_no_other_machine_and_bounds_the_description() {
    for control in
        ["http://10.0.0.7:5000/c", "http://203.0.113.7/c", "https://10.0.0.1/c", "/c HTTP/1.1\r\nX: y", ""]
    {
        let (mapping, _) = described(&service("WANIPConnection:1", control));
        assert_eq!(mapping.deadline().is_some(), control.is_empty(), "{control}");
    }
    for description in [
        "",
        "<service>",
        &"<service>".repeat(7_000),
        &service("Printer:1", "/p").repeat(400),
        &"<".repeat(60_000),
    ] {
        assert_eq!(described(description).0.deadline(), None);
    }
    let services: String = (0..300).map(|n| service("WANPPPConnection:1", &format!("/c{n}"))).collect();
    let (mut mapping, now) = described(&services);
    assert!(stream(&mut mapping, now).starts_with("POST /c0 "), "the first one first");
    mapping.handle(now, at("10.0.0.1:5000"), &address("192.168.0.7"));
    let mut asked = 1;
    while mapping.poll(now).is_some() {
        asked += 1;
        mapping.handle(now, at("10.0.0.1:5000"), &address("192.168.0.7"));
    }
    assert_eq!((asked, mapping.deadline()), (4, None), "four services without a public address");
}

#[test]
fn igd_ends_with_a_stream_that_fails() {
    for answer in [
        &b""[..],
        b"garbage",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 500 X\r\n\r\n<errorCode>402</errorCode>",
    ] {
        let (mut mapping, now) = described(&service("WANIPConnection:2", "/c"));
        stream(&mut mapping, now);
        mapping.handle(now, at("10.0.0.1:5000"), answer);
        assert_eq!((mapping.deadline(), mapping.outside()), (None, None));
    }
}
