//! One peer connection with its data channel.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use js_sys::{Array, Function, Promise};
use rebout::web::{Description, IceServer, News};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    MessageEvent, RtcConfiguration, RtcDataChannel, RtcDataChannelInit, RtcDataChannelState,
    RtcDataChannelType, RtcIceGatheringState, RtcIceServer, RtcPeerConnection, RtcPeerConnectionState,
    RtcSdpType, RtcSessionDescriptionInit,
};

use super::inbox::Inbox;
use crate::wire::Clock;

/// More than this unsent is a channel that stands still: newer datagrams are lost, as on a full link.
const MAX_BUFFERED: u32 = 16 * 1024;
/// How long candidates are gathered before the description is sent as it is.
const GATHERING: Duration = Duration::from_secs(1);
/// How often the state of gathering is looked at, in milliseconds.
const LOOK_MILLIS: i32 = 10;
/// The first byte of a message of the other side is at least this one: smaller ones are the transport's own news.
const FIRST_BYTE: u8 = 0x20;

/// One peer connection. Dropping it closes it.
#[derive(Debug)]
pub(super) struct Peer {
    addr: SocketAddr,
    connection: RtcPeerConnection,
    channel: RtcDataChannel,
    told: Rc<Told>,
    /// The handlers, which must live as long as the browser may call them.
    on_message: Closure<dyn FnMut(MessageEvent)>,
    on_open: Closure<dyn FnMut()>,
    on_close: Closure<dyn FnMut()>,
    on_state: Closure<dyn FnMut()>,
}

/// Where the news of a peer connection go. One that was replaced has none.
#[derive(Debug)]
struct Told {
    addr: SocketAddr,
    inbox: Rc<Inbox>,
    is_current: Cell<bool>,
}

impl Told {
    fn tell(&self, news: &News) {
        if self.is_current.get() {
            self.inbox.push(self.addr, news.encode());
        }
    }
}

impl Peer {
    pub(super) fn open(
        addr: SocketAddr,
        servers: &[IceServer],
        offer: Option<Description>,
        inbox: &Rc<Inbox>,
        clock: Clock,
    ) -> Result<Self, JsValue> {
        let config = RtcConfiguration::new();
        config.set_ice_servers(&servers.iter().map(ice_server).collect::<Array>());
        let connection = RtcPeerConnection::new_with_configuration(&config)?;
        let init = RtcDataChannelInit::new();
        init.set_negotiated(true);
        init.set_id(0);
        init.set_ordered(false);
        init.set_max_retransmits(0);
        let channel = connection.create_data_channel_with_data_channel_dict("rebout", &init);
        channel.set_binary_type(RtcDataChannelType::Arraybuffer);
        let told = Rc::new(Told { addr, inbox: Rc::clone(inbox), is_current: Cell::new(true) });

        let filled = Rc::clone(inbox);
        let on_message =
            Closure::new(move |event: MessageEvent| filled.take_message(addr, &event.data(), FIRST_BYTE));
        channel.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        let here = Rc::clone(&told);
        let on_open = Closure::new(move || here.tell(&News::Opened));
        channel.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        let here = Rc::clone(&told);
        let on_close = Closure::new(move || here.tell(&News::Closed));
        channel.set_onclose(Some(on_close.as_ref().unchecked_ref()));
        let (here, state) = (Rc::clone(&told), connection.clone());
        let on_state = Closure::new(move || {
            if matches!(
                state.connection_state(),
                RtcPeerConnectionState::Failed | RtcPeerConnectionState::Closed
            ) {
                here.tell(&News::Closed);
            }
        });
        connection.set_onconnectionstatechange(Some(on_state.as_ref().unchecked_ref()));

        let (here, described) = (Rc::clone(&told), connection.clone());
        spawn_local(async move {
            let local = describe(&described, offer, clock).await.ok().flatten();
            here.tell(&local.map_or(News::Closed, News::Local));
        });
        Ok(Self { addr, connection, channel, told, on_message, on_open, on_close, on_state })
    }

    pub(super) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Sets the answer to the offer that this side has made.
    pub(super) fn answer(&self, answer: &Description) {
        let set =
            self.connection.set_remote_description(&description(RtcSdpType::Answer, &answer.to_sdp(false)));
        let here = Rc::clone(&self.told);
        spawn_local(async move {
            if JsFuture::from(set).await.is_err() {
                here.tell(&News::Closed);
            }
        });
    }

    pub(super) fn send(&self, datagram: &[u8]) {
        if self.channel.ready_state() == RtcDataChannelState::Open
            && self.channel.buffered_amount() < MAX_BUFFERED
        {
            let _ = self.channel.send_with_u8_array(datagram);
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.told.is_current.set(false);
        self.channel.set_onmessage(None);
        self.channel.set_onopen(None);
        self.channel.set_onclose(None);
        self.connection.set_onconnectionstatechange(None);
        self.connection.close();
        // The browser has no way to them any more.
        let _ = (&self.on_message, &self.on_open, &self.on_close, &self.on_state);
    }
}

fn ice_server(server: &IceServer) -> RtcIceServer {
    let ice = RtcIceServer::new();
    ice.set_urls(&server.urls.iter().map(|url| JsValue::from_str(url)).collect::<Array>());
    if !server.username.is_empty() {
        ice.set_username(&server.username);
        ice.set_credential(&server.credential);
    }
    ice
}

fn description(kind: RtcSdpType, sdp: &str) -> RtcSessionDescriptionInit {
    let init = RtcSessionDescriptionInit::new(kind);
    init.set_sdp(sdp);
    init
}

/// Offers, or answers an offer, and gathers candidates.
async fn describe(
    connection: &RtcPeerConnection,
    offer: Option<Description>,
    clock: Clock,
) -> Result<Option<Description>, JsValue> {
    let local = match offer {
        Some(offer) => {
            let remote = description(RtcSdpType::Offer, &offer.to_sdp(true));
            JsFuture::from(connection.set_remote_description(&remote)).await?;
            JsFuture::from(connection.create_answer()).await?
        }
        None => JsFuture::from(connection.create_offer()).await?,
    };
    JsFuture::from(connection.set_local_description(local.unchecked_ref())).await?;
    let until = clock().saturating_add(GATHERING);
    while connection.ice_gathering_state() != RtcIceGatheringState::Complete && clock() < until {
        sleep(LOOK_MILLIS).await?;
    }
    Ok(connection.local_description().and_then(|local| Description::from_sdp(&local.sdp())))
}

async fn sleep(millis: i32) -> Result<JsValue, JsValue> {
    let mut begin = |resolve: Function, reject: Function| {
        let window = web_sys::window().ok_or(JsValue::NULL);
        let set = window.and_then(|window| {
            window.set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, millis)
        });
        if let Err(error) = set {
            let _ = reject.call1(&JsValue::NULL, &error);
        }
    };
    JsFuture::from(Promise::new(&mut begin)).await
}
