//! The pages are short enough to be read: their words are counted, and their lines are wrapped.

use crate::pages::pages;

/// The pages of `docs/` together, as `wc -w` counts them, without the list of C functions.
const MAX_WORDS: usize = 30_000;
/// As `wc -w` counts them.
const MAX_README_WORDS: usize = 1_000;
/// Tables, links alone on their line and code are not wrapped.
const MAX_COLUMNS: usize = 120;
const FUNCTION_REFERENCE: &str = "## 4. Every function";

/// The lines of a page without those of the function reference; each with its number, and whether it is code.
fn lines(page: &str) -> impl Iterator<Item = (usize, bool, &str)> {
    let (mut in_code, mut in_reference) = (false, false);
    page.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        if !in_code && line.starts_with("## ") {
            in_reference = line == FUNCTION_REFERENCE;
        }
        (!in_reference).then_some((at + 1, in_code || is_fence, line))
    })
}

fn words(page: &str) -> usize {
    lines(page).map(|(_, _, line)| line.split_whitespace().count()).sum()
}

#[test]
fn pages_have_few_words() {
    let mut counts: Vec<(String, usize)> =
        pages().into_iter().map(|(path, page)| (path, words(&page))).collect();
    let readme = counts.iter().position(|(path, _)| path == "README.md").unwrap();
    let (_, readme) = counts.swap_remove(readme);
    assert!((500..=MAX_README_WORDS).contains(&readme), "{readme} words in the README");
    let sum: usize = counts.iter().map(|(_, count)| count).sum();
    assert!((20_000..=MAX_WORDS).contains(&sum), "{sum} words: {counts:?}");
    let page = pages().into_iter().find(|(path, _)| path == "docs/C.md").unwrap().1;
    assert!(page.lines().any(|line| line == FUNCTION_REFERENCE), "C.md has another title for its functions");
}

#[test]
fn prose_on_the_pages_is_wrapped() {
    for (path, page) in pages() {
        for (at, _, line) in lines(&page).filter(|(_, is_code, _)| !is_code) {
            let is_free = ["|", "!["].iter().any(|start| line.trim_start().starts_with(start));
            let columns = line.chars().count();
            assert!(is_free || columns <= MAX_COLUMNS, "{path}:{at} has {columns} columns");
        }
    }
}

#[test]
fn word_counter_skips_only_the_reference() {
    let page = "# A b\n\n| c | d |\n|---|---|\n```text\ncode\n```\n- e\n## 4. Every function\nf\n## 5. G\nh";
    let prose = lines(page).filter(|(_, is_code, _)| !is_code).map(|(at, _, _)| at);
    assert_eq!(prose.collect::<Vec<_>>(), [1, 2, 3, 4, 8, 11, 12]);
    assert_eq!(words(page), 3 + 5 + 1 + 3 + 2 + 3 + 1);
}
