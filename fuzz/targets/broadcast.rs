#![no_main]

rebout_fuzz::target!(broadcast);
