//! Builds the page of the duel into a folder of static files, and serves it on this machine.
//!
//! `cargo run -p web-build` builds; `cargo run -p web-build -- --serve 8080` builds and serves.

mod serve;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use clap::Parser;
use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";

/// Builds the page of the duel into a folder of static files
#[derive(Debug, Parser)]
#[command(name = "web-build", version)]
struct Args {
    /// The folder that the page is written to
    #[arg(long, default_value = "target/web/page")]
    out: PathBuf,
    /// The rendezvous of the page's players; by default the page's own host at port 3479
    #[arg(long, value_name = "HOST:PORT", default_value = "")]
    rendezvous: String,
    /// Then serve it at this port of 127.0.0.1
    #[arg(long, value_name = "PORT")]
    serve: Option<u16>,
    /// Serve what was built before
    #[arg(long, requires = "serve")]
    no_build: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = if args.no_build { Ok(()) } else { build(&args.out, &args.rendezvous) };
    let done = done.and_then(|()| match args.serve {
        Some(port) => {
            serve::serve(&args.out, port, &args.rendezvous).map_err(|error| format!("port {port}: {error}"))
        }
        None => Ok(()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("web-build: {error}");
            ExitCode::FAILURE
        }
    }
}

fn build(out: &Path, rendezvous: &str) -> Result<(), String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--profile", "web", "--package", "web", "--lib", "--target", TARGET])
        .status()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    if !status.success() {
        return Err(format!(
            "the module does not build. If the target is missing: rustup target add {TARGET}"
        ));
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let module = target.join(TARGET).join("web/web.wasm");
    let failed = |what: &Path, error: io::Error| format!("{}: {error}", what.display());
    fs::create_dir_all(out).map_err(|error| failed(out, error))?;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(&module)
        .typescript(false)
        .omit_default_module_path(false)
        .remove_producers_section(true);
    bindgen.web(true).and_then(|bindgen| bindgen.generate(out)).map_err(|error| format!("{error:#}"))?;
    let pages = root().join("examples/web/page");
    for entry in fs::read_dir(&pages).map_err(|error| failed(&pages, error))? {
        let entry = entry.map_err(|error| failed(&pages, error))?;
        fs::copy(entry.path(), out.join(entry.file_name())).map_err(|error| failed(&entry.path(), error))?;
    }
    let index = out.join("index.html");
    let text = fs::read_to_string(&index).map_err(|error| failed(&index, error))?;
    fs::write(&index, serve::with_rendezvous(&text, rendezvous)).map_err(|error| failed(&index, error))?;
    let size = fs::metadata(out.join("web_bg.wasm")).map_or(0, |data| data.len());
    println!("{}: the module has {size} bytes before compression", out.display());
    Ok(())
}

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}
