#![no_main]

rebout_fuzz::target!(seal_packets);
