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
    use crate::{
        Autopsy, AutopsyVerdict, Bundle, Buttons, FieldDifference, Frame, Inputs, OwnedLeaf, PhaseDifference,
        Player,
    };

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
            phase: None,
            fields: differing_fields(&states, false),
            not_compared: Vec::new(),
            states,
            inputs: (0..100).map(|frame| (Frame(frame), inputs_of(frame))).collect(),
            complete: false,
        };
        let replay = Replay { seed: 5, inputs: (0..100).map(inputs_of).collect(), ..Replay::default() };
        Bundle::new("game", autopsy, replay).unwrap()
    }

    #[test]
    fn page_shows_the_last_90_inputs_and_escapes_values() {
        let page = page(&bundle(1), None);
        assert!(page.contains("<h2>Inputs of frames 10 to 99</h2>"), "{page}");
        assert!(page.contains("<td>&lt;1&gt;</td><td>&lt;2&gt;</td>") && !page.contains("<td><1>"), "{page}");
    }

    #[test]
    fn page_has_at_most_2000_fields_in_a_table() {
        let page = page(&bundle(2_001), None);
        assert_eq!(page.matches("<tr><th><code>").count(), 2_000, "fields that differ");
        assert_eq!(page.matches("<tr class=\"differs\">").count(), 2_000, "both states");
    }

    #[test]
    fn page_and_json_name_the_phase() {
        let name = Some("<hits>".to_owned());
        let field = FieldDifference { path: "x".into(), one: Some("<3>".into()), two: None };
        let phase = PhaseDifference {
            index: 1,
            after: Some("movement".into()),
            one: name.clone(),
            two: name,
            fields: vec![field],
        };
        let autopsy = Autopsy { phase: Some(phase), ..bundle(1).autopsy().clone() };
        let bundle = Bundle::new("game", autopsy, bundle(1).replay().clone()).unwrap();
        let page = page(&bundle, None);
        assert!(page.contains("<p>First different after &lt;hits&gt;, in x.</p>"), "{page}");
        assert!(
            page.contains("<h2>Fields that differ after &lt;hits&gt;, mark 1 of the step</h2>"),
            "{page}"
        );
        assert!(page.contains("<td>&lt;3&gt;</td><td>(absent)</td>"), "{page}");
        let json = json(&bundle);
        let phase =
            r#""phase": {"index": 1, "after": "movement", "one": "<hits>", "two": "<hits>", "fields": ["#;
        assert!(json.contains(phase), "{json}");
        assert!(
            json.contains("[\n    {\"path\": \"x\", \"one\": \"<3>\", \"two\": null}\n  ]},\n"),
            "{json}"
        );
    }

    #[test]
    fn json_tells_exact_from_complete() {
        let json = json(&bundle(1));
        assert!(json.contains("\"exact\": true,\n  \"complete\": false,\n"), "{json}");
    }
}
