#![no_main]

rebout_fuzz::target!(spectator);
