//! Arguments: what is wrong with them is told in one line, which begins with the name of the program.

use std::error::Error as _;
use std::ffi::OsString;
use std::io::Write as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Error, Parser};

/// The arguments of this program. It ends here if they are for its help or make no sense.
#[must_use]
pub fn arguments<T: Parser>() -> T {
    arguments_of(std::env::args_os())
}

/// As [`arguments`], of a command line that begins with the name of the program.
pub fn arguments_of<T: Parser>(line: impl IntoIterator<Item = OsString>) -> T {
    T::try_parse_from(line).unwrap_or_else(|error| refuse::<T>(&error))
}

/// Prints help, or what is wrong, and ends the program.
pub fn refuse<T: Parser>(error: &Error) -> ! {
    // Not `println!` and `eprintln!`, which would panic if nobody listens there.
    if error.use_stderr() {
        let name = T::command().get_name().to_owned();
        let _ = writeln!(std::io::stderr(), "{name}: {}", complaint(error));
        std::process::exit(2);
    }
    let _ = write!(std::io::stdout(), "{error}");
    std::process::exit(0);
}

/// What is wrong, without the words of the standard library.
fn complaint(error: &Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if error.kind() == ErrorKind::ValueValidation
        && let (Some(arg), Some(value)) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue))
        && let Some(expected) = expected(error)
    {
        return format!("{arg}: '{value}' {expected}");
    }
    let text = error.to_string();
    text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()
}

/// Why a value was not taken, if the standard library or a range says so. By its text, because a parser of our own may pass it on.
fn expected(error: &Error) -> Option<String> {
    let text = error.source()?.to_string();
    let expected = match text.as_str() {
        "invalid digit found in string" | "cannot parse integer from empty string" => "is not a whole number",
        "number too large to fit in target type" | "number too small to fit in target type" => "is too large",
        "invalid float literal" | "cannot parse float from empty string" => "is not a number",
        "invalid socket address syntax" => "is not an address with a port (192.0.2.1:7000)",
        "invalid IP address syntax" => "is not an IP address",
        _ => "",
    };
    if !expected.is_empty() {
        return Some(expected.to_owned());
    }
    let (_, range) = text.split_once(" is not in ")?;
    let (low, high) = range.split_once("..")?;
    Some(match (low, high.trim_start_matches('=')) {
        // A range up to the largest number of its type has no end that anybody would look for.
        (low, "" | "18446744073709551615" | "9223372036854775807") => format!("is less than {low}"),
        ("", high) => format!("is more than {high}"),
        (low, high) => format!("is not from {low} to {high}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program
    #[derive(Debug, Parser)]
    #[command(name = "program")]
    struct Args {
        #[arg(long, value_name = "PORT")]
        port: Option<u16>,
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..=24))]
        delay: Option<u8>,
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        frames: Option<u64>,
        #[arg(long)]
        loss: Option<f32>,
        #[arg(long)]
        bind: Option<std::net::SocketAddr>,
    }

    #[test]
    fn bad_values_are_named_in_plain_words() {
        let told = [
            (["--port", "abc"], "--port <PORT>: 'abc' is not a whole number"),
            (["--port", "-1"], "--port <PORT>: '-1' is not from 0 to 65535"),
            (["--delay", "99"], "--delay <DELAY>: '99' is not from 1 to 24"),
            (["--delay", "x"], "--delay <DELAY>: 'x' is not a whole number"),
            (["--frames", "0"], "--frames <FRAMES>: '0' is less than 1"),
            (["--frames", "99999999999999999999"], "--frames <FRAMES>: '99999999999999999999' is too large"),
            (["--loss", "much"], "--loss <LOSS>: 'much' is not a number"),
            (["--bind", "here"], "--bind <BIND>: 'here' is not an address with a port (192.0.2.1:7000)"),
        ];
        for ([name, value], expected) in told {
            let error = Args::try_parse_from(["program", &format!("{name}={value}")]).unwrap_err();
            assert_eq!(complaint(&error), expected);
        }
        let error = Args::try_parse_from(["program", "--ports", "1"]).unwrap_err();
        assert!(
            complaint(&error).starts_with("unexpected argument '--ports' found"),
            "{}",
            complaint(&error)
        );
    }
}
