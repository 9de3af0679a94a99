//! Messages of HTTP and XML, as far as UPnP needs them: bounded texts of the local network, of which a few fields are read.

use std::net::{Ipv4Addr, SocketAddrV4};

/// The longest head of a response.
const MAX_HEAD: usize = 4_096;
/// The longest path of a URL.
const MAX_PATH: usize = 256;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: String,
}

/// The head of a message as text, and the bytes behind it.
fn split(message: &[u8]) -> Option<(&str, &[u8])> {
    let head = message.get(..MAX_HEAD).unwrap_or(message);
    let at = head.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD)?;
    Some((core::str::from_utf8(&message[..at]).ok()?, &message[at + END_OF_HEAD.len()..]))
}

/// The value of a header.
pub(super) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(field, _)| field.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// The status code of a response.
pub(super) fn status(head: &str) -> Option<u16> {
    head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.get(..3)?.parse().ok()
}

fn is_chunked(head: &str) -> bool {
    header(head, "Transfer-Encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"))
}

/// Whether these bytes are a whole response. One without a length ends with its connection.
pub(super) fn is_whole(message: &[u8]) -> bool {
    let Some((head, body)) = split(message) else { return false };
    if is_chunked(head) {
        return body.ends_with(b"0\r\n\r\n");
    }
    let len = header(head, "Content-Length").and_then(|len| len.parse().ok());
    len.is_some_and(|len: usize| body.len() >= len)
}

/// Reads a response.
pub(super) fn response(message: &[u8]) -> Option<Response> {
    let (head, body) = split(message)?;
    let body = if is_chunked(head) { unchunked(body) } else { body.to_vec() };
    Some(Response { status: status(head)?, body: String::from_utf8_lossy(&body).into_owned() })
}

/// The body of the chunks, as far as they are whole.
fn unchunked(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(at) = chunks.windows(2).take(64).position(|window| window == b"\r\n") {
        let len = core::str::from_utf8(&chunks[..at]).ok().and_then(|line| line.split(';').next());
        let len = len.and_then(|len| usize::from_str_radix(len.trim(), 16).ok()).unwrap_or(0);
        let rest = &chunks[at + 2..];
        let Some((chunk, after)) = rest.split_at_checked(len).filter(|_| len > 0) else { break };
        body.extend_from_slice(chunk);
        chunks = after.get(2..).unwrap_or_default();
    }
    body
}

/// The text inside the first element of this name, and everything behind it.
pub(super) fn element<'a>(xml: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut rest = xml;
    loop {
        rest = rest.split_once('<')?.1;
        let Some(tag) = rest.strip_prefix(name) else { continue };
        if tag.starts_with(|c: char| c == '>' || c.is_ascii_whitespace()) {
            return tag.split_once('>')?.1.split_once(&format!("</{name}>"));
        }
    }
}

/// The address and the path of a URL with an IPv4 address. Nothing else in this network is a router.
pub(super) fn url(text: &str) -> Option<(SocketAddrV4, String)> {
    let rest = text.trim().strip_prefix("http://")?;
    let (host, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let at = match host.parse::<SocketAddrV4>() {
        Ok(at) => at,
        Err(_) => SocketAddrV4::new(host.parse::<Ipv4Addr>().ok()?, 80),
    };
    Some((at, path(rest)?)).filter(|_| at.port() != 0)
}

/// A path that can stand in a request: without spaces and line ends, which would make it another one.
pub(super) fn path(text: &str) -> Option<String> {
    let text = text.trim();
    let path = if text.starts_with('/') { text.to_owned() } else { format!("/{text}") };
    Some(path).filter(|path| path.len() <= MAX_PATH && path.bytes().all(|byte| byte.is_ascii_graphic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_whole_with_its_length_or_its_last_chunk() {
        let sized = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody";
        assert!(is_whole(sized) && !is_whole(&sized[..sized.len() - 1]) && !is_whole(b"HTTP/1.1 200"));
        assert_eq!(response(sized), Some(Response { status: 200, body: "body".to_owned() }));
        let chunked =
            b"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2;x=y\r\ndy\r\n0\r\n\r\n";
        assert!(is_whole(chunked) && !is_whole(&chunked[..chunked.len() - 5]));
        assert_eq!(response(chunked), Some(Response { status: 500, body: "body".to_owned() }));
        let open = b"HTTP/1.0 200 OK\r\n\r\nuntil the end";
        assert!(!is_whole(open) && response(open).unwrap().body == "until the end");
    }

    #[test]
    fn malformed_responses_are_refused_or_cut() {
        let endless_head = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; 60_000], b"\r\n\r\n"].concat();
        let huge_chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nbody";
        assert_eq!(response(&endless_head), None);
        assert_eq!(response(huge_chunk).unwrap().body, "");
        for garbage in [
            b"".as_slice(),
            b"\r\n\r\n",
            b"HTTP/1.1 OK\r\n\r\n",
            b"HTTP/1.1 \xff\r\n\r\n",
            b"SSH-2.0\r\n\r\n",
        ] {
            assert_eq!(response(garbage), None);
        }
        let huge_length = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n";
        assert!(!is_whole(huge_length));
    }

    #[test]
    fn element_is_found_by_its_whole_name() {
        let xml = "<a><services>no</services><service x='1'> yes</service><service>two</service>";
        assert_eq!(element(xml, "service"), Some((" yes", "<service>two</service>")));
        for unclosed in ["<service", "<service>", "<service>no</servic", "<<<<", "service>x</service>"] {
            assert_eq!(element(unclosed, "service"), None, "{unclosed}");
        }
        assert_eq!(element(&"<service".repeat(8_000), "service"), None);
    }

    #[test]
    fn url_needs_an_ipv4_address_and_a_path_of_one_line() {
        let at = |text: &str| text.parse::<SocketAddrV4>().unwrap();
        assert_eq!(url("http://10.0.0.1:5000/a.xml"), Some((at("10.0.0.1:5000"), "/a.xml".to_owned())));
        assert_eq!(url(" http://10.0.0.1"), Some((at("10.0.0.1:80"), "/".to_owned())));
        let long = format!("http://10.0.0.1/{}", "x".repeat(300));
        for text in [
            "https://10.0.0.1/",
            "http://router.lan/",
            "http://10.0.0.1:0/",
            "http://10.0.0.1:99999/",
            "http://[fe80::1]/",
            "http://10.0.0.1/a b",
            "http://10.0.0.1/a\r\nHost: x",
            "http://user@10.0.0.1/",
            &long,
        ] {
            assert_eq!(url(text), None, "{text}");
        }
    }
}
