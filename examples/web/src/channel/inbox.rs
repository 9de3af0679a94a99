//! The datagrams that have come and wait for the game.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;

use js_sys::{ArrayBuffer, Function, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

/// Datagrams that wait at most; more are lost, as in the buffer of a socket.
const MAX_WAITING: usize = 256;
/// The longest message of a data channel or of the rendezvous: sealed datagrams are shorter.
const MAX_MESSAGE: u32 = 1_400;

/// The datagrams that wait. The handlers of a browser's events fill it.
#[derive(Debug)]
pub(super) struct Inbox {
    waiting: RefCell<VecDeque<(SocketAddr, Vec<u8>)>>,
    refused: Cell<u32>,
    wake: Function,
}

impl Inbox {
    pub(super) fn new(wake: Function) -> Self {
        Self { waiting: RefCell::default(), refused: Cell::new(0), wake }
    }

    pub(super) fn push(&self, from: SocketAddr, datagram: Vec<u8>) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() < MAX_WAITING {
            waiting.push_back((from, datagram));
        }
    }

    /// Takes the data of a message that came from outside, if it can be a datagram whose first byte is at least `least`.
    pub(super) fn take_message(&self, from: SocketAddr, data: &JsValue, least: u8) {
        let bytes = data.dyn_ref::<ArrayBuffer>().filter(|bytes| bytes.byte_length() <= MAX_MESSAGE);
        let bytes = bytes.map(|bytes| Uint8Array::new(bytes).to_vec());
        match bytes.filter(|bytes| bytes.first().is_some_and(|first| *first >= least)) {
            Some(bytes) => self.push(from, bytes),
            None => self.refused.set(self.refused.get().saturating_add(1)),
        }
        // The page plays what it has got; an error there is shown by the page itself.
        let _ = self.wake.call0(&JsValue::NULL);
    }

    pub(super) fn pop(&self) -> Option<(SocketAddr, Vec<u8>)> {
        self.waiting.borrow_mut().pop_front()
    }

    /// Drops what an address has sent.
    pub(super) fn forget(&self, addr: SocketAddr) {
        self.waiting.borrow_mut().retain(|(from, _)| *from != addr);
    }

    pub(super) fn refused(&self) -> u32 {
        self.refused.get()
    }
}
