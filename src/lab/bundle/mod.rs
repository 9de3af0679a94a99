//! A desync bundle for people and for other programs: an HTML page, and JSON.
//!
//! A bundle's folder holds the facts. These are rendered from a [`Bundle`](crate::Bundle) that was made or read back, as
//! `cargo run --example autopsy -- DIR --html FILE --json FILE` does.

mod json;
mod page;

pub use json::json;
pub use page::page;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Replay;
    use crate::session::desync::differing_fields;
    use crate::{Autopsy, AutopsyVerdict, Bundle, Buttons, Frame, Inputs, OwnedLeaf, Player};

    fn inputs_of(frame: u32) -> Inputs {
        [Buttons(frame as u16), Buttons(1 << (frame % 16))].into()
    }

    /// A bundle of two states that differ in every field of frame 100, with the inputs of all frames before it.
    fn bundle(fields: u32) -> Bundle {
        let leaf = |at, value| OwnedLeaf {
            path: format!("hp[{at}]"),
            words: vec![value],
            shown: format!("<{value}>"),
        };
        let states = [1, 2].map(|value| (0..fields).map(|at| leaf(at, value)).collect());
        let autopsy = Autopsy {
            local: Player::One,
            last_match: Some(Frame(90)),
            first_divergence: Frame(100),
            exact: true,
            verdict: AutopsyVerdict::StepDiffers,
            fields: differing_fields(&states, false),
            not_compared: Vec::new(),
            states,
            inputs: (0..100).map(|frame| (Frame(frame), inputs_of(frame))).collect(),
            complete: false,
        };
        let replay = Replay { seed: 5, inputs: (0..100).map(inputs_of).collect() };
        Bundle::new("game", autopsy, replay).unwrap()
    }

    #[test]
    fn the_page_shows_the_last_90_inputs_and_escapes_values() {
        let page = page(&bundle(1));
        assert!(page.contains("<h2>Inputs of frames 10 to 99</h2>"), "{page}");
        assert!(page.contains("<td>&lt;1&gt;</td><td>&lt;2&gt;</td>") && !page.contains("<td><1>"), "{page}");
    }

    #[test]
    fn the_page_has_at_most_2000_fields_in_a_table() {
        let page = page(&bundle(2_001));
        assert_eq!(page.matches("<tr><th><code>").count(), 2_000, "fields that differ");
        assert_eq!(page.matches("<tr class=\"differs\">").count(), 2_000, "both states");
    }

    #[test]
    fn the_json_tells_exact_from_complete() {
        let json = json(&bundle(1));
        assert!(json.contains("\"exact\": true,\n  \"complete\": false,\n"), "{json}");
    }
}
