//! The header that is checked in is the one of the sources.

use std::path::Path;

fn written() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("a config");
    let bindings =
        cbindgen::Builder::new().with_crate(root).with_config(config).generate().expect("a header");
    let mut header = Vec::new();
    bindings.write(&mut header);
    let text = String::from_utf8(header).expect("UTF-8");
    // The safety of Rust is told in the words of C by the page.
    let mut kept = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() == "// # Safety" {
            while lines.peek().is_some_and(|line| line.trim_start().starts_with("//")) {
                lines.next();
            }
            if kept.last().is_some_and(|line: &&str| line.trim() == "//") {
                kept.pop();
            }
        } else {
            kept.push(line);
        }
    }
    kept.join("\n").replace('`', "") + "\n"
}

#[test]
fn header_is_the_one_of_the_sources() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/rebout.h");
    let written = written();
    if std::env::var("REBOUT_HEADER").is_ok_and(|value| value == "write") {
        std::fs::write(&path, &written).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(kept.lines()).position(|(new, old)| new != old);
    assert!(
        written == kept,
        "include/rebout.h is stale from line {} on: REBOUT_HEADER=write cargo test -p rebout-c --test header",
        differs.map_or(kept.lines().count(), |line| line + 1)
    );
}

/// The names of the functions in a text, each after `before`.
fn functions<'a>(text: &'a str, before: &'a str) -> Vec<&'a str> {
    // `librebout_c` is a file.
    let found = text.match_indices(before).filter(|(at, _)| !text[..*at].ends_with("lib"));
    let starts = found.map(|(at, _)| &text[at + before.len()..]);
    let mut names: Vec<&str> =
        starts.map(|rest| rest.split(|c: char| c != '_' && !c.is_alphanumeric()).next().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn page_names_every_function() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = std::fs::read_to_string(root.join("include/rebout.h")).unwrap();
    let page = std::fs::read_to_string(root.join("../../docs/C.md")).unwrap();
    let names = header.lines().filter(|line| {
        line.starts_with("rebout")
            || line.starts_with("uint")
            || line.starts_with("const")
            || line.starts_with("struct")
    });
    let names: Vec<&str> =
        names.filter_map(|line| Some(line.split_once('(')?.0.rsplit([' ', '*']).next().unwrap())).collect();
    assert!(names.len() > 50, "only {} functions found: is this test still reading them?", names.len());
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/C.md does not name {name}");
    }
    let told = functions(&page, "rebout_");
    let known = functions(&header, "rebout_");
    let unknown: Vec<_> = told.iter().filter(|name| !known.contains(name)).collect();
    assert!(unknown.is_empty(), "docs/C.md names what the header does not have: {unknown:?}");
}
