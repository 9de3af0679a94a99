//! Each "cannot" of the page about security names a test that tries it, and the tests that it names exist.

use std::path::Path;

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join("docs/SECURITY.md")).unwrap()
}

/// The text between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a quoted text looks like the name of a test, which may be cut by three dots.
fn is_test_name(text: &str) -> bool {
    let name = text.trim_end_matches("...");
    name.matches('_').count() >= 2
        && name.bytes().all(|c| c == b'_' || c.is_ascii_lowercase() || c.is_ascii_digit())
}

/// Whether a quoted text names a test, a file of tests or a command that runs some.
fn is_evidence(text: &str) -> bool {
    is_test_name(text) || text.ends_with(".rs") || text.starts_with("tests/") || text.contains("cargo test")
}

/// The items of the lists that follow a sentence with "cannot" and a colon at its end. An item may have several lines.
fn denied_items(page: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut denies = false;
    for block in page.split("\n\n").map(str::trim) {
        if !block.starts_with("- ") {
            let words = block.replace('\n', " ");
            let last = words.rsplit(". ").next().unwrap_or_default();
            denies = last.ends_with(':') && last.contains("cannot");
            continue;
        }
        for line in block.lines().filter(|_| denies) {
            match line.strip_prefix("- ") {
                Some(start) => items.push(start.to_owned()),
                None => items.last_mut().expect("an item begins before").push_str(line),
            }
        }
    }
    items
}

#[test]
fn each_cannot_of_the_security_page_names_a_test() {
    let items = denied_items(&page());
    for item in &items {
        assert!(quoted(item).any(is_evidence), "no test is named: {item}");
    }
    assert!(items.len() > 75, "only {} items found: is this test still reading them?", items.len());
}

#[test]
fn tests_that_the_security_page_names_exist() {
    let page = page();
    let folders = ["src", "tests", "examples"].map(super::files);
    let sources: String = folders.into_iter().flatten().map(|(_, text)| text).collect();
    let mut checked = 0;
    for name in quoted(&page).filter(|text| is_test_name(text)) {
        let call = match name.strip_suffix("...") {
            Some(start) => format!("fn {start}"),
            None => format!("fn {name}("),
        };
        let is_field = sources.contains(&format!("pub {name}:"));
        assert!(is_field || sources.contains(&call), "docs/SECURITY.md names {name}, which is no test");
        checked += 1;
    }
    assert!(checked > 100, "only {checked} names found: is this test still reading them?");
}

#[test]
fn security_page_parser_reads_items_and_names() {
    assert!(is_test_name("one_two_three") && is_test_name("one_two_three...") && !is_test_name("lost_after"));
    assert!(!is_test_name("Config::max_input_age"));
    assert!(is_evidence("x.rs") && !is_evidence("--log-meetings"));
    let page = "It can. He cannot:\n\n- a\n  (`x.rs`)\n- b\n\nShe cannot. She can:\n\n- c\n\nThey cannot (d):\n\n- e";
    assert_eq!(denied_items(page), ["a  (`x.rs`)", "b", "e"]);
}
