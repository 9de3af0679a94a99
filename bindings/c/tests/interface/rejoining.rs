//! A machine whose program ends in the middle of a match, and that comes back into it.

use crate::calls::{error, options, sized};
use crate::connecting::{quick, text_of, until};
use crate::counters::{FRAMES, table};
use crate::pair::{Machine, Pair};
use crate::replays::folder;
use rebout_c::safe::codes::{FinishCode, Status, VerdictCode};
use rebout_c::*;
use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr;

/// The options of a machine, with its folders; a machine without recordings comes back by the other one's log.
fn keep(given: &mut COptions, tickets: &CString, records: Option<&CString>) {
    given.rejoin_in = tickets.as_ptr();
    given.record_to = records.map_or(ptr::null(), |folder| folder.as_ptr());
    given.countdown_ms = 300;
    given.delay_frames = 0;
}

fn text(path: &Path) -> CString {
    CString::new(path.to_str().unwrap()).unwrap()
}

/// The file of the match in a folder, or empty.
fn unfinished(handle: *mut Handle, folder: &CStr) -> CString {
    let mut file = ptr::null();
    // SAFETY: a live handle and valid arguments.
    unsafe {
        let status = rebout_unfinished(handle, folder.as_ptr(), &raw mut file);
        assert_eq!(status, Status::Ok, "{}", error(handle));
        CStr::from_ptr(file).to_owned()
    }
}

#[test]
fn killed_machine_comes_back_with_and_without_its_recording() {
    for (killed, records) in [(1, true), (1, false), (0, true)] {
        let root = folder(&format!("rejoin-{killed}-{records}"));
        let tickets = [1, 2].map(|id| text(&root.join(format!("tickets{id}"))));
        let recordings = [1, 2].map(|id| text(&root.join(format!("records{id}"))));
        let change = |given: &mut COptions, id: u64| {
            let at = id as usize - 1;
            keep(given, &tickets[at], (records || at != killed).then_some(&recordings[at]));
        };
        let mut pair = Pair::new(25, change);
        pair.run(20_000, |machines| machines.iter().all(|machine| machine.game.frame > 70));
        let file = unfinished(pair.machines[killed].handle.0, &tickets[killed]);
        assert!(!file.is_empty());
        // The program ends without a word, and another one begins.
        let mut returned = Machine::new();
        returned.id = killed as u64 + 1;
        std::mem::swap(&mut pair.machines[killed], &mut returned);
        drop(returned);
        pair.machines[killed].is_returned = true;
        let handle = pair.machines[killed].handle.0;
        let mut given = options();
        (given.bind, given.entropy, given.name) = (ptr::null(), 900, c"Back".as_ptr());
        change(&mut given, killed as u64 + 1);
        let mut transport = sized::<TransportTable>();
        transport.local_id = killed as u64 + 1;
        // SAFETY: a live handle and valid arguments.
        unsafe {
            let missing = text(&root.join("none"));
            let status = rebout_rejoin_on(handle, &raw const *given, &raw const *transport, missing.as_ptr());
            assert_eq!(status, Status::Failed);
            let status = rebout_rejoin_on(handle, &raw const *given, &raw const *transport, file.as_ptr());
            assert_eq!(status, Status::Ok, "{}", error(handle));
        }
        let mut is_checked = false;
        pair.run(60_000, |machines| {
            let machine = &mut machines[killed];
            if machine.game.rng != 0 && !is_checked {
                let game = table(&raw mut *machine.game);
                // SAFETY: a live handle and a game.
                let status = unsafe { rebout_start(machine.handle.0, &raw const game) };
                assert_eq!(status, Status::Phase, "the match was begun");
                is_checked = true;
            }
            machines.iter().all(|machine| machine.over.is_some())
        });
        assert!(is_checked);
        let [one, two] = &pair.machines;
        assert_eq!(one.game, two.game);
        for (at, machine) in pair.machines.iter().enumerate() {
            let turn = machine.over.as_ref().unwrap().turn;
            assert_eq!((turn.finish, turn.verdict), (FinishCode::Played as u32, VerdictCode::Agreed as u32));
            assert_eq!(turn.frame, FRAMES);
            assert_eq!(
                turn.is_from_their_log,
                u32::from(!records && at == killed),
                "{killed} {records} {at}"
            );
            assert!(unfinished(machine.handle.0, &tickets[at]).is_empty(), "the file is gone after the end");
        }
        std::fs::remove_dir_all(root).unwrap();
    }
}

#[test]
fn killed_machine_comes_back_on_udp() {
    let root = folder("rejoin-udp");
    let tickets = [1, 2].map(|id| text(&root.join(format!("tickets{id}"))));
    let mut given = quick();
    let (mut host, mut guest) = (Machine::new(), Machine::new());
    // SAFETY: live handles and valid arguments.
    unsafe {
        keep(&mut given, &tickets[0], Some(&tickets[0]));
        assert_eq!(rebout_host(host.handle.0, &raw const *given), Status::Ok);
        let invite = text_of(host.handle.0, rebout_share);
        keep(&mut given, &tickets[1], None);
        assert_eq!(rebout_join(guest.handle.0, &raw const *given, invite.as_ptr()), Status::Ok);
    }
    until(&mut [&mut host, &mut guest], |machines| machines.iter().all(|one| one.game.frame > 60));
    drop(guest);
    let mut guest = Machine::new();
    guest.is_returned = true;
    let handle = guest.handle.0;
    let file = unfinished(handle, &tickets[1]);
    // SAFETY: a live handle and valid arguments.
    unsafe {
        let status = rebout_rejoin(handle, &raw const *given, tickets[1].as_ptr());
        assert_eq!(status, Status::Failed, "a folder");
        let status = rebout_rejoin(handle, &raw const *given, file.as_ptr());
        assert_eq!(status, Status::Ok, "{}", error(handle));
    }
    until(&mut [&mut host, &mut guest], |machines| machines.iter().all(|one| one.over.is_some()));
    let turn = guest.over.as_ref().unwrap().turn;
    assert_eq!((turn.verdict, turn.frame), (VerdictCode::Agreed as u32, FRAMES), "{:?}", guest.over);
    assert_eq!(host.game, guest.game);
    std::fs::remove_dir_all(root).unwrap();
}
