//! No sentence of a comment or a page opens with "What", "Whatever" or "So". A question may.

use crate::files;
use crate::pages::pages;

/// Words that keep the subject of a sentence for later.
const VAGUE_OPENINGS: [&str; 3] = ["What", "Whatever", "So"];

/// The first sentence in a text that opens with such a word.
fn vague_sentence(text: &str) -> Option<&str> {
    let starts = text.match_indices(['.', '!', '?']).map(|(at, _)| at + 1);
    [0].into_iter()
        .chain(starts)
        .map(|at| text[at..].trim_start_matches([')', '"', '*', '_', '`', '(', ' ']))
        .find(|sentence| {
            let word = sentence.split(|c: char| !c.is_alphanumeric()).next();
            let asks = sentence.find(['.', '!', '?']).is_some_and(|at| sentence[at..].starts_with('?'));
            !asks && word.is_some_and(|word| VAGUE_OPENINGS.contains(&word))
        })
}

/// The comments of a source file, a block of consecutive lines as one text.
fn comments(text: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in text.lines() {
        let comment =
            line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']).trim());
        match comment {
            Some("") | None => blocks.push(String::new()),
            Some(words) => {
                let block = blocks.last_mut().expect("there is one");
                block.push_str(words);
                block.push(' ');
            }
        }
    }
    blocks
}

/// The prose of a page, without its blocks of code: paragraphs, items of lists, headings and cells of tables.
fn prose(page: &str) -> Vec<String> {
    let (mut blocks, mut in_code) = (vec![String::new()], false);
    for line in page.lines().map(str::trim) {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            continue;
        } else if line.starts_with('|') {
            blocks.extend(line.split('|').map(|cell| cell.trim().to_owned()));
            blocks.push(String::new());
        } else {
            let item =
                line.trim_start_matches(|c: char| "#-*>.".contains(c) || c.is_ascii_digit()).trim_start();
            if line.is_empty() || item.len() < line.len() {
                blocks.push(String::new());
            }
            let block = blocks.last_mut().expect("there is one");
            block.push_str(item);
            block.push_str(if item.is_empty() { "" } else { " " });
            if line.starts_with('#') {
                blocks.push(String::new());
            }
        }
    }
    blocks
}

#[test]
fn no_sentence_opens_with_a_vague_word() {
    let comments = files("src").into_iter().flat_map(|(path, text)| {
        comments(&text).into_iter().map(move |block| (path.display().to_string(), block))
    });
    let prose = pages()
        .into_iter()
        .flat_map(|(path, page)| prose(&page).into_iter().map(move |block| (path.clone(), block)));
    let mut read = 0;
    for (path, block) in comments.chain(prose) {
        if let Some(sentence) = vague_sentence(&block) {
            panic!("{path}: a sentence opens with a word that says nothing: {sentence}");
        }
        read += usize::from(!block.is_empty());
    }
    assert!(read > 1_000, "only {read} blocks found: is this test still reading them?");
}

#[test]
fn sentence_and_page_parsers_find_each() {
    for text in ["What it is.", "A thing. So it is.", "(It is.) Whatever comes.", "**What is kept.**"] {
        assert!(vague_sentence(text).is_some(), "{text}");
    }
    for text in ["Say what it is, so that it helps.", "Sofas. Whatsoever.", "It is `What`.", "What is it?"] {
        assert!(vague_sentence(text).is_none(), "{text}");
    }
    let blocks = prose("# A\nb\nc\n\n- d\n```\ncode\n```\n| e | f |");
    let blocks: Vec<_> = blocks.iter().map(|block| block.trim()).filter(|block| !block.is_empty()).collect();
    assert_eq!(blocks, ["A", "b c", "d", "e", "f"]);
    assert_eq!(comments("/// a\n/// b\nlet x;\n    // c\n").concat(), "a b c ");
}
