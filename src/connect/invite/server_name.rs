//! The name of a server in an invite.

/// The longest name, in bytes.
pub(super) const MAX_LEN: usize = 64;

/// The name and the port of a rendezvous server, as others can look it up: a server that moves keeps its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerName {
    name: String,
    port: u16,
}

impl ServerName {
    /// A name in lower case. `None` for a name that an invite does not carry: labels of letters, digits and inner hyphens, at least two of
    /// them with dots in between, the last one beginning with a letter, 64 bytes at most; and a port other than 0. A name
    /// without a dot means something on one machine or in one network alone, and a number at the end makes it an address.
    #[must_use]
    pub fn new(name: &str, port: u16) -> Option<Self> {
        let is_label = |label: &str| {
            let fits = (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-');
            fits && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let (front, last) = name.rsplit_once('.')?;
        let is_top = last.starts_with(|first: char| first.is_ascii_alphabetic());
        let is_name =
            name.len() <= MAX_LEN && port != 0 && is_top && is_label(last) && front.split('.').all(is_label);
        is_name.then(|| Self { name: name.to_ascii_lowercase(), port })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The UDP port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_others_can_look_up_are_taken() {
        let longest = format!("{}.{}", "a".repeat(60), "org");
        for name in ["play.example.org", "a.b", "xn--bcher-kva.example", "1.2.3.a4", &longest] {
            assert_eq!(ServerName::new(name, 1).map(|server| server.name), Some(name.to_owned()));
        }
        assert_eq!(ServerName::new("Play.Example.ORG", 7).unwrap().name(), "play.example.org");
    }

    #[test]
    fn hostile_and_local_names_are_refused() {
        let long = ["a".repeat(61) + ".org", "a".repeat(64) + ".o", "a.".repeat(40) + "org"];
        let bad = [
            "",
            ".",
            "localhost",
            "server_1.org",
            ".example.org",
            "example.org.",
            "a..org",
            "-a.org",
            "a-.org",
            "a.-org",
            "127.0.0.1",
            "10.1",
            "1.0x7f",
            "a.1b",
            "[::1]",
            "a.org:7",
            "a b.org",
            "a.org\0",
            "bücher.example",
            "a/b.org",
            "a@b.org",
            "a%.org",
            "user.org\n",
        ];
        for name in bad.into_iter().chain(long.iter().map(|name| &**name)) {
            assert_eq!(ServerName::new(name, 7), None, "{name:?}");
        }
        assert_eq!(ServerName::new("play.example.org", 0), None);
    }
}
