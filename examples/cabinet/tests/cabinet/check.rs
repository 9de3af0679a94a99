//! `cabinet check` finds the faults that cores have, and names the address.

use crate::tools::{Folder, core, nes_core, run};

/// The answer of `check` about our own core with faults planted; `None` without a C compiler.
fn checked(faults: &[&str]) -> Option<(String, Option<i32>)> {
    let folder = Folder::new(&format!("check{}", faults.join("-")));
    let rom = folder.file("rom.bin", &[7; 64]);
    let core = folder.tally("tally", faults)?;
    let mut check = folder.cabinet();
    check.arg("check").arg(core).arg(rom).args(["--frames", "300", "--stress", "60"]);
    Some(run(&mut check))
}

#[test]
fn core_without_a_fault_is_fit() {
    let Some((text, code)) = checked(&[]) else { return };
    assert!(text.contains("\nverdict: fit for rollback\n") && code == Some(0), "{text}");
    assert!(text.contains("a state has 72 bytes, of which the core does not write 8; wram has 64"), "{text}");
    assert!(text.contains("stress test: 13 matches on 13 links"), "{text}");
}

#[test]
fn state_outside_the_snapshot_is_named_with_its_button() {
    let Some((text, code)) = checked(&["FAULT_HIDDEN"]) else { return };
    assert!(text.contains(": wram[0x0]: "), "{text}");
    assert!(text.contains("verdict: fit for rollback with --without x;") && code == Some(0), "{text}");
}

#[test]
fn leftover_bytes_that_are_not_restored_are_named() {
    let Some((text, code)) = checked(&["FAULT_LEFTOVER"]) else { return };
    assert!(text.contains("two fresh cores differ in"), "{text}");
    assert!(text.contains("verdict: fit for rollback with --ignore 0x4") && code == Some(0), "{text}");
}

#[test]
fn save_that_changes_the_core_needs_one_in_each_step() {
    let Some((text, code)) = checked(&["FAULT_SAVE"]) else { return };
    assert!(text.contains("it reads its pads while it saves its state"), "{text}");
    assert!(text.contains("the state depends on how often it was saved: wram[0x28]: "), "{text}");
    assert!(text.contains("verdict: fit for rollback with --save-in-step;") && code == Some(0), "{text}");
}

#[test]
fn state_that_depends_on_the_picture_is_unfit() {
    let Some((text, code)) = checked(&["FAULT_SHOWN"]) else { return };
    assert!(
        text.contains("the state depends on whether picture and sound are wanted: wram[0x1e]: "),
        "{text}"
    );
    assert!(text.contains("verdict: not fit for rollback:") && code == Some(1), "{text}");
}

#[test]
fn states_that_grow_are_unfit() {
    let Some((text, code)) = checked(&["FAULT_GROWS"]) else { return };
    assert!(text.contains("the states of the core grow: 72 bytes, then 88") && code == Some(1), "{text}");
}

#[test]
fn fresh_cores_that_differ_share_the_first_state() {
    let Some((text, code)) = checked(&["FAULT_FRESH"]) else { return };
    assert!(text.contains("two fresh cores differ in 2 bytes"), "{text}");
    assert!(text.contains("a state that is handed over is the same there"), "{text}");
    assert!(text.contains("\nverdict: fit for rollback\n") && code == Some(0), "{text}");
}

#[test]
fn byte_that_is_never_initialised_is_named() {
    let Some((text, code)) = checked(&["FAULT_UNSET"]) else { return };
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        assert!(
            text.contains("two fresh cores differ in 2 bytes") && text.contains("wram[0x3e]: "),
            "{text}"
        );
    }
    assert!(text.contains("\nverdict: fit for rollback\n") && code == Some(0), "{text}");
}

#[test]
fn polls_in_few_saves_are_noticed() {
    let Some((text, code)) = checked(&["FAULT_POLLS"]) else { return };
    assert!(text.contains("it reads its pads while it saves its state"), "{text}");
    assert!(text.contains("\nverdict: fit for rollback\n") && code == Some(0), "{text}");
}

#[test]
fn bytes_that_gambatte_does_not_restore_are_found() {
    let folder = Folder::new("gambatte");
    let Some(core) = core("CABINET_GB_CORE", "gambatte") else { return };
    let rom = folder.file("pads.gb", &crate::game_boy::rom());
    let mut check = folder.cabinet();
    check.arg("check").arg(core).arg(rom).args(["--frames", "150", "--stress", "0"]);
    let (text, code) = run(&mut check);
    assert!(text.contains("verdict: fit for rollback with --ignore 0x") && code == Some(0), "{text}");
}

#[test]
fn turbo_counter_of_nestopia_is_found() {
    let folder = Folder::new("nestopia");
    let (Some(rom), Some(core)) = (folder.volley(), nes_core()) else { return };
    let mut check = folder.cabinet();
    check.arg("check").arg(core).arg(rom).args(["--frames", "150", "--stress", "0"]);
    let (text, code) = run(&mut check);
    assert!(text.contains("verdict: fit for rollback with --without y,x;") && code == Some(0), "{text}");
}
