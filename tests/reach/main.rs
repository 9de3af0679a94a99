//! Reach: how two machines behind routers find each other, and what strangers can do to that.

mod hostile;
mod meeting;
mod rendezvous;
