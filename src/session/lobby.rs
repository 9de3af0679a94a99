//! The lobby: two machines find each other and agree on a match.

use super::advice::{DelayAdvice, advise_delay};
use super::config::{Config, ConfigError};
use crate::peer::cookie::Cookies;
use crate::peer::desk::{Desk, Essentials, Visit};
use crate::peer::entropy::Entropy;
use crate::peer::link::Link;
use crate::peer::refusal::{Refusal, Refusals};
use crate::peer::sequence::Sequences;
use crate::wire::game::{self, Header, Payload};
use crate::wire::message::{Hello, MAX_FIRST_FRAME, Message, Offer, Refuse, RefuseField};
use crate::wire::{self, Packet};
use crate::{Player, Protocol};
use core::fmt;
use core::num::NonZeroU8;
use core::time::Duration;
use std::net::SocketAddr;

/// How often a joiner says again what was not answered.
const SAY_AGAIN: Duration = Duration::from_millis(200);

/// A host that was told nothing of the delay waits for so many pongs, or so long, before it suggests one.
const PONGS_FOR_ADVICE: u32 = 5;
const LONGEST_FOR_ADVICE: Duration = Duration::from_secs(1);

/// What a lobby without any measurement takes the loss for.
const ASSUMED_LOSS: f64 = 0.01;

/// How many OFFERs a CONNECT_REQ may be the answer to.
const OFFERS: usize = 4;

/// Someone who wants to play, and has proven to be reachable at the address they write from.
#[derive(Clone, Debug, PartialEq)]
pub struct Incoming {
    /// Where they are.
    pub addr: SocketAddr,
    /// How long it takes to them and back.
    pub round_trip: Duration,
    /// What they say of themselves.
    pub user_data: Vec<u8>,
    /// The delay that the link suggests so far.
    pub advice: DelayAdvice,
}

/// What two machines have agreed on.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreed {
    /// The other machine.
    pub peer: SocketAddr,
    /// The seat of the player at this machine.
    pub seat: Player,
    /// The seed to build the game from, the same on both machines. Never 0.
    pub seed: u32,
    /// Whether this machine decided about seed and seats.
    pub is_host: bool,
    /// What the other side says of itself.
    pub user_data: Vec<u8>,
    /// The input delay of this machine.
    pub delay_frames: u8,
    /// The input delay of the other.
    pub peer_delay_frames: u8,
    /// The prediction window of the other.
    pub peer_window_frames: u8,
    /// How long it takes there and back, as far as it was measured.
    pub round_trip: Option<Duration>,
    /// Names this match among all that the host ever had.
    pub token: u64,
    pub(crate) first_frame: u32,
    pub(crate) cadence_frames: u16,
    /// The joiner's nonce, by which a repeated HELLO is told from a restart.
    pub(crate) nonce: u64,
    /// What the other side was told about our delay.
    pub(crate) announced_delay_frames: u8,
}

/// A host refused someone, because something did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Who came.
    pub addr: SocketAddr,
    /// What does not fit.
    pub field: RefuseField,
    /// The value here.
    pub ours: u64,
    /// The value there.
    pub theirs: u64,
}

/// Why there will be no match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LobbyError {
    /// The config makes no sense.
    Config(ConfigError),
    /// Nobody answered.
    TimedOut {
        /// Where.
        addr: SocketAddr,
        /// For how long.
        after: Duration,
    },
    /// The two machines do not fit together.
    Incompatible {
        /// What differs.
        field: RefuseField,
        /// The value here.
        ours: u64,
        /// The value at the host.
        theirs: u64,
    },
    /// The host has its opponent already.
    Full,
    /// The host does not want to.
    Declined,
    /// [`start`](Lobby::start) came before the two machines have [agreed](Lobby::agreed).
    NotAgreed,
}

/// The handshake: there is no game yet.
///
/// Drive it as any [`Protocol`], ask whether the two machines have [agreed](Self::agreed), build the game from the
/// agreed seed, and [start](Self::start).
#[derive(Clone, Debug)]
pub struct Lobby {
    pub(super) config: Config,
    entropy: Entropy,
    pub(super) desk: Desk,
    role: Role,
    mismatch: Option<Mismatch>,
    pub(super) refused: Refusals,
    error: Option<LobbyError>,
    now: Duration,
}

#[derive(Clone, Debug)]
// There is one of these, and it is moved once.
#[allow(clippy::large_enum_variant)]
enum Role {
    Waiting,
    Host(Hosting),
    Join(Joining),
    Agreed(Link, Agreed),
}

/// A host and the one it is talking to.
#[derive(Clone, Debug)]
struct Hosting {
    link: Link,
    nonce: u64,
    first_trip: Duration,
    user_data: Vec<u8>,
    delay_frames: u8,
    window_frames: u8,
    since: Duration,
    last_heard: Duration,
    stage: HostStage,
}

#[derive(Clone, Debug)]
enum HostStage {
    /// Somebody is here, and is not accepted yet.
    Incoming,
    Declined {
        answer: bool,
        header: Header,
    },
    Offered {
        terms: Agreed,
        /// An OFFER is to be sent.
        due: bool,
        sent_as: [Option<u16>; OFFERS],
        count: usize,
    },
}

#[derive(Clone, Debug)]
struct Joining {
    link: Link,
    nonce: u64,
    cookie: u64,
    next: Duration,
    give_up_at: Option<Duration>,
    /// What the host offered, which is now to be confirmed.
    offer: Option<Agreed>,
}

impl Lobby {
    /// Waits for someone to join.
    ///
    /// # Errors
    /// If the config makes no sense.
    pub fn host(config: Config) -> Result<Self, LobbyError> {
        Self::new(config, |_, _| Role::Waiting)
    }

    /// Joins the host at `addr`. Two that join each other also meet: the larger nonce hosts.
    ///
    /// # Errors
    /// If the config makes no sense.
    pub fn join(config: Config, addr: SocketAddr) -> Result<Self, LobbyError> {
        Self::new(config, |config, entropy| {
            Role::Join(Joining {
                link: Link::new(Duration::ZERO, addr, config.frame(), entropy),
                nonce: entropy.next_u64(),
                cookie: 0,
                next: Duration::ZERO,
                give_up_at: None,
                offer: None,
            })
        })
    }

    fn new(config: Config, role: impl FnOnce(&Config, &mut Entropy) -> Role) -> Result<Self, LobbyError> {
        config.check().map_err(LobbyError::Config)?;
        let mut entropy = Entropy::new(config.entropy);
        let Config { game_id, content_hash, frame_rate, .. } = config;
        let essentials = Essentials { game_id, content_hash, frame_rate };
        let desk = Desk::new(Cookies::new(&mut entropy), essentials);
        let role = role(&config, &mut entropy);
        Ok(Self {
            config,
            entropy,
            desk,
            role,
            mismatch: None,
            refused: Refusals::default(),
            error: None,
            now: Duration::ZERO,
        })
    }

    /// Whoever waits to be accepted, if the config says to ask.
    #[must_use]
    pub fn incoming(&self) -> Option<Incoming> {
        let Role::Host(hosting) = &self.role else { return None };
        if !matches!(hosting.stage, HostStage::Incoming) {
            return None;
        }
        Some(Incoming {
            addr: hosting.link.addr,
            round_trip: hosting.round_trip(),
            user_data: hosting.user_data.clone(),
            advice: hosting.advice(&self.config),
        })
    }

    /// Accepts whoever waits. They get the seat that is not the host's.
    pub fn accept(&mut self) {
        let Role::Host(hosting) = &mut self.role else { return };
        if !matches!(hosting.stage, HostStage::Incoming) {
            return;
        }
        let config = &self.config;
        let advised = || hosting.advice(config).delay_frames.min(config.most_delay());
        let delay_frames = config.delay_frames.unwrap_or_else(advised);
        let terms = Agreed {
            peer: hosting.link.addr,
            seat: config.seat,
            seed: config.seed.unwrap_or_else(|| self.entropy.next_seed()),
            is_host: true,
            user_data: hosting.user_data.clone(),
            delay_frames,
            peer_delay_frames: hosting.delay_frames,
            peer_window_frames: hosting.window_frames,
            round_trip: None,
            token: self.entropy.next_u64(),
            // 1..=2^31, so that a match has half of all numbers before it.
            first_frame: (self.entropy.next_u64() % u64::from(MAX_FIRST_FRAME)) as u32 + 1,
            cadence_frames: config.cadence_frames,
            nonce: hosting.nonce,
            announced_delay_frames: delay_frames,
        };
        hosting.stage = HostStage::Offered { terms, due: true, sent_as: [None; OFFERS], count: 0 };
    }

    /// Accepts whoever waits, from the other seat than the config says.
    pub fn accept_in_seat(&mut self, own_seat: Player) {
        self.config.seat = own_seat;
        self.accept();
    }

    /// Sends whoever waits away.
    pub fn decline(&mut self) {
        if let Role::Host(hosting) = &mut self.role
            && matches!(hosting.stage, HostStage::Incoming)
        {
            hosting.stage = HostStage::Declined { answer: false, header: Header::default() };
        }
    }

    /// The last one who was refused because something did not fit. Told once.
    pub fn take_mismatch(&mut self) -> Option<Mismatch> {
        self.mismatch.take()
    }

    /// What was agreed on; `None` while there is nothing yet.
    ///
    /// # Errors
    /// If there will be no match: nobody answered, the machines do not fit together, the host is full or declined.
    pub fn agreed(&self) -> Result<Option<&Agreed>, LobbyError> {
        match (&self.error, &self.role) {
            (Some(error), _) => Err(*error),
            (None, Role::Agreed(_, agreed)) => Ok(Some(agreed)),
            _ => Ok(None),
        }
    }

    /// How many datagrams were dropped, by reason.
    #[must_use]
    pub fn refused(&self) -> &Refusals {
        &self.refused
    }

    pub(super) fn into_agreed(self) -> Result<(Link, Agreed, Config, Desk, Refusals), LobbyError> {
        match (self.error, self.role) {
            (Some(error), _) => Err(error),
            (None, Role::Agreed(link, agreed)) => Ok((link, agreed, self.config, self.desk, self.refused)),
            _ => Err(LobbyError::NotAgreed),
        }
    }

    fn receive(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) -> Result<(), Refusal> {
        match wire::decode(datagram).map_err(|error| Refusal::from(&error))? {
            Packet::Rbn1(packet) => self.input(from, packet.start_frame(), packet.ack_frame()),
            Packet::Game(packet) => self.control(now, from, &packet),
        }
    }

    /// A valid input stands in for the rest of the handshake: the other side has begun.
    fn input(&mut self, from: SocketAddr, start_frame: u32, ack_frame: u32) -> Result<(), Refusal> {
        let (addr, terms) = match &self.role {
            Role::Host(Hosting { link, stage: HostStage::Offered { terms, .. }, .. }) => (link.addr, terms),
            Role::Join(Joining { link, offer: Some(terms), .. }) => (link.addr, terms),
            Role::Agreed(link, terms) => (link.addr, terms),
            Role::Waiting | Role::Host(_) | Role::Join(_) => return Err(Refusal::OutOfPlace),
        };
        if from != addr {
            return Err(Refusal::Stranger);
        }
        // Nothing of ours can have been acknowledged yet.
        if start_frame != terms.first_frame {
            return Err(Refusal::BeforeMatch);
        }
        if ack_frame != terms.first_frame - 1 {
            return Err(Refusal::InputAckUnsent);
        }
        self.conclude();
        Ok(())
    }

    fn control(&mut self, now: Duration, from: SocketAddr, packet: &game::Packet<'_>) -> Result<(), Refusal> {
        if let Payload::ReliableEvent(payload) = packet.payload {
            let message = Message::decode(payload).map_err(|_| Refusal::MalformedMessage)?;
            match message {
                Message::Hello(hello) => return self.hello(now, from, packet.header, &hello),
                Message::ForeignHello(hello) if self.receives(from, hello.nonce) => {
                    let visit = self.desk.foreign_hello(now, from, packet.header, hello);
                    return self.visited(from, &visit);
                }
                Message::Challenge(_) | Message::Offer(_) | Message::Refuse(_) => {
                    return self.answer(now, from, packet.header, &message);
                }
                _ => return Err(if self.is_peer(from) { Refusal::OutOfPlace } else { Refusal::Stranger }),
            }
        }
        if !self.is_peer(from) {
            return Err(Refusal::Stranger);
        }
        self.connected(now, packet)
    }

    fn is_peer(&self, from: SocketAddr) -> bool {
        self.link().is_some_and(|link| link.addr == from)
    }

    fn link(&self) -> Option<&Link> {
        match &self.role {
            Role::Waiting => None,
            Role::Host(Hosting { link, .. }) | Role::Join(Joining { link, .. }) | Role::Agreed(link, _) => {
                Some(link)
            }
        }
    }

    /// Whether a HELLO is ours to answer. Of two that join each other, the larger nonce hosts.
    fn receives(&self, from: SocketAddr, nonce: u64) -> bool {
        match &self.role {
            Role::Waiting | Role::Host(_) => true,
            Role::Join(joining) => {
                joining.link.addr == from && joining.nonce > nonce && joining.offer.is_none()
            }
            Role::Agreed(_, agreed) => agreed.is_host,
        }
    }

    fn visited(&mut self, from: SocketAddr, visit: &Visit) -> Result<(), Refusal> {
        match visit {
            Visit::Dealt(refusal) => refusal.map_or(Ok(()), Err),
            Visit::Mismatch(Refuse { field, ours, theirs, .. }) => {
                self.mismatch = Some(Mismatch { addr: from, field: *field, ours: *ours, theirs: *theirs });
                Ok(())
            }
            Visit::Proven { .. } => Ok(()),
        }
    }

    fn hello(
        &mut self,
        now: Duration,
        from: SocketAddr,
        header: Header,
        hello: &Hello<'_>,
    ) -> Result<(), Refusal> {
        if !self.receives(from, hello.nonce) {
            return Err(if self.is_peer(from) { Refusal::OutOfPlace } else { Refusal::Stranger });
        }
        let visit = self.desk.hello(now, from, header, hello);
        let Visit::Proven { rtt } = visit else { return self.visited(from, &visit) };
        match &mut self.role {
            Role::Host(hosting) if hosting.link.addr == from && hosting.nonce == hello.nonce => {
                hosting.link.heard(header);
                hosting.last_heard = now;
                match &mut hosting.stage {
                    HostStage::Incoming => {}
                    HostStage::Declined { answer, header: heard } => (*answer, *heard) = (true, header),
                    HostStage::Offered { due, .. } => *due = true,
                }
            }
            // The same machine with a new nonce has started anew; a declined one makes room for the next.
            Role::Host(hosting)
                if hosting.link.addr != from && !matches!(hosting.stage, HostStage::Declined { .. }) =>
            {
                self.refuse_full(from, header, hello.nonce);
            }
            Role::Agreed(_, agreed) if agreed.peer != from || agreed.nonce != hello.nonce => {
                self.refuse_full(from, header, hello.nonce);
            }
            Role::Agreed(..) => {}
            Role::Waiting | Role::Host(_) | Role::Join(_) => self.welcome(now, from, header, hello, rtt),
        }
        Ok(())
    }

    fn refuse_full(&mut self, to: SocketAddr, header: Header, nonce: u64) {
        self.desk.refuse(to, header, Refuse { nonce, field: RefuseField::Full, ours: 0, theirs: 0 });
    }

    fn welcome(
        &mut self,
        now: Duration,
        from: SocketAddr,
        header: Header,
        hello: &Hello<'_>,
        first_trip: Duration,
    ) {
        let mut link = Link::new(now, from, self.config.frame(), &mut self.entropy);
        link.heard(header);
        self.role = Role::Host(Hosting {
            link,
            nonce: hello.nonce,
            first_trip,
            user_data: hello.user_data.to_vec(),
            delay_frames: hello.delay_frames,
            window_frames: hello.window_frames,
            since: now,
            last_heard: now,
            stage: HostStage::Incoming,
        });
        self.decide(now);
    }

    /// Accepts on its own, if nobody is to be asked and enough is known of the link.
    fn decide(&mut self, now: Duration) {
        let Role::Host(hosting) = &self.role else { return };
        if self.config.ask_before_accepting || !matches!(hosting.stage, HostStage::Incoming) {
            return;
        }
        let measured = hosting.link.rtt.count() >= PONGS_FOR_ADVICE
            || now.saturating_sub(hosting.since) >= LONGEST_FOR_ADVICE;
        if self.config.delay_frames.is_some() || measured {
            self.accept();
        }
    }

    /// An answer to our HELLO, if it is one.
    fn answer(
        &mut self,
        now: Duration,
        from: SocketAddr,
        header: Header,
        message: &Message<'_>,
    ) -> Result<(), Refusal> {
        let Role::Join(joining) = &mut self.role else {
            return Err(if self.is_peer(from) { Refusal::OutOfPlace } else { Refusal::Stranger });
        };
        if joining.link.addr != from {
            return Err(Refusal::Stranger);
        }
        let (Message::Challenge(wire::message::Challenge { nonce, .. })
        | Message::Offer(Offer { nonce, .. })
        | Message::Refuse(Refuse { nonce, .. })) = message
        else {
            return Err(Refusal::OutOfPlace);
        };
        if *nonce != joining.nonce {
            return Err(Refusal::WrongNonce);
        }
        match message {
            Message::Challenge(challenge) if joining.offer.is_none() => {
                if joining.cookie != challenge.cookie {
                    (joining.cookie, joining.next) = (challenge.cookie, now);
                }
            }
            Message::Offer(offer) => {
                joining.link.check(header)?;
                joining.link.heard(header);
                if joining.offer.is_none() {
                    joining.offer = Some(joining.terms(&self.config, offer));
                    joining.next = now;
                }
            }
            Message::Refuse(refuse) if joining.offer.is_none() => {
                self.error = Some(match refuse.field {
                    RefuseField::Full => LobbyError::Full,
                    RefuseField::Declined => LobbyError::Declined,
                    // The host's "ours" is "theirs" here.
                    field => LobbyError::Incompatible { field, ours: refuse.theirs, theirs: refuse.ours },
                });
            }
            _ => return Err(Refusal::OutOfPlace),
        }
        Ok(())
    }

    /// A packet of the connection that is being made.
    fn connected(&mut self, now: Duration, packet: &game::Packet<'_>) -> Result<(), Refusal> {
        let (link, stage_allows) = match &mut self.role {
            Role::Waiting => return Err(Refusal::Stranger),
            Role::Host(hosting) => {
                let offered = match &hosting.stage {
                    HostStage::Offered { sent_as, .. } => {
                        sent_as.iter().flatten().any(|offer| Sequences::acknowledges(packet.header, *offer))
                    }
                    _ => false,
                };
                (&mut hosting.link, offered)
            }
            Role::Join(joining) => {
                let seat = joining.offer.as_ref().map(|offer| offer.seat.index() as u8 + 1);
                let right = matches!(packet.payload, Payload::ConnectAck { client_id } if Some(client_id.get()) == seat);
                (&mut joining.link, right)
            }
            Role::Agreed(link, agreed) => (link, agreed.is_host),
        };
        link.check(packet.header)?;
        match packet.payload {
            Payload::ConnectReq | Payload::ConnectAck { .. } if !stage_allows => {
                return Err(Refusal::OutOfPlace);
            }
            Payload::Input(_) | Payload::Inputs(_) | Payload::Snapshot(_) => return Err(Refusal::OutOfPlace),
            Payload::Pong(value) if !link.rtt.ponged(now, value) => return Err(Refusal::UnaskedPong),
            Payload::Ping(value) => link.pinged(value),
            _ => {}
        }
        link.heard(packet.header);
        if let Role::Host(hosting) = &mut self.role {
            hosting.last_heard = now;
        }
        match packet.payload {
            Payload::ConnectReq => {
                self.conclude();
                if let Role::Agreed(link, agreed) = &mut self.role {
                    link.owe_connect_ack(seat_number(agreed.seat.other()));
                }
            }
            Payload::ConnectAck { .. } => self.conclude(),
            Payload::Disconnect => self.abandoned(),
            _ => self.decide(now),
        }
        Ok(())
    }

    /// The one we were talking to has left.
    fn abandoned(&mut self) {
        match &self.role {
            Role::Host(_) => self.role = Role::Waiting,
            // A joiner goes on asking until it is answered or gives up; what was agreed is the session's to end.
            Role::Waiting | Role::Join(_) | Role::Agreed(..) => {}
        }
    }

    /// Both sides know all there is to know.
    fn conclude(&mut self) {
        self.role = match core::mem::replace(&mut self.role, Role::Waiting) {
            Role::Host(hosting) => match hosting.stage {
                HostStage::Offered { mut terms, .. } => {
                    terms.round_trip = Some(hosting.link.rtt.smoothed().unwrap_or(hosting.first_trip));
                    Role::Agreed(hosting.link, terms)
                }
                _ => Role::Host(hosting),
            },
            Role::Join(joining) => match joining.offer {
                Some(mut terms) => {
                    terms.round_trip = joining.link.rtt.smoothed();
                    Role::Agreed(joining.link, terms)
                }
                None => Role::Join(joining),
            },
            role => role,
        };
    }

    /// Lets time pass: gives up, forgets who has gone, decides.
    fn pass(&mut self, now: Duration) {
        self.now = self.now.max(now);
        let config = &self.config;
        match &mut self.role {
            Role::Join(joining) => {
                let give_up_at = *joining.give_up_at.get_or_insert(now + config.join_timeout);
                if now >= give_up_at && self.error.is_none() {
                    self.error =
                        Some(LobbyError::TimedOut { addr: joining.link.addr, after: config.join_timeout });
                }
            }
            Role::Host(hosting) if now.saturating_sub(hosting.last_heard) > config.lost_after => {
                self.role = Role::Waiting;
            }
            _ => {}
        }
        self.decide(now);
    }
}

fn seat_number(seat: Player) -> NonZeroU8 {
    match seat {
        Player::One => NonZeroU8::MIN,
        Player::Two => NonZeroU8::MIN.saturating_add(1),
    }
}

impl Hosting {
    fn round_trip(&self) -> Duration {
        self.link.rtt.smoothed().unwrap_or(self.first_trip)
    }

    fn advice(&self, config: &Config) -> DelayAdvice {
        let rtt = self.link.rtt.percentile_95().unwrap_or(self.first_trip);
        advise_delay(rtt, ASSUMED_LOSS, config.window_frames, config.frame_rate)
    }

    fn poll_transmit(
        &mut self,
        now: Duration,
        desk: &mut Desk,
        config: &Config,
        buf: &mut [u8],
    ) -> Option<usize> {
        match &mut self.stage {
            HostStage::Declined { answer, header } if *answer => {
                *answer = false;
                let refuse = Refuse { nonce: self.nonce, field: RefuseField::Declined, ours: 0, theirs: 0 };
                desk.refuse(self.link.addr, *header, refuse);
                desk.poll_transmit(buf).map(|(_, len)| len)
            }
            HostStage::Offered { terms, due, sent_as, count } if *due => {
                *due = false;
                let header = self.link.stamp(now);
                sent_as[*count % OFFERS] = Some(header.sequence);
                *count += 1;
                let offer = Offer {
                    nonce: self.nonce,
                    first_frame: terms.first_frame,
                    seed: terms.seed,
                    seat: terms.seat.other(),
                    delay_frames: terms.delay_frames,
                    window_frames: config.window_frames,
                    cadence_frames: terms.cadence_frames,
                    capabilities: 0,
                    token: terms.token,
                    user_data: &config.user_data,
                };
                wire::encode_message(&header, &Message::Offer(offer), buf).ok()
            }
            HostStage::Declined { .. } => None,
            _ => self.link.poll_transmit(now, buf),
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match &self.stage {
            HostStage::Declined { answer: true, .. } | HostStage::Offered { due: true, .. } => {
                Some(Duration::ZERO)
            }
            HostStage::Declined { .. } => None,
            _ => Some(self.link.poll_timeout()),
        }
    }
}

impl Joining {
    /// What the host offers, as seen from here.
    fn terms(&self, config: &Config, offer: &Offer<'_>) -> Agreed {
        let announced_delay_frames = config.delay_frames.unwrap_or(0);
        Agreed {
            peer: self.link.addr,
            seat: offer.seat,
            seed: offer.seed,
            is_host: false,
            user_data: offer.user_data.to_vec(),
            // The host has measured the link: without a wish of its own, a joiner does as the host does.
            delay_frames: config.delay_frames.unwrap_or(offer.delay_frames).min(config.most_delay()),
            peer_delay_frames: offer.delay_frames,
            peer_window_frames: offer.window_frames,
            round_trip: None,
            token: offer.token,
            first_frame: offer.first_frame,
            cadence_frames: offer.cadence_frames,
            nonce: self.nonce,
            announced_delay_frames,
        }
    }

    fn poll_transmit(&mut self, now: Duration, config: &Config, buf: &mut [u8]) -> Option<usize> {
        if now < self.next {
            // Nothing but pongs before there is an offer: the host's pings are answered, not rivalled.
            return if self.offer.is_some() || self.link.owes_pong() {
                self.link.poll_transmit(now, buf)
            } else {
                None
            };
        }
        self.next = now + SAY_AGAIN;
        if self.offer.is_some() {
            return self.link.write(now, &Payload::ConnectReq, buf);
        }
        let hello = Hello {
            nonce: self.nonce,
            cookie: self.cookie,
            game_id: config.game_id,
            content_hash: config.content_hash,
            frame_rate: config.frame_rate,
            delay_frames: config.delay_frames.unwrap_or(0),
            window_frames: config.window_frames,
            capabilities: 0,
            user_data: &config.user_data,
        };
        let header = self.link.stamp(now);
        wire::encode_message(&header, &Message::Hello(hello), buf).ok()
    }

    fn poll_timeout(&self) -> Duration {
        if self.offer.is_some() || self.link.owes_pong() {
            self.next.min(self.link.poll_timeout())
        } else {
            self.next
        }
    }
}

impl Protocol for Lobby {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.pass(now);
        if let Err(refusal) = self.receive(now, from, datagram) {
            self.refused.count(refusal);
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.pass(now);
        if let Some(answer) = self.desk.poll_transmit(buf) {
            return Some(answer);
        }
        if self.error.is_some() {
            return None;
        }
        match &mut self.role {
            Role::Waiting => None,
            Role::Host(hosting) => {
                let len = hosting.poll_transmit(now, &mut self.desk, &self.config, buf)?;
                Some((hosting.link.addr, len))
            }
            Role::Join(joining) => {
                let len = joining.poll_transmit(now, &self.config, buf)?;
                Some((joining.link.addr, len))
            }
            Role::Agreed(link, _) => Some((link.addr, link.poll_transmit(now, buf)?)),
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        if self.desk.has_answers() {
            return Some(Duration::ZERO);
        }
        if self.error.is_some() {
            return None;
        }
        match &self.role {
            Role::Waiting => None,
            Role::Host(hosting) => hosting.poll_timeout(),
            Role::Join(joining) => {
                let give_up_at = joining.give_up_at.unwrap_or(Duration::ZERO);
                Some(joining.poll_timeout().min(give_up_at))
            }
            Role::Agreed(link, _) => Some(link.poll_timeout()),
        }
    }

    fn wants_attention(&self, _: Duration) -> bool {
        self.error.is_some() || matches!(self.role, Role::Agreed(..)) || self.mismatch.is_some()
    }
}

impl fmt::Display for LobbyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::TimedOut { addr, after } => write!(f, "no answer from {addr} within {after:?}"),
            Self::Incompatible { field: RefuseField::GameId | RefuseField::ContentHash, .. } => {
                let Self::Incompatible { field, ours, theirs } = self else { return Ok(()) };
                write!(f, "the {field} differs: {ours:#018x} here, {theirs:#018x} at the host")
            }
            Self::Incompatible { field, ours, theirs } => {
                write!(f, "the {field} differs: {ours} here, {theirs} at the host")
            }
            Self::Full => f.write_str("the host has its opponent already"),
            Self::Declined => f.write_str("the host declined"),
            Self::NotAgreed => f.write_str("the two machines have not agreed on a match yet"),
        }
    }
}

impl core::error::Error for LobbyError {}
