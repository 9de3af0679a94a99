//! A meeting by hand: the host's call and the joiner's answer are texts that the players send each other.

use super::search::Search;
use super::signal::Signal;
use super::signalling::Meeting;
use super::{Reach, ReachConfig};
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

/// The state of a meeting by hand.
#[derive(Debug, Default)]
pub(super) struct ByHand {
    /// The host's search, which waits for the answer.
    called: Option<Search>,
    /// The RESP that is sent on the first path, how often it was, and when it is next.
    resp: Option<Vec<u8>>,
    repeats: u32,
    resp_at: Duration,
    /// The host's signal, as its joiner has it.
    signal: Option<Signal>,
    /// When the joiner checks anew.
    again_at: Option<Duration>,
}

impl ByHand {
    /// Whether a joiner waits until the host has its answer.
    pub(super) fn waits(&self) -> bool {
        self.again_at.is_some()
    }
}

impl Reach {
    /// A host without a rendezvous: the players send each other two texts.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn host_by_hand(config: ReachConfig) -> Result<Self, SealError> {
        Self::new(config, Meeting::by_hand(true))
    }

    /// A joiner without a rendezvous, with the host's [call](Self::call). Its seal is one [by signalling](Seal::join_by_signal).
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn join_by_hand(config: ReachConfig, call: &Offer) -> Result<Self, SealError> {
        let mut reach = Self::new(config, Meeting::by_hand(false))?;
        reach.meeting.ticket = Some(call.ticket);
        reach.hand.signal = Signal::decode(&call.signal);
        Ok(reach)
    }

    /// The call of a host, for the joiner. `None` if this is no host by hand.
    pub fn call(&mut self, now: Duration, seal: &mut Seal) -> Option<Offer> {
        let key = seal.public_key().filter(|_| self.meeting.is_by_hand())?;
        let ticket = seal.renew_ticket()?;
        let candidates = self.own_candidates();
        let own = self.own(&candidates);
        let search = Search::new(now, self.origin, NOBODY, false, &own);
        let signal = search.text().to_vec();
        self.hand.called = Some(search);
        Some(Offer { key, ticket, signal })
    }

    /// The answer of a joiner, for the host. `None` if this is no joiner by hand, or its host's call cannot be read.
    pub fn answer(&mut self, now: Duration, seal: &mut Seal) -> Option<Answer> {
        let signal = self.hand.signal.clone()?;
        let (ticket, shown) = (self.meeting.ticket?, seal.target()?);
        let candidates = self.own_candidates();
        let own = self.own(&candidates);
        let mut search = Search::new(now, self.origin, shown, true, &own);
        let init = seal.write_init(now, ticket, search.text())?;
        search.begin(&signal, &self.theirs(&signal));
        self.searches = vec![search];
        self.hand.again_at = Some(now + AGAIN_AFTER);
        self.stir();
        Some(Answer { init })
    }

    /// Takes the joiner's answer.
    ///
    /// # Errors
    /// If it answers another call, or none.
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
        let mut search = self.hand.called.take().ok_or(SealRefusal::Unexpected)?;
        (search.shown, search.since) = (shown, now);
        search.begin(&signal, &self.theirs(&signal));
        self.hand.resp = seal.answer_signal(now, shown, search.text());
        self.since = Some(now);
        self.searches.push(search);
        self.stir();
        Ok(())
    }

    /// Sends the RESP on the path that was found, until the guest is there; and lets a joiner check anew.
    pub(super) fn meet_by_hand(&mut self, now: Duration, seal: &Seal) {
        if seal.stats().connections > 0 {
            // A joiner's path may be older than its connection.
            if self.hand.again_at.take().is_some()
                && let Some(search) = self.searches.last_mut()
            {
                search.offered = None;
            }
            self.hand.resp = None;
            return;
        }
        let path = self.searches.last().and_then(|search| search.offered);
        if let (Some(resp), Some((path, _))) = (&self.hand.resp, path)
            && now >= self.hand.resp_at
            && self.hand.repeats < MAX_REPEATS
        {
            self.hand.repeats += 1;
            self.hand.resp_at = now + REPEAT;
            let resp = resp.clone();
            self.push(path.remote, resp);
        }
        if self.hand.again_at.is_some_and(|at| now >= at)
            && let Some(signal) = &self.hand.signal
        {
            self.hand.again_at = Some(now + AGAIN_AFTER);
            let theirs = self.theirs(signal);
            let credentials = signal.credentials;
            if let Some(search) = self.searches.last_mut() {
                search.again(now, &credentials, &theirs);
            }
        }
    }
}
