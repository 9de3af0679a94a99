//! Prints the facts of this target, a line each.

use targets::FACTS;

fn main() {
    for (name, fact) in FACTS {
        println!("{name} {:016x}", fact());
    }
}
