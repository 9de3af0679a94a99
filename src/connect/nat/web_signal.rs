//! A signal for a data channel, as a page reads and writes it.

use super::candidate::{Candidate, Kind};
use super::signal::{Credentials, Signal};
use crate::connect::web::{Description, WebCandidate, WebCandidateKind, WebSignal};

/// The bytes of a signal with this fingerprint. Candidates that do not fit are left out, the last first.
pub(super) fn encode(signal: &Signal, fingerprint: [u8; 32]) -> Vec<u8> {
    let kind = |kind| match kind {
        Kind::Host => WebCandidateKind::Host,
        Kind::Reflexive => WebCandidateKind::Reflexive,
        Kind::Relayed => WebCandidateKind::Relayed,
    };
    let candidates = signal.candidates.iter().map(|one| WebCandidate::At(kind(one.kind), one.addr));
    let ice = signal.credentials.for_ice();
    let Signal { no_relay, wants_answer, generation, revision, heard, .. } = *signal;
    let description = Description::new(&ice.ufrag, &ice.pass, fingerprint, candidates);
    let signal =
        |description| WebSignal { no_relay, wants_answer, generation, revision, heard, description }.encode();
    // Our own credentials are those of ICE.
    description.map(signal).unwrap_or_default()
}

/// Reads a signal for a data channel. Candidates that only the sender's own network knows are left out.
pub(super) fn decode(text: &[u8]) -> Option<Signal> {
    let WebSignal { no_relay, wants_answer, generation, revision, heard, description } =
        WebSignal::decode(text)?;
    let candidate = |one: &WebCandidate| match *one {
        WebCandidate::At(WebCandidateKind::Host, addr) => Some(Candidate { kind: Kind::Host, addr }),
        WebCandidate::At(WebCandidateKind::Reflexive, addr) => {
            Some(Candidate { kind: Kind::Reflexive, addr })
        }
        WebCandidate::At(WebCandidateKind::Relayed, addr) => Some(Candidate { kind: Kind::Relayed, addr }),
        WebCandidate::Hidden(..) => None,
    };
    let candidates = description.candidates.iter().filter_map(candidate).collect();
    let credentials = Credentials::of(&description.ufrag, &description.password);
    let fingerprint = Some(description.fingerprint);
    Some(Signal { no_relay, wants_answer, generation, revision, heard, credentials, candidates, fingerprint })
}
