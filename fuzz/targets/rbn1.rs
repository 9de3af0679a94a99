#![no_main]

rebout_fuzz::target!(rbn1);
