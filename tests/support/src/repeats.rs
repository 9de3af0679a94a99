//! How often tests repeat a random attempt.

use std::ops::Div;

/// A quarter of `all` attempts; all of them with `REBOUT_TESTS=all` in the environment, as in `.ci/run`.
pub fn repeats<N: From<u8> + Div<Output = N>>(all: N) -> N {
    if std::env::var_os("REBOUT_TESTS").is_some_and(|tests| tests == "all") { all } else { all / N::from(4) }
}
