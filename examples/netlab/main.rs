//! Measures the traffic and the stalls of matches on bad links, in a simulated network in virtual time.
//!
//! ```text
//! netlab                                                     the table, beside the figures of other libraries
//! netlab --json                                              the same as one array of objects
//! netlab --far                                               both machines of matches at round trips from 0 to 600 ms
//! netlab --starved                                           both machines of matches in which one stops again and again
//! netlab --latency 5 --jitter 2 --loss 3 --seconds 60 --seed 7   one link of your own
//! ```
//!
//! Exit code 0: all well. 1: machines diverged, a run proved nothing, or a goal was missed. 2: bad arguments.

mod far;
mod measure;
mod report;
mod starved;

use clap::Parser;
use report::{Row, report};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Measures matches in a simulated network. Without options: the table of links, beside the figures of others.
#[derive(Parser, Debug)]
#[command(name = "netlab", version, max_term_width = 100)]
struct Args {
    /// Print a JSON array instead of a table.
    #[arg(long)]
    json: bool,
    /// Show both machines of matches at round trips from 0 to 600 ms instead.
    #[arg(long, exclusive = true)]
    far: bool,
    /// Show both machines of matches in which one is suspended for a part of every 100 ms instead.
    #[arg(long, exclusive = true)]
    starved: bool,
    /// Play without extensions: packets of RBN1 version 1, with PING and REPORT beside them.
    #[arg(long)]
    plain: bool,
    /// One link: the one-way latency in frames of 1/60 s [default: 4]
    #[arg(long, value_name = "FRAMES", value_parser = within::<120>, allow_hyphen_values = true)]
    latency: Option<f64>,
    /// One link: the jitter, uniform from 0 to this, in frames [default: 0]
    #[arg(long, value_name = "FRAMES", value_parser = within::<120>, allow_hyphen_values = true)]
    jitter: Option<f64>,
    /// One link: the loss each way, in percent [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = within::<100>, allow_hyphen_values = true)]
    loss: Option<f64>,
    /// One link: the length of the match in seconds, after its first 2 s [default: 60]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=86_400), allow_hyphen_values = true)]
    seconds: Option<u32>,
    /// One link: the seed of all randomness [default: 1]
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<u64>,
}

/// A number from 0 up to `MAX`, fractions included.
fn within<const MAX: u32>(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=f64::from(MAX)).contains(&value) => Ok(value),
        Ok(_) => Err(format!("not between 0 and {MAX}")),
        Err(error) => Err(error.to_string()),
    }
}

impl Args {
    /// The caller's own link, if there is one, or the table.
    fn rows(&self) -> Vec<Row> {
        let Self { latency, jitter, loss, seconds, seed, .. } = *self;
        let own = latency.or(jitter).or(loss).is_some() || seconds.is_some() || seed.is_some();
        let plain = self.plain;
        if !own {
            return Row::all().into_iter().map(|row| Row { plain, ..row }).collect();
        }
        let row = Row::new(latency.unwrap_or(4.0), jitter.unwrap_or(0.0), loss.unwrap_or(0.0));
        let seed = seed.unwrap_or(1);
        vec![Row { seconds: seconds.unwrap_or(60), seeds: seed..=seed, plain, ..row }]
    }
}

fn main() -> ExitCode {
    let args: Args = signals::arguments();
    let mut out = BufWriter::new(io::stdout().lock());
    let shown = match (args.far, args.starved) {
        (true, _) => far::report(&mut out),
        (_, true) => starved::report(&mut out),
        _ => report(&args.rows(), args.json, &mut out),
    };
    let failures = match shown {
        Ok(failures) => failures,
        // Whoever reads this has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(error) => vec![format!("cannot write the output: {error}")],
    };
    // Not `eprintln!`, which would panic if nobody listens there either.
    failures.iter().for_each(|failure| drop(writeln!(io::stderr(), "{failure}")));
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
