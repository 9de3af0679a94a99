//! Keys in the files and in the diagnostics of the duel.

use std::fs;
use std::path::{Path, PathBuf};

use duel::play::{Admits, HostEndpoint};
use rebout::ConnectOptions;

use crate::online::Folder;

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir_all(&folder.0).expect("a folder");
    folder
}

fn keeping(path: &Path) -> HostEndpoint {
    HostEndpoint::new(0, ConnectOptions::new().keep_key_in(path), Admits::Invited { rendezvous: None })
}

#[test]
fn debug_of_a_host_hides_its_key_and_its_invite() {
    let folder = folder("debug");
    let path = folder.0.join("key");
    let mut endpoint = keeping(&path);
    let opened = endpoint.open().expect("a host");
    let digits = fs::read_to_string(&path).expect("a kept key");
    let bytes = digits.trim_end().as_bytes().chunks(2);
    let bytes: Vec<u8> = bytes
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).expect("digits"), 16).expect("digits"))
        .collect();
    let debug = format!("{endpoint:?} {opened:?}");
    assert!(!debug.contains(opened.0.share()), "{debug}");
    let inner = format!("{bytes:?}");
    assert!(!debug.contains(inner.trim_matches(['[', ']'])), "{debug}");
    assert!(!debug.contains(digits.trim_end()), "{debug}");
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::{OpenOptionsExt, symlink};

    use duel::play::Opened;

    fn logging(path: &Path) -> HostEndpoint {
        HostEndpoint::new(0, ConnectOptions::new().log_keys_to(path), Admits::Everybody)
    }

    /// A private file, a link to it, and a link to a file that does not exist.
    fn links(folder: &Folder, content: &str) -> (PathBuf, [PathBuf; 2], PathBuf) {
        let [victim, missing] = ["victim", "missing"].map(|name| folder.0.join(name));
        let private = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&victim);
        std::io::Write::write_all(&mut private.expect("a file"), content.as_bytes()).expect("written");
        let links = ["link", "dangling"].map(|name| folder.0.join(name));
        for (target, link) in [&victim, &missing].into_iter().zip(&links) {
            symlink(target, link).expect("a link");
        }
        (victim, links, missing)
    }

    fn reason(refused: Result<Opened, String>) -> String {
        refused.map(|_| ()).expect_err("it was taken")
    }

    #[test]
    fn kept_key_behind_a_symlink_is_refused() {
        let folder = folder("keep-link");
        let key = format!("{}\n", "17".repeat(32));
        let (victim, links, missing) = links(&folder, &key);
        assert!(keeping(&victim).open().is_ok(), "the key itself is valid");
        for link in &links {
            let text = reason(keeping(link).open());
            assert!(text.contains("is a symbolic link"), "{text}");
        }
        assert!(!missing.exists(), "a key was written through the link");
    }

    #[test]
    fn key_log_behind_a_symlink_is_refused() {
        let folder = folder("log-link");
        let (victim, links, missing) = links(&folder, "others\n");
        for link in &links {
            let text = reason(logging(link).open());
            assert!(text.contains("is a symbolic link"), "{text}");
        }
        assert!(!missing.exists(), "a log was created through the link");
        assert_eq!(fs::read_to_string(&victim).expect("a file"), "others\n");
        assert!(logging(&victim).open().is_ok(), "a private file is continued");
        assert!(logging(&missing).open().is_ok() && missing.exists());
    }

    #[test]
    fn keys_are_refused_in_a_file_that_is_not_regular() {
        let folder = folder("log-folder");
        for path in [&folder.0, Path::new("/dev/null")] {
            let text = reason(logging(path).open());
            assert!(text.contains("is not a regular file"), "{text}");
            let text = reason(keeping(path).open());
            assert!(text.contains("is not a regular file"), "{text}");
        }
    }
}
