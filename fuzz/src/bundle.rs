//! Desync bundles: five files, of which four are texts.

use crate::bytes::Bytes;
use crate::memory::within;
use crate::replay;
use rebout::Bundle;

/// The files of a bundle, each behind its length.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let names = Bundle::FILES.map(|(name, _)| name);
    let mut files = names.map(|name| (name, bytes.slice(4_096).to_vec()));
    if bytes.flag() {
        replay::mend(&mut files[4].1);
    }
    let size: usize = files.iter().map(|(_, file)| file.len()).sum();
    // A record of four bytes is 1,024 frames of 16 bytes in memory, which a vector may hold twice while it grows.
    let bundle = match within(12 * 1_024 * size + 64 * 1_024, || Bundle::read(&files)) {
        Err(error) => return assert!(!error.to_string().is_empty()),
        Ok(bundle) => bundle,
    };
    let again = bundle.files().expect("read");
    assert_eq!(Bundle::read(&again).expect("just written"), bundle);
    for (index, (name, written)) in again.iter().enumerate().filter(|(index, _)| (1..4).contains(index)) {
        let given = String::from_utf8_lossy(&files[index].1);
        // Line ends and the title of a state are free.
        let body = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(body(&String::from_utf8_lossy(written)).len(), body(&given).len(), "{name}");
    }
    let _ = rebout::lab::bundle::page(&bundle, None);
}

pub fn seeds() -> Vec<Vec<u8>> {
    // The bundle of a match whose machines differ.
    use rebout::lab::stress::{Plan, Stress};
    let plan = Plan { match_frames: 60, ..Plan::default() };
    let report = Stress::seated(crate::game_of_sums::Sums::cheating).plan(plan).run(1);
    let files = report.failure.and_then(|failure| failure.files().ok()).unwrap_or_default();
    let mut seed = Vec::new();
    for (name, _) in Bundle::FILES {
        let file =
            files.iter().find(|(other, _)| *other == name).map(|(_, file)| &file[..]).unwrap_or_default();
        seed.extend((file.len() as u16).to_be_bytes());
        seed.extend(file);
    }
    vec![seed.clone(), [seed, vec![1]].concat()]
}
