//! Parts own their state: no visible fields, few of them, and no role that names a wire.

use crate::sources;
use std::path::Path;

/// The parts of a session, and those of an authority server and its clients, each with its file.
const PARTS: &[(&str, &str)] = &[
    ("session/mod.rs", "Session"),
    ("session/simulation.rs", "Simulation"),
    ("session/input_stream.rs", "InputStream"),
    ("session/pace.rs", "Pace"),
    ("session/liveness.rs", "Liveness"),
    ("session/ending.rs", "Ending"),
    ("session/event_queue.rs", "EventQueue"),
    ("session/traffic.rs", "Traffic"),
    ("session/desync/mod.rs", "Watch"),
    ("session/outbox.rs", "Outbox"),
    ("session/measures.rs", "Measures"),
    ("session/delay.rs", "DelayControl"),
    ("session/pause_agreement.rs", "Pause"),
    ("session/lobby/mod.rs", "Lobby"),
    ("session/lobby/hosting.rs", "Hosting"),
    ("session/lobby/joining.rs", "Joining"),
    ("session/lobby/transfer/receiver.rs", "Receiver"),
    ("session/lobby/transfer/sender.rs", "Sender"),
    ("session/desync/dispute.rs", "Dispute"),
    ("session/desync/mending.rs", "Mending"),
    ("session/desync/watch/checksums.rs", "Checksums"),
    ("session/desync/watch/sliced.rs", "Sliced"),
    ("session/desync/watch/archive.rs", "Archive"),
    ("session/desync/autopsy/examiner/mod.rs", "Examiner"),
    ("session/desync/autopsy/exchange.rs", "Exchange"),
    ("session/desync/autopsy/peer_claims.rs", "PeerClaims"),
    ("session/desync/autopsy/examined_state.rs", "ExaminedState"),
    ("session/peer/link.rs", "Link"),
    ("session/peer/owed.rs", "Owed"),
    ("session/peer/rate.rs", "SendRate"),
    ("session/peer/copies.rs", "Copies"),
    ("session/peer/marks.rs", "Marks"),
    ("session/peer/handshake_responder.rs", "HandshakeResponder"),
    ("replay/stream.rs", "StreamRecorder"),
    ("replay/chunk.rs", "Chunk"),
    ("replay/recording.rs", "Recording"),
    ("replay/playback.rs", "Playback"),
    ("replay/viewer.rs", "Viewer"),
    ("broadcast/broadcast.rs", "Broadcast"),
    ("broadcast/spectator.rs", "Spectator"),
    ("broadcast/audience.rs", "Audience"),
    ("broadcast/guest.rs", "Guest"),
    ("broadcast/assembly.rs", "Assembly"),
    ("broadcast/sender.rs", "Sender"),
    ("broadcast/track.rs", "Track"),
    ("online/mod.rs", "Online"),
    ("online/rejoin.rs", "Rejoin"),
    ("online/returning.rs", "Returning"),
    ("online/keeping.rs", "Keeping"),
    ("online/audience.rs", "Audience"),
    ("channel/probes.rs", "Probes"),
    ("channel/listening.rs", "Listening"),
    ("channel/rtt.rs", "RoundTrip"),
    ("channel/silence.rs", "Silence"),
    ("channel/reliable.rs", "Reliable"),
    ("channel/sequence.rs", "Sequences"),
    ("net/socket.rs", "DatagramSocket"),
    ("connect/nat/mod.rs", "NatTraversal"),
    ("connect/nat/endpoint.rs", "Endpoint"),
    ("connect/nat/relay.rs", "Relay"),
    ("connect/nat/allocation.rs", "Allocation"),
    ("connect/nat/signalling.rs", "Signalling"),
    ("connect/nat/gathering.rs", "Gathering"),
    ("connect/nat/manual.rs", "Manual"),
    ("connect/nat/mapping.rs", "Mapping"),
    ("connect/nat/searches.rs", "Searches"),
    ("connect/nat/search.rs", "Search"),
    ("connect/nat/negotiation.rs", "Negotiation"),
    ("connect/nat/nomination.rs", "Nomination"),
    ("connect/nat/fallbacks.rs", "Fallbacks"),
    ("connect/nat/checks.rs", "Checks"),
    ("connect/nat/results.rs", "Results"),
    ("connect/nat/paths.rs", "PathTable"),
    ("connect/nat/budget.rs", "Budget"),
    ("connect/nat/outbox.rs", "Outbox"),
    ("connect/nat/report.rs", "Report"),
    ("connect/rendezvous/registration.rs", "Registration"),
    ("connect/rendezvous/signed.rs", "SignedLog"),
    ("connect/rendezvous/standing.rs", "Standing"),
    ("connect/rendezvous/watch.rs", "Watch"),
    ("connect/rendezvous/answers.rs", "Answers"),
    ("connect/rendezvous/claims.rs", "Claims"),
    ("connect/rendezvous/exchange.rs", "Exchange"),
    ("connect/rendezvous/join_request.rs", "JoinRequest"),
    ("connect/rendezvous/server/mod.rs", "RendezvousServer"),
    ("connect/rendezvous/server/rooms.rs", "Rooms"),
    ("connect/rendezvous/server/tenancy.rs", "Tenancy"),
    ("connect/rendezvous/server/guests.rs", "Guests"),
    ("connect/rendezvous/server/queue.rs", "Queues"),
    ("connect/rendezvous/server/quota.rs", "Limits"),
    ("connect/rendezvous/server/grants.rs", "Grants"),
    ("channel/window.rs", "Window"),
    ("connect/seal/mod.rs", "Seal"),
    ("connect/seal/association.rs", "Association"),
    ("connect/seal/associations.rs", "Associations"),
    ("connect/seal/channel.rs", "Channel"),
    ("connect/seal/code.rs", "Comparison"),
    ("connect/seal/contact.rs", "Contact"),
    ("connect/seal/access.rs", "Access"),
    ("connect/seal/host.rs", "Host"),
    ("connect/seal/joiner.rs", "Joiner"),
    ("connect/seal/outbox.rs", "Outbox"),
    ("connect/seal/paths.rs", "Paths"),
    ("connect/seal/rate_limiter.rs", "RateLimiter"),
    ("connect/seal/roam.rs", "Roam"),
    ("connect/seal/signals.rs", "Signals"),
    ("connect/seal/tickets.rs", "Tickets"),
    ("connect/connection/mod.rs", "Connection"),
    ("connect/connection/paths.rs", "Paths"),
    ("connect/invite/mod.rs", "Invite"),
    ("authority/server/mod.rs", "Server"),
    ("authority/server/access.rs", "Access"),
    ("authority/server/trial.rs", "Trial"),
    ("authority/server/seats.rs", "Seats"),
    ("authority/server/seat.rs", "Seat"),
    ("authority/server/input_buffer.rs", "InputBuffer"),
    ("authority/server/sequenced.rs", "Sequenced"),
    ("authority/server/replicated.rs", "Replicated"),
    ("authority/server/broadcast.rs", "Broadcast"),
    ("authority/server/frame_clock.rs", "FrameClock"),
    ("authority/client/mod.rs", "Client"),
    ("authority/client/lifecycle.rs", "Lifecycle"),
    ("authority/client/schedule.rs", "Schedule"),
    ("authority/client/by_frames.rs", "ByFrames"),
    ("authority/client/by_arrival.rs", "ByArrival"),
    ("authority/client/steps.rs", "Steps"),
    ("authority/client/own.rs", "Own"),
    ("authority/dialect/game/connection.rs", "Connection"),
    ("authority/dialect/game/server_link.rs", "ServerLink"),
    ("authority/dialect/game/client_link.rs", "ClientLink"),
    ("authority/dialect/rtype/server_link.rs", "ServerLink"),
    ("authority/dialect/rtype/client_link.rs", "ClientLink"),
];

/// Plain data of these files: values without a rule to keep, which may be read field by field.
const PLAIN_DATA: &[&str] = &[
    "Run",
    "Beside",
    "Answer",
    "Paused",
    "LastState",
    "NatConfig",
    "PathTo",
    "Path",
    "Guest",
    "Challenge",
    "Claim",
    "Meeting",
    "Handover",
    "Comparison",
    "Conclusion",
    "PeerNotes",
    "Essentials",
    "Admission",
    "AuthenticatedPeer",
    "SilenceLimits",
    "UdpStats",
    "UdpOptions",
    "Peer",
    "Pending",
    "Received",
    "Opened",
    "Joined",
    "Waiting",
    "Code",
    "Rendezvous",
    "Newcomer",
    "Vouched",
    "Written",
    "Stamp",
];

/// A type of `authority` with more fields than this is to be made of parts.
const MAX_FIELDS: usize = 10;

/// The fields of a struct, one a line.
fn fields(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| line.contains(": ") && !line.starts_with('#')).collect()
}

#[test]
fn types_of_authority_are_made_of_parts() {
    let mut seen = 0;
    for source in sources().iter().filter(|source| source.room == "authority") {
        for (name, text) in structs(&source.code) {
            // Configs and statistics are plain data: every field is public.
            let fields = fields(text);
            if fields.iter().any(|field| !field.starts_with("pub ")) {
                assert!(fields.len() <= MAX_FIELDS, "{:?}: {name} has {} fields", source.path, fields.len());
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "only {seen} structs found: is this test still reading them?");
}

#[test]
fn no_role_of_authority_asks_for_its_wire() {
    let roles = ["authority/server", "authority/client"].map(Path::new);
    for source in sources().iter().filter(|source| roles.iter().any(|role| source.path.starts_with(role))) {
        for word in ["GameWire", "RtypeWire", "TypeId", "wire::"] {
            assert!(!source.code.contains(word), "{:?} has {word}", source.path);
        }
    }
}

/// The structs of a file, each with the text of its fields.
fn structs(code: &str) -> Vec<(&str, &str)> {
    let declared = code.match_indices("struct ").filter_map(|(at, word)| {
        let rest = &code[at + word.len()..];
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        let opening = rest.find(['{', '(', ';'])?;
        let closing = match &rest[opening..=opening] {
            "{" => rest.find("\n}").or_else(|| rest.find('}'))?,
            "(" => rest.find(");")?,
            _ => opening,
        };
        Some((name, &rest[opening..closing]))
    });
    declared.collect()
}

#[test]
fn part_is_touched_through_its_calls_only() {
    let sources = sources();
    for &(path, part) in PARTS {
        let source = sources.iter().find(|source| source.path == Path::new(path)).expect(path);
        let structs = structs(&source.code);
        assert!(structs.iter().any(|(name, _)| *name == part), "{path} has no struct {part}");
        for (name, fields) in structs {
            let visible =
                fields.split(['\n', '{', '(', ',']).any(|field| field.trim_start().starts_with("pub"));
            assert!(!visible || PLAIN_DATA.contains(&name), "{path}: a field of {name} is visible outside");
        }
    }
}

#[test]
fn struct_parser_finds_names_and_fields() {
    let code = "pub struct A<T> {\n    pub(super) a: T,\n}\nstruct B(pub u8);\nstruct C;";
    let found = structs(code);
    assert_eq!(found.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["A", "B", "C"]);
    assert!(found[0].1.contains("pub(super) a") && found[1].1.contains("pub u8"));
}
