//! Commands to the transport of a page, and news from it: how the library uses peer connections that a browser has.

use super::description::Description;
#[cfg(target_family = "wasm")]
use crate::connect::invite::ServerName;
#[cfg(target_family = "wasm")]
use crate::connect::rendezvous::Credentials;
#[cfg(target_family = "wasm")]
use std::net::SocketAddr;

const OPEN: u8 = 1;
const ANSWER: u8 = 2;
const CLOSE: u8 = 3;
const LOCAL: u8 = 0x11;
const OPENED: u8 = 0x12;
const CLOSED: u8 = 0x13;

/// A STUN or TURN server for `RTCPeerConnection`.
#[derive(Clone, PartialEq, Eq)]
pub struct IceServer {
    /// Its URLs.
    pub urls: Vec<String>,
    /// The user of a TURN server.
    pub username: String,
    /// The user's password.
    pub credential: String,
}

#[cfg(target_family = "wasm")]
impl IceServer {
    /// A rendezvous, which answers STUN: a page finds its address outside of a NAT without a TURN server.
    pub(crate) fn stun(server: SocketAddr, name: Option<&ServerName>) -> Self {
        let named = name.map(|name| format!("stun:{}:{}", name.name(), name.port()));
        let url = named.unwrap_or_else(|| format!("stun:{server}"));
        Self { urls: vec![url], username: String::new(), credential: String::new() }
    }

    /// The TURN server of a rendezvous, which is a STUN server too.
    pub(crate) fn of(credentials: Credentials) -> Self {
        let Credentials { server, user, password, .. } = credentials;
        let url = |scheme: &str, rest: &str| format!("{scheme}:{server}{rest}");
        let urls = vec![url("stun", ""), url("turn", "?transport=udp"), url("turn", "?transport=tcp")];
        Self { urls, username: user, credential: password }
    }
}

/// Without the password.
impl core::fmt::Debug for IceServer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IceServer").field("urls", &self.urls).finish_non_exhaustive()
    }
}

/// A command to the transport of a page, about the peer connection at the address to which it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelCommand {
    /// Makes a new peer connection, in the place of an earlier one.
    Open {
        /// The servers for its ICE agent.
        servers: Vec<IceServer>,
        /// The offer of the other side, which is to be answered. Without one this side offers.
        offer: Option<Description>,
    },
    /// Sets the answer of the other side.
    Answer(Description),
    /// Closes the peer connection.
    Close,
}

/// News of a peer connection, from its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// This side's description, with its candidates.
    Local(Description),
    /// The data channel is open.
    Opened,
    /// The peer connection has failed, or the other side has closed it.
    Closed,
}

impl ChannelCommand {
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Open { servers, offer } => {
                bytes.extend([OPEN, servers.len() as u8]);
                for server in servers {
                    bytes.push(server.urls.len() as u8);
                    let texts = server.urls.iter().chain([&server.username, &server.credential]);
                    texts.for_each(|text| put_text(&mut bytes, text));
                }
                if let Some(offer) = offer {
                    offer.put(&mut bytes);
                }
            }
            Self::Answer(answer) => {
                bytes.push(ANSWER);
                answer.put(&mut bytes);
            }
            Self::Close => bytes.push(CLOSE),
        }
        bytes
    }

    /// Reads a command. `None` for every other datagram: it is a message for the data channel.
    #[must_use]
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let (first, mut rest) = datagram.split_first()?;
        match *first {
            OPEN => {
                let count = *rest.split_off_first()?;
                let servers: Option<Vec<_>> = (0..count).map(|_| take_server(&mut rest)).collect();
                let offer = if rest.is_empty() { None } else { Some(Description::read(rest)?) };
                Some(Self::Open { servers: servers?, offer })
            }
            ANSWER => Some(Self::Answer(Description::read(rest)?)),
            CLOSE => rest.is_empty().then_some(Self::Close),
            _ => None,
        }
    }
}

impl News {
    /// The datagram that the transport returns for the news.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Local(description) => {
                let mut bytes = vec![LOCAL];
                description.put(&mut bytes);
                bytes
            }
            Self::Opened => vec![OPENED],
            Self::Closed => vec![CLOSED],
        }
    }

    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn decode(datagram: &[u8]) -> Option<Self> {
        let (first, rest) = datagram.split_first()?;
        match *first {
            LOCAL => Some(Self::Local(Description::read(rest)?)),
            OPENED => rest.is_empty().then_some(Self::Opened),
            CLOSED => rest.is_empty().then_some(Self::Closed),
            _ => None,
        }
    }
}

#[cfg(any(target_family = "wasm", test))]
fn put_text(bytes: &mut Vec<u8>, text: &str) {
    let text = &text.as_bytes()[..text.len().min(255)];
    bytes.push(text.len() as u8);
    bytes.extend(text);
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    let len = usize::from(*rest.split_off_first()?);
    Some(str::from_utf8(rest.split_off(..len)?).ok()?.to_owned())
}

fn take_server(rest: &mut &[u8]) -> Option<IceServer> {
    let count = *rest.split_off_first()?;
    let urls: Option<Vec<_>> = (0..count).map(|_| take_text(rest)).collect();
    Some(IceServer { urls: urls?, username: take_text(rest)?, credential: take_text(rest)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::web::description::tests::example;

    #[test]
    fn commands_and_news_come_back_from_their_bytes() {
        let server = IceServer {
            urls: vec!["turn:192.0.2.1:3478".into(), "stun:192.0.2.1:3478".into()],
            username: "1:ab".into(),
            credential: "c2VjcmV0".into(),
        };
        let offers = ChannelCommand::Open { servers: vec![server], offer: Some(example()) };
        let opens = ChannelCommand::Open { servers: Vec::new(), offer: None };
        for command in [offers, opens, ChannelCommand::Answer(example()), ChannelCommand::Close] {
            assert_eq!(ChannelCommand::decode(&command.encode()), Some(command));
        }
        for news in [News::Local(example()), News::Opened, News::Closed] {
            assert_eq!(News::decode(&news.encode()), Some(news));
        }
        for payload in [&[0xE4, 1, 2][..], &[], &[CLOSE, 0], &[OPEN], &[OPEN, 1], &[OPENED]] {
            assert_eq!(ChannelCommand::decode(payload), None, "{payload:?}");
        }
        assert!(!format!("{:?}", example()).contains("0123456789"));
    }
}
