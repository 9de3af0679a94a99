//! A server in the middle, in the simulated network, with the server's own history as the oracle.

mod arena;
mod bytes;
mod clock;
mod deltas;
mod documents;
mod drawing;
mod exactness;
mod flood;
mod hostile;
mod lab;
mod playing;
mod records;
mod removal;
mod rounds;
mod rtype;
mod rtype_hostile;
mod seat_attacks;
mod seats;
mod stage;

#[global_allocator]
static ALLOCATOR: support::heap::Counting = support::heap::Counting;
