//! Before a match: waiting for the other machine, and saying clearly how that goes.

use std::net::{IpAddr, SocketAddr};

use rebout::net::udp::UdpDriver;
use rebout::wire::message::RefuseField;
use rebout::{Agreed, Config, Lobby, LobbyError, Mismatch, Player, is_disruptive};

use super::attract::Exhibition;
use super::show::leaves;
use super::{FRAME, Failure};
use crate::picture::{Panel, Tone};
use crate::view::Screen;

/// How the other one is found.
#[derive(Clone, Debug)]
pub enum Way {
    /// By waiting at these addresses and this port.
    Host { addresses: Vec<IpAddr>, port: u16 },
    /// By asking there.
    Join(SocketAddr),
    /// It is on this machine, behind a link that is bad on purpose.
    Bot(SocketAddr),
}

impl Way {
    pub fn lobby(&self, config: Config) -> Result<Lobby, LobbyError> {
        match self {
            Self::Host { .. } => Lobby::host(config),
            Self::Join(addr) | Self::Bot(addr) => Lobby::join(config, *addr),
        }
    }

    /// The panel for a player who waits.
    pub fn panel(&self) -> Panel {
        let line = |label: &str, text: String| (label.to_owned(), text);
        let (title, lines) = match self {
            Self::Host { addresses, port } => ("Waiting", host_lines(addresses, *port)),
            Self::Join(addr) => ("Joining", vec![line("host", addr.to_string())]),
            Self::Bot(_) => ("Get ready", vec![line("", "measuring the link to the bot".to_owned())]),
        };
        Panel { title: title.to_owned(), lines, footer: "esc to leave".to_owned() }
    }
}

/// The lines for a host: the addresses that a guest may join, and the obstacles on the way.
pub fn host_lines(addresses: &[IpAddr], port: u16) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = addresses
        .iter()
        .map(|address| {
            let label = if is_private(*address) { "same network" } else { "address" };
            (label.to_owned(), SocketAddr::new(*address, port).to_string())
        })
        .collect();
    if lines.is_empty() {
        lines.push(("address".to_owned(), format!("none found; on this machine 127.0.0.1:{port}")));
    }
    lines.push(("other player".to_owned(), "duel join ADDRESS".to_owned()));
    lines.push(("internet".to_owned(), format!("the router must forward UDP port {port} to this machine")));
    lines
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [a, b, ..] = v4.octets();
            v4.is_private() || v4.is_link_local() || (a == 100 && (64..128).contains(&b))
        }
        IpAddr::V6(v6) => v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

/// Waits until both machines have agreed; `None` if whoever waits leaves instead.
///
/// # Errors
/// If there will be no match, in words for the player.
pub(super) fn meet(
    screen: &Screen,
    udp: &mut UdpDriver,
    lobby: &mut Lobby,
    way: &Way,
    names: &[String; 2],
) -> Result<Option<Agreed>, Failure> {
    let mut exhibition = Exhibition::new(screen, 7, names.clone(), way.panel());
    loop {
        match lobby.agreed() {
            Ok(Some(agreed)) => return Ok(Some(agreed.clone())),
            Ok(None) => {}
            Err(error) => return Err(Failure::of(refused(&error))),
        }
        if leaves(&exhibition.show.hands()) {
            return Ok(None);
        }
        if let Some(mismatch) = lobby.take_mismatch() {
            exhibition.show.tell(sent_away(&mismatch), Tone::Warning);
        }
        exhibition.frame();
        let deadline = udp.now() + FRAME;
        udp.run_until(lobby, deadline)?;
    }
}

/// Why there is no match, for a player.
fn refused(error: &LobbyError) -> String {
    match error {
        LobbyError::TimedOut { addr, after } => format!(
            "Nobody answered at {addr} for {} s. Is the host waiting there, and does its router forward the port (UDP)?",
            after.as_secs()
        ),
        LobbyError::Full => "The host is in a match with somebody else already.".to_owned(),
        LobbyError::Declined => "The host does not want to play.".to_owned(),
        LobbyError::Incompatible { field: RefuseField::ContentHash, .. } => {
            "Incompatible: the host plays by other rules. Both need the same build and the same --frames."
                .to_owned()
        }
        LobbyError::Incompatible { field: RefuseField::GameId, .. } => {
            "Incompatible: another game is waiting there.".to_owned()
        }
        LobbyError::Incompatible { .. } => format!("Incompatible: {error}."),
        _ => error.to_string(),
    }
}

/// Who could not be let in, for the host.
fn sent_away(mismatch: &Mismatch) -> String {
    let Mismatch { addr, field, ours, theirs, .. } = mismatch;
    match field {
        RefuseField::ContentHash => format!("{addr} was sent away: it plays by other rules"),
        RefuseField::GameId => format!("{addr} was sent away: it plays another game"),
        _ => format!("{addr} was sent away: the {field} is {ours} here and {theirs} there"),
    }
}

/// The name that the other side gives itself. It comes from outside: short, and nothing that moves a cursor or turns
/// the words around it.
pub(super) fn name_of(agreed: &Agreed) -> String {
    let text = String::from_utf8_lossy(&agreed.user_data);
    let name: String =
        text.chars().filter(|letter| !is_disruptive(*letter)).take(super::NAME_LETTERS).collect();
    let name = name.trim();
    // "You" is the player at this machine, in every sentence: another one of that name would win in their place.
    let is_taken = name.eq_ignore_ascii_case("you");
    if name.is_empty() || is_taken { "Nameless".to_owned() } else { name.to_owned() }
}

/// Both names by seat, and never the same one twice.
pub(super) fn names_by_seat(seat: Player, own: &str, agreed: &Agreed) -> [String; 2] {
    let mut names = [own.to_owned(), name_of(agreed)];
    if seat == Player::Two {
        names.reverse();
    }
    if names[0] == names[1] {
        names[0].push_str(" 1");
        names[1].push_str(" 2");
    }
    names
}
