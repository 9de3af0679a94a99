//! Pages that need nothing but themselves: their frame, their style in the light and in the dark, and text on them.

use crate::shown;

const STYLE: &str = include_str!("page.css");

/// A whole page; `body` is HTML already.
pub(crate) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>{}</title><style>{STYLE}</style></head><body><main>{body}</main></body></html>\n",
        escaped(title)
    )
}

/// Text as an HTML page shows it, in an element or an attribute: no markup, nothing that turns the words around it. Lines stay
/// lines.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        html.push_str(if at > 0 { "\n" } else { "" });
        for c in shown(line).chars() {
            match c {
                '&' => html.push_str("&amp;"),
                '<' => html.push_str("&lt;"),
                '>' => html.push_str("&gt;"),
                '"' => html.push_str("&quot;"),
                '\'' => html.push_str("&#39;"),
                c => html.push(c),
            }
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_on_the_page_is_neither_markup_nor_a_mark_of_direction() {
        let text = "<script>\"a\" & 'b'</script>\n\u{202e}\u{1b}[2J\r";
        let shown = r"&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;";
        assert_eq!(escaped(text), format!("{shown}\n{}", r"\u{202e}\u{1b}[2J\u{d}"));
    }
}
