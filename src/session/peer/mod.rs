//! One remote machine: handshake, acknowledgements and reliable messages, round trip, loss, frame lead.
//!
//! | file | |
//! |---|---|
//! | `handshake_responder` | answers to the HELLOs of strangers, without state about them |
//! | `link` | the control channel: acks, messages, pings, keep-alive |
//! | `owed`, `farewell`, `resync` | its parts: answers that are due, the goodbye, the way back when numbers have come apart |
//! | `marks` | the RTT, measured on input packets |
//! | `rate`, `copies`, `congestion`, `policing` | how many input packets a frame gets; second copies on a lossy link, fewer packets on a congested or limited one |
//! | `lead`, `arrivals` | how far this machine is ahead; the rate of the peer's frames |

pub(crate) mod arrivals;
mod congestion;
mod copies;
mod farewell;
pub(crate) mod handshake_responder;
pub(crate) mod lead;
pub(crate) mod link;
pub(crate) mod marks;
mod owed;
mod policing;
pub(crate) mod rate;
mod resync;
