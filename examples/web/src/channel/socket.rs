//! The WebSocket to the rendezvous, opened again when it closes.

use std::rc::Rc;
use std::time::Duration;

use rebout::web::SERVER;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{BinaryType, MessageEvent, WebSocket};

use super::inbox::Inbox;

/// The wait before the first attempt to open it again; it doubles up to the last.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LAST_WAIT: Duration = Duration::from_secs(8);

/// The way to the rendezvous. A message is a datagram.
#[derive(Debug)]
pub(super) struct Socket {
    url: String,
    socket: Option<WebSocket>,
    inbox: Rc<Inbox>,
    on_message: Closure<dyn FnMut(MessageEvent)>,
    wait: Duration,
    open_at: Duration,
}

impl Socket {
    pub(super) fn new(url: String, inbox: Rc<Inbox>) -> Self {
        let filled = Rc::clone(&inbox);
        let on_message =
            Closure::new(move |event: MessageEvent| filled.take_message(SERVER, &event.data(), 0));
        Self { url, socket: None, inbox, on_message, wait: FIRST_WAIT, open_at: Duration::ZERO }
    }

    /// Opens the socket, or opens it again after a wait.
    pub(super) fn keep_open(&mut self, now: Duration) {
        if self.socket.as_ref().is_some_and(|socket| socket.ready_state() <= WebSocket::OPEN)
            || now < self.open_at
        {
            return;
        }
        self.open_at = now.saturating_add(self.wait);
        self.wait = self.wait.saturating_mul(2).min(LAST_WAIT);
        self.close();
        // A URL that the browser refuses is tried again like a server that is gone; the search for the other player ends in time.
        let Ok(socket) = WebSocket::new(&self.url) else { return };
        socket.set_binary_type(BinaryType::Arraybuffer);
        socket.set_onmessage(Some(self.on_message.as_ref().unchecked_ref()));
        self.socket = Some(socket);
    }

    pub(super) fn send(&mut self, datagram: &[u8]) {
        if let Some(socket) = self.socket.as_ref().filter(|socket| socket.ready_state() == WebSocket::OPEN) {
            self.wait = FIRST_WAIT;
            let _ = socket.send_with_u8_array(datagram);
        }
    }

    fn close(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket.set_onmessage(None);
            let _ = socket.close();
            self.inbox.forget(SERVER);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.close();
    }
}
