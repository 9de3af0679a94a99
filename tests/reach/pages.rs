//! Holds that the code about reach on the page for embedders is compiled: it is that of the library's own example.

const PAGE: &str = include_str!("../../docs/EMBEDDING.md");
const EXAMPLE: &str = include_str!("../../src/reach/mod.rs");

#[test]
fn every_line_for_embedders_is_in_the_example_of_the_library() {
    let compiled: Vec<&str> = EXAMPLE.lines().filter_map(|line| line.strip_prefix("//! ")).collect();
    let mut lines = 0;
    for block in PAGE.split("```rust reach\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            assert!(compiled.contains(&line), "not in the example: {line}");
            lines += 1;
        }
    }
    assert!(lines >= 6, "{lines} lines");
}
