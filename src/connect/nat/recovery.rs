//! Peers without a path that works: signals travel through the rendezvous, and a peer that is lost is searched for again.

use super::NatTraversal;
use super::candidate::Candidate;
use super::carrier::SEEK_AFTER;
use super::search::Search;
use super::searches::{is_cut_off, is_gone};
use crate::connect::seal::Seal;
use crate::protocol::time::Time;
use crate::protocol::trace;

impl NatTraversal {
    /// Recovers peers to which no path works: asks for the mapped address of this machine, and for lost allocations and
    /// permissions of the relay.
    pub(super) fn recover(&mut self, now: Time, seal: &Seal) {
        let Self { searches, signalling, endpoint, relay, .. } = self;
        let (mut seeks, mut is_any_cut_off) = (false, false);
        for search in searches.iter_mut() {
            is_any_cut_off |= search.is_sought(now);
            if !is_cut_off(now, seal, search) || is_gone(now, seal, search) {
                if search.carrier_mut().rest() {
                    signalling.settle();
                }
                continue;
            }
            is_any_cut_off = true;
            // Permissions that were lost, or asked for before there was an allocation.
            relay.permit(now, search.permitted(), search.inner());
            let first_at = if search.is_connected() { now } else { search.since() + SEEK_AFTER };
            // Where checks arrive, both have all signals, and more checks are worth more than a new search.
            let is_checked = !search.is_connected() && search.checks().is_checked(now);
            seeks |= !is_checked && search.carrier_mut().seeks(now, first_at);
        }
        if is_any_cut_off && searches.may_ask(now) {
            relay.ask(now, endpoint.draw_id());
        }
        if is_any_cut_off && let Some(addr) = signalling.take_seen() {
            endpoint.rendezvous_saw(addr);
        }
        if seeks {
            relay.look(now, endpoint.draw_id());
            signalling.locate();
        }
    }

    /// The rendezvous has said where it sees this joiner, whose host is sought. A host that was lost may have moved: a new search begins. The
    /// first one goes on as long as all of our candidates belong to it, because a new one would have to wait for the host's again.
    pub(super) fn located(&mut self, now: Time) {
        let Self { searches, endpoint, relay, .. } = self;
        let relayed = relay.relayed();
        for search in searches.iter_mut() {
            if !search.carrier_mut().located() {
                continue;
            }
            let is_outdated = !search.negotiation().unnamed(endpoint.candidates(relayed)).is_empty();
            if search.is_connected() || is_outdated {
                trace::search_begun(search.inner());
                let part = endpoint.part(relayed, search.channel().is_wanted());
                search.restart(now, part);
            } else {
                search.repeat(now);
            }
        }
    }

    /// Names candidates that came to be known late: in the search that is on, if there is nothing yet that it could cost or only an
    /// address on the relay is new, and otherwise in a new one.
    pub(super) fn name_late_candidates(&mut self, now: Time, seal: &Seal) {
        let Self { searches, endpoint, relay, .. } = self;
        let relayed = relay.relayed();
        let late = |search: &Search| search.negotiation().unnamed(endpoint.candidates(relayed));
        for search in searches.iter_mut() {
            let late: Vec<Candidate> = late(search);
            let is_relay = |one: &Candidate| Some(one.addr) == relayed;
            let is_lost = is_cut_off(now, seal, search) || search.is_sought(now);
            if !late.is_empty() && (is_lost || late.iter().all(is_relay)) {
                search.extend(now, &late);
            }
        }
        let is_outdated =
            // A page has one peer connection, and makes another only if that fails.
            |search: &Search| {
                let is_connected = seal.outer_addr(search.inner()).is_some();
                is_connected && !search.channel().is_wanted() && !late(search).is_empty()
            };
        if !relay.is_refreshing()
            && let Some(search) = searches.take_outdated(now, is_outdated)
        {
            trace::search_begun(search.inner());
            search.restart(now, endpoint.part(relayed, false));
        }
    }

    /// Sends the signals that are due: on the paths in use, and through the rendezvous where none works.
    pub(super) fn send_signals(&mut self, now: Time, seal: &mut Seal) {
        let Self { searches, signalling, .. } = self;
        for search in searches.iter_mut() {
            let inner = search.inner();
            let is_due = search.is_signal_due(now);
            if is_due {
                seal.send_signal(inner, &search.negotiation().text());
            }
            if let Some(guest) = search.carrier().guest(now).filter(|_| is_due) {
                if let Some(packet) = seal.write_signal(inner, &search.negotiation().text()) {
                    signalling.answer(guest, &packet);
                }
            } else if seal.target() == Some(inner)
                && is_cut_off(now, seal, search)
                && search.is_post_due(now)
                && let Some(packet) = seal.write_signal(inner, &search.negotiation().text())
            {
                signalling.post_signal(&packet);
            }
        }
    }
}
