//! Bytes to packets and back, and the document that describes them.

mod broadcast;
mod control;
mod doc;
mod message;
mod rbn1;
mod rendezvous;
mod rtype;
mod seal;
