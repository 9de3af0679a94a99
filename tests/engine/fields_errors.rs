//! The compiler's messages about a list of `fields!` that is not complete. They are compared as text.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The macro as it is in the sources, in a crate with as much of the traits as it names. The whole crate would take seconds.
const REBOUT: &str = r#"
pub trait Fields { fn visit<V: Visitor>(&self, visitor: &mut V); }
pub trait Visitor: Sized {
    fn leaf(&mut self, words: &[u32], shown: &dyn core::fmt::Display);
    fn field<T: Fields + ?Sized>(&mut self, name: &str, value: &T);
    fn skipped(&mut self, name: &str);
}
impl Fields for i32 { fn visit<V: Visitor>(&self, visitor: &mut V) { visitor.leaf(&[*self as u32], self); } }
"#;

/// Compiles a file in `dir` as a library, with `args`; the messages, or nothing if it compiles.
fn compile(dir: &Path, name: &str, source: &str, args: &[&str]) -> String {
    let file = dir.join(name).with_extension("rs");
    fs::write(&file, source).unwrap();
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .current_dir(dir)
        .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "--crate-name", name])
        .args(["--allow", "dead_code"])
        .args(args)
        .arg(file.file_name().unwrap())
        .output()
        .expect("rustc runs: it has built this test");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), text.is_empty(), "{text}");
    text
}

/// The messages about a crate that uses the macro.
fn messages(name: &str, source: &str) -> String {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fields-{name}"));
    fs::create_dir_all(&dir).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/game/fields/macros.rs");
    let library = fs::read_to_string(file).unwrap() + REBOUT;
    assert_eq!(compile(&dir, "rebout", &library, &[]), "");
    compile(&dir, name, &format!("use rebout::fields;\n{source}"), &["--extern", "rebout=librebout.rmeta"])
}

#[test]
fn error_names_the_forgotten_field_and_its_line() {
    let text = messages(
        "forgotten",
        "struct Fighter { hp: i32, mp: i32 }
         fields!(Fighter { hp });
         struct Pair<T, const N: usize> { items: [i32; N], open: T }
         fields!(Pair<T, const N: usize> { items: _ });
         enum Action { Idle, Jump(i32), Attack { since: i32, hit: i32 } }
         fields!(enum Action { Idle, Jump(height), Attack { since } });
         enum Held<T> { Nothing, Item { kind: T, count: i32 } }
         fields!(enum Held<T> { Nothing, Item { kind } });
         fn inside() {
             enum Local { Here { x: i32, y: i32 } }
             fields!(enum Local { Here { x } });
         }",
    );
    let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error")).collect();
    let missing = |field| format!("error[E0027]: pattern does not mention field `{field}`");
    let fields = ["mp", "open", "hit", "count", "y"];
    assert_eq!(&errors[..5], fields.map(missing), "{text}");
    let lines: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("--> forgotten.rs:")).collect();
    assert_eq!(lines, ["3:18", "5:18", "7:23", "9:23", "12:27"], "{text}");
}

/// The compiler also suggests `..`.
#[test]
fn two_dots_are_refused_with_the_way_to_leave_a_field_out() {
    let text = messages("dots", "struct Fighter { hp: i32, mp: i32 }\nfields!(Fighter { hp, .. });");
    assert!(text.contains("error: `fields!` lists every field: write `name: _`"), "{text}");
    assert_eq!(text.matches("\nerror").count(), 1, "besides the count of errors: {text}");
}

#[test]
fn enums_with_hundreds_of_variants_compile() {
    let list = |item: &dyn Fn(u32) -> String, n| (0..n).map(item).collect::<Vec<_>>().join(", ");
    let units = list(&|n| format!("U{n}"), 600);
    let (types, names) =
        (list(&|n| format!("F{n} {{ x: i32 }}"), 300), list(&|n| format!("F{n} {{ x }}"), 300));
    let source = format!(
        "enum Items {{ {units} }} fields!(enum Items {{ {units} }});
         enum Moves {{ {types} }} fields!(enum Moves {{ {names} }});"
    );
    assert_eq!(messages("many", &source), "");
}
