#![no_main]

rebout_fuzz::target!(resumption);
