//! The arguments of a match between two machines: whom a host lets in, and whether a relay may carry it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use rebout::{BroadcastConfig, ConnectOptions, RelayPolicy};

use crate::opponents::Opponents;
use crate::play::{Admits, HostEndpoint, rendezvous};
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
    /// Leave the addresses of this machine out of an invite with a rendezvous: its readers learn none
    #[arg(long, conflicts_with_all = ["open", "bare", "by_hand", "public"])]
    leave_addresses_out: bool,
    /// Meet without a rendezvous: you send the other player an offer, and paste the answer
    #[arg(long, conflicts_with_all = ["open", "bare", "rendezvous", "keep"])]
    by_hand: bool,
    /// Ask this STUN server for the address of your router, which --by-hand needs between two routers
    /// [default: the rendezvous that REBOUT_RENDEZVOUS or the settings name]
    #[arg(long, value_name = "ADDRESS", requires = "by_hand")]
    stun: Option<String>,
    /// Let nobody join by your invites after this many minutes
    #[arg(long, value_name = "MINUTES", conflicts_with_all = ["open", "bare", "by_hand"],
          value_parser = clap::value_parser!(u32).range(1..=525_600))]
    valid_for: Option<u32>,
    /// Let in opponents of earlier matches only, by their player keys
    #[arg(long, conflicts_with = "bare")]
    known: bool,
    /// Let up to this many spectators watch, with an invite of their own; 0 lets nobody [default: 8]
    #[arg(long, value_name = "N", default_value_t = 8, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(0..=256))]
    spectators: u16,
    /// Let spectators see the match this many seconds late, up to 600
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(0..=600))]
    watch_delay: u16,
    /// Let in whoever knows your address; you are asked first, and compare a code
    #[arg(long, conflicts_with = "bare")]
    open: bool,
    /// Play without encryption: anybody on the way can read and forge. The guest must say so too
    #[arg(long)]
    bare: bool,
}

impl Guests {
    /// The place of a host with these options, and with the rendezvous of the settings. Blocks while names are looked up.
    ///
    /// # Errors
    /// If an address is none.
    pub fn endpoint(
        &self,
        port: u16,
        mut options: ConnectOptions,
        kept: &str,
        opponents: &Opponents,
    ) -> Result<HostEndpoint, String> {
        // Port 0 stands for that of the socket.
        for text in &self.public {
            options = options.public(address::resolve(text, 0)?);
        }
        if let Some(file) = &self.keep {
            options = options.keep_key_in(file);
        }
        if let Some(minutes) = self.valid_for {
            options = options.invites_valid_for(Duration::from_secs(60 * u64::from(minutes)));
        }
        if self.known {
            options = opponents.only_known(options)?;
        }
        if self.leave_addresses_out {
            options = options.leave_addresses_out();
        }
        let admits = match self {
            Self { bare: true, .. } => Admits::Bare,
            Self { open: true, .. } => Admits::Everybody,
            Self { by_hand: true, stun: Some(server), .. } => {
                options = options.stun(server);
                Admits::ByHand { rendezvous: None }
            }
            Self { by_hand: true, .. } => Admits::ByHand { rendezvous: rendezvous(None, kept) },
            Self { rendezvous: named, .. } => {
                Admits::Invited { rendezvous: rendezvous(named.as_deref(), kept) }
            }
        };
        let spectators = (self.spectators > 0).then(|| BroadcastConfig {
            max_spectators: self.spectators,
            delay: Duration::from_secs(self.watch_delay.into()),
            ..BroadcastConfig::default()
        });
        Ok(HostEndpoint::new(port, options, admits).with_spectators(spectators))
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RelayUse {
    Allow,
    Never,
    Only,
}

impl RelayUse {
    pub const fn relay(self) -> RelayPolicy {
        match self {
            Self::Allow => RelayPolicy::Allow,
            Self::Never => RelayPolicy::Never,
            Self::Only => RelayPolicy::Only,
        }
    }
}
