//! Before a match: waiting for the other machine, and saying clearly how that goes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use rebout::reach::Progress;
use rebout::seal::Code;
use rebout::wire::message::RefuseField;
use rebout::{Agreed, Config, Incoming, Invite, Lobby, LobbyError, Mismatch, Player, is_disruptive};

use super::attract::Exhibition;
use super::by_hand::{self, Pasting};
use super::line::{Hint, Line};
use super::show::leaves;
use super::words::{code_lines, knocked, unanswered};
use super::{FRAME, Failure, wants_to_start};
use crate::picture::{Panel, Tone};
use crate::view::Screen;
use stage::{Key, letters};

/// A joiner through a rendezvous gives up after this long, at the latest.
const REACH_TIMEOUT: Duration = Duration::from_secs(25);

/// A joiner by hand waits this long for the host to paste its answer.
const HAND_TIMEOUT: Duration = Duration::from_secs(900);

/// How a text is pasted, in a window and in most terminals.
const PASTES: &str = "ctrl-v pastes the answer (terminals: ctrl-shift-v)";

/// How the other one is found.
#[derive(Clone, Debug)]
pub enum Way {
    /// By waiting at these addresses and this port.
    Host { addresses: Vec<IpAddr>, port: u16, door: Door },
    /// By asking at these addresses; `target` stands for them all.
    Join { target: SocketAddr, at: Vec<SocketAddr>, by: Door },
    /// It is on this machine, behind a link that is bad on purpose.
    Bot(SocketAddr),
}

/// What a host asks of its guest, and a guest has.
#[derive(Clone, Debug)]
pub enum Door {
    /// The invite.
    Invited(Invite),
    /// The host's call, or the guest's answer to it: a text for the other player.
    Called(String),
    /// Nothing but the address: the players compare a code.
    Open,
    /// Nothing but the address, and there is no seal.
    Bare,
}

impl Door {
    fn rendezvous(&self) -> Option<SocketAddr> {
        match self {
            Self::Invited(invite) => invite.rendezvous().map(|rendezvous| rendezvous.server),
            Self::Called(_) | Self::Open | Self::Bare => None,
        }
    }

    fn is_by_hand(&self) -> bool {
        matches!(self, Self::Called(_))
    }
}

impl Way {
    pub fn lobby(&self, mut config: Config, asks: bool) -> Result<Lobby, LobbyError> {
        match self {
            Self::Host { door, .. } => {
                config.lobby.ask_before_accepting = asks && matches!(door, Door::Open);
                Lobby::host(config)
            }
            Self::Join { target, .. } | Self::Bot(target) => {
                if matches!(self, Self::Join { by, .. } if by.is_by_hand()) {
                    config.timeouts.join_timeout = HAND_TIMEOUT;
                } else if self.rendezvous().is_some() {
                    // The way has to be found first, and says itself when there is none.
                    config.timeouts.join_timeout = REACH_TIMEOUT;
                }
                Lobby::join(config, *target)
            }
        }
    }

    /// The rendezvous of the invite.
    fn rendezvous(&self) -> Option<SocketAddr> {
        match self {
            Self::Host { door, .. } | Self::Join { by: door, .. } => door.rendezvous(),
            Self::Bot(_) => None,
        }
    }

    /// Whether the answer of the other player is to be pasted before anybody can meet.
    pub fn wants_answer(&self) -> bool {
        matches!(self, Self::Host { door, .. } if door.is_by_hand())
    }

    /// The text for the other player that a key copies, and the word for it.
    fn to_copy(&self) -> Option<(&'static str, String)> {
        match self {
            Self::Host { door, .. } => by_hand::to_copy(door, true),
            Self::Join { by, .. } => by_hand::to_copy(by, false),
            Self::Bot(_) => None,
        }
    }

    /// The panel for a player who waits.
    pub fn panel(&self) -> Panel {
        let line = |label: &str, text: String| (label.to_owned(), text);
        let (title, lines) = match self {
            Self::Host { door: Door::Called(call), .. } => ("Your call", by_hand::call_panel(call)),
            Self::Join { by: Door::Called(answer), .. } => ("Your answer", by_hand::answer_panel(answer)),
            Self::Host { addresses, port, door } => ("Waiting", host_panel(addresses, *port, door)),
            Self::Join { at, .. } => {
                let label = if self.rendezvous().is_some() { "rendezvous" } else { "host" };
                ("Joining", at.iter().map(|addr| line(label, addr.to_string())).collect())
            }
            Self::Bot(_) => ("Get ready", vec![line("", "measuring the link to the bot".to_owned())]),
        };
        let footer = match self.to_copy() {
            Some((what, _)) if self.wants_answer() => {
                format!("c copies the {what}, {PASTES}, esc leaves")
            }
            Some((what, _)) => format!("c copies the {what}, esc leaves"),
            None => "esc leaves".to_owned(),
        };
        Panel { title: title.to_owned(), lines, footer }
    }

    /// The lines that are printed before anybody waits: an invite, and the command with it, alone on theirs.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Host { port, door: door @ Door::Invited(invite), .. } => vec![
                format!("Waiting at UDP port {port}"),
                "Your invite, for the other player and nobody else: whoever has it may join.".to_owned(),
                invite.to_string(),
                "The other player runs:".to_owned(),
                format!("duel join {invite}"),
                format!("  {}: {}", "internet", internet(door, *port, true)),
            ],
            Self::Host { port, door: Door::Called(call), .. } => vec![
                format!("Waiting at UDP port {port}"),
                "Your call, for the other player and nobody else: whoever has it may join.".to_owned(),
                call.clone(),
                "The other player runs duel join with it, and sends you an answer.".to_owned(),
            ],
            Self::Join { by: Door::Called(answer), .. } => vec![
                "Your answer, for the host:".to_owned(),
                answer.clone(),
                "The match begins when the host has pasted it.".to_owned(),
            ],
            Self::Host { addresses, port, door } => {
                let lines = host_lines(addresses, *port, door);
                let lines = lines.into_iter().map(|(label, text)| format!("  {label}: {text}"));
                [format!("Waiting at UDP port {port}")].into_iter().chain(lines).collect()
            }
            Self::Join { at, .. } => {
                let through = if self.rendezvous().is_some() { "through the rendezvous at " } else { "" };
                vec![format!("Joining {through}{}", list(at))]
            }
            Self::Bot(_) => Vec::new(),
        }
    }
}

/// Addresses as a part of a sentence.
fn list(addresses: &[SocketAddr]) -> String {
    let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    texts.join(" or ")
}

fn forwarding(port: u16, invited: bool) -> String {
    let other = if invited {
        "; --public ADDRESS puts its address into the invite, and --by-hand needs neither"
    } else {
        ", or you host by two texts"
    };
    format!("the router must forward UDP port {port} to this machine{other}")
}

/// The way of a guest who is not in the same network.
fn internet(door: &Door, port: u16, invited: bool) -> String {
    match door.rendezvous() {
        Some(server) => format!("through the rendezvous at {server}; no port has to be forwarded"),
        None => forwarding(port, invited),
    }
}

/// The letters of an invite on one line of a panel: as many as a terminal of 60 columns has room for beside the label.
const INVITE_LETTERS: usize = 40;

/// The lines of the panel of a host: the command of the other player, with the invite in pieces, which may be typed as
/// they are, or with an address.
fn host_panel(addresses: &[IpAddr], port: u16, door: &Door) -> Vec<(String, String)> {
    let Door::Invited(invite) = door else { return host_lines(addresses, port, door) };
    let letters: Vec<char> = invite.to_string().chars().collect();
    let pieces =
        letters.chunks(INVITE_LETTERS).map(|piece| (" ".to_owned(), piece.iter().collect::<String>()));
    let mut lines = vec![("other player".to_owned(), "duel join".to_owned())];
    lines.extend(pieces);
    lines.push(("internet".to_owned(), internet(door, port, false)));
    lines
}

/// The lines for a host by address: the commands with which a guest may join, and the obstacles on the way.
fn host_lines(addresses: &[IpAddr], port: u16, door: &Door) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = addresses
        .iter()
        .map(|address| {
            let label = if is_private(*address) { "same network" } else { "address" };
            (label.to_owned(), command(SocketAddr::new(*address, port), door))
        })
        .collect();
    if lines.is_empty() {
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        lines.push(("this machine".to_owned(), format!("{}, as it has no network", command(here, door))));
    }
    lines.push(("internet".to_owned(), forwarding(port, false)));
    lines
}

/// The command with which another player joins at an address.
fn command(addr: SocketAddr, door: &Door) -> String {
    format!("duel join {addr}{}", if matches!(door, Door::Bare) { " --bare" } else { "" })
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
    line: &mut Line,
    lobby: &mut Lobby,
    way: &Way,
    names: &[String; 2],
    outfits: [usize; 2],
) -> Result<Option<Agreed>, Failure> {
    let mut exhibition = Exhibition::new(screen, 7, names.clone());
    exhibition.show.dress(outfits);
    let (mut hinted, mut told) = (None, None);
    let mut pasting = Pasting::default();
    let to_copy = way.to_copy();
    loop {
        match lobby.agreed() {
            Ok(Some(agreed)) => return Ok(Some(agreed.clone())),
            Ok(None) => {}
            Err(error) => return Err(Failure::of(refused(&error, way, line.hint()))),
        }
        let wants_answer = way.wants_answer() && !line.is_answered();
        exhibition.show.take_letters(wants_answer && pasting.is_open());
        let mut hands = exhibition.show.hands();
        if wants_answer {
            if pasting.is_open() && hands.presses.contains(&Key::Escape) {
                pasting.clear();
                hands.presses.clear();
            }
            if let Some(text) = pasting.take(&hands.strokes) {
                answered(line.take_answer(&text), &mut exhibition);
            }
        }
        let guest = lobby.incoming();
        let progress = line.way().and_then(super::reaching::Way::progress);
        // The page of the texts says itself what is waited for.
        let progress = progress.filter(|progress| *progress != Progress::ByHand);
        if let Some(progress) = progress.filter(|progress| told != Some(*progress)) {
            told = Some(progress);
            exhibition.show.tell_aside(&progress.to_string());
        }
        if let Some(text) = line.way().and_then(|way| way.failure(line.now())) {
            return Err(Failure::of(text));
        }
        let mut panel = match (&guest, way) {
            (Some(guest), _) => guest_panel(guest, line),
            (None, Way::Join { target, .. }) => joining_panel(way, line.code(*target)),
            (None, _) if line.is_answered() => found_panel(),
            (None, _) => way.panel(),
        };
        // A message passes; whether the rendezvous answers is to be seen as long as somebody waits for it.
        panel
            .lines
            .extend(progress.filter(|_| guest.is_none()).map(|now| ("now".to_owned(), now.to_string())));
        exhibition.show.panel(Some(panel));
        let copies = hands.presses.contains(&Key::Char('c')) && !pasting.is_open();
        if let Some((what, text)) = to_copy.as_ref().filter(|_| copies) {
            screen.copy(text);
            exhibition.show.say(format!("the {what} is on its way to your clipboard"), Tone::Calm);
        }
        let agrees = wants_to_start(&hands);
        match (&guest, way) {
            (Some(_), _) if leaves(&hands) && !hands.closed => lobby.decline(),
            _ if leaves(&hands) => return Ok(None),
            (Some(guest), _) if agrees => {
                line.verify(guest.addr);
                lobby.accept();
            }
            (None, Way::Join { target, .. }) if agrees => drop(line.verify(*target)),
            _ => {}
        }
        if let Some(mut mismatch) = lobby.take_mismatch() {
            mismatch.addr = line.real(mismatch.addr);
            exhibition.show.tell(sent_away(&mismatch), Tone::Warning);
        }
        let hint = line.hint().filter(|_| matches!(way, Way::Host { .. }));
        if let Some(hint) = hint.filter(|hint| hinted != Some(*hint)) {
            hinted = Some(hint);
            exhibition.show.tell(knocked(hint), Tone::Warning);
        }
        exhibition.frame();
        let deadline = line.now() + FRAME;
        line.run_until(lobby, deadline)?;
    }
}

/// Tells a host what became of the text that was pasted.
fn answered(taken: Result<(), String>, exhibition: &mut Exhibition<'_>) {
    match taken {
        Ok(()) => exhibition.show.tell("the answer fits: looking for the other player", Tone::Calm),
        Err(why) => exhibition.show.tell(why, Tone::Warning),
    }
}

/// The panel of a host by hand whose texts have been traded.
fn found_panel() -> Panel {
    Panel { title: "Connecting".to_owned(), lines: Vec::new(), footer: "esc leaves".to_owned() }
}

/// The panel that asks a host whether a guest may play.
fn guest_panel(guest: &Incoming, line: &Line) -> Panel {
    let mut lines = vec![
        ("guest".to_owned(), name_in(&guest.user_data)),
        ("from".to_owned(), line.real(guest.addr).to_string()),
    ];
    lines.extend(code_lines(line.code(guest.addr)));
    let footer = "enter: it is the same, play   esc: send away".to_owned();
    Panel { title: "A guest".to_owned(), lines, footer }
}

/// The panel of a joiner, with the code to compare as soon as there is one.
fn joining_panel(way: &Way, code: Option<Code>) -> Panel {
    let mut panel = way.panel();
    if code.is_some() {
        panel.lines.extend(code_lines(code));
        panel.footer = "enter: it is the same   esc leaves".to_owned();
    }
    panel
}

/// Why there is no match, for a player.
fn refused(error: &LobbyError, way: &Way, hint: Option<Hint>) -> String {
    match error {
        LobbyError::TimedOut { addr, after } => {
            let (at, advice) = match way {
                Way::Join { at, by, .. } => (list(at), unanswered(by, hint)),
                _ => (addr.to_string(), String::new()),
            };
            format!("Nobody answered at {at} for {} s. {advice}", after.as_secs())
        }
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
fn name_in(user_data: &[u8]) -> String {
    let text = String::from_utf8_lossy(user_data);
    let text: String = text.chars().filter(|letter| !is_disruptive(*letter)).collect();
    // A letter that is not seen would make another name of "You", and many marks would grow over other rows.
    let name: String = letters::visible(&text).chars().take(super::NAME_LETTERS).collect();
    let name = name.trim();
    // "You" is the player at this machine, in every sentence: another one of that name would win in their place.
    let is_taken = name.eq_ignore_ascii_case("you");
    if name.is_empty() || is_taken { "Nameless".to_owned() } else { name.to_owned() }
}

/// Both names by seat, and never the same one twice.
pub(super) fn names_by_seat(seat: Player, own: &str, agreed: &Agreed) -> [String; 2] {
    let mut names = [own.to_owned(), name_in(&agreed.user_data)];
    if seat == Player::Two {
        names.reverse();
    }
    if names[0] == names[1] {
        names[0].push_str(" 1");
        names[1].push_str(" 2");
    }
    names
}
