#![no_main]

rebout_fuzz::target!(first_state);
