//! The rules of the house, read from the sources themselves: imports, the parts of a session, lengths of files; the
//! words of comments and pages; and that paths and commands on the pages are real.

mod pages;
mod parts;
mod promises;
mod test_names;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Know only each other.
const LEAVES: [&str; 2] = ["game", "protocol"];

/// The rooms that a room may know besides itself and the leaves. Nobody knows the lab.
fn may_know(room: &str) -> &'static [&'static str] {
    match room {
        "channel" => &["wire"],
        "session" => &["wire", "rollback", "channel"],
        "replay" => &["rollback", "session"],
        "broadcast" => &["channel", "replay", "session", "wire"],
        "authority" => &["channel", "wire"],
        "connect" => &["authority", "channel", "net", "session", "wire"],
        "online" => &["broadcast", "connect", "net", "replay", "session", "wire"],
        "lab" => {
            &["broadcast", "channel", "connect", "net", "online", "replay", "rollback", "session", "wire"]
        }
        _ => &[],
    }
}

/// Only `net` has a socket, a clock, a disk or a thread.
const OUTSIDE: [&str; 11] = [
    "std::fs",
    "std::thread",
    "std::process",
    "std::env",
    "Instant",
    "SystemTime",
    "UdpSocket",
    "TcpStream",
    "mio::",
    "socket2::",
    "sleep(",
];

struct Source {
    path: PathBuf,
    room: String,
    /// Without comments and without tests; empty for a file of tests alone.
    code: String,
    lines_before_tests: usize,
}

/// Every source file under a folder of the workspace: its path from there, and its text.
fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let (mut found, mut left) = (Vec::new(), vec![root.clone()]);
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(&root).unwrap().to_owned(), text));
            }
        }
    }
    found
}

fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

fn sources() -> Vec<Source> {
    let source = |(path, text): (PathBuf, String)| {
        let room = path.components().next().unwrap().as_os_str().to_str().unwrap();
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
        let is_tests = path.file_name().is_some_and(|name| name == "tests.rs");
        Source {
            room: room.trim_end_matches(".rs").to_owned(),
            code: if is_tests { String::new() } else { without_comments(text) },
            lines_before_tests: text.lines().count(),
            path,
        }
    };
    files("src").into_iter().map(source).collect()
}

/// The first names after every `crate::`: of `crate::{a::B, C}` those are `a` and `C`.
fn crate_names(code: &str) -> Vec<String> {
    names_after(code, "crate::")
}

/// The first names after every `prefix`.
fn names_after(code: &str, prefix: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, prefix) in code.match_indices(prefix) {
        // Macros write `$crate::`, which is the crate as its users see it.
        if code[..at].ends_with('$') || code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        let name =
            |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        let Some(list) = rest.strip_prefix('{') else {
            names.push(name(rest));
            continue;
        };
        let (mut depth, mut expected) = (0, true);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => expected = true,
                c if depth == 0 && expected && !c.is_whitespace() => {
                    names.push(name(&list[at..]));
                    expected = false;
                }
                _ => {}
            }
        }
    }
    names
}

/// The code without its attributes, such as `#[cfg(feature = "lab")]`, which may hold brackets of their own.
fn without_attributes(code: &str) -> String {
    let (mut kept, mut rest) = (String::new(), code);
    while let Some((before, attribute)) = rest.split_once("#[") {
        kept.push_str(before);
        let mut depth = 1;
        let end = attribute.find(|c: char| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            depth == 0
        });
        rest = end.map_or("", |end| &attribute[end + 1..]);
    }
    kept + rest
}

/// Which room the names come from that `lib.rs` re-exports, and the rooms themselves, whatever feature they need.
fn rooms_by_name(library: &str) -> BTreeMap<String, String> {
    let mut rooms = BTreeMap::new();
    let library = without_attributes(library);
    for statement in library.replace("pub(crate) use ", "pub use ").split(';') {
        let Some(words) = statement.trim().strip_prefix("pub use ") else {
            if let Some((_, room)) = statement.split_once("mod ") {
                rooms.insert(room.trim().to_owned(), room.trim().to_owned());
            }
            continue;
        };
        let (room, names) = words.split_once("::").unwrap();
        for name in names.split(['{', '}', ',', ' ', '\n']).filter(|name| !name.is_empty()) {
            rooms.insert(name.rsplit("::").next().unwrap().to_owned(), room.to_owned());
        }
    }
    // Macros live at the root, whatever room wrote them.
    rooms.insert("fields".to_owned(), "game".to_owned());
    rooms
}

#[test]
fn imports_point_one_way() {
    let sources = sources();
    let library = sources.iter().find(|source| source.room == "lib").expect("there is a lib.rs");
    let rooms = rooms_by_name(&library.code);
    let mut checked = 0;
    for source in sources.iter().filter(|source| source.room != "lib") {
        for name in crate_names(&source.code) {
            let known = rooms.get(&name);
            let known = known.unwrap_or_else(|| panic!("{:?}: where is crate::{name} from?", source.path));
            let allowed = *known == source.room
                || LEAVES.contains(&&**known)
                || may_know(&source.room).contains(&&**known);
            assert!(
                allowed,
                "{:?} uses crate::{name} of `{known}`, which `{}` must not know",
                source.path, source.room
            );
            checked += 1;
        }
        assert!(!source.code.contains("super::super"), "{:?} climbs out of its room", source.path);
    }
    assert!(checked > 30, "only {checked} imports found: is this test still reading them?");
}

/// The folders of `connect`. Each may use those before it.
const CONNECT: [&str; 6] = ["invite", "seal", "rendezvous", "web", "nat", "connection"];

#[test]
fn imports_inside_connect_point_one_way() {
    let place = |name: &str| CONNECT.iter().position(|folder| *folder == name);
    let mut checked = 0;
    for source in sources().iter().filter(|source| source.room == "connect") {
        let folder = source.path.components().nth(1).unwrap().as_os_str().to_str().unwrap();
        let Some(own) = place(folder) else { continue };
        for name in names_after(&source.code, "crate::connect::") {
            let used = place(&name).unwrap_or_else(|| panic!("{:?}: where is {name}?", source.path));
            assert!(used <= own, "{:?} uses `{name}`, which `{folder}` must not know", source.path);
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked} imports found");
}

/// Converts to the times of libraries, one of which counts in points of the system's clock. It names their type, and reads none.
const ORIGIN: &str = "connect/nat/origin.rs";

/// A bad link between real sockets, in a thread of its own: the one file outside `net` that has them.
const RELAY: &str = "lab/relay.rs";

#[test]
fn only_net_has_a_socket_a_clock_a_disk_or_a_thread() {
    let outside = |source: &&Source| source.room != "net" && source.path != Path::new(RELAY);
    for source in sources().iter().filter(outside) {
        let names_a_point = |word: &&str| source.path == Path::new(ORIGIN) && *word == "Instant";
        assert!(!source.code.contains("Instant::now"), "{:?} reads a clock", source.path);
        for word in OUTSIDE.iter().filter(|word| !names_a_point(word)) {
            assert!(!source.code.contains(word), "{:?} has {word}", source.path);
        }
    }
}

#[test]
fn library_forbids_unsafe_code() {
    let sources = sources();
    let library = sources.iter().find(|source| source.room == "lib").unwrap();
    assert!(library.code.contains("#![forbid(unsafe_code)]"));
}

/// Lines before the tests of a file.
const MAX_LINES: usize = 460;

/// Files that are longer, and how long they may be: a list that only shrinks.
const LONGER: [(&str, usize); 1] = [("wire/control.rs", 490)];

#[test]
fn source_files_have_bounded_lengths() {
    for source in sources() {
        let longer = LONGER.iter().find(|(path, _)| source.path == Path::new(path));
        let max = longer.map_or(MAX_LINES, |(_, max)| *max);
        assert!(
            source.lines_before_tests <= max,
            "{:?} has {} lines",
            source.path,
            source.lines_before_tests
        );
    }
}

/// Lines of a file of tests, tools or games.
const MAX_OTHER_LINES: usize = 490;

/// Where the workspace has sources beside the library's.
const OTHERS: [&str; 4] = ["tests", "examples", "benches", "bindings"];

#[test]
fn test_and_tool_files_have_bounded_lengths() {
    for (path, text) in OTHERS.into_iter().flat_map(files) {
        let lines = text.lines().count();
        assert!(lines <= MAX_OTHER_LINES, "{path:?} has {lines} lines");
    }
}

/// The whole of an embedder's game with its tests: stress, sync test, transport and floats.
const MAX_EMBEDDER_LINES: usize = 150;

#[test]
fn embedder_needs_few_lines() {
    let lines: usize = files("tests/embedder").iter().map(|(_, text)| text.lines().count()).sum();
    assert!((60..MAX_EMBEDDER_LINES).contains(&lines), "{lines} lines");
}

#[test]
fn no_target_includes_files_of_another() {
    // In two parts, so that this file has none of them.
    let words = [concat!("#[pa", "th"), concat!("inclu", "de!(")];
    for (path, text) in OTHERS.into_iter().chain(["src"]).flat_map(files) {
        let code = without_comments(&text);
        for word in words {
            assert!(!code.contains(word), "{path:?} has {word}: share it through a package");
        }
    }
}

#[test]
fn no_lint_is_allowed_for_a_whole_file() {
    let lints = ["dead_code", "unused", "unreachable_pub", "warnings", "missing_docs", "clippy::all"];
    // The layers of a connection and their packets are `pub` for the lab alone, and a build with the lab checks them.
    let without_lab =
        concat!("#[cfg_attr(not(feature = \"lab\"), allo", "w(dead_code, unreachable_pub, unused_imports))]");
    for (path, text) in OTHERS.into_iter().chain(["src"]).flat_map(files) {
        let count = if path == Path::new("lib.rs") { 3 } else { 0 };
        let code = without_comments(&text).replacen(without_lab, "", count);
        for (at, start) in code.match_indices(concat!("allo", "w(")) {
            let list = code[at + start.len()..].split(')').next().unwrap();
            for lint in list.split(',').map(str::trim) {
                assert!(!lints.iter().any(|bad| lint.starts_with(bad)), "{path:?} allows {lint}");
            }
            assert!(!code[..at].ends_with("#!["), "{path:?} allows {list} everywhere");
        }
    }
}

#[test]
fn import_parser_finds_every_name() {
    let code = "use crate::{Frame, wire::{rbn1, control}, fields::{self}};\nuse crate::hash::SimHash; $crate::Fields";
    assert_eq!(crate_names(code), ["Frame", "wire", "fields", "hash"]);
    let rooms = rooms_by_name("mod cue; pub mod wire; pub(crate) use session::{A, B}; pub use frame::Frame");
    assert_eq!((&*rooms["A"], &*rooms["Frame"], &*rooms["cue"]), ("session", "frame", "cue"));
    let gated = "#[cfg(feature = \"a\")]\npub mod lab; #[cfg(any(x, y))] #[doc = \"[z]\"]\npub use net::Udp; mod ring";
    let rooms = rooms_by_name(gated);
    assert_eq!((&*rooms["lab"], &*rooms["Udp"], &*rooms["ring"]), ("lab", "net", "ring"));
}
