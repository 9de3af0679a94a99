//! The texts by which a joiner names its host.

use super::ConnectError;
use super::paths::{self, Offer};
use crate::net::system;
use crate::{Invite, InviteError, shown};
use core::fmt;
use std::net::SocketAddr;

/// The longest text of a player that is repeated in an error.
const MAX_REPEATED: usize = 60;

/// The host that a joiner names.
#[derive(Debug)]
pub(super) enum Named {
    Invited(Invite),
    Offered(Offer),
    At(SocketAddr),
}

impl Named {
    /// The name of the rendezvous server in an invite.
    #[cfg(feature = "udp")]
    pub(super) fn server_name(&self) -> Option<&str> {
        let Self::Invited(invite) = self else { return None };
        invite.named_rendezvous().map(|(server, _)| server.name())
    }

    /// Reads an invite, an offer or an address. An address without a port is refused, because it would be guessed.
    pub(super) fn read(text: &str) -> Result<Self, ConnectError> {
        let because = |why: String| ConnectError::Text { why };
        match text.parse::<Invite>() {
            Ok(invite) => return Ok(Self::Invited(invite)),
            Err(InviteError::NotAnInvite) => {}
            Err(error) => return Err(because(error.to_string())),
        }
        if let Some(offer) = paths::read_offer(text)? {
            return Ok(Self::Offered(offer));
        }
        let text = text.trim();
        let has_port = text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        if !has_port || text.chars().count() > MAX_REPEATED || text.contains(char::is_whitespace) {
            let text: String = text.chars().take(MAX_REPEATED).collect();
            let text = shown(&text);
            return Err(because(format!(
                "\"{text}\" is neither an invite (rebout:2:...) nor an address with a port (192.0.2.1:7000)"
            )));
        }
        system::resolve(text, 0).map(Self::At).map_err(|error| ConnectError::name(text, &error))
    }
}

/// An error about an invite, as one about another kind of text: its name, and how it begins.
#[cfg(feature = "nat")]
pub(super) struct About(pub(super) &'static str, pub(super) &'static str, pub(super) InviteError);

#[cfg(feature = "nat")]
impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(noun, scheme, error) = self;
        error.about(noun, scheme, f)
    }
}

/// Addresses as a part of a sentence.
pub(super) fn list(addresses: &[SocketAddr]) -> impl fmt::Display {
    let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    texts.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_a_part_of_a_sentence() {
        let addresses = ["10.0.0.1:7", "[2001:db8::1]:7"].map(|text| text.parse().unwrap());
        assert_eq!(list(&addresses).to_string(), "10.0.0.1:7 or [2001:db8::1]:7");
        assert_eq!(list(&addresses[..1]).to_string(), "10.0.0.1:7");
    }
}
