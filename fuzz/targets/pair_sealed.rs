#![no_main]

rebout_fuzz::target!(pair_sealed);
