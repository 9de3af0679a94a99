//! Editing a line of text in a menu.

use stage::menu::{Act, Edit, Field, Item, Menu, Value, drive};
use stage::{InputState, Key, Stroke};

/// A menu with one field, after these strokes.
fn typed(field: Field, strokes: &[Stroke]) -> Field {
    let mut menu = Menu::new("", vec![Item::new("text", Value::Text(field))]);
    let input = InputState { strokes: strokes.to_vec(), ..InputState::default() };
    drive(&input, &mut menu, |menu| Some(menu), |menu, act: &Act| menu.act(act).and(None::<()>));
    match menu.items.remove(0).value {
        Value::Text(field) => field,
        other => panic!("{other:?}"),
    }
}

fn text(start: &str, strokes: &[Stroke]) -> String {
    typed(Field::new(start, 40), strokes).text().to_owned()
}

const fn key(key: Key) -> Stroke {
    Stroke::Key(key)
}

const CTRL_A: Stroke = Stroke::Command('a');
const CTRL_U: Stroke = Stroke::Command('u');
const CTRL_W: Stroke = Stroke::Command('w');
const X: Stroke = Stroke::Character('x');

#[test]
fn characters_go_in_at_the_cursor() {
    assert_eq!(text("abc", &[X]), "abcx");
    assert_eq!(text("abc", &[key(Key::Left), X]), "abxc");
    assert_eq!(text("abc", &[key(Key::Home), X]), "xabc");
    assert_eq!(text("abc", &[key(Key::Home), key(Key::Right), X]), "axbc");
    assert_eq!(text("abc", &[key(Key::Home), key(Key::End), X]), "abcx");
    assert_eq!(text("abc", &[key(Key::Right), X]), "abcx", "there is nothing behind the end");
}

#[test]
fn backspace_and_delete_take_the_character_beside_the_cursor() {
    assert_eq!(text("abc", &[key(Key::Backspace)]), "ab");
    assert_eq!(text("abc", &[key(Key::Left), key(Key::Backspace)]), "ac");
    assert_eq!(text("abc", &[key(Key::Left), key(Key::Delete)]), "ab");
    assert_eq!(text("abc", &[key(Key::Delete)]), "abc");
    assert_eq!(text("abc", &[key(Key::Home), key(Key::Backspace)]), "abc");
    assert_eq!(text("ae\u{308}b", &[key(Key::Left), key(Key::Backspace)]), "ab", "with the mark on it");
    assert_eq!(text("ae\u{308}b", &[key(Key::Home), key(Key::Right), key(Key::Delete)]), "ab");
}

#[test]
fn ctrl_w_takes_a_word_and_ctrl_u_all_before_the_cursor() {
    assert_eq!(text("one two", &[CTRL_W]), "one ");
    assert_eq!(text("one two", &[CTRL_W, CTRL_W]), "");
    assert_eq!(text("one two", &[key(Key::Left), CTRL_W]), "one o");
    assert_eq!(text("one two", &[CTRL_U, X]), "x");
    assert_eq!(text("one two", &[key(Key::Left), CTRL_U]), "o");
    assert_eq!(text("one", &[key(Key::Left), Stroke::Command('k')]), "on");
}

#[test]
fn ctrl_a_lets_the_next_edit_replace_all() {
    assert_eq!(text("one two", &[CTRL_A, X, X]), "xx");
    assert_eq!(text("one two", &[CTRL_A, key(Key::Backspace)]), "");
    assert_eq!(text("one two", &[CTRL_A, key(Key::Delete), X]), "x");
    assert_eq!(text("one two", &[CTRL_A, Stroke::Paste("three".into())]), "three");
    assert_eq!(text("one", &[CTRL_A, key(Key::Left), X]), "xone", "moving the cursor keeps the text");
    assert_eq!(text("one", &[CTRL_A, key(Key::Right), X]), "onex");
    let full = Field::new("abcd", 4);
    assert_eq!(typed(full, &[CTRL_A, X]).text(), "x", "a full field has room once its text is replaced");
}

#[test]
fn paste_replaces_one_word_and_joins_several() {
    let pasted = Stroke::Paste("  new\n".into());
    assert_eq!(text("old ", std::slice::from_ref(&pasted)), "old new");
    let word = || Field::new("old", 40).without_spaces();
    assert_eq!(typed(word(), std::slice::from_ref(&pasted)).text(), "new");
    assert_eq!(
        typed(word(), &[pasted, Stroke::Paste("  ".into())]).text(),
        "new",
        "an empty clipboard changes nothing"
    );
}

#[test]
fn view_of_a_long_text_follows_the_cursor() {
    let field = Field::new("abcdefgh", 40);
    let view = field.view(4);
    assert_eq!((view.text, view.cursor), ("efgh", 4));
    let field = typed(field, &[key(Key::Home), key(Key::Right)]);
    let view = field.view(4);
    assert_eq!((view.text, view.cursor, view.is_selected), ("abcd", 1, false));
    assert!(typed(field, &[CTRL_A]).view(4).is_selected);
    assert_eq!(Field::new("abc", 4).view(0).text, "");
}

#[test]
fn commands_do_nothing_outside_a_field() {
    let mut menu = Menu::new("", vec![Item::pick("a"), Item::pick("b")]);
    let strokes = vec![CTRL_W, Stroke::Command('s'), key(Key::Home), key(Key::Delete)];
    let input = InputState { strokes, ..InputState::default() };
    let done = drive(&input, &mut menu, |menu| Some(menu), Menu::act);
    assert_eq!((done, menu.chosen()), (None, 0));
    assert_eq!(menu.act(&Act::Edit(Edit::Erase)), None);
}
