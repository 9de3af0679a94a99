//! Pages that need nothing but themselves: their frame, and their style in the light and in the dark.

use super::text::escaped;

const STYLE: &str = include_str!("page.css");

/// A whole page; `body` is HTML already.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>{}</title><style>{STYLE}</style></head><body><main>{body}</main></body></html>\n",
        escaped(title)
    )
}
