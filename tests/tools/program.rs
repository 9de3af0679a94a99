//! The tools, built and found.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;

/// A tool, built if it is not: `cargo test --test tools` alone does not build examples.
pub(crate) fn program(name: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let release: &[&str] = if cfg!(debug_assertions) { &[] } else { &["--release"] };
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--example", "autopsy", "--example", "inspect"])
            .args([
                "--example",
                "arena",
                "--example",
                "playground",
                "--example",
                "replay",
                "--example",
                "stress",
            ])
            .args(release)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(built.expect("cargo runs").success());
    });
    let test = std::env::current_exe().expect("this program is somewhere");
    let profile = test.ancestors().nth(2).expect("target/debug/deps");
    profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Whether nothing in what a tool printed moves a cursor or turns the words around it.
pub(crate) fn is_harmless(text: &str) -> bool {
    !text.chars().any(|c| c != '\n' && rebout::is_disruptive(c))
}
