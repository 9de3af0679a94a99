//! NatTraversal: how two machines behind routers find each other, and what strangers can do to that.

#[cfg(feature = "webrtc")]
mod by_channel;
mod by_hand;
mod connected;
mod hostile;
mod ice;
mod ice_hostile;
mod internet;
mod invites;
mod lossy;
mod meeting;
mod moving;
mod player;
mod recovery;
mod rejoin;
mod relay;
mod relay_hostile;
mod rendezvous;
mod rendezvous_clients;
mod rendezvous_flood;
mod rendezvous_watched;
mod third_party;
