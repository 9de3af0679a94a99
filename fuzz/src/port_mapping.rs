//! Port mapping: a router of this network that answers as it likes, and its neighbours.
//!
//! Only a public address is ever the result, requests go to the router alone, and a mapping comes to rest.

use crate::bytes::Bytes;
use crate::memory::Kept;
use rebout::lab::nat::{PortMapping, RouterRequest};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SSDP: Ipv4Addr = Ipv4Addr::new(239, 255, 255, 250);
const PORT: u16 = 7_000;
const MAX_STEPS: usize = 64;
/// The most requests in a row without time or an answer: one for each protocol, twice.
const MAX_REQUESTS: usize = 8;

/// All requests that are due. Each goes to the router, or asks everybody who the router is.
fn poll(mapping: &mut PortMapping, now: Duration, last: &mut Option<RouterRequest>) {
    let mut count = 0;
    while let Some(request) = mapping.poll(now) {
        count += 1;
        assert!(count <= MAX_REQUESTS, "requests without end");
        let RouterRequest { is_stream, to, bytes } = &request;
        if *is_stream {
            assert!(*to.ip() == GATEWAY && bytes.len() < 4_096, "{request:?}");
            let text = std::str::from_utf8(bytes).expect("a request is text");
            let (head, _) = text.split_once("\r\n\r\n").expect("a head");
            assert!(head.lines().next().is_some_and(|line| line.split(' ').count() == 3), "{head:?}");
            assert_eq!(head.lines().filter(|line| line.starts_with("Host:")).count(), 1, "{head:?}");
        } else {
            assert!([GATEWAY, SSDP].contains(to.ip()) && bytes.len() < 1_200, "{request:?}");
        }
        *last = Some(request);
    }
}

fn check(mapping: &PortMapping) {
    if let Some(SocketAddr::V4(outside)) = mapping.outside() {
        let ip = outside.ip();
        let is_public = !ip.is_private()
            && !ip.is_loopback()
            && !ip.is_link_local()
            && !ip.is_multicast()
            && !ip.is_unspecified()
            && !ip.is_broadcast()
            && !matches!(ip.octets(), [100, 64..=127, ..]);
        assert!(is_public && outside.port() != 0, "{outside} for the peer");
    }
}

fn response(status: u16, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// An answer that fits the last request, with the fields that the fuzzer chooses.
fn fitting(request: &RouterRequest, bytes: &mut Bytes<'_>) -> Vec<u8> {
    let [a, b, c, d] = bytes.u32().to_be_bytes();
    let ip = if bytes.flag() { [203, 0, 113, d] } else { [a, b, c, d] };
    let asked = &request.bytes;
    if request.is_stream {
        return responded(&String::from_utf8_lossy(asked), ip.into(), bytes);
    }
    match asked.len() {
        60 => {
            let mut answer = asked.clone();
            (answer[1], answer[3]) = (0x81, bytes.u8() % 4);
            answer[4..8].copy_from_slice(&bytes.u32().to_be_bytes());
            answer[42..44].copy_from_slice(&bytes.u16().to_be_bytes());
            answer[44..].copy_from_slice(&Ipv4Addr::from(ip).to_ipv6_mapped().octets());
            answer
        }
        2 => [&[0, 0x80, 0, 0, 0, 0, 0, 1][..], &ip].concat(),
        12 => {
            let mut answer = vec![0, 0x81, 0, 0, 0, 0, 0, 1];
            answer.extend(&asked[4..6]);
            answer.extend(bytes.u16().to_be_bytes());
            answer.extend(bytes.u32().to_be_bytes());
            answer
        }
        _ => {
            let path = String::from_utf8_lossy(bytes.slice(300)).into_owned();
            format!("HTTP/1.1 200 OK\r\nLOCATION: http://{GATEWAY}:5000/{path}\r\n\r\n").into_bytes()
        }
    }
}

/// The answer of an HTTP server.
fn responded(asked: &str, ip: Ipv4Addr, bytes: &mut Bytes<'_>) -> Vec<u8> {
    if asked.starts_with("GET") {
        let path = String::from_utf8_lossy(bytes.slice(300)).into_owned();
        let service = format!(
            "<service><serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType>\
             <controlURL>/{path}</controlURL></service>"
        );
        response(200, &service.repeat(1 + bytes.below(6)))
    } else if asked.contains("#GetExternalIPAddress") {
        response(200, &format!("<NewExternalIPAddress>{ip}</NewExternalIPAddress>"))
    } else if bytes.flag() {
        response(200, "")
    } else {
        response(500, "<errorCode>718</errorCode>")
    }
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut mapping = PortMapping::new(OWN, GATEWAY, PORT, *b"twelve bytes");
    let kept = Kept::new(64 * 1_024);
    let (mut now, mut last, mut is_released) = (Duration::ZERO, None, false);
    for _ in 0..MAX_STEPS {
        if bytes.is_empty() {
            break;
        }
        poll(&mut mapping, now, &mut last);
        let from = match &last {
            Some(request) if *request.to.ip() == SSDP => SocketAddrV4::new(GATEWAY, 1_900),
            Some(request) => request.to,
            None => SocketAddrV4::new(GATEWAY, 5_351),
        };
        match bytes.below(8) {
            0 => now += bytes.wait() * 16,
            1 => {
                mapping.release(now);
                is_released = true;
            }
            2 => {
                let answer = bytes.slice(2_000);
                let _ = mapping.is_whole(answer);
                mapping.handle(now, from, answer);
            }
            3 => mapping.handle(
                now,
                SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1 + bytes.u8() % 4), bytes.u16()),
                bytes.slice(200),
            ),
            choice => {
                let Some(request) = &last else { continue };
                let mut answer = fitting(request, &mut bytes);
                if choice == 4 && !answer.is_empty() {
                    let at = usize::from(bytes.u16()) % answer.len();
                    answer[at] ^= bytes.u8();
                }
                let _ = mapping.is_whole(&answer);
                mapping.handle(now, from, &answer);
            }
        }
        check(&mapping);
        assert!(!is_released || mapping.outside().is_none(), "a mapping that was given back");
        kept.check();
    }
    // Whatever was said, it comes to rest once it is given back and nobody answers.
    mapping.release(now);
    for _ in 0..200 {
        poll(&mut mapping, now, &mut last);
        match mapping.deadline() {
            None => return,
            Some(at) => now = now.max(at),
        }
    }
    panic!("a mapping that was given back goes on: {mapping:?}");
}

pub fn seeds() -> Vec<Vec<u8>> {
    // Answers that fit, at first to PCP, and later to the others while those before are refused or silent.
    let fits: Vec<u8> = [&[5, 0, 0, 0, 9, 1, 0, 0, 0, 14, 16, 27, 88][..], &[0, 255, 0, 255]].concat();
    let silent = [0, 255].repeat(6);
    let mut seeds = crate::attack::random_seeds(&[&[], &silent, &fits]);
    seeds.push([&silent[..], &[5, 0, 0, 0, 9, 1], &[5, 0, 0, 0, 9, 1, 27, 88, 0, 0, 14, 16]].concat());
    let igd = [&[5, 0, 0, 0, 9, 1, 0, 3, b'x', b'm', b'l'][..], &[5, 0, 0, 0, 9, 1, 0, 1, b'c', 1]].concat();
    seeds.push([&silent.repeat(3)[..], &igd, &[5, 0, 0, 0, 9, 1], &[5, 0, 0, 0, 9, 1, 1]].concat());
    seeds
}
