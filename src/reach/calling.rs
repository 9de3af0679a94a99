//! The first letters: a joiner's call and a host's answer, and the letters of new searches.

use super::letter::Letter;
use super::meeting::News;
use super::progress::NoWay;
use super::search::Search;
use super::{Reach, Relay, candidate};
use crate::seal::{Brought, Seal};
use core::time::Duration;
use std::net::SocketAddr;

/// The relay has this long to make an allocation, before a letter leaves without it.
pub(super) const GATHER: Duration = Duration::from_millis(1_200);
/// Peers that are searched for at once.
const MAX_SEARCHES: usize = 8;
/// A search without a path makes room for another after this long.
const HAD_TIME: Duration = Duration::from_secs(2);
/// A connection on which nothing was opened for this long makes room.
const GONE: Duration = Duration::from_secs(10);

/// A guest whose INIT was opened, and who waits for our letter.
#[derive(Debug)]
pub(super) struct Guest {
    number: u64,
    shown: SocketAddr,
    letter: Letter,
    pub(super) since: Duration,
}

/// The state of a reach before its letters are exchanged.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Since when a joiner with a ticket waits for the relay.
    pub(super) gathering: Option<Duration>,
    /// The ticket of the INIT that was posted last, and when the first one was.
    pub(super) posted: Option<u64>,
    pub(super) posted_at: Option<Duration>,
    pub(super) guests: Vec<Guest>,
    /// Why there is no answer for now.
    pub(super) silent: Option<NoWay>,
    /// Whether the rendezvous has answered.
    pub(super) met: bool,
    pub(super) restart_at: Duration,
    /// Since when a host has had no guest.
    pub(super) idle_since: Option<Duration>,
}

impl Reach {
    /// Takes the news of the rendezvous.
    pub(super) fn heard(&mut self, now: Duration, news: News, seal: &mut Seal) {
        match news {
            News::Seen { observed, credentials } => {
                (self.waiting.met, self.waiting.silent) = (true, None);
                self.observed.rendezvous_saw(observed);
                let trusted = |server: SocketAddr| {
                    candidate::is_admissible(server)
                        || self.meeting.server().is_some_and(|own| own.ip().is_loopback())
                };
                let named = credentials.filter(|credentials| trusted(credentials.server));
                if let Some(credentials) = named.filter(|_| self.relay != Relay::Never) {
                    self.relaying.set_credentials(credentials);
                }
                let unanswered = !self.searches.iter().any(|search| search.checks.has_begun());
                if !self.meeting.is_host() && unanswered && self.meeting.ticket != self.waiting.posted {
                    self.relaying.ask(now, self.random.next_12());
                    self.waiting.gathering.get_or_insert(now);
                }
            }
            News::Init { guest, init } => self.init(now, guest, &init, seal),
            News::Resp { resp } => {
                // Its letter comes by itself.
                if let Ok(Brought::Host(_)) = seal.handle_letter(now, &resp) {
                    self.meeting.settle();
                } else {
                    self.stats.letters_refused += 1;
                }
            }
            News::Silent(why) => self.waiting.silent = Some(why),
        }
    }

    /// A guest's INIT was brought.
    fn init(&mut self, now: Duration, number: u64, init: &[u8], seal: &mut Seal) {
        let brought = seal.handle_letter(now, init);
        match brought {
            Ok(Brought::Guest(shown)) => {
                let letter = seal.take_letter_of(shown).and_then(|text| Letter::decode(&text));
                let Some(letter) = letter.filter(|_| self.make_room(now, seal)) else {
                    self.stats.letters_refused += 1;
                    return;
                };
                self.relaying.ask(now, self.random.next_12());
                if self.found_after.is_none() {
                    self.since = Some(now);
                }
                self.waiting.guests.push(Guest { number, shown, letter, since: now });
            }
            Ok(Brought::Again(shown)) => {
                let search = self.searches.iter().find(|search| search.shown == shown);
                if let Some(resp) = search.and_then(|search| seal.answer_letter(now, shown, search.text())) {
                    self.meeting.answer(number, &resp);
                }
            }
            _ => self.stats.letters_refused += 1,
        }
    }

    /// Whether there is room for one more guest. One that was searched for without a path for a while makes room, or the one whose
    /// connection is silent for longest.
    fn make_room(&mut self, now: Duration, seal: &Seal) -> bool {
        if self.waiting.guests.len() + self.searches.len() < MAX_SEARCHES {
            return true;
        }
        let silent = |search: &Search| match search.connected {
            true => seal.silent_for(now, search.shown).filter(|silent| *silent >= GONE),
            false => Some(now.saturating_sub(search.since)).filter(|searched| *searched >= HAD_TIME),
        };
        let candidates =
            self.searches.iter().enumerate().filter_map(|(at, search)| Some((silent(search)?, at)));
        let oldest = candidates.max().map(|(_, at)| at);
        oldest.map(|at| self.searches.remove(at)).is_some()
    }

    /// Whether our candidates are all there, or have taken too long.
    fn has_gathered(&self, now: Duration, since: Duration) -> bool {
        !self.relaying.is_asking() || now >= since + GATHER
    }

    /// Posts a joiner's INIT when everything for its letter is there.
    pub(super) fn post_init(&mut self, now: Duration, seal: &mut Seal) {
        let Some(since) = self.waiting.gathering else { return };
        let (Some(ticket), Some(shown)) = (self.meeting.ticket, seal.target()) else { return };
        if !self.has_gathered(now, since) {
            return;
        }
        self.waiting.gathering = None;
        self.waiting.posted = Some(ticket);
        self.waiting.posted_at.get_or_insert(now);
        if self.searches.is_empty() {
            let candidates = self.own_candidates();
            let own = self.own(&candidates);
            self.searches.push(Search::new(now, self.origin, shown, true, &own));
        }
        let init = self.searches.first().and_then(|search| seal.write_init(now, ticket, search.text()));
        if let Some(init) = init {
            self.meeting.post(now, &init);
        }
    }

    /// Answers guests when everything for our letter is there.
    pub(super) fn answer_guests(&mut self, now: Duration, seal: &mut Seal) {
        let mut guests = core::mem::take(&mut self.waiting.guests);
        for guest in guests.extract_if(.., |guest| self.has_gathered(now, guest.since)).collect::<Vec<_>>() {
            let candidates = self.own_candidates();
            let own = self.own(&candidates);
            let mut search = Search::new(now, self.origin, guest.shown, false, &own);
            let Some(resp) = seal.answer_letter(now, guest.shown, search.text()) else { continue };
            self.meeting.answer(guest.number, &resp);
            let theirs = self.theirs(&guest.letter);
            search.begin(&guest.letter, &theirs);
            self.searches.push(search);
            self.permit(now, self.searches.len() - 1);
        }
        self.waiting.guests = guests;
    }

    /// A letter of a peer: with the RESP, or of a search in the middle of a match.
    pub(super) fn letter(&mut self, now: Duration, shown: SocketAddr, text: &[u8]) {
        let at = self.searches.iter().position(|search| search.shown == shown);
        let (Some(at), Some(letter)) = (at, Letter::decode(text)) else {
            self.stats.letters_refused += 1;
            return;
        };
        let theirs = self.theirs(&letter);
        if self.searches[at].is_newer(now, &letter) {
            let candidates = self.own_candidates();
            let own = self.own(&candidates);
            self.searches[at].follow(now, &letter, &theirs, &own);
        } else if !self.searches[at].answer(now, &letter, &theirs) {
            self.stats.letters_refused += 1;
            return;
        }
        self.searches[at].since = now;
        self.permit(now, at);
    }
}
