#![no_main]

rebout_fuzz::target!(port_mapping);
