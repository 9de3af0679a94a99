//! A server of static files for trying the page on this machine. It listens on 127.0.0.1 alone; a public page belongs behind a real
//! web server.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};

/// The longest request that is read.
const MAX_REQUEST: usize = 8 * 1024;
const MAX_CONNECTIONS: usize = 64;
const TIMEOUT: Duration = Duration::from_secs(5);
/// Nothing of other origins is loaded, and no other page sees what is opened here. WebSockets go to the rendezvous.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ws: wss:; \
                                            base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Serves the files of a folder until the program is stopped.
///
/// # Errors
/// If the folder cannot be read, or the port is taken.
pub(crate) fn serve(folder: &Path, port: u16, rendezvous: &str) -> io::Result<()> {
    let mut files = HashMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_file()) {
            files.insert(format!("/{name}"), path.clone());
        }
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    println!("http://{}/", listener.local_addr()?);
    let rendezvous: Arc<str> = rendezvous.into();
    let (files, open) = (Arc::new(files), Arc::new(AtomicUsize::new(0)));
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        if open.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
            continue;
        }
        open.fetch_add(1, Ordering::Relaxed);
        let (files, open, rendezvous) = (Arc::clone(&files), Arc::clone(&open), Arc::clone(&rendezvous));
        thread::spawn(move || {
            let file = |name: &str| {
                let bytes = fs::read(files.get(name)?).ok()?;
                if !name.ends_with(".html") || rendezvous.is_empty() {
                    return Some(bytes);
                }
                Some(with_rendezvous(&String::from_utf8_lossy(&bytes), &rendezvous).into_bytes())
            };
            // Who hangs up early gets no answer.
            let _ = answer(stream, file);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
    Ok(())
}

/// The page with the rendezvous of its players.
pub(crate) fn with_rendezvous(page: &str, rendezvous: &str) -> String {
    let quoted = rendezvous.replace('&', "&amp;").replace('"', "&quot;");
    let tag = "<meta name=\"rebout-rendezvous\" content=\"";
    page.replace(&format!("{tag}\""), &format!("{tag}{quoted}\""))
}

fn answer(mut stream: TcpStream, file: impl Fn(&str) -> Option<Vec<u8>>) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut request = Vec::new();
    let mut chunk = [0; 1_024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut chunk)? {
            0 => return Ok(()),
            count if request.len() + count > MAX_REQUEST => return Ok(()),
            count => request.extend_from_slice(&chunk[..count]),
        }
    }
    let line = String::from_utf8_lossy(&request);
    let mut words = line.split([' ', '\r']);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let path = if path == "/" { "/index.html" } else { path };
    let body = if method == "GET" { file(path) } else { None };
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-cache\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nContent-Security-Policy: {POLICY}\r\n\r\n",
        kind(path),
        body.len()
    )?;
    stream.write_all(&body)
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}
