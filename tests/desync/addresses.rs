//! Memory that is named at run time and by address: in the autopsy, the bundle and its page.

use rebout::lab::bundle::{json, page};
use rebout::lab::link::LinkConfig;
use rebout::lab::stress::{Plan, Stress, random};
use rebout::{Bundle, Buttons, Cues, Fields, Game, Inputs, Player, Visitor};

/// A console with some memory. On one machine a byte goes wrong.
#[derive(Clone, Copy)]
struct Console {
    frame: u32,
    wram: [u8; 64],
    is_faulty: bool,
}

/// Memory with the address of its first byte.
struct Region<'a>(u32, &'a [u8; 64]);

impl Fields for Region<'_> {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.addressed(self.0, self.1);
    }
}

impl Fields for Console {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        visitor.field("frame", &self.frame);
        visitor.field(&format!("{}ram", 'w'), &Region(0x7e_0000, &self.wram));
    }
}

impl Game for Console {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.frame += 1;
        for player in Player::BOTH {
            let pressed = inputs[player].buttons().0 as u8;
            self.wram[player.index()] = self.wram[player.index()].wrapping_mul(5).wrapping_add(pressed);
        }
        if self.is_faulty && self.frame == 40 {
            self.wram[0x12] ^= 1;
        }
    }
}

#[test]
fn reports_name_a_byte_of_memory_by_its_address() {
    let make = |_, seat| Console { frame: 0, wram: [0; 64], is_faulty: seat == Some(Player::Two) };
    let links = vec![("clean", LinkConfig::clean())];
    let plan = Plan { links, match_frames: 120, ..Plan::default() };
    let report =
        Stress::seated(make).name("console").press(|turn| random(turn, Buttons(0xF), 0)).plan(plan).run(1);
    let failure = report.failure.as_ref().expect("a failure");
    let fields = &failure.autopsy().expect("an autopsy").fields;
    assert_eq!((fields.len(), &*fields[0].path), (1, "wram[0x7e0012]"));
    assert!(report.to_string().contains("wram[0x7e0012]: 0 (player one) / 1 (player two)"), "{report}");
    assert!(report.page().contains("<code>wram[0x7e0012]</code>"));

    let files = failure.files().unwrap();
    let state = files.iter().find(|(_, bytes)| String::from_utf8_lossy(bytes).contains("wram[0x7e003f]"));
    assert!(state.is_some(), "a state of the bundle");
    let bundle = Bundle::read(&files).unwrap();
    assert!(page(&bundle, None).contains("<code>wram[0x7e0012]</code>"));
    assert!(json(&bundle).contains("wram[0x7e0012]"));
}
