use super::*;

fn addr(port: u16) -> SocketAddr {
    ([192, 0, 2, 7], port).into()
}

/// Associations for tests that begin in the middle of a connection.
impl Association {
    /// An association by invite with these numbers, at port 1 outside.
    pub(in crate::connect::seal) fn fake(inner_addr: SocketAddr, index: u16, role: PeerRole) -> Self {
        let (nonce, ephemeral) = (u64::from(index), [index as u8; KEY_LEN]);
        let access = (role != PeerRole::Host).then_some(AccessId::FIRST);
        let peer = Peer { inner_addr, index, pattern: Pattern::Invite, role, access, nonce, ephemeral };
        let paths = Paths::new(Some(addr(1)), Span::ZERO);
        Self::host(Time::ZERO, peer, None, paths, Comparison::new(true), Introduction::none())
    }

    pub(in crate::connect::seal) fn with_channel(self, channel: Channel) -> Self {
        Self { channel: Some(channel), ..self }
    }

    pub(in crate::connect::seal) fn with_comparison(self, comparison: Comparison) -> Self {
        Self { comparison, ..self }
    }

    pub(in crate::connect::seal) fn by_address(mut self) -> Self {
        self.peer.pattern = Pattern::Open;
        self.with_comparison(Comparison::new(false))
    }

    /// A guest that is only reached, until a time.
    pub(in crate::connect::seal) fn reached(mut self, expires_at: Time) -> Self {
        (self.stage.is_confirmed, self.stage.expires_at) = (false, expires_at);
        self
    }

    /// The inner protocol does not know it.
    pub(in crate::connect::seal) fn unknown(mut self) -> Self {
        self.stage.is_known = false;
        self
    }

    pub(in crate::connect::seal) fn without_path(self) -> Self {
        Self { paths: Paths::new(None, Span::ZERO), ..self }
    }

    pub(in crate::connect::seal) fn heard_at(mut self, now: Time) -> Self {
        self.contact.restart(now);
        self
    }

    pub(in crate::connect::seal) fn pending(mut self, pending: Pending) -> Self {
        self.stage.pending = Some(Box::new(pending));
        self
    }

    pub(in crate::connect::seal) fn wear_out(&mut self) {
        self.channel.as_mut().unwrap().wear_out();
    }
}

#[test]
fn guest_is_known_by_key_pattern_nonce_and_address() {
    let head = InitHead { pattern: Pattern::Invite, index: 5, nonce: 77, cookie: 0 };
    let (invited, key) = (|role| Association::fake(addr(100), 77, role), AccessId::FIRST);
    let player = invited(PeerRole::Player);
    assert!(player.is_guest(&head, key, Some(addr(2))), "by invite from anywhere");
    assert!(!player.is_guest(&head, key.next().unwrap(), Some(addr(2))), "with another key");
    assert!(!invited(PeerRole::Host).is_guest(&head, key, Some(addr(1))));
    let signalled = InitHead { pattern: Pattern::Signal, ..head };
    assert!(player.is_guest(&signalled, key, None), "by signalling too");
    assert!(!player.is_guest(&InitHead { pattern: Pattern::Open, ..head }, key, Some(addr(1))));
    assert!(!player.is_guest(&InitHead { nonce: 78, ..head }, key, Some(addr(1))));
    let (open, head) = (player.by_address(), InitHead { pattern: Pattern::Open, ..head });
    assert_eq!([1, 2].map(|port| open.is_guest(&head, key, Some(addr(port)))), [true, false]);
}

#[test]
fn peer_that_is_only_reached_does_not_hold() {
    let guest = Association::fake(addr(100), 7, PeerRole::Player);
    assert!(guest.holds());
    assert!(!guest.reached(Time::NEVER).holds());
}
