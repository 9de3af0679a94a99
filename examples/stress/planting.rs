//! Plants a mistake, and sees who finds it: the sync test, the oracle, the checksums; and what the autopsy says.

use crate::plants::{Plant, Planted};
use crate::subjects::brawl;
use rebout::lab::stress::{Outcome, Trouble, Turn};
use rebout::lab::text::{columns, escaped};
use rebout::{Frame, Inputs, Player, SyncTest, SyncTestError, shown};
use std::fmt::Write;

/// How long the sync test is given, and how deep it goes.
const SYNC_TEST_FRAMES: u32 = 600;
const SYNC_TEST_DEPTH: u32 = 8;

/// The outcome of one mistake in a number of matches.
#[derive(Clone, Debug)]
pub(crate) struct Planting {
    pub(crate) name: &'static str,
    pub(crate) what: &'static str,
    pub(crate) matches: u32,
    /// In how many of them the two machines found out that they differ.
    pub(crate) caught: u32,
    /// In how many of them both named the right field first and came to the right verdict.
    pub(crate) right: u32,
    /// After how many frames each found it, in the first match.
    pub(crate) sync_test: Option<u32>,
    pub(crate) oracle: Option<u32>,
    pub(crate) checksum: Option<u32>,
    /// The field that the autopsy named: in the first match with a wrong report, or else in the first of all.
    pub(crate) field: Option<String>,
    pub(crate) side: Option<&'static str>,
    /// The number of the first match that was not right.
    pub(crate) wrong: Option<u32>,
}

impl Planting {
    pub(crate) fn is_caught(&self) -> bool {
        self.caught == self.matches
    }

    pub(crate) fn is_right(&self) -> bool {
        self.right == self.matches
    }

    /// Who found it.
    pub(crate) fn by(&self) -> Vec<&'static str> {
        let found = [("sync test", self.sync_test), ("oracle", self.oracle), ("checksum", self.checksum)];
        found.into_iter().filter(|(_, found)| found.is_some()).map(|(name, _)| name).collect()
    }

    /// After how many frames the first of them did.
    pub(crate) fn frames(&self) -> Option<u32> {
        [self.sync_test, self.oracle, self.checksum].into_iter().flatten().min()
    }

    /// Sums up the matches with a mistake in them.
    pub(crate) fn of<'a>(plant: &'static Plant, outcomes: impl Iterator<Item = &'a Outcome>) -> Self {
        let (name, what) = (plant.name, plant.what);
        let (sync_test, field, side) = (sync_test(plant), None, None);
        let (matches, caught, right, oracle, checksum, wrong) = (0, 0, 0, None, None, None);
        let mut planting =
            Self { name, what, matches, caught, right, sync_test, oracle, checksum, field, side, wrong };
        for outcome in outcomes {
            let is_right = told_right(plant, outcome);
            let first_wrong = !is_right && planting.wrong.is_none();
            if first_wrong {
                planting.wrong = Some(planting.matches);
            }
            if first_wrong || planting.matches == 0 {
                planting.checksum = outcome.desync.map(|frame| frame.0);
                planting.oracle = match outcome.trouble {
                    Some(Trouble::Diverged { frame, .. }) => Some(frame.0),
                    _ => None,
                };
                let autopsy = outcome.autopsy();
                planting.field = autopsy.and_then(|autopsy| Some(autopsy.fields.first()?.path.clone()));
                planting.side = autopsy.map(|autopsy| autopsy.verdict.name());
            }
            planting.matches += 1;
            planting.caught += u32::from(outcome.desync.is_some());
            planting.right += u32::from(is_right);
        }
        planting
    }
}

/// Whether both machines tell the truth about a mistake.
pub(crate) fn told_right(plant: &Plant, outcome: &Outcome) -> bool {
    outcome.autopsies.iter().all(|autopsy| {
        autopsy.as_ref().is_some_and(|autopsy| {
            autopsy.complete
                && autopsy.verdict.name() == plant.side
                && autopsy.fields.first().is_some_and(|field| plant.lives_in(&field.path))
        })
    })
}

/// After how many frames the sync test finds the mistake, if it can.
fn sync_test(plant: &Plant) -> Option<u32> {
    let mut game = Planted::new((plant.mistake)(), 1, Some(Player::One));
    let mut test = SyncTest::new(&game, SYNC_TEST_DEPTH, 1);
    for frame in 0..SYNC_TEST_FRAMES {
        let frame = Frame(frame);
        let held = |player| brawl(&Turn { game: &game, player, frame, seed: 1 }).into();
        let inputs = Inputs(Player::BOTH.map(held));
        game.before_frame(frame, inputs[Player::One]);
        match test.advance(&mut game, inputs) {
            Ok(()) => {}
            Err(
                SyncTestError::Restore { .. }
                | SyncTestError::Resimulation { .. }
                | SyncTestError::Unsaved { .. }
                | SyncTestError::Trial { .. },
            ) => return Some(frame.next().0),
            Err(_) => return None,
        }
    }
    None
}

/// The mistakes in a table, for people.
pub(crate) fn table(plantings: &[Planting]) -> String {
    let heads = ["mistake", "caught", "sync test", "oracle", "checksum", "field", "side", "right"];
    let mut rows: Vec<Vec<String>> = vec![heads.map(str::to_owned).to_vec()];
    for planting in plantings {
        let frame = |found: Option<u32>| found.map_or("-".to_owned(), |frame| frame.to_string());
        rows.push(vec![
            planting.name.to_owned(),
            format!("{}/{}", planting.caught, planting.matches),
            frame(planting.sync_test),
            frame(planting.oracle),
            frame(planting.checksum),
            shown(planting.field.as_deref().unwrap_or("-")).into_owned(),
            planting.side.unwrap_or("-").to_owned(),
            if planting.is_right() { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    columns(&rows, usize::MAX)
}

/// The mistakes on the page; nothing if there are none.
pub(crate) fn section(plantings: &[Planting]) -> String {
    if plantings.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<h2>Planted mistakes</h2><p>After how many frames each was found, and what the autopsy said.</p>\
         <div class=\"wide\"><table class=\"words\"><thead><tr><th>mistake</th><th>what is wrong</th>\
         <th>caught</th><th>sync test</th><th>oracle</th><th>checksum</th><th>field</th><th>side</th>\
         <th>right</th></tr></thead><tbody>",
    );
    for planting in plantings {
        let frame = |found: Option<u32>| found.map_or("–".to_owned(), |frame| frame.to_string());
        let (class, right) = if planting.is_right() { ("good", "yes") } else { ("bad", "no") };
        let _ = write!(
            html,
            "<tr><th>{}</th><td class=\"what\">{}</td><td>{}/{}</td><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td>\
             <td>{}</td><td class=\"{class}\">{right}</td></tr>",
            planting.name,
            escaped(planting.what),
            planting.caught,
            planting.matches,
            frame(planting.sync_test),
            frame(planting.oracle),
            frame(planting.checksum),
            escaped(planting.field.as_deref().unwrap_or("–")),
            planting.side.unwrap_or("–"),
        );
    }
    html.push_str("</tbody></table></div>");
    html
}
