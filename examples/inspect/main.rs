//! Decodes one datagram: `inspect HEX` prints its format and its fields, one `name: value` a line.
//!
//! A datagram that is not in order ends with `refused: RULE, reason` and exit code 1; a bad argument with its
//! reason on standard error and exit code 2. Spaces, and `0x` in front, do not matter:
//!
//! ```text
//! cargo run --example inspect 52424e31 01 00 01000000 01 02000000 0300
//! cargo run --example inspect -- --wire rtype 31 00 125A 0310 0190 0050
//! ```
//!
//! A sealed packet shows what everybody can see of it. `--keys FILE` names a key log, which the duel writes with
//! `--key-log FILE`: packets of the matches in it are opened.
//!
//! R-Type has no magic, so it has to be named.

mod sealed;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use rebout::lab::seal::ConnectionKeys;
use rebout::lab::wire::message::{Message, Ordered, VERSION};
use rebout::lab::wire::seal;
use rebout::wire::Packet;
use rebout::wire::control::{ControlPacket, ControlPayload, EntityState, PlayerInput};
use rebout::wire::rbn1::{Flags, InputPacket, TimeSync};
use rebout::wire::rtype::{InputFlags, RtypePacket, RtypePayload};

/// No UDP datagram is longer.
const MAX_LEN: usize = 65_535;

const USAGE: &str = "usage: inspect [--wire rtype] [--keys FILE] HEX";

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let word = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--help" | "-h"] => Some(USAGE),
        ["--version" | "-V"] => Some(concat!("inspect ", env!("CARGO_PKG_VERSION"))),
        _ => None,
    };
    if let Some(word) = word {
        let _ = writeln!(std::io::stdout(), "{word}");
        return ExitCode::SUCCESS;
    }
    let (is_rtype, keys, datagram) = match asked(&args) {
        Ok(asked) => asked,
        Err(reason) => {
            eprintln!("inspect: {reason}");
            return ExitCode::from(2);
        }
    };
    let mut lines = Vec::new();
    let described = if is_rtype {
        describe_as_rtype(&datagram, &mut lines)
    } else if seal::is_sealed(&datagram) {
        sealed::describe(&datagram, &keys, &mut lines)
    } else {
        describe(&datagram, &mut lines)
    };
    let refused = described.err().map(|refused| format!("refused: {refused}\n"));
    let lines = lines.iter().map(|(name, value)| format!("{name}: {value}\n"));
    let text: String = lines.chain(refused.clone()).collect();
    // A reader that has seen enough closes the pipe; that is no failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
    if refused.is_none() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Describes a datagram, or says which rule it breaks.
fn describe(datagram: &[u8], lines: &mut Lines) -> Result<(), String> {
    match Packet::decode(datagram, Flags::ALL) {
        Ok(Packet::Rbn1(packet)) => describe_rbn1(&packet, lines),
        Ok(Packet::Game(packet)) => describe_game(&packet, lines),
        Err(error) => return Err(format!("{}, {error}", error.rule())),
    }
    Ok(())
}

/// The arguments: whether the format is R-Type, the keys of sealed matches, and the datagram.
fn asked(args: &[String]) -> Result<(bool, Vec<ConnectionKeys>, Vec<u8>), String> {
    let (is_rtype, args) = wire_of(args)?;
    let (keys, digits) = match args {
        [flag, file, digits @ ..] if flag == "--keys" => (sealed::keys_in(file)?, digits),
        digits => (Vec::new(), digits),
    };
    Ok((is_rtype, keys, bytes_of(digits)?))
}

/// Whether the format is R-Type, and the arguments after that choice.
fn wire_of(args: &[String]) -> Result<(bool, &[String]), String> {
    let Some((first, rest)) = args.split_first() else { return Err(USAGE.into()) };
    let (wire, rest) = match (first.strip_prefix("--wire="), rest.split_first()) {
        (Some(wire), _) => (wire, rest),
        (None, Some((wire, rest))) if first == "--wire" => (wire.as_str(), rest),
        (None, _) if first == "--wire" => return Err(USAGE.into()),
        _ => return Ok((false, args)),
    };
    match wire {
        "rtype" => Ok((true, rest)),
        other => Err(format!("{:?} is no wire that has to be named: only rtype is", rebout::shown(other))),
    }
}

fn describe_as_rtype(datagram: &[u8], lines: &mut Lines) -> Result<(), String> {
    let packet = RtypePacket::decode(datagram).map_err(|error| format!("{}, {error}", error.rule()))?;
    describe_rtype(&packet, lines);
    Ok(())
}

fn bytes_of(args: &[String]) -> Result<Vec<u8>, String> {
    if args.is_empty() {
        return Err(USAGE.into());
    }
    let mut digits = Vec::new();
    for word in args.iter().flat_map(|arg| arg.split_whitespace()) {
        let word = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word);
        for character in word.chars() {
            let digit = character.to_digit(16).ok_or_else(|| format!("{character:?} is not a hex digit"))?;
            digits.push(digit as u8);
        }
    }
    let (pairs, odd) = digits.as_chunks::<2>();
    if !odd.is_empty() {
        return Err(format!("{} hex digits are not whole bytes", digits.len()));
    }
    if pairs.len() > MAX_LEN {
        return Err(format!("{} bytes are more than a datagram of {MAX_LEN}", pairs.len()));
    }
    Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

type Lines = Vec<(String, String)>;

fn line(lines: &mut Lines, name: impl Into<String>, value: impl Display) {
    lines.push((name.into(), format!("{value}")));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn describe_rbn1(packet: &InputPacket<'_>, lines: &mut Lines) {
    line(lines, "format", "RBN1");
    line(lines, "version", InputPacket::VERSION);
    line(lines, "start_frame", packet.start_frame());
    line(lines, "count", packet.count());
    line(lines, "ack_frame", packet.ack_frame());
    if let Some(checksum) = packet.checksum() {
        line(lines, "checksum_frame", checksum.frame);
        line(lines, "checksum", format!("{:08X}", checksum.value));
    }
    if let Some(time) = packet.time() {
        line(lines, "mark", format!("{:#06x}", time.mark));
        line(lines, "echo", format!("{:#06x}", time.echo));
        line(lines, "held", held(time.held));
    }
    if let Some(loss) = packet.loss() {
        line(lines, "sent", loss.sent);
        line(lines, "received", loss.received);
    }
    if packet.axes() > 0 {
        line(lines, "axes", packet.axes());
    }
    for (index, input) in packet.inputs().enumerate() {
        line(lines, format!("buttons[{index}]"), format!("{:#06x}", input.buttons()));
        if packet.axes() > 0 {
            let axes: Vec<i8> = (0..usize::from(packet.axes())).map(|axis| input.axis(axis)).collect();
            line(lines, format!("axes[{index}]"), format!("{axes:?}"));
        }
    }
}

/// The time for which an echo was held, in microseconds.
fn held(held: u16) -> String {
    match held {
        TimeSync::NO_SAMPLE => "no sample".to_owned(),
        held => format!("{} us", u32::from(held) * 100),
    }
}

fn describe_rtype(packet: &RtypePacket<'_>, lines: &mut Lines) {
    line(lines, "format", "R-Type");
    line(lines, "opcode", packet.payload.opcode());
    line(lines, "asks_ack", packet.header.asks_ack);
    line(lines, "sequence", packet.header.sequence);
    match packet.payload {
        RtypePayload::Ack(sequence) | RtypePayload::Nack(sequence) => line(lines, "of", sequence),
        RtypePayload::Hello { version, name } => {
            line(lines, "version", version);
            line(lines, "name", rebout::shown(name));
        }
        RtypePayload::Welcome { player_id, seed } => {
            line(lines, "player_id", player_id);
            line(lines, "seed", seed);
        }
        RtypePayload::PlayerLeft { player_id } => line(lines, "player_id", player_id),
        RtypePayload::Input(flags) => {
            let (x, y) = flags.direction();
            line(lines, "input", format!("{:#04x}", flags.0));
            line(lines, "direction", format!("{x}, {y}"));
            line(lines, "shoots", flags.has(InputFlags::SHOOT));
        }
        RtypePayload::EntitySpawn { id, kind, x, y } => {
            line(lines, "entity", id);
            line(lines, "kind", kind);
            line(lines, "x", x);
            line(lines, "y", y);
        }
        RtypePayload::EntityUpdate { id, x, y } => {
            line(lines, "entity", id);
            line(lines, "x", x);
            line(lines, "y", y);
        }
        RtypePayload::EntityDestroy { id } => line(lines, "entity", id),
        RtypePayload::HitEvent { id, damage } => {
            line(lines, "entity", id);
            line(lines, "damage", damage);
        }
        RtypePayload::PlayerLeave | RtypePayload::Heartbeat => {}
    }
}

fn describe_game(packet: &ControlPacket<'_>, lines: &mut Lines) {
    line(lines, "format", "GAME");
    line(lines, "type", packet.payload.packet_type());
    line(lines, "sequence", packet.header.sequence);
    line(lines, "ack", packet.header.ack);
    line(lines, "ack_bits", format!("{:#010x}", packet.header.ack_bits));
    match packet.payload {
        ControlPayload::ConnectReq | ControlPayload::Disconnect | ControlPayload::Heartbeat => {}
        ControlPayload::ConnectAck { client_id } => line(lines, "client_id", client_id),
        ControlPayload::Input(input) => describe_input("input", &input, lines),
        ControlPayload::Inputs(inputs) => {
            line(lines, "count", inputs.len());
            for (index, input) in inputs.iter().enumerate() {
                describe_input(&format!("input[{index}]"), &input, lines);
            }
        }
        ControlPayload::Delta(bytes) => {
            if let Some(([t0, t1, t2, t3, i0, i1, i2, i3], sections)) = bytes.split_first_chunk() {
                line(lines, "tick", u32::from_be_bytes([*t0, *t1, *t2, *t3]));
                line(lines, "last_input", u32::from_be_bytes([*i0, *i1, *i2, *i3]));
                line(lines, "sections", hex(sections));
            }
        }
        ControlPayload::Snapshot(snapshot) => {
            line(lines, "tick", snapshot.tick);
            line(lines, "count", snapshot.entities.len());
            for (index, entity) in snapshot.entities.iter().enumerate() {
                describe_entity(index, &entity, lines);
            }
            if let Some(last_input) = snapshot.last_input {
                line(lines, "last_input", last_input);
            }
        }
        ControlPayload::Ping(bits) | ControlPayload::Pong(bits) => {
            line(lines, "timestamp", f64::from_bits(bits));
            line(lines, "timestamp_bits", format!("{bits:#018x}"));
        }
        ControlPayload::ReliableEvent(bytes) => match Message::decode(bytes) {
            Ok(message) => describe_message(&message, lines),
            // The packet is in order whatever it holds; only a duel asks for a message in it.
            Err(error) => {
                line(lines, "payload", hex(bytes));
                line(lines, "message", format!("none, {}, {error}", error.rule()));
            }
        },
    }
}

fn describe_input(name: &str, input: &PlayerInput, lines: &mut Lines) {
    line(lines, format!("{name}.sequence"), input.sequence);
    line(lines, format!("{name}.move_x"), input.move_x);
    line(lines, format!("{name}.move_y"), input.move_y);
    line(lines, format!("{name}.actions"), format!("{:#04x}", input.actions));
}

fn describe_entity(index: usize, entity: &EntityState, lines: &mut Lines) {
    line(lines, format!("entity[{index}].id"), entity.id);
    line(lines, format!("entity[{index}].x"), entity.x);
    line(lines, format!("entity[{index}].y"), entity.y);
    line(lines, format!("entity[{index}].velocity_x"), entity.velocity_x);
    line(lines, format!("entity[{index}].velocity_y"), entity.velocity_y);
    line(lines, format!("entity[{index}].health"), entity.health);
}

fn describe_message(message: &Message<'_>, lines: &mut Lines) {
    line(lines, "message", message.kind());
    match message {
        Message::Hello(hello) => {
            line(lines, "version", VERSION);
            line(lines, "nonce", format!("{:#018x}", hello.nonce));
            line(lines, "cookie", format!("{:#018x}", hello.cookie));
            line(lines, "game_id", format!("{:#018x}", hello.game_id));
            line(lines, "content_hash", format!("{:#018x}", hello.content_hash));
            line(lines, "frame_rate", hello.frame_rate);
            line(lines, "delay_frames", hello.delay_frames);
            line(lines, "window_frames", hello.window_frames);
            line(lines, "round_trip", format_args!("{} us", u32::from(hello.round_trip) * 100));
            line(lines, "axes", hello.axes);
            line(lines, "pads", hello.pads);
            line(lines, "first_state_limit", hello.first_state_limit);
            line(lines, "capabilities", format!("{:#010x}", hello.capabilities.0));
            line(lines, "user_data", hex(hello.user_data));
        }
        Message::ForeignHello(hello) => {
            line(lines, "version", hello.version);
            line(lines, "nonce", format!("{:#018x}", hello.nonce));
            line(lines, "cookie", format!("{:#018x}", hello.cookie));
        }
        Message::Challenge(challenge) => {
            line(lines, "nonce", format!("{:#018x}", challenge.nonce));
            line(lines, "cookie", format!("{:#018x}", challenge.cookie));
        }
        Message::Offer(offer) => {
            line(lines, "nonce", format!("{:#018x}", offer.nonce));
            line(lines, "first_frame", offer.first_frame);
            line(lines, "seed", offer.seed);
            line(lines, "seat", offer.seat);
            line(lines, "delay_frames", offer.delay_frames);
            line(lines, "window_frames", offer.window_frames);
            line(lines, "round_trip", format_args!("{} us", u32::from(offer.round_trip) * 100));
            line(lines, "cadence_frames", offer.cadence_frames);
            line(lines, "capabilities", format!("{:#010x}", offer.capabilities.0));
            line(lines, "token", format!("{:#018x}", offer.token));
            line(lines, "first_state_len", offer.first_state_len);
            line(lines, "first_state_hash", format!("{:#018x}", offer.first_state_hash));
            line(lines, "user_data", hex(offer.user_data));
        }
        Message::Refuse(refuse) => {
            line(lines, "nonce", format!("{:#018x}", refuse.nonce));
            line(lines, "field", refuse.field);
            line(lines, "ours", format!("{:#x}", refuse.ours));
            line(lines, "theirs", format!("{:#x}", refuse.theirs));
        }
        Message::Report { sent, received, newest_frame } => {
            line(lines, "sent", sent);
            line(lines, "received", received);
            line(lines, "newest_frame", newest_frame);
        }
        Message::Resync(resync) => {
            line(lines, "token", format!("{:#018x}", resync.token));
            line(lines, "expected", resync.expected);
            line(lines, "asks", resync.asks);
        }
        Message::Leaving(leaving) => {
            line(lines, "token", format!("{:#018x}", leaving.token));
            line(lines, "end", leaving.end);
            line(lines, "why", leaving.why);
        }
        Message::FirstState(part) => {
            line(lines, "token", format!("{:#018x}", part.token));
            line(lines, "part", part.number);
            line(lines, "bytes", hex(part.bytes));
        }
        Message::FirstStateAck(ack) => {
            line(lines, "token", format!("{:#018x}", ack.token));
            line(lines, "is_damaged", ack.is_damaged);
            line(lines, "missing", ack.missing);
            line(lines, "beyond", hex(&ack.beyond));
        }
        Message::Resume(resume) => {
            line(lines, "token", format!("{:#018x}", resume.token));
            line(lines, "frame", resume.frame);
            line(lines, "left_millis", resume.left_millis);
        }
        Message::Ordered { number, body } => describe_ordered(*number, body, lines),
    }
}

fn describe_ordered(number: u16, body: &Ordered<'_>, lines: &mut Lines) {
    line(lines, "number", number);
    match body {
        Ordered::Verdict { frame, checksum, finished } => {
            line(lines, "frame", frame);
            line(lines, "finished", finished);
            line(lines, "checksum", format!("{checksum:08X}"));
        }
        Ordered::Pause(pause) => {
            line(lines, "step", format!("{:?}", pause.step));
            line(lines, "frame", pause.frame);
            line(lines, "limit_secs", pause.limit_secs);
        }
        Ordered::User(bytes) | Ordered::Autopsy(bytes) => line(lines, "bytes", hex(bytes)),
        Ordered::Delay { from_frame, delay_frames } => {
            line(lines, "from_frame", from_frame);
            line(lines, "delay_frames", delay_frames);
        }
    }
}
