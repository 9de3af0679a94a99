//! Invites that name a rendezvous by the name of its server: what is written is read back, and hostile texts are refused.

use super::invite::{addr, crafted, head, key, read, v4};
use proptest::prelude::*;
use rebout::{Invite, InviteError, Rendezvous, ServerName};

const ROOM: [u8; 16] = [0x5A; 16];

fn server() -> ServerName {
    ServerName::new("play.example.org", 3479).unwrap()
}

fn named() -> Invite {
    Invite::with_named_rendezvous(key(), [addr("192.168.1.7:7000")], server(), ROOM).unwrap()
}

/// The fields of a part with a name.
fn part(port: u16, name: &[u8]) -> Vec<(u128, u32)> {
    let bytes = name.iter().map(|byte| (u128::from(*byte), 8));
    let room = (u128::from_be_bytes(ROOM), 128);
    [(2, 5), (18 + name.len() as u128, 8), room, (port.into(), 16)].into_iter().chain(bytes).collect()
}

#[test]
fn name_is_read_back_and_has_few_characters() {
    let invite = named();
    assert_eq!(read(&invite.to_string()), Ok(invite.clone()));
    assert_eq!(invite.named_rendezvous(), Some((&server(), ROOM)));
    assert_eq!((invite.rendezvous(), invite.addresses()), (None, &[addr("192.168.1.7:7000")][..]));
    assert_eq!(invite.to_string().len(), 134);
    let alone = Invite::with_named_rendezvous(key(), [], server(), ROOM).unwrap();
    assert_eq!(alone.to_string().len(), 125);
    let literal = Rendezvous { server: addr("192.0.2.1:3479"), room: ROOM };
    let lengths = [vec![], vec![addr("192.168.1.7:7000")]]
        .map(|lan| Invite::with_rendezvous(key(), lan, literal).unwrap().to_string().len());
    assert_eq!(lengths, [106, 115]);
    let shown = format!("{invite:?}");
    assert!(shown.contains("play.example.org") && !shown.contains("90, 90"), "{shown}");
}

#[test]
fn page_about_the_wire_shows_this_name() {
    let page = include_str!("../../docs/ENCRYPTION.md");
    let block = page.split("```invite\n").nth(2).expect("a second block with an invite");
    assert_eq!(block.split("```").next().unwrap().trim(), named().to_string());
}

#[test]
fn independent_writer_makes_the_same_name() {
    let address = v4(0xC0A8_0107, 7000).to_vec();
    let fields = [head(1, 0), address, part(3479, b"play.example.org")].concat();
    assert_eq!(crafted(&fields), named().to_string());
}

#[test]
fn name_and_address_of_a_rendezvous_are_both_read() {
    let literal = vec![(1, 5), (22, 8), (0xC000_0201, 32), (3479, 16), (u128::from_be_bytes(ROOM), 128)];
    for parts in
        [[literal.clone(), part(3479, b"PLAY.example.org")], [part(3479, b"play.example.org"), literal]]
    {
        let invite = read(&crafted(&[head(0, 0), parts.concat()].concat())).unwrap();
        assert_eq!(invite.rendezvous(), Some(&Rendezvous { server: addr("192.0.2.1:3479"), room: ROOM }));
        assert_eq!(invite.named_rendezvous(), Some((&server(), ROOM)));
        assert_eq!(read(&invite.to_string()), Ok(invite));
    }
}

#[test]
fn hostile_names_are_refused() {
    let rule = "the name of its rendezvous cannot be used";
    let long = [b"a.".repeat(31), b"org".to_vec()].concat();
    let names: [&[u8]; 10] = [
        b"",
        b"localhost",
        b"127.0.0.1",
        b"1.0x7f",
        b"a..org",
        b"a_b.org",
        b"a.org\0",
        b"\xFF.org",
        b"a b.org",
        &long,
    ];
    for name in names {
        let fields = [head(0, 0), part(3479, name)].concat();
        assert_eq!(read(&crafted(&fields)), Err(InviteError::Malformed { rule }), "{name:?}");
    }
    let no_port = [head(0, 0), part(0, b"play.example.org")].concat();
    assert_eq!(read(&crafted(&no_port)), Err(InviteError::Malformed { rule }));
    let short = [head(0, 0), vec![(2, 5), (17, 8), (0, 128), (0, 8)]].concat();
    assert_eq!(read(&crafted(&short)), Err(InviteError::Malformed { rule }));
    let twice = [head(0, 0), part(1, b"a.org"), part(1, b"a.org")].concat();
    let rule = "it has two names of rendezvous";
    assert_eq!(read(&crafted(&twice)), Err(InviteError::Malformed { rule }));
}

proptest! {
    #[test]
    fn any_bytes_of_a_name_are_read_or_refused(name in proptest::collection::vec(any::<u8>(), 0..80), port in any::<u16>()) {
        match read(&crafted(&[head(0, 0), part(port, &name)].concat())) {
            Ok(invite) => prop_assert_eq!(read(&invite.to_string()), Ok(invite)),
            Err(error) => prop_assert!(matches!(error, InviteError::Malformed { .. }), "{error}"),
        }
    }

    #[test]
    fn every_name_is_read_back(name in "[a-z0-9-]{1,12}(\\.[a-z0-9-]{1,12}){1,4}", port in any::<u16>()) {
        if let Some(server) = ServerName::new(&name, port) {
            let invite = Invite::with_named_rendezvous(key(), [], server, ROOM).unwrap();
            prop_assert_eq!(read(&invite.to_string()), Ok(invite));
        }
    }
}
