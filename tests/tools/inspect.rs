//! The output of `inspect`, run as a program.

use crate::program::{is_harmless, program};
use rebout::Randomness;
use rebout::lab::seal::{ConnectionKeys, Seal};
use rebout::{Config, Lobby, Protocol};
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

/// Exit code, standard output, standard error.
fn inspect(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(program("inspect")).args(args).output().expect("inspect runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

const RBN1: &str = "52424e3101000100000001020000000300";

/// Sends what a joiner and a host say to each other through the seals of both, and answers all of it, with the keys.
fn sealed_greetings() -> (Vec<Vec<u8>>, ConnectionKeys) {
    let addrs: [SocketAddr; 2] = [([192, 0, 2, 1], 7000).into(), ([192, 0, 2, 2], 7000).into()];
    let mut host = Seal::host(Randomness::Seeded(1)).unwrap();
    let mut joiner = Seal::join(Randomness::Seeded(2), host.public_key().unwrap(), &addrs[..1]).unwrap();
    joiner.log_keys();
    let mut lobbies = [
        Lobby::host(Config::new(7)).unwrap(),
        Lobby::join(Config::new(7), joiner.target().unwrap()).unwrap(),
    ];
    let (mut said, mut buf) = (Vec::new(), [0; rebout::MAX_DATAGRAM]);
    for now in (0..100).map(|step| Duration::from_millis(step * 10)) {
        let [hosting, joining] = &mut lobbies;
        while let Some((_, len)) = joiner.around(joining).poll_transmit(now, &mut buf) {
            said.push(buf[..len].to_vec());
            host.around(hosting).handle_datagram(now, addrs[1], &buf[..len]);
        }
        while let Some((_, len)) = host.around(hosting).poll_transmit(now, &mut buf) {
            said.push(buf[..len].to_vec());
            joiner.around(joining).handle_datagram(now, addrs[0], &buf[..len]);
        }
    }
    (said, joiner.take_logged_keys().expect("a connection"))
}

#[test]
fn sealed_packets_are_named_and_opened_with_a_key_log_only() {
    let (said, keys) = sealed_greetings();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let first = |byte: u8| hex(said.iter().find(|datagram| datagram[0] == byte).expect("said"));
    for (byte, name) in [(0xE0, "REQUEST"), (0xE1, "RETRY"), (0xE2, "INIT"), (0xE3, "RESP")] {
        let (code, out, _) = inspect(&[&first(byte)]);
        assert!(code == 0 && out.starts_with(&format!("format: sealed\ntype: {name}\n")), "{out}");
    }
    let data = first(0xE6);
    let (code, out, _) = inspect(&[&data]);
    assert!(code == 0 && out.ends_with("opened: no: --keys FILE names a key log\n"), "{out}");
    assert!(!out.contains("GAME"), "{out}");

    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("keys-{}", std::process::id()));
    let log = file.to_str().unwrap();
    let other = format!("rebout-seal 1 0001 0002 {0} {0}", "00".repeat(32));
    std::fs::write(&file, format!("{other}\n\n{keys}\n")).unwrap();
    let (code, out, _) = inspect(&["--keys", log, &data]);
    assert!(code == 0 && out.contains("type: DATA\n") && out.contains("opened: joiner to host\n"), "{out}");
    assert!(
        out.contains("format: GAME\ntype: RELIABLE_EVENT\n") && out.contains("message: HELLO\n"),
        "{out}"
    );
    let mut damaged = data.clone();
    damaged.replace_range(data.len() - 2.., if data.ends_with("00") { "01" } else { "00" });
    let (code, out, _) = inspect(&["--keys", log, &damaged]);
    assert!(code == 0 && out.ends_with("opened: no: no key fits\n"), "{out}");
    std::fs::write(&file, "rebout-seal 1 secret\n").unwrap();
    let (code, out, error) = inspect(&["--keys", log, &data]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(error.contains("line 1: not a line of a key log") && !error.contains("secret"), "{error}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn input_packet_is_printed_field_by_field() {
    let expected =
        "format: RBN1\nversion: 1\nstart_frame: 1\ncount: 1\nack_frame: 2\nbuttons[0]: 0x0003\n".to_owned();
    assert_eq!(inspect(&[RBN1]), (0, expected, String::new()));
}

#[test]
fn checksum_is_printed_where_there_is_one() {
    let (code, out, _) = inspect(&["52424e3101010100000001020000001e000000b73db7410300"]);
    assert_eq!(code, 0);
    assert!(out.contains("checksum_frame: 30\nchecksum: 41B73DB7\n"), "{out}");
}

#[test]
fn spaces_prefix_and_case_do_not_matter() {
    let plain = inspect(&[RBN1]);
    assert_eq!(inspect(&[&format!("0x{}", RBN1.to_uppercase())]), plain);
    assert_eq!(inspect(&["52 42 4E 31 01 00 01000000 01 02000000 0300"]), plain);
    assert_eq!(inspect(&["52424e31", "0100", "0x01000000", "01", "02000000", "0300"]), plain);
}

#[test]
fn refusal_names_the_rule_and_the_reason() {
    let mut bytes = RBN1.to_owned();
    bytes.replace_range(20..22, "21");
    let expected = "refused: rbn1-count, a count of 33 is outside 1..=32\n".to_owned();
    assert_eq!(inspect(&[&bytes]), (1, expected, String::new()));
    let (code, out, _) = inspect(&["00112233445566778899aabbccddeeff"]);
    assert_eq!((code, out.as_str()), (1, "refused: magic, no format begins with [00, 11, 22, 33]\n"));
    let (code, out, _) = inspect(&[""]);
    assert_eq!((code, out.as_str()), (1, "refused: too-short, 0 bytes are less than a header of 15\n"));
}

#[test]
fn control_packets_and_the_messages_inside_are_printed() {
    let expected = "format: GAME\ntype: RELIABLE_EVENT\nsequence: 1\nack: 2\nack_bits: 0x00000003\nmessage: VERDICT\n\
                    number: 7\nframe: 100\nfinished: true\nchecksum: 41B73DB7\n";
    let (code, out, _) = inspect(&["47414d45 0001 0002 00000003 08 000c 10 0007 00000064 41b73db7 01"]);
    assert_eq!((code, out.as_str()), (0, expected));
    let (code, out, _) = inspect(&["47414d45 0001 0002 00000003 06 0008 3ff8000000000000"]);
    assert_eq!(code, 0);
    assert!(out.ends_with("timestamp: 1.5\ntimestamp_bits: 0x3ff8000000000000\n"), "{out}");
}

#[test]
fn event_that_is_no_message_says_why_but_is_a_packet() {
    let (code, out, _) = inspect(&["47414d45 0001 0002 00000003 08 0001 63"]);
    assert_eq!(code, 0);
    assert!(out.ends_with("payload: 63\nmessage: none, message-kind, unknown message kind 99\n"), "{out}");
}

#[test]
fn hostile_datagram_is_shown_escaped() {
    // ESC [2J and a right-to-left override: as the whole datagram, as an event that is no message, as a game's message.
    let evil = "1b5b324ae280ae";
    for datagram in [
        evil.repeat(3),
        format!("47414d45 0001 0002 00000003 08 0007 {evil}"),
        format!("47414d45 0001 0002 00000003 08 000a 11 0007 {evil}"),
    ] {
        let (_, out, err) = inspect(&[&datagram]);
        assert!(is_harmless(&out) && err.is_empty(), "{out:?}{err:?}");
        assert!(out.to_lowercase().contains("1b"), "the bytes are shown as digits: {out:?}");
    }
    let (code, _, err) = inspect(&["\u{1b}[2J\u{202e}"]);
    assert!(code == 2 && is_harmless(&err), "{err:?}");
}

#[test]
fn rtype_packet_is_printed_field_by_field_where_it_is_named() {
    let expected = "format: R-Type\nopcode: ENTITY_UPDATE\nasks_ack: false\nsequence: 4698\nentity: 784\n\
                    x: 400\ny: 80\n";
    for args in [
        &["--wire", "rtype", "31 00 12 5A 03 10 01 90 00 50"][..],
        &["--wire=rtype", "3100125A", "031001900050"],
    ] {
        assert_eq!(inspect(args), (0, expected.to_owned(), String::new()));
    }
    let (code, out, _) = inspect(&["--wire", "rtype", "20 00 00 01 0B"]);
    assert_eq!(code, 0);
    assert!(out.ends_with("input: 0x0b\ndirection: 1, 0\nshoots: false\n"), "{out}");
    let (code, out, _) = inspect(&["--wire", "rtype", "01 01 00 01 00 00"]);
    assert_eq!((code, out.as_str()), (1, "refused: rtype-asks-ack, ACK must not request an ACK\n"));
    // A name that would clear the screen and turn the text around.
    let (code, out, _) = inspect(&["--wire", "rtype", "10 01 00 01 01 1b5b324ae280ae"]);
    assert!(code == 0 && is_harmless(&out), "{out:?}");
    let (code, _, err) = inspect(&["--wire", "rfc", "00"]);
    assert_eq!((code, &*err), (2, "inspect: \"rfc\" is no wire that has to be named: only rtype is\n"));
    assert_eq!(inspect(&["--wire"]).2, "inspect: usage: inspect [--wire rtype] [--keys FILE] HEX\n");
}

#[test]
fn bad_argument_ends_with_its_reason_on_standard_error() {
    let said = |reason: &str| (2, String::new(), format!("inspect: {reason}\n"));
    assert_eq!(inspect(&[]), said("usage: inspect [--wire rtype] [--keys FILE] HEX"));
    assert_eq!(inspect(&["52zz"]), said("'z' is not a hex digit"));
    assert_eq!(inspect(&["524"]), said("3 hex digits are not whole bytes"));
}
