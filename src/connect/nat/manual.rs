//! Manual signalling: the host's offer and the joiner's answer are texts that the players send each other.

use super::search::Search;
use super::signal::Signal;
use super::signalling::Signalling;
use super::{NatConfig, NatTraversal};
use crate::connect::invite::{Answer, Offer};
use crate::connect::seal::{Brought, Seal, SealError, SealRefusal};
use core::time::Duration;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// A joiner checks the host's addresses anew after this long, because players take their time to send a text.
const AGAIN_AFTER: Duration = Duration::from_secs(8);
/// The RESP is sent on the path that was found this often, at most.
const REPEAT: Duration = Duration::from_millis(100);
const MAX_REPEATS: u32 = 50;
/// The address inside of a guest that has not answered yet.
const NOBODY: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

/// The state of manual signalling.
#[derive(Debug, Default)]
pub(super) struct Manual {
    /// The host's search, which waits for the answer.
    offered: Option<Search>,
    /// The RESP that is sent on the first path, how often it was, and when it is next.
    resp: Option<Vec<u8>>,
    repeats: u32,
    resp_at: Duration,
    /// The host's signal, as its joiner has it.
    signal: Option<Signal>,
    /// When the joiner checks anew.
    again_at: Option<Duration>,
}

impl Manual {
    /// Whether a joiner waits until the host has its answer.
    pub(super) fn waits(&self) -> bool {
        self.again_at.is_some()
    }
}

impl NatTraversal {
    /// A host without a rendezvous: the players send each other two texts.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn host_manual(config: NatConfig) -> Result<Self, SealError> {
        Self::new(config, Signalling::manual(true))
    }

    /// A joiner without a rendezvous, with the host's [offer](Self::offer). Its seal is one [by signalling](Seal::join_by_signal).
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn join_manual(config: NatConfig, offer: &Offer) -> Result<Self, SealError> {
        let mut nat = Self::new(config, Signalling::manual(false))?;
        nat.signalling.ticket = Some(offer.ticket);
        nat.manual.signal = Signal::decode(&offer.signal);
        Ok(nat)
    }

    /// The offer of a host, for the joiner. `None` if this is no host with manual signalling.
    pub fn offer(&mut self, now: Duration, seal: &mut Seal) -> Option<Offer> {
        let key = seal.public_key().filter(|_| self.signalling.is_manual())?;
        let ticket = seal.renew_ticket()?;
        let candidates = self.own_candidates();
        let own = self.own(&candidates);
        let search = Search::new(now, self.origin, NOBODY, false, &own);
        let signal = search.text().to_vec();
        self.manual.offered = Some(search);
        Some(Offer { key, ticket, signal })
    }

    /// The answer of a joiner, for the host. `None` if this is no joiner with manual signalling, or its host's offer cannot be read.
    pub fn answer(&mut self, now: Duration, seal: &mut Seal) -> Option<Answer> {
        let signal = self.manual.signal.clone()?;
        let (ticket, shown) = (self.signalling.ticket?, seal.target()?);
        let candidates = self.own_candidates();
        let own = self.own(&candidates);
        let mut search = Search::new(now, self.origin, shown, true, &own);
        let init = seal.write_init(now, ticket, search.text())?;
        search.begin(&signal, &self.theirs(&signal));
        self.searches = vec![search];
        self.manual.again_at = Some(now + AGAIN_AFTER);
        self.stir();
        Some(Answer { init })
    }

    /// Takes the joiner's answer.
    ///
    /// # Errors
    /// If it answers another offer, or none.
    pub fn take_answer(
        &mut self,
        now: Duration,
        seal: &mut Seal,
        answer: &Answer,
    ) -> Result<(), SealRefusal> {
        let Brought::Guest(shown) = seal.handle_signal(now, &answer.init)? else {
            return Err(SealRefusal::Unexpected);
        };
        let text = seal.take_signal_of(shown).unwrap_or_default();
        let signal = Signal::decode(&text).ok_or(SealRefusal::BadHandshake)?;
        let mut search = self.manual.offered.take().ok_or(SealRefusal::Unexpected)?;
        (search.shown, search.since) = (shown, now);
        search.begin(&signal, &self.theirs(&signal));
        self.manual.resp = seal.answer_signal(now, shown, search.text());
        self.since = Some(now);
        self.searches.push(search);
        self.stir();
        Ok(())
    }

    /// Sends the RESP on the path that was found, until the guest is there; and lets a joiner check anew.
    pub(super) fn meet_manual(&mut self, now: Duration, seal: &Seal) {
        if seal.stats().connections > 0 {
            // A joiner's path may be older than its connection.
            if self.manual.again_at.take().is_some()
                && let Some(search) = self.searches.last_mut()
            {
                search.offered = None;
            }
            self.manual.resp = None;
            return;
        }
        let path = self.searches.last().and_then(|search| search.offered);
        if let (Some(resp), Some((path, _))) = (&self.manual.resp, path)
            && now >= self.manual.resp_at
            && self.manual.repeats < MAX_REPEATS
        {
            self.manual.repeats += 1;
            self.manual.resp_at = now + REPEAT;
            let resp = resp.clone();
            self.push(path.remote, resp);
        }
        if self.manual.again_at.is_some_and(|at| now >= at)
            && let Some(signal) = &self.manual.signal
        {
            self.manual.again_at = Some(now + AGAIN_AFTER);
            let theirs = self.theirs(signal);
            let credentials = signal.credentials;
            if let Some(search) = self.searches.last_mut() {
                search.again(now, &credentials, &theirs);
            }
        }
    }
}
