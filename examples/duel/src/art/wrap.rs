//! Lines that are not longer than they may be.

/// The lines of `text`, at most `letters` long each. Words stay whole, unless one alone is longer than a line.
pub fn wrap(text: &str, letters: usize) -> Vec<String> {
    let letters = letters.max(1);
    if text.chars().count() <= letters {
        // As it is: a list of keys has wide gaps on purpose.
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        while !rest.is_empty() {
            let line = lines.last_mut().expect("there is one from the start");
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + rest.len() <= letters {
                line.push_str(if gap > 0 { " " } else { "" });
                line.extend(rest.drain(..));
            } else if used == 0 {
                line.extend(rest.drain(..letters));
            } else {
                lines.push(String::new());
            }
        }
    }
    lines
}
