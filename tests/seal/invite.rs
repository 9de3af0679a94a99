//! The text of an invite: what is written is read back, and what is wrong is named.

use proptest::prelude::*;
use rebout::{Invite, InviteError, MAX_ADDRESSES_PER_FAMILY, Mistake, Rendezvous};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const ALPHABET: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const PREFIX: &str = "rebout:2:";

pub(super) fn key() -> [u8; 32] {
    std::array::from_fn(|n| (n * 41 + 3) as u8)
}

pub(super) fn addr(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

pub(super) fn one_v4() -> Invite {
    Invite::new(key(), [addr("203.0.113.9:7000")]).unwrap()
}

pub(super) fn full() -> Invite {
    let v4 = (1..=4).map(|n| SocketAddr::from(([203, 0, 113, n], 7000)));
    let v6 = (1..=4).map(|n| SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, n], 7000)));
    let rendezvous = Rendezvous { server: addr("[2001:db8::53]:3479"), room: [0x5A; 16] };
    Invite::with_rendezvous(key(), v6.chain(v4), rendezvous).unwrap()
}

pub(super) fn read(text: &str) -> Result<Invite, InviteError> {
    text.parse()
}

/// The characters after the prefix.
fn characters(invite: &Invite) -> Vec<char> {
    invite.to_string().strip_prefix(PREFIX).unwrap().chars().collect()
}

fn text_of(characters: &[char]) -> String {
    PREFIX.chars().chain(characters.iter().copied()).collect()
}

/// The characters of any content with the right checksum, as a later or a broken program would write them: for each number
/// its lowest bits.
pub(super) fn crafted(fields: &[(u128, u32)]) -> String {
    let bits: Vec<u8> = fields
        .iter()
        .flat_map(|(number, bits)| (0..*bits).rev().map(move |bit| (number >> bit & 1) as u8))
        .collect();
    let mut values: Vec<u8> =
        bits.chunks(5).map(|chunk| chunk.iter().enumerate().map(|(at, bit)| bit << (4 - at)).sum()).collect();
    let rest = |values: &[u8]| {
        values.iter().fold(1u32, |rest, value| {
            let generator = [0x3b6a_57b2u32, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
            let next = (rest & 0x1ff_ffff) << 5 ^ u32::from(*value);
            (0..5).filter(|bit| rest >> 25 >> bit & 1 == 1).fold(next, |next, bit| next ^ generator[bit])
        })
    };
    let padded: Vec<u8> = [2].into_iter().chain(values.iter().copied()).chain([0; 6]).collect();
    let checksum = rest(&padded) ^ 0x2bc8_30a3;
    values.extend((0..6).rev().map(|place| (checksum >> (place * 5) & 31) as u8));
    let character = |value: u8| ALPHABET.chars().nth(value.into()).unwrap();
    PREFIX.chars().chain(values.into_iter().map(character)).collect()
}

/// The counts of addresses and the key.
pub(super) fn head(v4: u128, v6: u128) -> Vec<(u128, u32)> {
    let key = key();
    let (high, low) = key.split_at(16);
    let number = |bytes: &[u8]| u128::from_be_bytes(bytes.try_into().unwrap());
    vec![(v4, 3), (v6, 3), (number(high), 128), (number(low), 128)]
}

pub(super) fn v4(ip: u32, port: u16) -> [(u128, u32); 2] {
    [(ip.into(), 32), (port.into(), 16)]
}

const LOCALHOST: u32 = 0x7F00_0001;

#[test]
fn invite_with_one_address_has_77_characters() {
    let text = one_v4().to_string();
    assert_eq!(text, "rebout:2:406B2NFTKX1Y929DT9VHQF310PN4XWWM73ER49PBDG8BAPFYMD3YPB01RGJ6TRRDHS21");
    assert_eq!(text.len(), 77);
    let v6 = Invite::new(key(), [addr("[2001:db8::7]:7000")]).unwrap();
    assert_eq!(v6.to_string().len(), 97);
    assert_eq!(full().to_string().len(), 278);
}

#[test]
fn page_about_the_wire_shows_this_invite() {
    let page = include_str!("../../docs/ENCRYPTION.md");
    let block = page.split("```invite\n").nth(1).expect("a block with an invite");
    assert_eq!(read(block.split("```").next().unwrap()), Ok(one_v4()));
}

#[test]
fn independent_writer_makes_the_same_characters() {
    let fields: Vec<_> = head(1, 0).into_iter().chain(v4(0xCB00_7109, 7000)).collect();
    assert_eq!(crafted(&fields), one_v4().to_string());
}

#[test]
fn every_wrong_character_is_noticed_and_placed() {
    for invite in [one_v4(), full()] {
        let right = characters(&invite);
        for at in 0..right.len() {
            for character in ALPHABET.chars().filter(|character| *character != right[at]) {
                let mut wrong = right.clone();
                wrong[at] = character;
                let place = if right.len() < 89 { Mistake::Character(at + 1) } else { Mistake::Unknown };
                assert_eq!(
                    read(&text_of(&wrong)),
                    Err(InviteError::Checksum { mistake: place }),
                    "{at} {character}"
                );
            }
        }
    }
}

#[test]
fn every_swap_of_neighbours_is_noticed_and_placed() {
    for invite in [one_v4(), full()] {
        let right = characters(&invite);
        let mut swaps = 0;
        for at in (1..right.len()).filter(|at| right[at - 1] != right[*at]) {
            let mut wrong = right.clone();
            wrong.swap(at - 1, at);
            let place = if right.len() < 89 { Mistake::Swapped(at) } else { Mistake::Unknown };
            assert_eq!(read(&text_of(&wrong)), Err(InviteError::Checksum { mistake: place }), "{at}");
            swaps += 1;
        }
        assert!(swaps > 50);
    }
}

#[test]
fn invite_cut_anywhere_says_that_it_is_cut() {
    for (invite, needed) in [(one_v4(), 68), (full(), 212)] {
        let right = characters(&invite);
        for len in 0..right.len() {
            let expected = match len {
                0 | 1 => InviteError::TooShort { characters: len, needed: 59 },
                len if len < needed => InviteError::TooShort { characters: len, needed },
                // The rendezvous is cut, which only the checksum shows.
                _ => InviteError::Checksum { mistake: Mistake::Unknown },
            };
            assert_eq!(read(&text_of(&right[..len])), Err(expected), "{len}");
        }
    }
}

#[test]
fn character_left_out_or_doubled_is_noticed() {
    for invite in [one_v4(), full()] {
        let right = characters(&invite);
        for at in 0..right.len() {
            let mut wrong = right.clone();
            wrong.remove(at);
            assert!(read(&text_of(&wrong)).is_err(), "without {at}");
            for character in ALPHABET.chars() {
                let mut wrong = right.clone();
                wrong.insert(at, character);
                assert!(read(&text_of(&wrong)).is_err(), "{character} before {at}");
            }
        }
    }
}

#[test]
fn invite_survives_wrapping_and_look_alike_characters() {
    let text = one_v4().to_string();
    let look_alike = |character| match character {
        '1' => 'l',
        '0' => 'O',
        'V' => 'u',
        other => char::to_ascii_lowercase(&other),
    };
    let typed: String = text.chars().map(look_alike).collect();
    // The version is a digit, and nothing else stands for it.
    let typed = typed.replacen(":l:", ":1:", 1);
    let wrapped: String =
        text.chars().flat_map(|character| [character, '\n', '\r', '\t', '\u{a0}', '\u{200b}']).collect();
    for text in [
        typed,
        text.to_uppercase(),
        wrapped,
        format!("  {text}\r\n"),
        format!("\u{feff}{}\n{}", &text[..40], &text[40..]),
        format!("{} - {}", &text[..30], &text[30..]).replace('-', "\u{ad}"),
    ] {
        assert_eq!(read(&text), Ok(one_v4()), "{text:?}");
    }
}

#[test]
fn other_texts_are_not_invites() {
    for text in [
        "",
        " ",
        "192.168.1.5",
        "rebout",
        "rebout:7000",
        "rebout::",
        "rebout:x:",
        "rebout:2",
        "1:4G6P",
        "rebout:99999:",
        "http://a",
        "rebout:2;A",
    ] {
        assert_eq!(read(text), Err(InviteError::NotAnInvite), "{text}");
    }
    let text = one_v4().to_string();
    assert_eq!(read(&text[1..]), Err(InviteError::NotAnInvite));
    assert_eq!(read(&text.replacen('2', "1", 1)), Err(InviteError::Version { version: 1 }));
    assert_eq!(read("rebout:65535:"), Err(InviteError::Version { version: 65_535 }));
}

#[test]
fn character_that_no_invite_has_is_named_with_its_place() {
    let right = characters(&one_v4());
    for bad in ['!', '-', 'ä', '０', 'А', '\u{1b}', '\u{202e}', ':', '🂡'] {
        for at in [0, 1, 33, 67] {
            let mut wrong = right.clone();
            wrong[at] = bad;
            assert_eq!(read(&text_of(&wrong)), Err(InviteError::Character { character: bad, at: at + 1 }));
        }
    }
    let behind = format!("{} please", one_v4());
    assert_eq!(read(&behind).unwrap_err(), InviteError::Checksum { mistake: Mistake::Unknown });
}

#[test]
fn addresses_that_nobody_can_join_are_refused_both_ways() {
    for (text, obstacle) in [
        ("0.0.0.0:7000", "it is the unspecified address"),
        ("[::]:7000", "it is the unspecified address"),
        ("[::ffff:0.0.0.0]:7000", "it is the unspecified address"),
        ("224.0.0.1:7000", "it is a multicast address"),
        ("[ff02::1]:7000", "it is a multicast address"),
        ("255.255.255.255:7000", "it is the broadcast address"),
        ("[fe80::1]:7000", "it is a link-local address"),
        ("203.0.113.9:0", "port 0 is invalid"),
    ] {
        let addr = rebout::canonical(addr(text));
        let expected = InviteError::Address { addr, obstacle };
        assert_eq!(Invite::new(key(), [self::addr("203.0.113.9:7000"), addr]), Err(expected));
        let rendezvous = Rendezvous { server: addr, room: [0; 16] };
        assert_eq!(Invite::with_rendezvous(key(), [], rendezvous), Err(expected));
        let written = match addr {
            SocketAddr::V4(v4) => [head(1, 0), vec![(v4.ip().to_bits().into(), 32)]],
            SocketAddr::V6(v6) => [head(0, 1), vec![(v6.ip().to_bits(), 128)]],
        };
        let fields = [written.concat(), vec![(addr.port().into(), 16)]].concat();
        assert_eq!(read(&crafted(&fields)), Err(expected));
    }
}

#[test]
fn addresses_are_bounded_and_duplicates_dropped() {
    let many = |count: u8| (0..count).map(|n| SocketAddr::from(([10, 0, 0, n], 7000)));
    assert_eq!(Invite::new(key(), many(5)), Err(InviteError::TooManyAddresses));
    let repeated = Invite::new(key(), many(4).chain(many(4))).unwrap();
    assert_eq!(repeated.addresses().len(), MAX_ADDRESSES_PER_FAMILY);
    assert_eq!(Invite::new(key(), []), Err(InviteError::NoWay { unknown: None }));
    assert_eq!(read(&crafted(&head(0, 0))), Err(InviteError::NoWay { unknown: None }));
    let five = (0..5).flat_map(|_| v4(LOCALHOST, 7000));
    assert_eq!(
        read(&crafted(&head(5, 0).into_iter().chain(five).collect::<Vec<_>>())),
        Err(InviteError::TooManyAddresses)
    );
    // A mapped address is of IPv4, and the order within a family stays.
    let mixed =
        [addr("[2001:db8::2]:1"), addr("[::ffff:192.0.2.1]:2"), addr("[2001:db8::1]:3"), addr("192.0.2.1:2")];
    let mixed = Invite::new(key(), mixed).unwrap();
    assert_eq!(mixed.addresses(), [addr("192.0.2.1:2"), addr("[2001:db8::2]:1"), addr("[2001:db8::1]:3")]);
    // The scope is a number of the host's machine.
    let scoped = Invite::new(key(), [addr("[2001:db8::1%5]:3"), addr("[2001:db8::1]:3")]).unwrap();
    assert_eq!(scoped.addresses(), [addr("[2001:db8::1]:3")]);
}

#[test]
fn unknown_parts_are_skipped_unless_they_are_the_only_way() {
    let part = |kind: u128| vec![(kind, 5), (2, 8), (0xBEEF, 16)];
    let with_address = [head(1, 0), v4(0xCB00_7109, 7000).to_vec(), part(9), part(15)].concat();
    assert_eq!(read(&crafted(&with_address)), Ok(one_v4()));
    let alone = [head(0, 0), part(9), part(15)].concat();
    assert_eq!(read(&crafted(&alone)), Err(InviteError::NoWay { unknown: Some(9) }));
    let rendezvous = vec![(1, 5), (22, 8), (u128::from(LOCALHOST), 32), (3479, 16), (0x77, 128)];
    let mut room = [0; 16];
    room[15] = 0x77;
    let expected = Rendezvous { server: addr("127.0.0.1:3479"), room };
    let between = [head(0, 0), part(9), rendezvous, part(5)].concat();
    assert_eq!(read(&crafted(&between)).unwrap().rendezvous(), Some(&expected));
}

#[test]
fn invite_to_watch_has_another_key_and_that_of_the_broadcast() {
    let invite = one_v4().to_watch([8; 32], [9; 32]);
    assert_eq!((*invite.key(), invite.broadcast_key()), ([8; 32], Some([9; 32])));
    assert_eq!(invite.addresses(), one_v4().addresses());
    let text = invite.to_string();
    assert_eq!((text.len(), text.parse()), (131, Ok(invite)));
}

#[test]
fn malformed_content_with_a_valid_checksum_is_refused() {
    let address = v4(LOCALHOST, 7000).to_vec();
    let broadcast = vec![(18, 5), (32, 8), (7, 128), (8, 128)];
    let rendezvous = vec![(1, 5), (22, 8), (u128::from(LOCALHOST), 32), (3479, 16), (0x77, 128)];
    for (fields, rule) in [
        (head(2, 0), "it ends inside its content"),
        ([head(1, 0), vec![(1, 40)]].concat(), "it ends inside its content"),
        ([head(1, 0), address.clone(), vec![(9, 5)]].concat(), "it ends inside the head of a part"),
        (
            [head(2, 0), address.clone(), address.clone(), vec![(1, 2)]].concat(),
            "it ends inside the head of a part",
        ),
        (
            [head(1, 0), address.clone(), vec![(9, 5), (3, 8), (1, 16)]].concat(),
            "a part is longer than the invite",
        ),
        ([head(1, 0), address.clone(), vec![(0, 5), (0, 8)]].concat(), "a part has kind 0"),
        (
            [head(1, 0), address.clone(), vec![(18, 5), (2, 8), (7, 16)]].concat(),
            "the key of its broadcast has a wrong length",
        ),
        (
            [head(1, 0), address.clone(), broadcast.clone(), broadcast.clone()].concat(),
            "it has two keys of a broadcast",
        ),
        (
            [head(1, 0), address.clone(), vec![(1, 5), (1, 8), (1, 8)]].concat(),
            "its rendezvous has a wrong length",
        ),
        ([head(0, 0), rendezvous.clone(), rendezvous].concat(), "it has two rendezvous"),
        (
            [head(1, 0), address.clone(), vec![(3, 5), (1, 8), (1, 8)]].concat(),
            "its certificate has a wrong length",
        ),
        (
            [head(1, 0), address, vec![(17, 5), (1, 8), (1, 8), (17, 5), (1, 8), (1, 8)]].concat(),
            "it has two parts with terms",
        ),
    ] {
        assert_eq!(read(&crafted(&fields)), Err(InviteError::Malformed { rule }));
    }
}

#[test]
fn neither_debug_nor_an_error_shows_the_key() {
    for invite in [one_v4(), full()] {
        let shown = format!("{invite:?} {invite:#?}");
        assert!(shown.contains("203.0.113."), "{shown}");
        assert!(!shown.contains("44") && !shown.contains("2C") && !shown.contains("90"), "{shown}");
        let text = characters(&invite);
        let cut: String = text_of(&text[..50]);
        let mut wrong = text.clone();
        wrong[20] = '?';
        for broken in [cut, text_of(&wrong)] {
            let error = read(&broken).unwrap_err();
            let shown = format!("{error} {error:?}");
            let stretches = text.windows(4).map(|four| four.iter().collect::<String>());
            stretches.for_each(|four| assert!(!shown.contains(&four), "{shown} has {four}"));
        }
    }
}

#[test]
fn errors_are_readable_texts() {
    let right = characters(&one_v4());
    let mut wrong = right.clone();
    wrong[16] = '\u{1b}';
    let mut typo = right.clone();
    typo[16] = if typo[16] == 'Z' { 'Y' } else { 'Z' };
    let mut swapped = right.clone();
    swapped.swap(0, 1);
    for (text, words) in [
        ("192.0.2.1".to_owned(), "not an invite: it begins with rebout:2: and characters follow"),
        (
            "rebout:1:AB".to_owned(),
            "an invite of version 1; this program reads version 2: one of the two is out of date",
        ),
        (text_of(&wrong), r"character 17 of the invite is '\u{1b}', which is not allowed"),
        (text_of(&right[..40]), "the invite is cut off: it has 40 of at least 68 characters"),
        (text_of(&typo), "the invite has a typing error: character 17 seems to be wrong"),
        (text_of(&swapped), "the invite has a typing error: characters 1 and 2 seem to be swapped"),
        (text_of(&['A'; 641]), "the invite is too long: none has more than 640 characters"),
        (
            crafted(&[head(0, 0), vec![(9, 5), (0, 8)]].concat()),
            "the invite needs a newer version: its only way to the host is part 9, unknown here",
        ),
    ] {
        assert_eq!(read(&text).unwrap_err().to_string(), words);
    }
}

#[test]
fn megabytes_are_refused_after_a_look_at_the_first_characters() {
    let noise = |character: &str| format!("{PREFIX}{}", character.repeat(4_000_000));
    assert_eq!(read(&noise("A")), Err(InviteError::TooLong { max: 640 }));
    assert_eq!(read(&noise("!")), Err(InviteError::Character { character: '!', at: 1 }));
    assert_eq!(read(&noise(" ")), Err(InviteError::TooShort { characters: 0, needed: 59 }));
    assert_eq!(read(&"1".repeat(4_000_000)), Err(InviteError::NotAnInvite));
    assert_eq!(read(&format!("rebout:{}", "1".repeat(4_000_000))), Err(InviteError::NotAnInvite));
}

fn any_addr() -> impl Strategy<Value = SocketAddr> {
    let v4 = any::<u32>().prop_map(|bits| IpAddr::from(Ipv4Addr::from_bits(bits)));
    let v6 = any::<u128>().prop_map(|bits| IpAddr::from(Ipv6Addr::from_bits(bits)));
    (prop_oneof![v4, v6], any::<u16>()).prop_map(SocketAddr::from)
}

proptest! {
    #[test]
    fn every_invite_is_read_back(
        key in any::<[u8; 32]>(), addresses in proptest::collection::vec(any_addr(), 0..6),
        rendezvous in proptest::option::of((any_addr(), any::<[u8; 16]>())),
    ) {
        let rendezvous = rendezvous.map(|(server, room)| Rendezvous { server, room });
        let made = match rendezvous {
            Some(rendezvous) => Invite::with_rendezvous(key, addresses, rendezvous),
            None => Invite::new(key, addresses),
        };
        if let Ok(invite) = made {
            prop_assert_eq!(invite.key(), &key);
            prop_assert_eq!(read(&invite.to_string()), Ok(invite.clone()));
            prop_assert_eq!(read(&invite.to_string().to_lowercase()), Ok(invite));
        }
    }

    #[test]
    fn parts_of_later_versions_change_nothing(
        parts in proptest::collection::vec((5u128..16, proptest::collection::vec(any::<u8>(), 0..40)), 0..4),
    ) {
        let mut fields = [head(1, 0), v4(0xCB00_7109, 7000).to_vec()].concat();
        for (kind, bytes) in parts {
            fields.extend([(kind, 5), (bytes.len() as u128, 8)]);
            fields.extend(bytes.into_iter().map(|byte| (byte.into(), 8)));
        }
        prop_assert_eq!(read(&crafted(&fields)), Ok(one_v4()));
    }

    #[test]
    fn no_content_does_harm(content in proptest::collection::vec((any::<u128>(), 0u32..=128), 2..12)) {
        if let Ok(invite) = read(&crafted(&content)) {
            prop_assert_eq!(read(&invite.to_string()), Ok(invite));
        }
    }

    #[test]
    fn no_text_does_harm(text in any::<String>(), characters in "[0-9A-Za-z \n]{0,600}") {
        let _ = read(&text);
        let _ = read(&format!("rebout:2:{text}"));
        let _ = read(&format!("rebout:2:{characters}"));
    }
}
