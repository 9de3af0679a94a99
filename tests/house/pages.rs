//! Paths, links and commands on the pages name files and targets that exist.

use std::path::Path;

/// The pages: the README and the documents, each with its path.
pub(crate) fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let docs =
        docs.map(|name| format!("docs/{}", name.to_str().unwrap())).filter(|path| path.ends_with(".md"));
    let paths = docs.chain(["README.md".to_owned()]);
    paths.map(|path| (path.clone(), std::fs::read_to_string(root.join(path)).unwrap())).collect()
}

/// Every word of a page that looks like a path into the repository.
fn paths(page: &str) -> impl Iterator<Item = &str> {
    let words = page.split(|c: char| c.is_whitespace() || "`()|,;\"'".contains(c));
    let words = words.map(|word| word.trim_end_matches(['.', ':']).split('#').next().unwrap());
    words.filter(|word| {
        let room = word.split('/').next().unwrap();
        word.contains('/') && ["src", "docs", "examples", "tests", "benches", "fuzz", ".ci"].contains(&room)
    })
}

/// The files that a page links to, as paths from the root.
fn links(page: &str, text: &str) -> Vec<String> {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let targets = text.split("](").skip(1).map(|link| link.split([')', '#']).next().unwrap());
    let files = targets.filter(|target| !target.is_empty() && !target.contains("://"));
    let from_root = |target: &str| match target.strip_prefix("../") {
        Some(above) => above.to_owned(),
        None => format!("{folder}/{target}").trim_start_matches('/').to_owned(),
    };
    files.map(from_root).collect()
}

/// The anchors of a page: its headings in lower case, with hyphens for spaces and without marks.
fn anchors(text: &str) -> Vec<String> {
    let mut in_code = false;
    let headings = text.lines().filter(|line| {
        in_code ^= line.starts_with("```");
        !in_code && line.starts_with('#')
    });
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    let anchor =
        |title: &str| title.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
    headings.map(|heading| anchor(heading.trim_start_matches('#').trim())).collect()
}

#[test]
fn anchors_of_links_on_the_pages_are_headings() {
    let pages = pages();
    let mut checked = 0;
    for (page, text) in &pages {
        let targets = text.split("](").skip(1).map(|link| link.split(')').next().unwrap());
        for (file, anchor) in
            targets.filter(|target| !target.contains("://")).filter_map(|target| target.split_once('#'))
        {
            let name = if file.is_empty() { page } else { file };
            let name = name.rsplit('/').next().unwrap();
            let (_, text) = pages.iter().find(|(path, _)| path.ends_with(name)).expect(file);
            assert!(
                anchors(text).iter().any(|known| known == anchor),
                "{page} links to {name}#{anchor}, which is not there"
            );
            checked += 1;
        }
    }
    assert!(checked > 40, "only {checked} anchors found: is this test still reading them?");
}

#[test]
fn paths_on_the_pages_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = 0;
    for (page, text) in pages() {
        for path in paths(&text) {
            // `a/{b,c}.rs` is split at its comma, and `a/*` means all of a folder.
            let path = path.split(['{', '*']).next().unwrap();
            assert!(root.join(path).exists(), "{page} names {path}, which is not there");
            checked += 1;
        }
        for target in links(&page, &text) {
            assert!(root.join(&target).exists(), "{page} links to {target}, which is not there");
            checked += 1;
        }
    }
    assert!(checked > 40, "only {checked} paths found: is this test still reading them?");
}

/// Whether a file is in the published package, by the manifest's list of paths, in which a `*` may end a name's stem.
fn is_packaged(path: &str, include: &str) -> bool {
    include.split('"').skip(1).step_by(2).map(|entry| entry.trim_start_matches('/')).any(|entry| match entry
        .split_once('*')
    {
        Some((start, end)) => path.starts_with(start) && path.ends_with(end),
        None => Path::new(path).starts_with(entry),
    })
}

#[test]
fn links_on_the_pages_resolve_in_the_published_package() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let include = manifest.lines().find(|line| line.starts_with("include = ")).expect("a list of paths");
    assert!(is_packaged("src/lib.rs", include) && is_packaged("docs/WIRE.md", include));
    assert!(!is_packaged("tests/house/main.rs", include) && !is_packaged("docs/a.txt", include));
    for (page, text) in pages() {
        assert!(is_packaged(&page, include), "{page}");
        for target in links(&page, &text) {
            assert!(is_packaged(&target, include), "{page} links to {target}, which is not published");
        }
    }
}

/// The names after `flag` in commands on a page.
fn targets<'a>(page: &'a str, flag: &'a str) -> impl Iterator<Item = &'a str> {
    page.match_indices(flag).filter_map(move |(at, _)| {
        let rest = page[at + flag.len()..].trim_start_matches(' ');
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
    })
}

#[test]
fn commands_on_the_pages_name_targets_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, text) in pages() {
        for (flag, folders) in [
            ("--example ", &["examples", "benches/peers/examples", "bindings/c/examples"][..]),
            ("--test ", &["tests", "examples/arcade/tests", "examples/games/tests", "examples/duel/tests"]),
            ("--bench ", &["benches/benches"]),
        ] {
            for name in targets(&text, flag) {
                let there = |folder: &&str| {
                    [format!("{folder}/{name}"), format!("{folder}/{name}.rs")]
                        .iter()
                        .any(|path| root.join(path).exists())
                };
                assert!(folders.iter().any(there), "{page}: there is no target for {flag}{name}");
            }
        }
    }
}

/// The stress test on the page about determinism is the one of the embedder's package, which is compiled and run.
#[test]
fn stress_test_on_the_page_is_the_embedders() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(root.join("tests/embedder/src/lib.rs")).unwrap();
    let (_, test) = source.split_once("fn race_desyncs_on_no_link").expect("the test");
    let lines: Vec<&str> = test.lines().take(4).map(str::trim).collect();
    assert!(lines[1].contains("Stress::new(") && lines[3] == "}", "{lines:?}");
    let text = std::fs::read_to_string(root.join("docs/DETERMINISM.md")).unwrap();
    let (_, shown) = text.split_once("fn race_desyncs_on_no_link").expect("the test on the page");
    let shown: Vec<&str> = shown.lines().take(4).map(str::trim).collect();
    assert_eq!(shown, lines);
}

#[test]
fn path_and_target_parsers_find_each() {
    let text = "see `tests/house`, [x](docs/A.md#b) and and/or. `cargo test --test wire doc`";
    assert_eq!(paths(text).collect::<Vec<_>>(), ["tests/house", "docs/A.md"]);
    assert_eq!(targets(text, "--test ").collect::<Vec<_>>(), ["wire"]);
}
