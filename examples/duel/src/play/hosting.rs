//! How two machines find each other: the socket, the seal around it, and the invite.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use rebout::net::local_addresses;
use rebout::net::udp::UdpDriver;
use rebout::reach::Relay;
use rebout::seal::{Answer, Call, Randomness, Seal};
use rebout::{Invite, InviteError, MAX_ADDRESSES_PER_FAMILY};

use super::line::Line;
use super::meet::{Door, Way};
use super::reaching::Meeting;
use super::{Failure, keep, reaching};
use stage::letters;

/// Logs the keys of a line to a file, for a developer who looks into packets of their own.
///
/// # Errors
/// If the file cannot be used, or the line has no keys.
pub fn log_keys(line: &mut Line, path: &Path) -> Result<(), Failure> {
    if line.kind() == "bare" {
        return Err(Failure::unusable("--key-log: a bare line has no keys".to_owned()));
    }
    line.log_keys(keep::log(path).map_err(Failure::unusable)?);
    Ok(())
}

/// Whom a host lets in.
#[derive(Clone, Debug)]
pub enum Admits {
    /// Those with its invite, in which these addresses come first. The key may be kept in a file.
    Invited { public: Vec<SocketAddr>, keep: Option<PathBuf>, meeting: Option<Meeting> },
    /// Whoever answers its call, which the players send each other without a server.
    Called { public: Vec<SocketAddr> },
    /// Whoever knows its address.
    Everybody,
    /// Whoever knows its address, on a line without a seal.
    Bare,
}

/// The place of a host. Each time it is opened it is the same one: a guest who lost the connection comes back with the
/// invite that they have.
#[derive(Clone)]
pub struct Post {
    port: u16,
    admits: Admits,
    /// The key of the invite, once there is one.
    key: Option<[u8; 32]>,
}

/// Without the key, which would end up in a log.
impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { port, admits, key: _ } = self;
        f.debug_struct("Post").field("port", port).field("admits", admits).finish_non_exhaustive()
    }
}

impl Post {
    /// A place at a port; 0 lets the system choose when it is first opened.
    pub fn new(port: u16, admits: Admits) -> Self {
        Self { port, admits, key: None }
    }

    /// Waits for the other machine.
    ///
    /// # Errors
    /// If the port is taken, or the key cannot be kept.
    pub fn open(&mut self) -> Result<(Line, Way), Failure> {
        let udp = bind(self.port)?;
        self.port = udp.local_addr().port();
        let (port, addresses) = (self.port, local_addresses());
        Ok(match &self.admits {
            Admits::Bare => (Line::bare(udp), Way::Host { addresses, port, door: Door::Bare }),
            Admits::Everybody => {
                let seal = Seal::host_open(Randomness::System).map_err(Failure::of)?;
                (Line::sealed(udp, seal), Way::Host { addresses, port, door: Door::Open })
            }
            Admits::Called { public } => {
                let seal = Seal::host(Randomness::System).map_err(Failure::of)?;
                let (line, call) = reaching::host_by_hand(udp, seal, public)?;
                (line, Way::Host { addresses, port, door: Door::Called(call.to_string()) })
            }
            Admits::Invited { public, keep, meeting } => {
                let seal = match (keep, self.key) {
                    (Some(path), _) => keep::seal(path).map_err(Failure::unusable)?,
                    (None, Some(key)) => Seal::host_with_key(Randomness::System, key).map_err(Failure::of)?,
                    (None, None) => Seal::host(Randomness::System).map_err(Failure::of)?,
                };
                self.key = seal.secret_key();
                let (line, invite) = match meeting {
                    Some(meeting) => reaching::host(udp, seal, *meeting, public)?,
                    None => {
                        let invite = invite(&seal, public, &addresses, port).map_err(Failure::unusable)?;
                        (Line::sealed(udp, seal), invite)
                    }
                };
                (line, Way::Host { addresses, port, door: Door::Invited(invite) })
            }
        })
    }
}

fn bind(port: u16) -> Result<UdpDriver, Failure> {
    UdpDriver::bind((Ipv6Addr::UNSPECIFIED, port).into()).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Failure::unusable(format!(
            "UDP port {port} is taken by another program. Choose another port (--port), or 0 for any free one"
        )),
        _ => Failure::of(format!("UDP port {port}: {error}")),
    })
}

/// The invite of a host: the addresses that the player names, then those of this machine, as many as it holds.
fn invite(seal: &Seal, public: &[SocketAddr], local: &[IpAddr], port: u16) -> Result<Invite, String> {
    let key = seal.public_key().ok_or("this seal has no key for an invite")?;
    let named = public.iter().map(|addr| match addr.port() {
        0 => SocketAddr::new(addr.ip(), port),
        _ => *addr,
    });
    let mut counts = [0; 2];
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for addr in named.chain(local.iter().map(|ip| SocketAddr::new(*ip, port))) {
        let count = &mut counts[usize::from(addr.is_ipv6())];
        if *count < MAX_ADDRESSES_PER_FAMILY && !addresses.contains(&addr) {
            addresses.push(addr);
            *count += 1;
        }
    }
    if addresses.is_empty() {
        addresses.push((Ipv4Addr::LOCALHOST, port).into());
    }
    Invite::new(key, addresses).map_err(|error| format!("--public: {error}"))
}

/// The host that a joiner names.
#[derive(Clone, Debug)]
pub enum Named {
    /// By its invite.
    Invited(Invite),
    /// By its call, which is answered by hand.
    Called(Call),
    /// By its address.
    At(SocketAddr),
}

impl Named {
    /// Reads an invite or an address, from one word or from an invite that was torn apart.
    ///
    /// # Errors
    /// If it is neither, in words for the player.
    pub fn read(
        words: &[String],
        resolve: impl Fn(&str) -> Result<SocketAddr, String>,
    ) -> Result<Self, String> {
        let word = letters::copied(&words.concat());
        if word.parse::<Answer>().is_ok() {
            return Err("this is an answer to a call: it is for the host, who pastes it".to_owned());
        }
        match word.parse() {
            Ok(invite) => Ok(Self::Invited(invite)),
            Err(InviteError::NotAnInvite) => match word.parse() {
                Ok(call) => Ok(Self::Called(call)),
                Err(InviteError::NotAnInvite) => resolve(&words.join(" ")).map(Self::At),
                Err(error) => Err(error.to_string().replace("invite", "call")),
            },
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Joins the machine that hosts.
///
/// # Errors
/// If an invite is to be used bare, or there is no socket.
pub fn join(host: &Named, bare: bool, relay: Relay) -> Result<(Line, Way), Failure> {
    let meets = matches!(host, Named::Invited(invite) if invite.rendezvous().is_some());
    if relay == Relay::Only && !meets {
        return Err(Failure::unusable(reaching::NOT_HIDDEN.to_owned()));
    }
    let udp = UdpDriver::bind((Ipv6Addr::UNSPECIFIED, 0).into())?;
    let (seal, at) = match host {
        Named::Invited(_) | Named::Called(_) if bare => {
            return Err(Failure::unusable("an invite is never used bare: leave --bare out".to_owned()));
        }
        Named::At(addr) if bare => {
            return Ok((Line::bare(udp), Way::Join { target: *addr, at: vec![*addr], by: Door::Bare }));
        }
        Named::Called(call) => {
            let (line, target, answer) = reaching::join_by_hand(udp, call)?;
            return Ok((line, Way::Join { target, at: Vec::new(), by: Door::Called(answer.to_string()) }));
        }
        Named::Invited(invite) => match invite.rendezvous() {
            Some(rendezvous) => {
                let (line, target) = reaching::join(udp, invite, rendezvous, relay)?;
                let (at, by) = (vec![rendezvous.server], Door::Invited(invite.clone()));
                return Ok((line, Way::Join { target, at, by }));
            }
            None => {
                let at = invite.addresses().to_vec();
                (Seal::join(Randomness::System, *invite.key(), &at), at)
            }
        },
        Named::At(addr) => (Seal::join_open(Randomness::System, *addr), vec![*addr]),
    };
    let seal = seal.map_err(Failure::of)?;
    let by = match host {
        Named::Invited(invite) => Door::Invited(invite.clone()),
        Named::At(_) | Named::Called(_) => Door::Open,
    };
    let target = seal.target().ok_or_else(|| Failure::of("there is no address to join"))?;
    Ok((Line::sealed(udp, seal), Way::Join { target, at, by }))
}
