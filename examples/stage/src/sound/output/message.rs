//! One message of a PulseAudio server, read whole. Nothing here needs a server.

use std::io::{self, BufRead, Cursor};

use pulseaudio::protocol::{self, Command, CommandReply, CommandTag, DESCRIPTOR_SIZE, ProtocolError};

/// The server may not send a longer message, nor ask for more samples at once.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// The first byte of a number, which every message begins with.
const NUMBER: u8 = b'L';
/// The commands that a playing stream waits for. The library panics at some that only a client sends.
const KNOWN: [CommandTag; 2] = [CommandTag::Request, CommandTag::PlaybackStreamKilled];

/// A message, its descriptor first.
#[derive(Clone, Debug)]
pub struct PulseMessage(Vec<u8>);

impl PulseMessage {
    /// Reads a message from the socket of the server.
    ///
    /// # Errors
    /// If there is none yet, as the socket tells it; if the server is gone or stops inside a message, or its message is too long.
    pub fn read(socket: &mut impl BufRead) -> io::Result<Self> {
        if socket.fill_buf()?.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // A pause inside a message is no pause between two: what comes after it would be read as another message.
        let cut = |_| io::Error::from(io::ErrorKind::UnexpectedEof);
        let mut bytes = vec![0; DESCRIPTOR_SIZE];
        socket.read_exact(&mut bytes).map_err(cut)?;
        let length = bytes.first_chunk().copied().map_or(0, u32::from_be_bytes) as usize;
        if length > MAX_BYTES {
            return Err(io::Error::other(format!("a message of {length} bytes")));
        }
        bytes.resize(DESCRIPTOR_SIZE + length, 0);
        socket.read_exact(&mut bytes[DESCRIPTOR_SIZE..]).map_err(cut)?;
        Ok(Self(bytes))
    }

    /// The command in it; `None` if it is none that a playing stream knows.
    pub fn command(&self, version: u16) -> Option<Command> {
        let body = self.0.get(DESCRIPTOR_SIZE..)?;
        let (first, number) = body.split_first()?;
        let number = u32::from_be_bytes(*number.first_chunk()?);
        if *first != NUMBER || !KNOWN.iter().any(|known| *known as u32 == number) {
            return None;
        }
        Command::read_tag_prefixed(&mut Cursor::new(body), version).ok().map(|(_, command)| command)
    }

    /// The answer in it.
    ///
    /// # Errors
    /// If it is another message, or an error of the server.
    pub(super) fn reply<R: CommandReply>(&self, version: u16) -> Result<R, ProtocolError> {
        protocol::read_reply_message(&mut Cursor::new(&self.0), version).map(|(_, reply)| reply)
    }
}
