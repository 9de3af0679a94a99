//! Addresses as players write them.

use stage::address::{Named, read, resolve};

#[test]
fn addresses_are_read_with_and_without_ports_and_brackets() {
    let table = [
        ("192.168.1.5", "192.168.1.5:7000"),
        ("192.168.1.5:81", "192.168.1.5:81"),
        (" 192.168.1.5 ", "192.168.1.5:7000"),
        ("fd99::1", "[fd99::1]:7000"),
        ("[fd99::1]", "[fd99::1]:7000"),
        ("[fd99::1]:7001", "[fd99::1]:7001"),
        ("::1", "[::1]:7000"),
        ("[::1:7000]", "[::1:7000]:7000"),
        ("2001:db8::5678", "[2001:db8::5678]:7000"),
        ("fd99:1:2:3:4:5:6:7", "[fd99:1:2:3:4:5:6:7]:7000"),
    ];
    for (text, expected) in table {
        let addr = resolve(text, 7_000).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(addr.to_string(), expected, "{text}");
    }
}

#[test]
fn names_keep_their_port_or_get_the_usual_one() {
    let host = |name: &str, port| Ok(Named::Host(name.to_owned(), port));
    assert_eq!(read("ann.example", 7_000), host("ann.example", 7_000));
    assert_eq!(read("ann.example:81", 7_000), host("ann.example", 81));
    assert_eq!(read("localhost", 0), host("localhost", 0));
}

#[test]
fn bad_addresses_are_refused_in_words_that_help() {
    let table = [
        ("", "no address is given"),
        ("::1:7000", "write [::1]:7000, or [::1:7000] if"),
        ("fd99::1:7000", "write [fd99::1]:7000, or"),
        ("[fd99::1", "no closing bracket"),
        ("[fd99::1]7000", "goes on after its bracket with '7000'"),
        ("[fd99::1]:", "'' in '[fd99::1]:' is no port"),
        ("[fd99::1]:70000", "'70000' in '[fd99::1]:70000' is no port"),
        ("[ann]:7000", "'ann' is no IPv6 address, and brackets are for those alone"),
        ("ann:port", "'port' in 'ann:port' is no port"),
        (":7000", "names a port, but no host"),
        ("fd99:zz::1", "is no IPv6 address; with a port it is written [2001:db8::7]:7000"),
    ];
    for (text, expected) in table {
        let error = read(text, 7_000).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}
