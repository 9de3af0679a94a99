//! Cores that cannot be used: a sentence for each, and the program survives.

use crate::tools::{Folder, run};

#[test]
fn core_that_cannot_be_used_gets_a_sentence() {
    let folder = Folder::new("load");
    let rom = folder.file("rom.bin", &[7; 64]);
    for (fault, sentence) in [
        ("FAULT_CRASHES", "the core crashed (signal 6) in its initialisation"),
        ("FAULT_EXITS", "the core ended the program with code 7 in its initialisation"),
        ("FAULT_VERSION", "the core speaks version 2 of libretro, and the cabinet version 1"),
        ("FAULT_WANTS_BIOS", "its log: BIOS tally.bin is not in the folder, error -2"),
        ("FAULT_WANTS_BIOS", "it may want a BIOS in"),
        ("FAULT_CARD", "Tally draws with the graphics card"),
        ("FAULT_RATE", "Tally says that it runs at 0 frames a second"),
        ("FAULT_HUGE", "a state of Tally has 64 MiB, and the cabinet handles 32"),
        ("FAULT_NO_STATES", "Tally cannot save its state"),
    ] {
        let Some(core) = folder.tally(fault, &[fault]) else { return };
        let (text, code) = run(folder.cabinet().arg("check").arg(core).arg(&rom));
        assert!(text.contains(sentence), "{fault}: {text}");
        assert_eq!(code, Some(2), "{fault}: {text}");
    }
}

#[test]
fn core_that_hangs_is_given_up() {
    let folder = Folder::new("hang");
    let rom = folder.file("rom.bin", &[7; 64]);
    let Some(core) = folder.tally("hangs", &["FAULT_HANGS"]) else { return };
    let mut child = folder.cabinet();
    child.arg("probe").arg(core).arg(rom);
    let sentence = cabinet::probe::probe(child, Some(std::time::Duration::from_secs(2))).unwrap_err();
    assert!(sentence.contains("the core hung in its initialisation"), "{sentence}");
}

#[test]
fn files_that_are_no_core_or_rom_are_named() {
    let folder = Folder::new("files");
    let (rom, text) = (folder.file("rom.bin", &[7; 64]), folder.file("core.so", b"no library"));
    let (answer, code) = run(folder.cabinet().arg("check").arg(&text).arg(&rom));
    assert!(answer.contains("core.so cannot be opened") && code == Some(2), "{answer}");
    let Some(core) = folder.tally("tally", &[]) else { return };
    let (answer, code) = run(folder.cabinet().arg("check").arg(&core).arg(folder.path().join("none.bin")));
    assert!(answer.contains("none.bin cannot be read") && code == Some(2), "{answer}");
}

#[test]
fn options_that_the_core_does_not_have_are_refused() {
    let folder = Folder::new("options");
    let rom = folder.file("rom.bin", &[7; 64]);
    let Some(core) = folder.tally("tally", &[]) else { return };
    for (option, sentence) in [
        ("tally_speed=1", "Tally has no option tally_speed: it has tally_step, tally_colour"),
        ("tally_step=9", "Tally has no option tally_step: 9; it can be 1, 2, 3"),
        ("tally_step", "an option is written KEY=VALUE"),
    ] {
        let (text, code) = run(folder.cabinet().arg("check").arg(&core).arg(&rom).args(["--option", option]));
        assert!(text.contains(sentence) && code == Some(2), "{option}: {text}");
    }
}
