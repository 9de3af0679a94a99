//! Letters that are another letter with a mark: Latin-1, Latin Extended-A, and their like in Greek and Cyrillic.

/// The strokes that make another letter of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Above the letter, on a grid of four by two.
    Above(&'static str),
    /// On or below the letter, on its own grid.
    Through(&'static str),
}

/// Accents: strokes, the letters that have it, and those letters without.
const ABOVE: [(&str, &str, &str); 11] = [
    ("1032", "ÀÈÌÒÙǸẀ", "AEIOUNW"),
    ("1230", "ÁÉÍÓÚÝĆĹŃŔŚŹΆΈΉΊΌΎΏЃЌ", "AEIOUYCLNRSZAEHIOYΩГK"),
    ("122032", "ÂÊÎÔÛĈĜĤĴŜŴŶ", "AEIOUCGHJSWY"),
    ("02103240", "ÃÑÕĨŨ", "ANOIU"),
    ("1111 3131", "ÄËÏÖÜŸЁЇΪΫ", "AEIOUYEIIY"),
    ("1120312211", "ÅŮ", "AU"),
    ("1131", "ĀĒĪŌŪ", "AEIOU"),
    ("00123240", "ĂĔĞĬŎŬЙЎ", "AEGIOUИY"),
    ("2121", "ĊĖĠİŻ", "CEGIZ"),
    ("102230", "ČĎĚĽŇŘŠŤŽ", "CDELNRSTZ"),
    ("1220 3240", "ŐŰ", "OU"),
];

/// Tails and bars, likewise.
const THROUGH: [(&str, &str, &str); 9] = [
    ("2617", "ÇĢĶĻŅŖŞŢȘȚ", "CGKLNRSTST"),
    ("3647", "ĄĘĮŲ", "AEIU"),
    ("0640", "Ø", "O"),
    ("0323", "ÐĐ", "DD"),
    ("0141", "Ħ", "H"),
    ("0422", "Ł", "L"),
    ("1333", "Ŧ", "T"),
    ("3333", "Ŀ", "L"),
    ("0001", "ŉ", "N"),
];

/// Marks that follow their letter instead of being a part of it, with the letter that has them in the lists above.
const COMBINING: [(char, char); 14] = [
    ('\u{300}', 'À'),
    ('\u{301}', 'Á'),
    ('\u{302}', 'Â'),
    ('\u{303}', 'Ã'),
    ('\u{304}', 'Ā'),
    ('\u{306}', 'Ă'),
    ('\u{307}', 'Ċ'),
    ('\u{308}', 'Ä'),
    ('\u{30A}', 'Å'),
    ('\u{30B}', 'Ő'),
    ('\u{30C}', 'Č'),
    ('\u{326}', 'Ș'),
    ('\u{327}', 'Ç'),
    ('\u{328}', 'Ą'),
];

/// The strokes of a mark that follows its letter; `None` for one that is not known.
pub(super) fn combining(mark: char) -> Option<Mark> {
    let (_, example) = COMBINING.into_iter().find(|(known, _)| *known == mark)?;
    parts(example).1
}

/// Capitals of Greek and Cyrillic that look like those of Latin.
const ALIKE: [(&str, &str); 2] =
    [("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"), ("АВЕЗКМНОРСТУХІЈЅĸ", "ABE3KMHOPCTYXIJSK")];

/// A capital as the letter that it is made of, and the mark on it.
pub(super) fn parts(letter: char) -> (char, Option<Mark>) {
    if letter.is_ascii() {
        return (letter, None);
    }
    let find = |letters: &str, bases: &str| bases.chars().nth(letters.chars().position(|it| it == letter)?);
    for (strokes, letters, bases) in ABOVE {
        if let Some(base) = find(letters, bases) {
            return (base, Some(Mark::Above(strokes)));
        }
    }
    for (strokes, letters, bases) in THROUGH {
        if let Some(base) = find(letters, bases) {
            return (base, Some(Mark::Through(strokes)));
        }
    }
    let alike = ALIKE.iter().find_map(|(letters, bases)| find(letters, bases));
    (alike.unwrap_or(letter), None)
}
