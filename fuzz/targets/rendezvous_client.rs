#![no_main]

rebout_fuzz::target!(rendezvous_client);
