//! A PulseAudio server, which PipeWire is too: one socket, and blocks of samples whenever it asks for some.
//!
//! The library has the protocol; the loop is here, because a thread that waits at a socket needs no executor.

use std::ffi::CStr;
use std::io::{self, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use pulseaudio::protocol::{
    self, AuthParams, AuthReply, ChannelMap, ChannelVolume, Command, CreatePlaybackStreamReply, Descriptor,
    DescriptorFlags, PlaybackStreamParams, Prop, Props, ProtocolError, SampleFormat, SampleSpec,
    SetClientNameReply,
};

use super::super::{Mixer, RATE};
use super::message::{MAX_BYTES, PulseMessage};

/// Two sides of four bytes.
const BYTES_PER_FRAME: u32 = 8;
/// Milliseconds of samples that the server keeps: two frames from a hit to its sound. With less, a busy machine is heard to
/// stutter.
const BUFFER_MILLIS: u32 = 32;
/// Milliseconds of samples that the server asks for at once.
const BLOCK_MILLIS: u32 = 8;
/// A server that is silent for this long has a sleeping sink.
const SILENCE: Duration = Duration::from_millis(200);
const NAME: &CStr = c"rebout";

/// Plays until the server is gone; gives the mixer back, and why it ended.
pub(super) fn play(mut mixer: Mixer, tell: &dyn Fn(String)) -> (Mixer, String) {
    let ended = Stream::open().and_then(|mut stream| {
        tell("PulseAudio".to_owned());
        stream.feed(&mut mixer)
    });
    let why = match ended {
        Ok(()) => "closed".to_owned(),
        Err(error) => format!("none, {}", words(&error)),
    };
    (mixer, why)
}

/// Why there is no sound, without the words of the system where ours are clearer.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "the sound server does not answer".to_owned(),
        io::ErrorKind::ConnectionRefused => "no sound server is running".to_owned(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "the sound server has closed the connection".to_owned()
        }
        _ => error.to_string(),
    }
}

struct Stream {
    socket: BufReader<UnixStream>,
    version: u16,
    info: CreatePlaybackStreamReply,
}

impl Stream {
    fn open() -> io::Result<Self> {
        let path = pulseaudio::socket_path_from_env().ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "no PulseAudio or PipeWire server found")
        })?;
        let socket = UnixStream::connect(path)?;
        // A server that accepts and then says nothing must not hold the thread for ever.
        socket.set_read_timeout(Some(10 * SILENCE))?;
        socket.set_write_timeout(Some(10 * SILENCE))?;
        let mut socket = BufReader::new(socket);
        let cookie = pulseaudio::cookie_path_from_env().and_then(|path| std::fs::read(path).ok());
        let auth = AuthParams {
            version: protocol::MAX_VERSION,
            supports_shm: false,
            supports_memfd: false,
            cookie: cookie.unwrap_or_default(),
        };
        let answer: AuthReply = ask(&mut socket, &Command::Auth(auth), protocol::MAX_VERSION)?;
        let version = protocol::MAX_VERSION.min(answer.version);
        let mut props = Props::new();
        props.set(Prop::ApplicationName, NAME);
        let _: SetClientNameReply = ask(&mut socket, &Command::SetClientName(props), version)?;
        let info = ask(&mut socket, &Command::CreatePlaybackStream(params()), version)?;
        socket.get_ref().set_read_timeout(Some(SILENCE))?;
        Ok(Self { socket, version, info })
    }

    /// Sends samples whenever the server asks for some, until the game has dropped its end.
    fn feed(&mut self, mixer: &mut Mixer) -> io::Result<()> {
        let mut block = Block::default();
        self.send(mixer, &mut block, self.info.requested_bytes)?;
        while !mixer.is_left() {
            match self.message() {
                Ok(Some(Command::Request(request))) if request.channel == self.info.channel => {
                    self.send(mixer, &mut block, request.length)?;
                }
                Ok(Some(Command::PlaybackStreamKilled(_))) => {
                    return Err(io::Error::other("the server has closed the stream"));
                }
                Ok(_) => {}
                // A sink that sleeps asks for nothing, and what it missed is over.
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    super::pass(mixer, SILENCE);
                }
                // A signal has come to this thread.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next message of the server; `None` if it is none that we know.
    fn message(&mut self) -> io::Result<Option<Command>> {
        Ok(PulseMessage::read(&mut self.socket)?.command(self.version))
    }

    fn send(&mut self, mixer: &mut Mixer, block: &mut Block, bytes: u32) -> io::Result<()> {
        let message = block.render(mixer, self.info.channel, (bytes as usize).min(MAX_BYTES));
        self.socket.get_mut().write_all(message)
    }
}

/// One answer, in memory that is used again. It goes out in one piece, so that the server wakes up once for it.
#[derive(Default)]
struct Block {
    samples: Vec<f32>,
    message: Vec<u8>,
}

impl Block {
    fn render(&mut self, mixer: &mut Mixer, channel: u32, bytes: usize) -> &[u8] {
        self.samples.resize(bytes / 4, 0.0);
        mixer.render(&mut self.samples);
        let mut head = [0; protocol::DESCRIPTOR_SIZE];
        let length = self.samples.len() as u32 * 4;
        let descriptor = Descriptor { length, channel, offset: 0, flags: DescriptorFlags::empty() };
        protocol::encode_descriptor(&mut head, &descriptor);
        self.message.clear();
        self.message.extend(head);
        self.message.extend(self.samples.iter().flat_map(|sample| sample.to_le_bytes()));
        &self.message
    }
}

fn params() -> PlaybackStreamParams {
    let mut params = PlaybackStreamParams {
        sample_spec: SampleSpec { format: SampleFormat::Float32Le, channels: 2, sample_rate: RATE },
        channel_map: ChannelMap::stereo(),
        cvolume: Some(ChannelVolume::norm(2)),
        sink_name: Some(protocol::DEFAULT_SINK.to_owned()),
        ..Default::default()
    };
    let bytes = |millis| RATE / 1_000 * millis * BYTES_PER_FRAME;
    params.buffer_attr.target_length = bytes(BUFFER_MILLIS);
    params.buffer_attr.minimum_request_length = bytes(BLOCK_MILLIS);
    params.flags.adjust_latency = true;
    params.props.set(Prop::MediaName, c"game");
    params.props.set(Prop::MediaRole, c"game");
    params
}

fn ask<R: protocol::CommandReply>(
    socket: &mut BufReader<UnixStream>,
    command: &Command,
    version: u16,
) -> io::Result<R> {
    protocol::write_command_message(socket.get_mut(), 0, command, version).map_err(broken)?;
    PulseMessage::read(socket)?.reply(version).map_err(broken)
}

fn broken(error: ProtocolError) -> io::Error {
    match error {
        ProtocolError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}
