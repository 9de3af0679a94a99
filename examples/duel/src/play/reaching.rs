//! A way through routers: the rendezvous, the relay, and words for how the way is found.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rebout::net::local_addresses;
use rebout::net::udp::UdpDriver;
use rebout::reach::{NoWay, Progress, Reach, ReachConfig, Relay};
use rebout::seal::{Answer, Call, Randomness, Seal};
use rebout::{Invite, Rendezvous};

use super::Failure;
use super::line::Line;
use stage::address;

/// The variable that names a rendezvous.
pub const VARIABLE: &str = "REBOUT_RENDEZVOUS";
/// The port of a rendezvous, where none is said.
pub const PORT: u16 = 3479;
/// Nobody has answered for this long: the player is told, and the attempt ends.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why an address cannot be hidden.
pub const NOT_HIDDEN: &str = "--relay only hides your address only where both meet at a rendezvous: name one with --rendezvous, or \
                              join by an invite that has one";

/// Where a host meets its guest, and whether a relay may carry the match.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    pub server: SocketAddr,
    pub relay: Relay,
}

/// The rendezvous that is named, or the one of the environment, or of the settings.
pub(super) fn named(named: Option<&str>, kept: &str) -> Option<String> {
    let named = named.map(str::to_owned).or_else(|| std::env::var(VARIABLE).ok());
    Some(named.unwrap_or_else(|| kept.to_owned())).filter(|text| !text.is_empty())
}

/// The meeting at the rendezvous that is named; else the one of the environment, or of the settings.
///
/// # Errors
/// If that is no address.
pub fn meeting(named: Option<&str>, kept: &str, relay: Relay) -> Result<Option<Meeting>, String> {
    let server = self::named(named, kept).map(|text| address::resolve(&text, PORT)).transpose()?;
    Ok(server.map(|server| Meeting { server, relay }))
}

/// A host's line and its invite: everybody who has it finds the host at the rendezvous.
pub(super) fn host(
    udp: UdpDriver,
    seal: Seal,
    meeting: Meeting,
    public: &[SocketAddr],
) -> Result<(Line, Invite), Failure> {
    // A kept key keeps the room too: an old invite leads to the same place.
    let secret = seal.secret_key().ok_or_else(|| Failure::of("this seal has no key for an invite"))?;
    let key = seal.public_key().ok_or_else(|| Failure::of("this seal has no key for an invite"))?;
    let config = config(&udp, public, meeting.relay);
    let reach = Reach::host(config, meeting.server, &secret).map_err(Failure::of)?;
    let rendezvous = reach.rendezvous().ok_or_else(|| Failure::of("a host has a room"))?;
    let invite = Invite::with_rendezvous(key, [], rendezvous)
        .map_err(|error| Failure::unusable(format!("--rendezvous: {error}")))?;
    Ok((Line::reaching(udp, seal, Way::new(reach, true)), invite))
}

/// A joiner's line, and the address that its lobby joins.
pub(super) fn join(
    udp: UdpDriver,
    invite: &Invite,
    rendezvous: &Rendezvous,
    relay: Relay,
) -> Result<(Line, SocketAddr), Failure> {
    let reach = Reach::join(config(&udp, &[], relay), rendezvous).map_err(Failure::of)?;
    let seal = Seal::join_by_letter(Randomness::System, *invite.key()).map_err(Failure::of)?;
    let target = seal.target().ok_or_else(|| Failure::of("there is no address to join"))?;
    Ok((Line::reaching(udp, seal, Way::new(reach, false)), target))
}

/// A host's line without a server, and the call for the other player.
pub(super) fn host_by_hand(
    udp: UdpDriver,
    mut seal: Seal,
    public: &[SocketAddr],
) -> Result<(Line, Call), Failure> {
    let mut reach = Reach::host_by_hand(config(&udp, public, Relay::Never)).map_err(Failure::of)?;
    let call =
        reach.call(udp.now(), &mut seal).ok_or_else(|| Failure::of("this seal has no key for a call"))?;
    Ok((Line::reaching(udp, seal, Way::new(reach, true)), call))
}

/// A joiner's line without a server, the address that its lobby joins, and the answer for the host.
pub(super) fn join_by_hand(udp: UdpDriver, call: &Call) -> Result<(Line, SocketAddr, Answer), Failure> {
    let config = config(&udp, &[], Relay::Never);
    let mut reach = Reach::join_by_hand(config, call).map_err(Failure::of)?;
    let mut seal = Seal::join_by_letter(Randomness::System, *call.key()).map_err(Failure::of)?;
    let target = seal.target().ok_or_else(|| Failure::of("there is no address to join"))?;
    let answer = reach.answer(udp.now(), &mut seal);
    let answer = answer.ok_or_else(|| Failure::unusable("the call cannot be read".to_owned()))?;
    Ok((Line::reaching(udp, seal, Way::new(reach, false)), target, answer))
}

/// The addresses of this machine at the port of its socket, those that the player names first.
fn config(udp: &UdpDriver, public: &[SocketAddr], relay: Relay) -> ReachConfig {
    let port = udp.local_addr().port();
    let named = public.iter().map(|addr| match addr.port() {
        0 => SocketAddr::new(addr.ip(), port),
        _ => *addr,
    });
    let own = local_addresses().into_iter().map(|ip| SocketAddr::new(ip, port));
    let mut config = ReachConfig::new(Instant::now(), named.chain(own));
    config.relay = relay;
    config
}

/// The way of a line through routers.
pub struct Way {
    pub(super) reach: Reach,
    /// A host waits for the next guest.
    waits: bool,
    hopeless_since: Option<Duration>,
}

impl Way {
    fn new(reach: Reach, waits: bool) -> Self {
        Self { reach, waits, hopeless_since: None }
    }

    /// Looks how far the search is.
    pub(super) fn look(&mut self, now: Duration) {
        let hopeless = matches!(self.reach.progress(), Progress::NoWay { .. });
        self.hopeless_since = if hopeless { self.hopeless_since.or(Some(now)) } else { None };
    }

    /// How far the search is, unless that is the [`failure`](Self::failure) of a joiner.
    pub fn progress(&self) -> Option<Progress> {
        let progress = self.reach.progress();
        (self.waits || !matches!(progress, Progress::NoWay { .. })).then_some(progress)
    }

    /// Why there will be no match, once that is certain enough. A host waits for the next guest.
    pub fn failure(&self, now: Duration) -> Option<String> {
        let Progress::NoWay { why } = self.reach.progress() else { return None };
        // Somebody who is silent may still speak; paths have been tried long enough.
        let patience = if matches!(why, NoWay::NoPath { .. }) { Duration::ZERO } else { PATIENCE };
        let since = self.hopeless_since?;
        (!self.waits && now >= since + patience).then(|| why.to_string())
    }

    /// The way of the match, as a line for people and programs.
    pub fn line(&self) -> String {
        let progress = self.reach.progress();
        let after = self.reach.found_after().unwrap_or_default().as_millis();
        let longer = match progress {
            Progress::ThroughRelay { longer: Some(longer) } => {
                format!(", at most {} ms longer", longer.as_millis())
            }
            Progress::NoWay { why } => format!(". {why}"),
            _ => String::new(),
        };
        format!("path: {}, found after {after} ms{longer}", progress.name())
    }
}
