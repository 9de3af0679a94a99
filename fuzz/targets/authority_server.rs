#![no_main]

rebout_fuzz::target!(authority_server);
