#![no_main]

rebout_fuzz::target!(rejoin_file);
