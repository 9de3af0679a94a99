//! The counters of the server, as words, as fields of JSON, and in the text format of Prometheus.

use super::web::{Web, WebStats};
use rebout::rendezvous::{RendezvousServer, RoomRefusal};
use std::fmt::Write as _;

/// A number that the server keeps.
pub(crate) struct Counter {
    pub(crate) name: &'static str,
    pub(crate) value: u64,
    help: &'static str,
    /// Whether the number can fall.
    is_gauge: bool,
}

/// Every number but the refusals.
pub(crate) fn all(server: &RendezvousServer, web: Option<&Web>) -> Vec<Counter> {
    let stats = server.stats();
    let gauge = |name, value: usize, help| Counter { name, value: value as u64, help, is_gauge: true };
    let counter = |name, value, help| Counter { name, value, help, is_gauge: false };
    let mut all = vec![
        gauge("rooms", server.rooms(), "Rooms that are open."),
        gauge("guests", server.guests(), "Guests that wait for an answer."),
        counter("rooms_opened", stats.rooms_opened, "Rooms that were opened."),
        counter("refreshes", stats.refreshes, "Registrations that kept a room open."),
        counter("asks", stats.asks, "Joiners that asked for a ticket."),
        counter("grants", stats.grants, "Answers with a ticket and TURN credentials."),
        counter("signatures", stats.signatures, "Signatures that were checked."),
        counter("delivered", stats.delivered, "Messages of joiners that were handed to a host."),
        counter("answered", stats.answered, "Messages of hosts that were handed to a joiner."),
        counter("cookies", stats.cookies, "Cookies that were given."),
        counter("bindings", stats.bindings, "STUN requests that were answered."),
        counter("bytes_received", stats.bytes_received, "Bytes that came."),
        counter("bytes_sent", stats.bytes_sent, "Bytes that were sent."),
    ];
    if let Some(web) = web.map(Web::stats) {
        all.extend([
            counter("web_opened", web.opened, "Clients over WebSocket."),
            counter("web_turned_away", web.turned_away, "Clients over WebSocket beyond the limits."),
            counter("web_broken", web.broken, "Clients over WebSocket that broke a rule and were closed."),
            counter("web_unread", web.unread, "Datagrams that a client over WebSocket did not read."),
        ]);
    }
    all
}

/// The refusals that there were.
pub(crate) fn refused(server: &RendezvousServer) -> impl Iterator<Item = (RoomRefusal, u64)> {
    let stats = server.stats();
    RoomRefusal::ALL.into_iter().map(move |refusal| (refusal, stats.refused(refusal))).filter(|(_, n)| *n > 0)
}

pub(crate) fn words(server: &RendezvousServer, web: Option<&Web>) -> String {
    let stats = server.stats();
    let mut words = format!(
        "rooms: {} opened, {} open; {} asked for a ticket; {} INITs delivered, {} answered; {} bytes in, {} out",
        stats.rooms_opened,
        server.rooms(),
        stats.asks,
        stats.delivered,
        stats.answered,
        stats.bytes_received,
        stats.bytes_sent
    );
    for (refusal, count) in refused(server) {
        let _ = write!(words, "\nrefused {count}: {refusal}");
    }
    if let Some(WebStats { opened, turned_away, broken, unread }) = web.map(Web::stats) {
        let _ = write!(
            words,
            "\npages: {opened} opened, {turned_away} turned away, {broken} broken; {unread} datagrams unread"
        );
    }
    words
}

/// Version 0.0.4 of the format. Every reason to refuse is listed, so that a rate over it has a start.
pub(crate) fn prometheus(server: &RendezvousServer, web: Option<&Web>) -> String {
    let mut text = String::new();
    for Counter { name, value, help, is_gauge } in all(server, web) {
        let (name, kind) =
            if is_gauge { (name.to_owned(), "gauge") } else { (format!("{name}_total"), "counter") };
        let _ = writeln!(text, "# HELP rebout_rendezvous_{name} {help}");
        let _ = writeln!(text, "# TYPE rebout_rendezvous_{name} {kind}");
        let _ = writeln!(text, "rebout_rendezvous_{name} {value}");
    }
    text.push_str("# HELP rebout_rendezvous_refused_total Requests that were refused.\n");
    text.push_str("# TYPE rebout_rendezvous_refused_total counter\n");
    let stats = server.stats();
    for refusal in RoomRefusal::ALL {
        let count = stats.refused(refusal);
        let _ = writeln!(text, "rebout_rendezvous_refused_total{{reason=\"{}\"}} {count}", refusal.name());
    }
    text
}
