#![no_main]

rebout_fuzz::target!(autopsy_notes);
