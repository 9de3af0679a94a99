//! The folders of the system in which a program keeps its files.

use std::ffi::OsString;
use std::path::PathBuf;

/// The duel's folder under that of `xdg`, or of its place under the home; Windows and macOS have one for everything. `None`
/// without a home.
pub(crate) fn of_the_duel(
    var: impl Fn(&str) -> Option<OsString>,
    xdg: &str,
    under_home: &str,
) -> Option<PathBuf> {
    let var = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        var("APPDATA")
    } else if cfg!(target_os = "macos") {
        var("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        var(xdg).or_else(|| Some(var("HOME")?.join(under_home)))
    };
    Some(base?.join("rebout").join("duel"))
}
