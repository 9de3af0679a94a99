//! Examples of the workspace as programs: built, found and run.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

/// The example `name`. The first call builds all of `examples`, because `cargo test --test NAME` builds none.
///
/// # Panics
/// If they cannot be built.
pub fn example(name: &str, examples: &[&str]) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let release: &[&str] = if cfg!(debug_assertions) { &[] } else { &["--release"] };
        let mut build = Command::new(env!("CARGO"));
        // Cargo tells a test program which package it is of. Build scripts that watch those variables would run again, and
        // everything that depends on them would be built again in every run of the tests.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_MANIFEST_") || text.starts_with("CARGO_PKG_") {
                build.env_remove(&name);
            }
        }
        let built = build
            .args(["build", "--quiet"])
            .args(examples.iter().flat_map(|example| ["--example", example]))
            .args(release)
            // The whole workspace has the features that the test was built with.
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .status();
        assert!(built.expect("cargo runs").success());
        let test = std::env::current_exe().expect("this program is somewhere");
        test.ancestors().nth(2).expect("target/debug/deps").join("examples")
    });
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// A running program that does not outlive its test.
pub struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    /// Starts a program, without an input and with both outputs read here.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, out }
    }

    /// The next line that it prints; empty after the last.
    ///
    /// # Panics
    /// If it is not text.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("text");
        line.trim_end().to_owned()
    }

    /// Whether it has ended.
    ///
    /// # Panics
    /// If the system does not say.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Kills it.
    ///
    /// # Panics
    /// If it has ended before.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
    }

    /// Asks it to end, as `kill` and a service manager do.
    ///
    /// # Panics
    /// If it cannot be asked.
    #[cfg(unix)]
    pub fn ask_to_end(&self) {
        // The shell's own, because a small installation has no other.
        let asked = Command::new("sh").args(["-c", &format!("kill {}", self.child.id())]).status();
        assert!(asked.expect("a shell").success());
    }

    /// Everything that it prints until it ends, its exit code, and the text of its error output.
    ///
    /// # Panics
    /// If it prints something else than text.
    pub fn end(mut self) -> (String, Option<i32>, String) {
        let (mut rest, mut error) = (String::new(), String::new());
        self.out.read_to_string(&mut rest).expect("text");
        self.child.stderr.take().expect("a pipe").read_to_string(&mut error).expect("text");
        (rest, self.child.wait().expect("it ends").code(), error)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
