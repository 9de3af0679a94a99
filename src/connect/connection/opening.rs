//! Opening a connection on any transport: the layers that the options ask for, and the text for the other player.

use super::invites::{Invites, Ways, expired, has_expired};
use super::layers::Layers;
use super::options::{Access, Key};
use super::paths::Paths;
use super::ports::Ports;
use super::text::Named;
use super::{ConnectError, ConnectOptions, Connection, Role, Share};
use crate::connect::seal::Seal;
use crate::net::private::{self, KeyLog};
use crate::net::{Datagrams, Driver, system};
use crate::{Invite, MAX_ADDRESSES_PER_FAMILY, Rendezvous, ServerName, canonical};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The port of a rendezvous for which none is named.
const RENDEZVOUS_PORT: u16 = 3479;

const NEVER_BARE: &str = "an invite or an offer is never used bare: leave bare out";
const BY_INVITE: &str = "a time for which invites are valid needs a host by invite";
const NO_ADDRESS: &str = "this transport has no address for an invite";
const NO_RENDEZVOUS: &str = "only an invite with a rendezvous can do without addresses";
const HIDDEN: &str = "a relay hides the address of this machine only where both meet at a rendezvous: host with one, or join by an \
                      invite that names one";

/// This machine, as others may reach it.
#[derive(Clone, Debug)]
pub(super) struct Here {
    /// The addresses with the port of the socket, those that the player has named first.
    pub(super) addresses: Vec<SocketAddr>,
    /// How many of them the player has named.
    named: usize,
}

/// Whether an address is one of a private network, or of this machine alone.
fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_private() || ip.is_link_local() || ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_loopback(),
    }
}

impl Here {
    pub(super) fn new(public: &[SocketAddr], own: &[SocketAddr]) -> Self {
        let port = own.first().map_or(0, SocketAddr::port);
        let named = public.iter().map(|addr| match addr.port() {
            0 => SocketAddr::new(addr.ip(), port),
            _ => *addr,
        });
        let mut here = Self { addresses: Vec::new(), named: 0 };
        named.for_each(|addr| here.add(addr));
        here.named = here.addresses.len();
        own.iter().for_each(|addr| here.add(*addr));
        here
    }

    fn add(&mut self, addr: SocketAddr) {
        let addr = canonical(addr);
        if !self.addresses.contains(&addr) {
            self.addresses.push(addr);
        }
    }

    /// This machine with an address that its router forwards, behind the one by which it reaches the router.
    #[cfg(all(feature = "nat", feature = "udp"))]
    pub(super) fn with(&self, mapped: Option<SocketAddr>) -> Self {
        let mut addresses = self.addresses.clone();
        if let Some(mapped) = mapped.filter(|mapped| !addresses.contains(mapped)) {
            addresses.insert(addresses.len().min(1), mapped);
        }
        Self { addresses, named: self.named }
    }

    /// The addresses for an invite: as many of each family as it holds.
    fn invited(&self) -> Vec<SocketAddr> {
        as_many_as_fit(self.addresses.iter().copied())
    }

    /// The addresses for an invite beside a rendezvous, which brings the others: those that the player has named, and private ones, of
    /// IPv6 only where there is none of IPv4.
    fn invited_beside_rendezvous(&self) -> Vec<SocketAddr> {
        let (named, own) = self.addresses.split_at(self.named);
        let is_private = |addr: &&SocketAddr| is_private(addr.ip());
        let has_v4 = own.iter().filter(is_private).any(SocketAddr::is_ipv4);
        let private = own.iter().filter(is_private).filter(|addr| addr.is_ipv4() == has_v4);
        as_many_as_fit(named.iter().chain(private).copied())
    }

    /// The addresses for a search for paths. A rendezvous on this machine brings players on this machine together, which may have
    /// no other network.
    #[cfg(feature = "nat")]
    pub(super) fn candidates(&self, server: Option<SocketAddr>) -> Vec<SocketAddr> {
        let loopback = server.filter(|server| server.ip().is_loopback()).zip(self.addresses.first());
        let loopback = loopback.map(|(server, own)| SocketAddr::new(server.ip(), own.port()));
        loopback.into_iter().chain(self.addresses.iter().copied()).collect()
    }
}

/// As many addresses of each family as an invite holds.
fn as_many_as_fit(addresses: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let families: (Vec<_>, Vec<_>) = addresses.partition(SocketAddr::is_ipv4);
    let some = |family: Vec<SocketAddr>| family.into_iter().take(MAX_ADDRESSES_PER_FAMILY);
    some(families.0).chain(some(families.1)).collect()
}

/// A connection that is being opened: its options, the time, and this machine.
pub(super) struct Opening<'a> {
    pub(super) options: &'a ConnectOptions,
    #[cfg(feature = "nat")]
    pub(super) now: core::time::Duration,
    pub(super) here: Here,
    /// Whether an offer waits for the router.
    #[cfg(feature = "nat")]
    pub(super) awaits_port: bool,
    /// Looks up the addresses of a server.
    pub(super) resolve: fn(&str, u16) -> io::Result<system::Servers>,
}

/// The parts of a connection besides its driver.
pub(super) struct Opened {
    layers: Layers,
    role: Role,
    share: String,
    /// Of a host by invite.
    invites: Option<Invites>,
}

impl<D: Datagrams> Connection<D> {
    /// A host on a transport of your own. `addresses` are those under which others reach it, for the invite.
    ///
    /// # Errors
    /// If the options contradict each other, a name or a file cannot be used, or there are no random bytes.
    pub fn host_on(
        options: &ConnectOptions,
        transport: D,
        addresses: &[SocketAddr],
    ) -> Result<Self, ConnectError> {
        Self::open(options, Driver::new(transport), addresses, None, None)
    }

    /// Joins a host on a transport of your own. `text` is an invite, an offer or an address; `addresses` are those of this
    /// machine, for a search for paths.
    ///
    /// # Errors
    /// If the text cannot be used, the options contradict it, or there are no random bytes.
    pub fn join_on(
        options: &ConnectOptions,
        transport: D,
        addresses: &[SocketAddr],
        text: &str,
    ) -> Result<Self, ConnectError> {
        let named = Named::read(text)?;
        Self::open(options, Driver::new(transport), addresses, Some(&named), None)
    }

    /// A connection on a driver at `addresses`: of a host, or of the guest of a named host.
    pub(super) fn open(
        options: &ConnectOptions,
        driver: Driver<D>,
        addresses: &[SocketAddr],
        host: Option<&Named>,
        ports: Option<Ports>,
    ) -> Result<Self, ConnectError> {
        let opening = Opening {
            options,
            #[cfg(feature = "nat")]
            now: driver.now(),
            here: Here::new(&options.public, addresses),
            #[cfg(feature = "nat")]
            awaits_port: ports.is_some(),
            resolve: system::resolve_all,
        };
        let Opened { mut layers, role, share, invites } = match host {
            None => opening.host()?,
            Some(named) => opening.join(named)?,
        };
        if let (Role::Host, Some(seal)) = (&role, layers.seal_mut()) {
            seal.expect_guests(options.guests);
        }
        options.introduce(&role, layers.seal_mut())?;
        let key_log = match (&options.key_log, layers.seal_mut()) {
            (None, _) => None,
            (Some(_), None) => {
                return Err(ConnectError::Options { why: "a bare connection has no keys to log" });
            }
            (Some(path), Some(seal)) => {
                seal.log_keys();
                Some(KeyLog::open(path).map_err(|error| ConnectError::key_file(path, &error))?)
            }
        };
        let chores_at = core::time::Duration::ZERO;
        let share = Share(share);
        let mut connection =
            Self { driver, layers, role, share, invites, key_log, ports, chores_at, port: 0 };
        connection.plan_chores(connection.driver.now());
        Ok(connection)
    }

    /// This machine has other addresses: a peer is told of them, and so is the invite.
    pub(super) fn take_addresses(&mut self, here: &Here) {
        match &mut self.layers {
            Layers::Bare { .. } => {}
            Layers::Reached(_, paths) => paths.moved(here),
            Layers::Sealed(_) => {
                if let Some(invites) = &mut self.invites {
                    invites.take_addresses(here.invited());
                    self.share = Share(invites.play());
                }
            }
        }
    }
}

impl Opening<'_> {
    /// The layers of a host, and the text for its guest.
    pub(super) fn host(&self) -> Result<Opened, ConnectError> {
        let Self { options, here, .. } = self;
        if options.rendezvous.is_some() && options.access != Access::Invited {
            return Err(ConnectError::Options { why: "only a host by invite can be met at a rendezvous" });
        }
        if options.hides() && options.rendezvous.is_none() {
            return Err(ConnectError::Options { why: HIDDEN });
        }
        if options.access != Access::Invited && options.valid_for.is_some() {
            return Err(ConnectError::Options { why: BY_INVITE });
        }
        let mut invites = None;
        let address = || here.addresses.first().map_or_else(String::new, ToString::to_string);
        let (layers, share) = match options.access {
            Access::Bare | Access::Trusted => (bare(options), address()),
            Access::Open => (Layers::Sealed(Box::new(Seal::host_open(options.drawn()?)?)), address()),
            Access::Manual => {
                let mut seal = host_seal(options)?;
                let (paths, offer) = Paths::offer(self, &mut seal)?;
                (Layers::Reached(Box::new(seal), Box::new(paths)), offer.unwrap_or_default())
            }
            Access::Invited => {
                let mut seal = host_seal(options)?;
                let (ways, paths) = match &options.rendezvous {
                    Some(text) => {
                        let failed = |error| ConnectError::name(text, &error);
                        let (server, others) = (self.resolve)(text, RENDEZVOUS_PORT).map_err(failed)?;
                        let (name, port) = system::host_and_port(text, RENDEZVOUS_PORT);
                        let name = ServerName::new(name, port);
                        let servers = (canonical(server), others);
                        let (paths, rendezvous) = Paths::host(self, &seal, servers, name.as_ref())?;
                        let shows = !options.hides() && !options.leaves_addresses_out;
                        let addresses = if shows { here.invited_beside_rendezvous() } else { Vec::new() };
                        let named = name.map(|name| (name, rendezvous.room));
                        let by_channel = cfg!(all(feature = "browser", target_family = "wasm"));
                        (Ways { addresses, rendezvous: Some(rendezvous), named, by_channel }, Some(paths))
                    }
                    None if options.leaves_addresses_out => {
                        return Err(ConnectError::Options { why: NO_RENDEZVOUS });
                    }
                    None if here.addresses.is_empty() => {
                        return Err(ConnectError::Options { why: NO_ADDRESS });
                    }
                    None => (Ways { addresses: here.invited(), ..Ways::default() }, None),
                };
                let share = invites.insert(Invites::open(ways, &mut seal, options)?).play();
                let seal = Box::new(seal);
                let layers = match paths {
                    Some(paths) => Layers::Reached(seal, Box::new(paths)),
                    None => Layers::Sealed(seal),
                };
                (layers, share)
            }
        };
        Ok(Opened { layers, role: Role::Host, share, invites })
    }

    /// The rendezvous of an invite, and its other addresses.
    fn meeting_place(&self, invite: &Invite) -> Result<Option<(Rendezvous, Vec<SocketAddr>)>, ConnectError> {
        let literal = invite.rendezvous().map(|rendezvous| (*rendezvous, Vec::new()));
        let Some((server, room)) = invite.named_rendezvous() else { return Ok(literal) };
        match (self.resolve)(server.name(), server.port()) {
            Ok((server, others)) => Ok(Some((Rendezvous { server: canonical(server), room }, others))),
            Err(error) if literal.is_none() => Err(ConnectError::name(server.name(), &error)),
            Err(_) => Ok(literal),
        }
    }

    /// The layers of a joiner, the host's inner and outer addresses, and the text for the host.
    pub(super) fn join(&self, named: &Named) -> Result<Opened, ConnectError> {
        let options = self.options;
        let is_bare = matches!(options.access, Access::Bare | Access::Trusted);
        let meets = |invite: &Invite| invite.rendezvous().is_some() || invite.named_rendezvous().is_some();
        let meets = matches!(named, Named::Invited(invite) if meets(invite));
        if options.hides() && !meets {
            return Err(ConnectError::Options { why: HIDDEN });
        }
        let mut unfound = None;
        let (layers, at, share) = match named {
            Named::Invited(_) | Named::Offered(_) if is_bare => {
                return Err(ConnectError::Options { why: NEVER_BARE });
            }
            Named::At(addr) if is_bare => (bare(options), vec![*addr], String::new()),
            Named::At(addr) => {
                let seal = Seal::join_open(options.drawn()?, *addr)?;
                (Layers::Sealed(Box::new(seal)), vec![*addr], String::new())
            }
            Named::Offered(offer) => {
                let (paths, seal, answer) = Paths::answer(self, offer)?;
                (Layers::Reached(Box::new(seal), Box::new(paths)), Vec::new(), answer.unwrap_or_default())
            }
            Named::Invited(invite) => {
                if let Some(ago) = has_expired(invite) {
                    return Err(expired(ago));
                }
                let at = if options.hides() { Vec::new() } else { invite.addresses().to_vec() };
                let place = match self.meeting_place(invite) {
                    // Two players in one network need no server: without the internet no name is found.
                    Err(error) if !at.is_empty() => {
                        unfound = Some(error.to_string());
                        None
                    }
                    place => place?,
                };
                let (drawn, key) = (options.drawn()?, *invite.key());
                match place.filter(|_| cfg!(any(feature = "nat", feature = "browser")) || at.is_empty()) {
                    Some((rendezvous, others)) => {
                        let name = invite.named_rendezvous().map(|(name, _)| name);
                        let paths = Paths::join(self, &rendezvous, others, name, invite.is_by_channel())?;
                        let mut seal = Seal::join_by_signal(drawn, key)?;
                        seal.ask_at(&at)?;
                        (Layers::Reached(Box::new(seal), Box::new(paths)), at, String::new())
                    }
                    None => (Layers::Sealed(Box::new(Seal::join(drawn, key, &at)?)), at, String::new()),
                }
            }
        };
        let target = layers.seal().map_or(at.first().copied(), Seal::target);
        let target = target.ok_or(ConnectError::Options { why: "there is no address to join" })?;
        let broadcast_key = match named {
            Named::Invited(invite) => invite.broadcast_key(),
            _ => None,
        };
        let is_invited = !matches!(named, Named::At(_));
        let role = Role::Join { target, at, is_invited, unfound, broadcast_key };
        Ok(Opened { layers, role, share, invites: None })
    }
}

fn bare(options: &ConnectOptions) -> Layers {
    Layers::Bare { is_trusted: options.access == Access::Trusted, encrypted: 0 }
}

/// The encryption of a host by invite, with a new key or a kept one.
fn host_seal(options: &ConnectOptions) -> Result<Seal, ConnectError> {
    let drawn = options.drawn()?;
    let key = match &options.key {
        Key::New => None,
        Key::Given(key) => Some(*key),
        Key::Kept(path) => {
            let failed = |error| ConnectError::key_file(path, &error);
            match private::read_key(path).map_err(failed)? {
                Some(key) => Some(key),
                None => {
                    let seal = Seal::host(drawn)?;
                    let key = seal.secret_key().ok_or(ConnectError::Randomness)?;
                    private::write_key(path, &key).map_err(failed)?;
                    return Ok(seal);
                }
            }
        }
    };
    Ok(match key {
        Some(key) => Seal::host_with_key(drawn, key)?,
        None => Seal::host(drawn)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn named_addresses_come_first_in_one_form_and_with_a_port() {
        let own = ["[::ffff:10.0.0.2]:7000", "[2001:db8::2]:7000"].map(at);
        let here = Here::new(&["203.0.113.9:0", "203.0.113.9:9", "10.0.0.2:7000"].map(at), &own);
        let expected = ["203.0.113.9:7000", "203.0.113.9:9", "10.0.0.2:7000", "[2001:db8::2]:7000"];
        assert_eq!(here.addresses, expected.map(at));
    }

    #[test]
    fn invite_has_as_many_addresses_of_each_family_as_it_holds() {
        let own: Vec<SocketAddr> = (1..=20_u16)
            .flat_map(|n| [format!("[2001:db8::{n}]:7000"), format!("10.0.0.{n}:7000")])
            .map(|text| at(&text))
            .collect();
        let here = Here::new(&[], &own);
        let (v6, v4): (Vec<_>, Vec<_>) = here.invited().into_iter().partition(SocketAddr::is_ipv6);
        assert_eq!((v4.len(), v6.len()), (MAX_ADDRESSES_PER_FAMILY, MAX_ADDRESSES_PER_FAMILY));
        assert_eq!((v4[0], v6[0]), (at("10.0.0.1:7000"), at("[2001:db8::1]:7000")));
        assert!(Invite::new([7; 32], here.invited()).is_ok());
    }

    #[test]
    fn invite_with_a_rendezvous_has_named_and_private_addresses() {
        let invited = |public: &[&str], own: &[&str]| {
            let [public, own] =
                [public, own].map(|texts| texts.iter().map(|text| at(text)).collect::<Vec<_>>());
            let invited = Here::new(&public, &own).invited_beside_rendezvous();
            invited.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let own = ["198.51.100.7:7", "192.168.1.7:7", "[2001:db8::7]:7", "[fd00::7]:7", "10.0.0.7:7"];
        assert_eq!(invited(&[], &own), ["192.168.1.7:7", "10.0.0.7:7"]);
        assert_eq!(invited(&["203.0.113.9:0"], &own[..2]), ["203.0.113.9:7", "192.168.1.7:7"]);
        assert_eq!(invited(&[], &own[2..4]), ["[fd00::7]:7"], "no IPv4");
        assert!(invited(&[], &[own[0], own[2]]).is_empty());
        let many: Vec<String> = (1..9).map(|n| format!("10.0.0.{n}:7")).collect();
        assert_eq!(invited(&[], &many.iter().map(|text| &**text).collect::<Vec<_>>()).len(), 4);
    }

    #[cfg(feature = "nat")]
    fn opening(options: &ConnectOptions) -> Opening<'_> {
        Opening {
            options,
            now: core::time::Duration::ZERO,
            here: Here::new(&[], &[at("10.0.0.2:7000")]),
            awaits_port: false,
            resolve: |name, port| {
                let (name, port) = system::host_and_port(name, port);
                let other = SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], port));
                let found = name.eq_ignore_ascii_case("play.example.org");
                let servers = found.then(|| (([192, 0, 2, 1], port).into(), vec![other]));
                servers.ok_or_else(|| io::Error::other("no such name"))
            },
        }
    }

    #[cfg(feature = "nat")]
    #[test]
    fn name_of_a_rendezvous_is_in_the_invite_and_looked_up() {
        let options = ConnectOptions::new().rendezvous("Play.example.org");
        let invite: Invite = opening(&options).host().unwrap().share.parse().unwrap();
        let (server, _) = invite.named_rendezvous().unwrap();
        assert_eq!((server.name(), server.port(), invite.rendezvous()), ("play.example.org", 3479, None));
        let joined = opening(&options).join(&Named::Invited(invite)).unwrap();
        assert_eq!(joined.layers.paths().unwrap().progress(), "asking the rendezvous at 192.0.2.1:3479");
        let Role::Join { at: asked, unfound: None, .. } = joined.role else { panic!("a joiner") };
        assert_eq!(asked, [at("10.0.0.2:7000")]);
    }

    #[cfg(feature = "nat")]
    #[test]
    fn name_that_is_not_found_leaves_the_addresses() {
        let (options, server) = (ConnectOptions::new(), ServerName::new("gone.example.org", 7).unwrap());
        let join = |addresses: &[SocketAddr]| {
            let addresses = addresses.iter().copied();
            let invite = Invite::with_named_rendezvous([7; 32], addresses, server.clone(), [7; 16]).unwrap();
            opening(&options).join(&Named::Invited(invite))
        };
        assert!(
            matches!(join(&[]).map(|_| ()), Err(ConnectError::Name { name, .. }) if name == server.name())
        );
        let joined = join(&[at("10.0.0.9:7")]).unwrap();
        assert!(matches!(joined.layers, Layers::Sealed(_)), "by its address alone");
        let Role::Join { at: asked, unfound: Some(why), .. } = joined.role else { panic!("a joiner") };
        let words = ConnectError::neither(&why, &asked).to_string();
        assert!(words.starts_with("\"gone.example.org\" was not found."), "{words}");
        assert!(words.ends_with(" The host did not answer at 10.0.0.9:7 either."), "{words}");
    }

    #[cfg(feature = "nat")]
    #[test]
    fn loopback_is_a_candidate_for_a_rendezvous_on_this_machine() {
        let here = Here::new(&[], &[at("10.0.0.2:7000")]);
        let loopback = ["127.0.0.1:7000", "10.0.0.2:7000"].map(at);
        assert_eq!(here.candidates(Some(at("127.0.0.1:3479"))), loopback);
        assert_eq!(here.candidates(Some(at("192.0.2.1:3479"))), [at("10.0.0.2:7000")]);
        assert_eq!(here.candidates(None), [at("10.0.0.2:7000")]);
    }

    #[cfg(all(feature = "nat", feature = "udp"))]
    #[test]
    fn forwarded_address_joins_the_invite_and_leaves_it() {
        let own = at("192.168.1.2:7000");
        let mapped = at("203.0.113.9:7001");
        let [transport, _] = crate::net::Memory::pair(|| core::time::Duration::ZERO);
        let mut host = Connection::host_on(&ConnectOptions::new(), transport, &[own]).unwrap();
        let addresses = |host: &Connection<_>| host.share().parse::<Invite>().unwrap().addresses().to_vec();
        let here = Here::new(&[], &[own]);
        assert_eq!(addresses(&host), [own]);
        host.take_addresses(&here.with(Some(mapped)));
        assert_eq!(addresses(&host), [own, mapped]);
        host.take_addresses(&here.with(None));
        assert_eq!(addresses(&host), [own]);
        assert_eq!(here.with(Some(own)).addresses, [own], "each once");
    }
}
