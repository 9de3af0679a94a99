//! The cores and the ROM that the tests build, as far as this machine has the compilers.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::program::Running;

/// A folder of one test, deleted with it. The programs of the test have their temporary files in it, and leave none behind.
pub(crate) struct Folder {
    path: PathBuf,
    /// Whether the test kills a program, which then leaves its temporary files.
    kills: Cell<bool>,
}

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cabinet-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(path.join("tmp")).unwrap();
        Self { path, kills: Cell::new(false) }
    }

    /// The program, which is built with the tests.
    pub(crate) fn cabinet(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cabinet"));
        command.env("TMPDIR", self.path.join("tmp")).env("TMP", self.path.join("tmp"));
        command
    }

    /// Kills a program of the test.
    pub(crate) fn kill(&self, program: &mut Running) {
        self.kills.set(true);
        program.kill();
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file of these bytes.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The core of our own with faults planted; `None` without a C compiler.
    pub(crate) fn tally(&self, name: &str, defines: &[&str]) -> Option<PathBuf> {
        let core = self.path.join(format!("{name}{}", std::env::consts::DLL_SUFFIX));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cabinet/tally.c");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&core).arg(source);
        if !defines.iter().any(|define| define.starts_with("VERSION=")) {
            cc.arg("-DVERSION=\"1.0\"");
        }
        let built = cc.args(defines.iter().map(|define| format!("-D{define}"))).status();
        match built {
            Ok(status) => assert!(status.success(), "tally.c with {defines:?}"),
            Err(error) => {
                println!("skipped: no C compiler ({error})");
                return None;
            }
        }
        Some(core)
    }

    /// The game of our own for the NES; `None` without cc65.
    pub(crate) fn volley(&self) -> Option<PathBuf> {
        let (rom, objects) = (self.path.join("volley.nes"), self.path.join("volley.o"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("rom/volley.c");
        let mut cl65 = Command::new("cl65");
        cl65.args(["-t", "nes", "-Oirs", "-l"]).arg(self.path.join("volley.lst")).arg("-o").arg(&rom);
        match cl65.arg(source).current_dir(&self.path).status() {
            Ok(status) => assert!(status.success(), "volley.c"),
            Err(error) => {
                println!("skipped: no cc65 ({error})");
                return None;
            }
        }
        let _ = std::fs::remove_file(objects);
        Some(rom)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let left = std::fs::read_dir(self.path.join("tmp"));
        let left: Vec<_> = left.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        let _ = std::fs::remove_dir_all(&self.path);
        if !std::thread::panicking() && !self.kills.get() {
            assert!(left.is_empty(), "temporary files are left behind: {left:?}");
        }
    }
}

/// A NES core of this machine: that of the variable `CABINET_NES_CORE`, or one where Debian installs it.
pub(crate) fn nes_core() -> Option<PathBuf> {
    core("CABINET_NES_CORE", "nestopia")
}

/// A core of this machine: that of a variable, or the one of this name where Debian installs it.
pub(crate) fn core(variable: &str, name: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let usual = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"];
    let usual = usual.iter().map(|folder| Path::new(folder).join(format!("libretro/{name}_libretro.so")));
    let found = named.into_iter().chain(usual).find(|path| path.exists());
    if found.is_none() {
        println!("skipped: no core {name}; {variable} names one");
    }
    found
}

/// Runs the program to its end: its output, and its exit code.
pub(crate) fn run(command: &mut Command) -> (String, Option<i32>) {
    let output = command.output().expect("the cabinet runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout) + &text(&output.stderr), output.status.code())
}
