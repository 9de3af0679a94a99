//! Fuzz targets: everything that reads bytes from outside.
//!
//! Each module is one target: `run` takes the fuzzer's bytes, and `seeds` are inputs to begin with, made by the crate's own encoders.
//! A target holds more than "no panic": what is decoded is encoded to the same bytes, memory stays in proportion, no call sends without
//! end, and whoever has no key changes nothing that the owner of a state machine can see. `fuzz/run` runs all of them.

// Decoders.
pub mod autopsy_notes;
pub mod bundle;
pub mod game;
pub mod invite;
pub mod rbn1;
pub mod rejoin_file;
pub mod rendezvous_packets;
pub mod replay;
pub mod resumption;
pub mod rtype;
pub mod seal_packets;
pub mod stun;
// State machines.
pub mod authority_client;
pub mod authority_server;
pub mod broadcast;
pub mod c_calls;
pub mod first_state;
pub mod nat;
pub mod pair_bare;
pub mod pair_insider;
pub mod pair_sealed;
pub mod port_mapping;
pub mod rendezvous_client;
pub mod rendezvous_server;
pub mod spectator;
// What they share.
mod attack;
mod authority;
mod bytes;
mod game_of_sums;
mod memory;
// Every function of the C interface, as its tests call them.
#[allow(dead_code)]
#[path = "../../bindings/c/tests/interface/calls.rs"]
mod calls;
#[allow(dead_code)]
#[path = "../../bindings/c/tests/interface/counters.rs"]
mod counters;

/// Every allocation is counted, so that a target can bound them.
#[global_allocator]
static HEAP: support::heap::Counting = support::heap::Counting;

/// The directory that a target writes its seeds to before it begins, if the environment names one.
const SEEDS_TO: &str = "REBOUT_FUZZ_SEEDS";

/// Writes the seeds of a target, for its program.
///
/// # Panics
/// If the directory cannot be written.
pub fn begin(seeds: fn() -> Vec<Vec<u8>>) {
    let Some(dir) = std::env::var_os(SEEDS_TO) else { return };
    for (number, seed) in seeds().iter().enumerate() {
        let path = std::path::Path::new(&dir).join(format!("seed-{number:03}"));
        std::fs::write(&path, seed).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

/// The program of a target.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        ::libfuzzer_sys::fuzz_target!(init: $crate::begin($crate::$name::seeds), |data: &[u8]| {
            $crate::$name::run(data)
        });
    };
}
