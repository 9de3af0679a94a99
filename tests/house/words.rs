//! The pages are short enough to be read: their words are counted, and their lines are wrapped.

use crate::pages::pages;

/// All pages together, without blocks of code and without the list of C functions.
const MAX_WORDS: usize = 30_000;
const MAX_README_WORDS: usize = 1_000;
/// Tables, links alone on their line and code are not wrapped.
const MAX_COLUMNS: usize = 120;
const FUNCTION_REFERENCE: &str = "## 4. Every function";

/// The lines of a page outside blocks of code, without those of the function reference; each with its number.
fn prose(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut in_code, mut in_reference) = (false, false);
    page.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        if !in_code && line.starts_with("## ") {
            in_reference = line == FUNCTION_REFERENCE;
        }
        (!in_code && !is_fence && !in_reference).then_some((at + 1, line))
    })
}

/// The words of a page; the bars of tables and other marks on their own are none.
fn words(page: &str) -> usize {
    let words = prose(page).flat_map(|(_, line)| line.split_whitespace());
    words.filter(|word| word.contains(char::is_alphanumeric)).count()
}

#[test]
fn pages_have_few_words() {
    let counts: Vec<(String, usize)> = pages().into_iter().map(|(path, page)| (path, words(&page))).collect();
    let sum: usize = counts.iter().map(|(_, count)| count).sum();
    assert!((20_000..=MAX_WORDS).contains(&sum), "{sum} words: {counts:?}");
    let readme = counts.iter().find(|(path, _)| path == "README.md").unwrap().1;
    assert!(readme <= MAX_README_WORDS, "{readme} words in the README");
    let page = pages().into_iter().find(|(path, _)| path == "docs/C.md").unwrap().1;
    assert!(page.lines().any(|line| line == FUNCTION_REFERENCE), "C.md has another title for its functions");
}

#[test]
fn prose_on_the_pages_is_wrapped() {
    for (path, page) in pages() {
        for (at, line) in prose(&page) {
            let is_free = ["|", "!["].iter().any(|start| line.trim_start().starts_with(start));
            let columns = line.chars().count();
            assert!(is_free || columns <= MAX_COLUMNS, "{path}:{at} has {columns} columns");
        }
    }
}

#[test]
fn word_counter_skips_code_marks_and_the_reference() {
    let page = "# A b\n\n| c | d |\n|---|---|\n```text\ncode\n```\n- e\n## 4. Every function\nf\n## 5. G\nh";
    assert_eq!(prose(page).map(|(at, _)| at).collect::<Vec<_>>(), [1, 2, 3, 4, 8, 11, 12]);
    assert_eq!(words(page), 8);
}
