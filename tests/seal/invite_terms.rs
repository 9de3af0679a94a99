//! The terms of an invite, and parts that must not be ignored.

use crate::invite::{crafted, full, head, one_v4, read, v4};
use rebout::InviteError;

#[test]
fn unknown_part_that_is_critical_is_refused() {
    let address = v4(0xCB00_7109, 7000).to_vec();
    for kind in (16..32).filter(|kind| ![17, 18].contains(kind)) {
        let fields = [head(1, 0), address.clone(), vec![(u128::from(kind), 5), (1, 8), (0, 8)]].concat();
        let error = read(&crafted(&fields)).unwrap_err();
        assert_eq!(error, InviteError::Critical { kind });
        assert!(error.to_string().contains(&format!("its part {kind} is unknown here")), "{error}");
    }
    // Terms of a later version: an unknown flag, or more bytes.
    for terms in [
        vec![(1, 8), (2, 8)],
        vec![(1, 8), (128, 8)],
        vec![(0, 8)],
        vec![(2, 8), (0, 16)],
        vec![(6, 8), (0, 48)],
    ] {
        let fields = [head(1, 0), address.clone(), vec![(17, 5)], terms].concat();
        assert_eq!(read(&crafted(&fields)), Err(InviteError::Critical { kind: 17 }));
    }
}

#[test]
fn terms_and_certificate_are_read_back() {
    let expiring = one_v4().for_one().until(0x7100_0000);
    assert_eq!(
        expiring.to_string(),
        "rebout:2:406B2NFTKX1Y929DT9VHQF310PN4XWWM73ER49PBDG8BAPFYMD3YPB01RGJ6TRH0M0Q2000001JXRHN"
    );
    let page = include_str!("../../docs/ENCRYPTION.md");
    assert!(page.contains(&expiring.to_string()), "the page shows it");
    let lens = [one_v4(), one_v4().for_one(), expiring, one_v4().to_watch([7; 32], [8; 32])];
    assert_eq!(lens.map(|invite| invite.to_string().len()), [77, 82, 88, 131]);
    for until in [None, Some(0), Some(u32::MAX)] {
        for invite in [full(), full().for_one(), full().to_watch([7; 32], [8; 32])] {
            let invite = until.map_or(invite.clone(), |at| invite.until(at)).with_certificate([0xC3; 32]);
            let back = read(&invite.to_string()).unwrap();
            assert_eq!((back.expires_at(), back.is_for_one()), (until, invite.is_for_one()));
            assert_eq!((back.certificate(), back.rendezvous()), (Some(&[0xC3; 32]), full().rendezvous()));
            assert_eq!((back.broadcast_key(), back.key()), (invite.broadcast_key(), invite.key()));
            assert_eq!(back, invite);
        }
    }
    assert_eq!((one_v4().expires_at(), one_v4().certificate(), one_v4().is_for_one()), (None, None, false));
}
