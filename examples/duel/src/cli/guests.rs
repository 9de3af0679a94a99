//! The arguments of a match between two machines: whom a host lets in, and whether a relay may carry it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rebout::reach::Relay;

use crate::play::{Admits, reaching};
use stage::address;

/// The file of a kept key, where none is named.
const KEY_FILE: &str = "duel.key";

/// Whom a host lets in.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Guests")]
pub struct Guests {
    /// Put this address into the invite, such as that of the router; may be said again
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["open", "bare"])]
    public: Vec<String>,
    /// Keep the key of the invite in a file, so that the invite is good again the next time
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = KEY_FILE,
          conflicts_with_all = ["open", "bare"])]
    keep: Option<PathBuf>,
    /// Meet the guest at this rendezvous: no port has to be forwarded [default: what
    /// REBOUT_RENDEZVOUS or the settings name]
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["open", "bare"])]
    rendezvous: Option<String>,
    /// Meet without any server: you send the other player a call, and paste the answer
    #[arg(long, conflicts_with_all = ["open", "bare", "rendezvous", "keep"])]
    by_hand: bool,
    /// Let in whoever knows your address; you are asked first, and compare a code
    #[arg(long, conflicts_with = "bare")]
    open: bool,
    /// Play without a seal: anybody on the way can read and forge. The guest must say so too
    #[arg(long)]
    bare: bool,
}

impl Guests {
    /// Whom the host lets in, with the rendezvous of the settings; an error if an address is none.
    pub fn admits(&self, kept: &str, relay: Relay) -> Result<Admits, String> {
        let hidden = relay == Relay::Only;
        if hidden && (self.bare || self.open || self.by_hand) {
            return Err(reaching::NOT_HIDDEN.to_owned());
        }
        if self.bare {
            return Ok(Admits::Bare);
        }
        if self.open {
            return Ok(Admits::Everybody);
        }
        // Port 0 stands for that of the socket.
        let public = self.public.iter().map(|text| address::resolve(text, 0)).collect::<Result<_, _>>()?;
        if self.by_hand {
            return Ok(Admits::Called { public });
        }
        let meeting = reaching::meeting(self.rendezvous.as_deref(), kept, relay)?;
        if hidden && meeting.is_none() {
            return Err(reaching::NOT_HIDDEN.to_owned());
        }
        Ok(Admits::Invited { public, keep: self.keep.clone(), meeting })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RelayUse {
    Allow,
    Never,
    Only,
}

impl RelayUse {
    pub const fn relay(self) -> Relay {
        match self {
            Self::Allow => Relay::Allow,
            Self::Never => Relay::Never,
            Self::Only => Relay::Only,
        }
    }
}
