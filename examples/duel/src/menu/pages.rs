//! The contents of every page: its words, its items, and what each of them means.

use rebout::{Config, shown};
use stage::characters;
use stage::menu::{Field, Item, Menu, Note, Value};
use stage::sound::MAX_PERCENT;

use super::{App, Choice, Guests, Page, Request, Setting, keys_page};
use crate::art::figure::OUTFITS;
use crate::play::{NAME_CHARACTERS, link_keys};
use crate::prompts::{FOOTER, PICK_FOOTER};
use crate::replay_list::MAX_NAME;
use crate::settings::{BotLink, Keyset, LEVELS};
use crate::training::{FIGHTERS, Guard, Stance, Throws, WakeUp};

/// Characters of an invite with many addresses, and some more.
const HOST_CHARACTERS: usize = 600;

/// The longest name of a machine.
const RENDEZVOUS_CHARACTERS: usize = 255;

/// The most opponents that can be joined again by one key.
const SHOWN_OPPONENTS: usize = 4;

/// The meaning of an item, and the item.
pub(super) type Line = (Choice, Item);

/// The page without its items, and its items.
pub(super) fn build(app: &App, page: Page) -> (Menu, Vec<Line>) {
    match page {
        Page::Title => title(app),
        Page::Versus => versus(app),
        Page::Local => local(app),
        Page::Host => host(app),
        Page::Join => join(app),
        Page::Training => training(app),
        Page::Replays => replays(app),
        Page::Replay => replay(app),
        Page::Help => help(app),
        Page::Settings => settings(app),
        Page::Keys => keys_page::build(app),
        Page::Sound => sound(app),
        Page::Colours => colours(app),
        Page::Link => link(app),
        Page::Result => result(app),
    }
}

fn menu(title: &str) -> Menu {
    Menu::new(title, Vec::new()).with_footer(FOOTER)
}

fn go(label: &str, page: Page) -> Line {
    (Choice::Go(page), Item::pick(label))
}

fn turn(setting: Setting, label: &str, value: Value, hint: &str) -> Line {
    (Choice::Turn(setting), Item::new(label, value).with_hint(hint))
}

fn back() -> Line {
    (Choice::Back, Item::pick("Back"))
}

/// A choice between things with names.
fn among<T: Copy + PartialEq>(all: &[(T, &str)], value: T) -> Value {
    let names: Vec<&str> = all.iter().map(|(_, name)| *name).collect();
    Value::choice(&names, all.iter().position(|(known, _)| *known == value).unwrap_or(0))
}

fn title(app: &App) -> (Menu, Vec<Line>) {
    let mut lines = vec![
        go("Versus bot", Page::Versus),
        go("Two players", Page::Local),
        go("Host a match", Page::Host),
        go("Join a match", Page::Join),
        go("Watch a match", Page::Join),
        go("Training", Page::Training),
        go("Replays", Page::Replays),
        go("How to play", Page::Help),
        go("Settings", Page::Settings),
        (Choice::Do(Request::Quit), Item::pick("Quit")),
    ];
    if let Some(file) = &app.unfinished {
        let back = Item::pick("Back into the match").with_hint("the other player is waiting");
        lines.insert(0, (Choice::Do(Request::Rejoin(file.clone())), back));
    }
    (menu("Rebout duel").with_footer("arrows choose, enter picks"), lines)
}

fn versus(app: &App) -> (Menu, Vec<Line>) {
    let settings = &app.settings;
    let [moves, blows] = settings.keys(Keyset::Alone).lines();
    let link = settings.link.setting();
    let lines = vec![
        (Choice::Do(Request::Fight), Item::pick("Fight")),
        turn(Setting::Level, "Level", among(&LEVELS, settings.level), "how well the bot plays"),
        turn(Setting::BotLink, "Link", among(&BotLink::ALL, settings.link), &format!("round trip {link}")),
        back(),
    ];
    (menu("Versus bot").with_notes(vec![Note::calm(moves), Note::calm(blows)]), lines)
}

fn local(app: &App) -> (Menu, Vec<Line>) {
    let [left, right] = [Keyset::Left, Keyset::Right].map(|keyset| app.settings.keys(keyset));
    let mut notes = Vec::new();
    for (name, keys) in [("left", left), ("right", right)] {
        let [moves, blows] = keys.lines();
        notes.push(Note::calm(format!("{name}: {moves}")));
        notes.push(Note::calm(blows));
    }
    let shared = left.shares_a_key_with(right);
    if let Some(key) = shared {
        notes.push(Note::warning(format!("'{key}' is a key of both players: give one of them another.")));
    }
    let fight = Item::pick("Fight").open_if(shared.is_none());
    let lines = vec![(Choice::Do(Request::Local), fight), go("Keys", Page::Keys), back()];
    (menu("Two players").with_notes(notes).with_footer(PICK_FOOTER), lines)
}

/// Whom a host lets in.
pub(super) const GUESTS: [(Guests, &str); 4] = [
    (Guests::Invited, "with your invite"),
    (Guests::Asked, "anybody, asked first"),
    (Guests::ByHand, "by two texts"),
    (Guests::Known, "recent opponents only"),
];

fn host(app: &App) -> (Menu, Vec<Line>) {
    let guests = among(&GUESTS, app.guests);
    let hint = match app.guests {
        Guests::Invited => "you get an invite to send; nobody else gets in",
        Guests::ByHand => "you send a text, and paste one; through routers with a STUN server",
        Guests::Asked => "by your address; you compare a code before you play",
        Guests::Known if app.opponents.is_empty() => "you have no opponents yet",
        Guests::Known => "with your invite, and the key of a player whom you have met",
    };
    let is_open = app.guests != Guests::Known || !app.opponents.is_empty();
    let port = Value::Text(Field::new(&app.settings.port.to_string(), 5).without_spaces());
    let lines = vec![
        (Choice::Do(Request::Host), Item::pick("Wait for a guest").open_if(is_open)),
        turn(Setting::Guests, "Guests", guests, hint),
        turn(Setting::Port, "UDP port", port, "0 lets the system choose"),
        back(),
    ];
    (menu("Host a match"), lines)
}

fn join(app: &App) -> (Menu, Vec<Line>) {
    let field = Value::Text(Field::new(&app.host, HOST_CHARACTERS).without_spaces());
    let characters = app.host.chars().count();
    let hint = match characters {
        0 => {
            "paste the invite or the offer of the host, or an invite to watch; or type an address".to_owned()
        }
        1 => "1 character".to_owned(),
        characters => format!("{characters} characters"),
    };
    let mut lines = vec![
        (Choice::Turn(Setting::Host), Item::new("Host", field).with_hint(hint)),
        (Choice::Join, Item::pick("Join")),
    ];
    let joined = app.opponents.iter().filter_map(|opponent| Some((opponent, opponent.invite.clone()?)));
    lines.extend(joined.take(SHOWN_OPPONENTS).map(|(opponent, invite)| {
        let again =
            Item::pick(format!("{} again", opponent.name)).with_hint("by the invite of the last time");
        (Choice::Do(Request::Join(invite)), again)
    }));
    lines.push(back());
    (
        menu("Join or watch").with_footer("ctrl-v (terminals: ctrl-shift-v) pastes, enter joins, esc leaves"),
        lines,
    )
}

/// The keys of the training, besides those of a fight.
pub(crate) const TRAINING_KEYS: &str = "F2 records the dummy, F3 plays it, F4 resets (left, right: corner)";

/// The settings of the training.
pub(crate) fn drill_values(drill: &crate::training::Drill) -> [(&'static str, Value, &'static str); 9] {
    [
        ("Fighter", among(&FIGHTERS, drill.fighters[0]), "whom you train"),
        ("Against", among(&FIGHTERS, drill.fighters[1]), "the fighter of the dummy"),
        ("Dummy", among(&Stance::ALL, drill.stance), "what the dummy does"),
        ("Blocks", among(&Guard::ALL, drill.guard), "when the dummy blocks; it guards low against low blows"),
        ("Throws", among(&Throws::ALL, drill.throws), "whether the dummy escapes your throws, or throws you"),
        ("Wake-up", among(&WakeUp::ALL, drill.wake_up), "what the dummy does as it gets up"),
        (
            "Hit boxes",
            Value::switch(drill.boxes),
            "red strikes, green can be struck, white cannot be walked through",
        ),
        (
            "Frame data",
            Value::switch(drill.frames),
            "start-up, active frames, recovery and advantage of your last move",
        ),
        ("Inputs", Value::switch(drill.inputs), "your last inputs, and how many frames each was held"),
    ]
}

fn training(app: &App) -> (Menu, Vec<Line>) {
    const SETTINGS: [Setting; 9] = [
        Setting::Fighter(0),
        Setting::Fighter(1),
        Setting::Stance,
        Setting::Guard,
        Setting::Throws,
        Setting::WakeUp,
        Setting::Boxes,
        Setting::Frames,
        Setting::Inputs,
    ];
    let values = drill_values(&app.settings.drill);
    let mut lines = vec![(Choice::Do(Request::Train), Item::pick("Train"))];
    lines.extend(
        SETTINGS
            .into_iter()
            .zip(values)
            .map(|(setting, (label, value, hint))| turn(setting, label, value, hint)),
    );
    lines.push(back());
    (menu("Training").with_notes(vec![Note::calm(TRAINING_KEYS)]), lines)
}

fn replays(app: &App) -> (Menu, Vec<Line>) {
    let words: Vec<String> = app.replays.iter().map(|entry| shown(&entry.to_string()).into_owned()).collect();
    // Items are centred: of one length, they begin in one column.
    let room = words.iter().map(|words| characters::width(words)).max().unwrap_or(0);
    let lines = words
        .iter()
        .enumerate()
        .map(|(number, words)| (Choice::Replay(number), Item::pick(characters::padded(words, room))));
    let lines: Vec<Line> = lines.chain([back()]).collect();
    let menu = menu("Replays").with_footer("arrows choose, enter opens, esc goes back");
    let none = Note::calm("No match has been recorded yet.");
    (if app.replays.is_empty() { menu.with_notes(vec![none]) } else { menu }, lines)
}

fn replay(app: &App) -> (Menu, Vec<Line>) {
    let Some((entry, name, deletes)) = &app.replay else { return (menu("Replay"), vec![back()]) };
    let delete = if *deletes {
        let sure = Item::pick("Delete it for good").with_hint("the file is removed from the disk");
        (Choice::Do(Request::DeleteReplay(entry.path.clone())), sure)
    } else {
        (Choice::AskToDelete, Item::pick("Delete"))
    };
    let lines = vec![
        (Choice::Do(Request::Watch(entry.path.clone())), Item::pick("Play")),
        turn(
            Setting::ReplayName,
            "Name",
            Value::Text(Field::new(name, MAX_NAME)),
            "enter keeps the name; letters, digits, spaces, - and _",
        ),
        delete,
        back(),
    ];
    (menu("Replay").with_notes(vec![Note::calm(shown(&entry.to_string()).into_owned())]), lines)
}

fn help(app: &App) -> (Menu, Vec<Line>) {
    let [moves, blows] = app.settings.keys(Keyset::Alone).lines();
    let notes = [
        moves.as_str(),
        blows.as_str(),
        "Block: hold back; crouch against low blows, stand against jumps.",
        "Kaito's special: a fireball; with crouch, a rising strike.",
        "Rai's special: a charge; with crouch, a heel from above.",
        "Throw: close up, beats a block; throw back to escape.",
        "Combo: light, heavy, special, one into the next.",
        "Esc pauses (gamepad: select), F1 net graph, m mute.",
        &format!("Bot's link: {}.", link_keys()),
    ];
    (menu("How to play").with_notes(notes.map(Note::calm).into()).with_footer(PICK_FOOTER), vec![back()])
}

fn settings(app: &App) -> (Menu, Vec<Line>) {
    let name = Value::Text(Field::new(&app.settings.name, NAME_CHARACTERS));
    let lines = vec![
        turn(Setting::Name, "Your name", name, "as the other player sees it"),
        go("Keys", Page::Keys),
        go("Sound", Page::Sound),
        go("Colours", Page::Colours),
        go("Link", Page::Link),
        back(),
    ];
    (menu("Settings"), lines)
}

fn sound(app: &App) -> (Menu, Vec<Line>) {
    let levels = app.settings.levels;
    let slider =
        |percent: u8| Value::Slider { at: percent.into(), max: MAX_PERCENT.into(), step: 5, unit: " %" };
    let lines = vec![
        turn(
            Setting::Effects,
            "Effects",
            slider(levels.effects_percent),
            "blows, calls and the sounds of this menu",
        ),
        turn(Setting::Music, "Music", slider(levels.music_percent), ""),
        turn(Setting::Mute, "Mute", Value::switch(levels.muted), "m does the same in a match"),
        back(),
    ];
    let notes =
        if app.device.is_empty() { Vec::new() } else { vec![Note::calm(format!("Device: {}", app.device))] };
    (menu("Sound").with_notes(notes), lines)
}

fn colours(app: &App) -> (Menu, Vec<Line>) {
    let outfits: Vec<(usize, &str)> = OUTFITS.iter().map(|outfit| outfit.name).enumerate().collect();
    let line = |seat: usize, label: &str| {
        turn(Setting::Outfit(seat), label, among(&outfits, app.settings.outfits[seat]), "on your screen")
    };
    let lines = vec![line(0, "Left fighter"), line(1, "Right fighter"), back()];
    (menu("Colours").with_view(), lines)
}

fn link(app: &App) -> (Menu, Vec<Line>) {
    let settings = &app.settings;
    let window = settings.window_frames;
    let most_delay = Config::MAX_DELAY_FRAMES.min(Config::MAX_WINDOW_AND_DELAY.saturating_sub(window));
    let delays: Vec<String> =
        ["by the link".to_owned()].into_iter().chain((0..=most_delay).map(frames)).collect();
    let at = settings.delay_frames.map_or(0, |frames| usize::from(frames) + 1);
    let delay = Value::Choice { at: at.min(delays.len() - 1), options: delays };
    let most_window = Config::MAX_WINDOW_AND_DELAY.saturating_sub(settings.delay_frames.unwrap_or(0));
    let windows = (0..=most_window).map(frames).collect();
    let window = Value::Choice { options: windows, at: window.min(most_window).into() };
    let lines = vec![
        turn(Setting::Delay, "Input delay", delay, "frames from your press to the blow"),
        turn(
            Setting::Window,
            "Rollback window",
            window,
            "frames that may be played on predictions; 0 waits for the other",
        ),
        turn(
            Setting::Rendezvous,
            "Rendezvous",
            Value::Text(Field::new(&settings.rendezvous, RENDEZVOUS_CHARACTERS).without_spaces()),
            "the server at which your guests find you, with a port if it is not 3479; empty for none",
        ),
        back(),
    ];
    (menu("Link"), lines)
}

fn frames(count: u8) -> String {
    format!("{count} {}", if count == 1 { "frame" } else { "frames" })
}

fn result(app: &App) -> (Menu, Vec<Line>) {
    let report = &app.report;
    let again =
        report.again.iter().map(|(label, request)| (Choice::Do(request.clone()), Item::pick(label.clone())));
    // Where nothing is to be done again, the page before is where it is put right.
    let back = report.again.is_none().then(back);
    let lines = again.chain(back).chain([(Choice::Home, Item::pick("Main menu"))]).collect();
    (menu(&report.title).with_notes(report.lines.clone()).with_footer(PICK_FOOTER), lines)
}
