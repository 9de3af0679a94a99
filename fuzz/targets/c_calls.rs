#![no_main]

rebout_fuzz::target!(c_calls);
