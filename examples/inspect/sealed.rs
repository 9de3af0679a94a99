//! Sealed packets: what everybody can see of them, and with a key log what is inside.

use std::fs::File;
use std::io::Read;

use rebout::lab::seal::ConnectionKeys;
use rebout::lab::wire::seal::{self, Control, Data, Packet, Pattern, VERSION};

use crate::{Lines, hex, line};

/// A key log has a line of some 150 bytes for each connection.
const MAX_LOG_BYTES: u64 = 1 << 20;

/// The keys in a log. Empty lines do not matter.
pub(crate) fn keys_in(file: &str) -> Result<Vec<ConnectionKeys>, String> {
    let mut text = String::new();
    let read = File::open(file).and_then(|log| log.take(MAX_LOG_BYTES).read_to_string(&mut text));
    read.map_err(|error| format!("{file}: {error}"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let keys =
        lines.map(|(at, line)| line.parse().map_err(|error| format!("{file}, line {}: {error}", at + 1)));
    keys.collect()
}

/// Describes a sealed packet, and the datagram inside if a key opens it; or says which rule it breaks.
pub(crate) fn describe(datagram: &[u8], keys: &[ConnectionKeys], lines: &mut Lines) -> Result<(), String> {
    let packet = seal::decode(datagram).map_err(|error| format!("{}, {error}", error.rule()))?;
    line(lines, "format", "sealed");
    match packet {
        Packet::Request(request) => {
            line(lines, "type", "REQUEST");
            asked(request.pattern, request.index, request.nonce, lines);
        }
        Packet::Retry(retry) => {
            line(lines, "type", "RETRY");
            line(lines, "your_index", retry.index);
            line(lines, "nonce", format!("{:#018x}", retry.nonce));
            line(lines, "cookie", format!("{:#018x}", retry.cookie));
            if let Some(key) = retry.open_key {
                line(lines, "open_key", hex(&key));
            }
        }
        Packet::Init(init) => {
            line(lines, "type", "INIT");
            asked(init.head.pattern, init.head.index, init.head.nonce, lines);
            line(lines, "cookie", format!("{:#018x}", init.head.cookie));
            line(lines, "ephemeral", hex(&init.ephemeral()));
            line(lines, "sealed_bytes", init.message.len() - seal::KEY_LEN - seal::TAG_LEN);
        }
        Packet::Resp(resp) => {
            line(lines, "type", "RESP");
            line(lines, "your_index", resp.index);
            line(lines, "ephemeral", hex(resp.message.get(..seal::KEY_LEN).unwrap_or_default()));
            line(lines, "sealed_bytes", resp.message.len() - seal::KEY_LEN - seal::TAG_LEN);
        }
        Packet::Data(data) => return describe_data(datagram, &data, keys, lines),
        Packet::Control(control) => describe_control(datagram, &control, keys, lines),
    }
    Ok(())
}

fn asked(pattern: Pattern, index: u16, nonce: u64, lines: &mut Lines) {
    line(lines, "version", VERSION);
    line(lines, "pattern", if pattern == Pattern::Invite { "by invite" } else { "by address" });
    line(lines, "index", index);
    line(lines, "nonce", format!("{nonce:#018x}"));
}

/// The fields that DATA and control packets share, and the text inside if a key opens it.
fn enveloped(
    datagram: &[u8],
    (index, counter, sealed_bytes): (u16, u32, usize),
    keys: &[ConnectionKeys],
    lines: &mut Lines,
) -> Option<Vec<u8>> {
    line(lines, "your_index", index);
    line(lines, "counter_low", counter);
    line(lines, "sealed_bytes", sealed_bytes);
    let opened = keys.iter().find_map(|keys| keys.open(datagram));
    let Some(opened) = opened else {
        line(
            lines,
            "opened",
            if keys.is_empty() { "no: --keys FILE names a key log" } else { "no: no key fits" },
        );
        return None;
    };
    line(lines, "opened", if opened.to_host { "joiner to host" } else { "host to joiner" });
    line(lines, "counter", opened.counter);
    Some(opened.text)
}

fn describe_data(
    datagram: &[u8],
    data: &Data<'_>,
    keys: &[ConnectionKeys],
    lines: &mut Lines,
) -> Result<(), String> {
    line(lines, "type", "DATA");
    let sealed_bytes = data.sealed.len() - seal::TAG_LEN;
    let text = enveloped(datagram, (data.index, data.counter.into(), sealed_bytes), keys, lines);
    text.map_or(Ok(()), |inner| crate::describe(&inner, lines))
}

fn describe_control(datagram: &[u8], control: &Control<'_>, keys: &[ConnectionKeys], lines: &mut Lines) {
    line(lines, "type", "control");
    line(lines, "kind", format!("{:?}", control.kind));
    let sealed_bytes = control.sealed.len() - seal::TAG_LEN;
    let text = enveloped(datagram, (control.index, control.counter, sealed_bytes), keys, lines);
    if let Some(text) = text {
        line(lines, "text", hex(&text));
    }
}
