//! The name of a test is a short statement of behaviour.

use crate::{OTHERS, files};

/// Characters of a test's name.
const MAX_CHARACTERS: usize = 60;

/// The names of the tests in a source file.
fn test_names(text: &str) -> impl Iterator<Item = &str> {
    // In two parts, so that this file has no marker without a test.
    let tests = text.split(concat!("#[te", "st]\n")).skip(1);
    tests.filter_map(|test| {
        let (_, rest) = test.split_once("fn ")?;
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    })
}

#[test]
fn test_names_are_short_and_begin_without_an_article() {
    let mut read = 0;
    for (path, text) in OTHERS.into_iter().chain(["src"]).flat_map(files) {
        for name in test_names(&text) {
            assert!(name.len() <= MAX_CHARACTERS, "{path:?}: {name} has {} characters", name.len());
            let article = ["a_", "an_", "the_"].into_iter().find(|article| name.starts_with(article));
            assert_eq!(article, None, "{path:?}: {name}");
            read += 1;
        }
    }
    assert!(read > 1_000, "only {read} tests found: is this test still reading them?");
}

#[test]
fn test_name_parser_finds_each_test() {
    let marker = concat!("#[te", "st]\n");
    let text = format!("fn a() {{}}\n{marker}fn b() {{}}\n{marker}#[cfg(unix)]\nfn c_2(x in 0..1) {{}}\n");
    assert_eq!(test_names(&text).collect::<Vec<_>>(), ["b", "c_2"]);
}
