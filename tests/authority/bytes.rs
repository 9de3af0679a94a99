//! Bytes a second of whole snapshots, against the document's table.

use crate::lab::{Lab, ms};
use rebout::authority::{GameWire, ServerConfig};
use rebout::lab::link::LinkConfig;

/// Snapshot bytes a second and client.
fn bytes_a_second(players: u64, broadcast_rate: u16) -> f64 {
    let mut config = ServerConfig::new(1);
    config.broadcast_rate = broadcast_rate;
    config.max_clients = players as u8;
    let mut lab = Lab::with_server(GameWire, 1, LinkConfig::new(ms(10)), config);
    for _ in 0..players {
        let at = lab.client_with(ms(100), |config| config.delta_snapshots = false);
        lab.client_mut(at).keeps = false;
    }
    lab.run_until(ms(5_000));
    assert_eq!(lab.server().server.clients() as u64, players);
    let before = lab.server().server.stats().snapshot_bytes_out;
    lab.run_until(ms(15_000));
    (lab.server().server.stats().snapshot_bytes_out - before) as f64 / 10.0 / players as f64
}

#[test]
fn snapshots_cost_what_the_documents_table_says() {
    // Bytes of a snapshot and snapshots a second, from the document.
    for (players, rate, documented) in
        [(4, 20, 104 * 20), (8, 20, 188 * 20), (8, 60, 188 * 60), (16, 20, 356 * 20)]
    {
        let measured = bytes_a_second(players, rate);
        let more = 100.0 * (measured / f64::from(documented) - 1.0);
        println!(
            "{players} players at {rate} Hz: {measured:.0} bytes/s a client, the document {documented}: {more:+.1} %"
        );
        assert!(more.abs() < 5.0, "{more} %");
    }
}

#[test]
fn sixty_four_players_get_two_snapshots_of_each_broadcast() {
    let measured = bytes_a_second(64, 20);
    // 55 entities and 9, each packet with header, tick, count and the last input.
    assert!((measured - f64::from(20 * (2 * 24 + 64 * 21))).abs() < 150.0, "{measured}");
    println!("64 players at 20 Hz: {measured:.0} bytes/s a client");
}
