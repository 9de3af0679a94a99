//! Before a match: waiting for the other machine, and saying clearly how that goes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rebout::Code;
use rebout::{BroadcastConfig, Connection, Now, Online, PeerInfo, PlayerKey};

use super::attract::AttractMode;
use super::by_hand::{self, Pasting};
use super::invite_shown::InviteShown;
use super::opening::Admits;
use super::show::leaves;
use super::words::{code_lines, name_in};
use super::{Failure, wants_to_start};
use crate::opponents::Opponents;
use crate::picture::{Panel, Tone};
use crate::view::Screen;
use games::duel::Duel;
use stage::Key;

/// How a text is pasted, in a window and in most terminals.
const PASTES: &str = "ctrl-v pastes the answer (terminals: ctrl-shift-v)";

/// How the other one is found.
#[derive(Clone, Debug)]
pub enum Role {
    /// By waiting at these addresses and this port.
    Host { addresses: Vec<IpAddr>, port: u16, admits: Admits, spectators: Option<BroadcastConfig> },
    /// By its invite, its offer or its address.
    Join,
    /// It is on this machine, behind a link that is bad on purpose; the match has this seed.
    Bot { seed: u32 },
}

impl Role {
    /// Whether the answer of the other player is to be pasted before anybody can meet.
    pub fn wants_answer(&self) -> bool {
        matches!(self, Self::Host { admits: Admits::ByHand { .. }, .. })
    }

    /// Whether a host is to be asked about a guest.
    pub(super) fn prompts_for_guests(&self) -> bool {
        matches!(self, Self::Host { admits: Admits::Everybody, .. })
    }

    /// The limits for spectators, if they are let in.
    pub(super) fn spectators(&self) -> Option<BroadcastConfig> {
        match self {
            Self::Host { spectators, .. } => spectators.clone(),
            _ => None,
        }
    }

    /// Whether there is progress to show on the way to the other machine.
    fn searches(&self) -> bool {
        match self {
            Self::Host { admits, .. } => {
                matches!(admits, Admits::ByHand { .. } | Admits::Invited { rendezvous: Some(_) })
            }
            Self::Join => true,
            Self::Bot { .. } => false,
        }
    }

    /// The word for the text that the other player needs, if it is one to copy.
    fn copied(&self, share: &str) -> Option<&'static str> {
        match self {
            Self::Host { admits: Admits::Invited { .. }, .. } => Some("invite"),
            Self::Host { admits: Admits::ByHand { .. }, .. } => Some("offer"),
            Self::Join if !share.is_empty() => Some("answer"),
            _ => None,
        }
    }

    /// The panel for a player who waits, with the text for the other player.
    pub fn panel(&self, share: &str) -> Panel {
        let (title, lines) = match self {
            Self::Host { admits: Admits::ByHand { .. }, .. } => ("Your offer", by_hand::offer_panel(share)),
            Self::Host { admits: Admits::Invited { rendezvous }, port, .. } => {
                ("Waiting", invited_panel(share, *port, rendezvous.as_deref()))
            }
            Self::Host { addresses, port, admits, .. } => ("Waiting", host_lines(addresses, *port, admits)),
            Self::Join if share.is_empty() => ("Joining", Vec::new()),
            Self::Join => ("Your answer", by_hand::answer_panel(share)),
            Self::Bot { .. } => {
                ("Get ready", vec![(String::new(), "measuring the link to the bot".to_owned())])
            }
        };
        let footer = match self.copied(share) {
            Some(what) if self.wants_answer() => format!("c copies the {what}, {PASTES}, esc leaves"),
            Some(_) if self.spectators().is_some() => {
                "c copies the invite, n makes a new one, w copies one to watch, esc leaves".to_owned()
            }
            Some("invite") => "c copies the invite, n makes a new one, esc leaves".to_owned(),
            Some(what) => format!("c copies the {what}, esc leaves"),
            None => "esc leaves".to_owned(),
        };
        Panel { title: title.to_owned(), lines, footer }
    }

    /// The lines that are printed before anybody waits: an invite, and the command with it, alone on theirs.
    pub fn lines(&self, connection: &Connection) -> Vec<String> {
        let share = connection.share().to_owned();
        match self {
            Self::Host { port, admits: Admits::Invited { rendezvous }, .. } => vec![
                format!("Waiting at UDP port {port}"),
                "Your invite, for the other player and nobody else: whoever has it may join.".to_owned(),
                share.clone(),
                "The other player runs:".to_owned(),
                format!("duel join {share}"),
                format!("  internet: {}", internet(*port, rendezvous.as_deref(), true)),
            ],
            Self::Host { port, admits: Admits::ByHand { .. }, .. } => vec![
                format!("Waiting at UDP port {port}"),
                "Your offer, for the other player and nobody else: whoever has it may join.".to_owned(),
                share,
                "The other player runs duel join with it, and sends you an answer.".to_owned(),
            ],
            Self::Host { addresses, port, admits, .. } => {
                let lines = host_lines(addresses, *port, admits);
                let lines = lines.into_iter().map(|(label, text)| format!("  {label}: {text}"));
                [format!("Waiting at UDP port {port}")].into_iter().chain(lines).collect()
            }
            Self::Join if share.is_empty() => vec![format!("Joining: {}", connection.progress())],
            Self::Join => vec![
                "Your answer, for the host:".to_owned(),
                share,
                "The match begins when the host has pasted it.".to_owned(),
            ],
            Self::Bot { .. } => Vec::new(),
        }
    }
}

fn forwarding(port: u16, invited: bool) -> String {
    let other = if invited {
        "; --public ADDRESS puts its address into the invite, and --by-hand --stun SERVER needs neither"
    } else {
        ", or you host by two texts"
    };
    format!("the router must forward UDP port {port} to this machine{other}")
}

/// The way of a guest who is not in the same network.
fn internet(port: u16, rendezvous: Option<&str>, invited: bool) -> String {
    match rendezvous {
        Some(server) => format!("through the rendezvous at {server}; no port has to be forwarded"),
        None => forwarding(port, invited),
    }
}

/// The characters of an invite on one line of a panel: as many as a terminal of 60 columns has room for beside the
/// label.
const INVITE_CHARACTERS: usize = 40;

/// The lines of the panel of a host by invite: the command of the other player, with the invite in pieces, which may be
/// typed as they are.
fn invited_panel(invite: &str, port: u16, rendezvous: Option<&str>) -> Vec<(String, String)> {
    let characters: Vec<char> = invite.chars().collect();
    let pieces =
        characters.chunks(INVITE_CHARACTERS).map(|piece| (" ".to_owned(), piece.iter().collect::<String>()));
    let mut lines = vec![("other player".to_owned(), "duel join".to_owned())];
    lines.extend(pieces);
    if invite.is_empty() {
        lines = vec![("invite".to_owned(), "it is not valid any more: n makes a new one".to_owned())];
    }
    lines.push(("internet".to_owned(), internet(port, rendezvous, false)));
    lines
}

/// The lines for a host by address: the commands with which a guest may join, and the obstacles on the way.
fn host_lines(addresses: &[IpAddr], port: u16, admits: &Admits) -> Vec<(String, String)> {
    let command = |address: IpAddr| {
        let bare = if *admits == Admits::Bare { " --bare" } else { "" };
        format!("duel join {}{bare}", SocketAddr::new(address, port))
    };
    let mut lines: Vec<(String, String)> = addresses
        .iter()
        .map(|address| {
            let label = if is_private(*address) { "same network" } else { "address" };
            (label.to_owned(), command(*address))
        })
        .collect();
    if lines.is_empty() {
        let command = command(Ipv4Addr::LOCALHOST.into());
        lines.push(("this machine".to_owned(), format!("{command}, as it has no network")));
    }
    lines.push(("internet".to_owned(), forwarding(port, false)));
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

/// Waits until both machines have agreed, and answers the seed; `None` if whoever waits leaves instead.
///
/// # Errors
/// If there will be no match, in words for the player.
pub(super) fn meet(
    screen: &Screen,
    online: &mut Online<Duel>,
    role: &Role,
    names: &[String; 2],
    outfits: [usize; 2],
    opponents: &Opponents,
) -> Result<Option<u32>, Failure> {
    // The seed picks the light: before a match against the bot it is the light of its first round.
    let seed = if let Role::Bot { seed } = role { *seed } else { 7 };
    let mut attract = AttractMode::new(screen, seed, names.clone());
    attract.show.set_outfits(outfits);
    let (mut told, mut wants_answer) = (String::new(), role.wants_answer());
    let mut pasting = Pasting::default();
    let mut invite = InviteShown::new(online);
    if let Some(watch) = online.share_to_watch() {
        attract.show.print_without_screen("Spectators run:");
        attract.show.print_without_screen(&format!("duel watch {watch}"));
    }
    loop {
        let guest = match online.wait()? {
            Now::Begin { seed, .. } => return Ok(Some(seed)),
            Now::Finished(finish) => return Err(Failure::of(finish)),
            Now::Notice(text) => {
                attract.show.tell(text, Tone::Warning);
                continue;
            }
            Now::Guest { name, peer } => Some((name, peer)),
            _ => None,
        };
        if let Some(news) = invite.look(online) {
            attract.show.tell(news, if invite.text().is_empty() { Tone::Warning } else { Tone::Calm });
            attract.show.print_without_screen(invite.text());
        }
        let share = invite.text().to_owned();
        attract.show.take_characters(wants_answer && pasting.is_open());
        let mut input = attract.show.take_input();
        if wants_answer {
            if pasting.is_open() && input.presses.contains(&Key::Escape) {
                pasting.clear();
                input.presses.clear();
            }
            if let Some(text) = pasting.take(&input.strokes) {
                match online.take_answer(&text) {
                    Ok(()) => {
                        wants_answer = false;
                        attract.show.tell("the answer fits: looking for the other player", Tone::Calm);
                    }
                    Err(error) => attract.show.tell(error.to_string(), Tone::Warning),
                }
            }
        }
        let progress = online.connection().progress();
        let is_found = role.wants_answer() && !wants_answer;
        let code = online.peer().code;
        let mut panel = match (&guest, role) {
            (Some((name, peer)), _) => guest_panel(name, peer, opponents),
            (None, Role::Join) => joining_panel(role.panel(&share), code, online.connection().player_key()),
            (None, _) if is_found => found_panel(),
            (None, _) => role.panel(&share),
        };
        // The page of an offer says itself what is waited for.
        if guest.is_none() && !wants_answer && role.searches() {
            panel.lines.push(("now".to_owned(), progress.clone()));
            if told != progress {
                attract.show.print_without_screen(&progress);
                told = progress;
            }
        }
        attract.show.panel(Some(panel));
        if matches!(role, Role::Host { admits: Admits::Invited { .. }, .. })
            && input.presses.contains(&Key::Char('n'))
        {
            match invite.renew(online) {
                Ok(()) => attract.show.tell("the invite is a new one, for one guest", Tone::Calm),
                Err(error) => attract.show.tell(error.to_string(), Tone::Warning),
            }
            attract.show.print_without_screen(invite.text());
        }
        let copies = input.presses.contains(&Key::Char('c')) && !pasting.is_open();
        if let Some(what) = role.copied(&share).filter(|_| copies) {
            screen.copy(&share);
            attract.show.say(format!("the {what} is on its way to your clipboard"), Tone::Calm);
        }
        if let Some(watch) = online.share_to_watch().filter(|_| input.presses.contains(&Key::Char('w'))) {
            screen.copy(&watch);
            attract.show.say("the invite for spectators is on its way to your clipboard", Tone::Calm);
        }
        if leaves(&input) {
            if guest.is_none() || input.closed {
                return Ok(None);
            }
            online.answer(false);
        } else if wants_to_start(&input) && (guest.is_some() || matches!(role, Role::Join)) {
            // The panel has shown the code, if there is one.
            online.verify();
            online.answer(true);
        }
        attract.frame();
    }
}

/// The panel of a host by hand whose texts have been traded.
fn found_panel() -> Panel {
    Panel { title: "Connecting".to_owned(), lines: Vec::new(), footer: "esc leaves".to_owned() }
}

/// The panel that asks a host whether a guest may play.
fn guest_panel(name: &str, peer: &PeerInfo, opponents: &Opponents) -> Panel {
    let from = peer.addr.map_or_else(|| "not known yet".to_owned(), |addr| addr.to_string());
    let mut lines = vec![("guest".to_owned(), name_in(name)), ("from".to_owned(), from)];
    if let Some(key) = peer.player {
        lines.push(("player".to_owned(), known_as(key, opponents)));
    }
    lines.extend(code_lines(peer.code));
    let footer = "enter: it is the same, play   esc: send away".to_owned();
    Panel { title: "A guest".to_owned(), lines, footer }
}

/// The panel of a joiner, with the code to compare as soon as there is one.
fn joining_panel(mut panel: Panel, code: Option<Code>, own: Option<PlayerKey>) -> Panel {
    panel.lines.extend(own.map(|key| ("your key".to_owned(), key.to_string())));
    if code.is_some() {
        panel.lines.extend(code_lines(code));
        panel.footer = "enter: it is the same   esc leaves".to_owned();
    }
    panel
}

/// Who the player with a key is: one of an earlier match, or a new one.
pub(super) fn known_as(key: PlayerKey, opponents: &Opponents) -> String {
    match opponents.known(key) {
        Some(opponent) => format!("same player as last time: {}", opponent.name),
        None => format!("new player, key {key}"),
    }
}
