//! Letters that are not where their code points are, and the letters of languages.

/// Letters of the alphabets of several languages: the letter that others follow, and those.
type Following = &'static [(char, &'static str)];

/// The order of letters of a language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alphabet {
    own: Following,
    /// The script of the language, which comes before all others.
    script: &'static [(u32, u32)],
}

/// Where letters are in all languages.
const ROOT: Following = &[
    ('a', "ɐɑɒ"),
    ('b', "ɓƃ"),
    ('c', "ƈɕ"),
    ('d', "ɖɗ"),
    ('e', "ǝəɛ"),
    ('f', "ƒ"),
    ('g', "ǥɠɣ"),
    ('h', "ƕɦɧ"),
    ('i', "ıɨɩ"),
    ('k', "ƙ"),
    ('l', "ƚɬ"),
    ('n', "ɲƞɳŋ"),
    ('o', "ɔɵȣ"),
    ('p', "ƥ"),
    ('q', "ĸ"),
    ('s', "ʃ"),
    ('t', "ŧƭʈ"),
    ('u', "ʉɥɯʊ"),
    ('v', "ʋʌ"),
    ('y', "ƴ"),
    ('z', "ƶʒþƿ"),
    ('а', "әӕ"),
    ('г', "ғ"),
    ('д', "ђ"),
    ('е', "є"),
    ('ж', "җ"),
    ('з', "ѕ"),
    ('и', "йіј"),
    ('к', "қҡ"),
    ('л', "љ"),
    ('н', "ңҥњ"),
    ('о', "ө"),
    ('с', "ҫ"),
    ('т', "ћ"),
    ('у', "үұ"),
    ('х', "һ"),
    ('ч', "џ"),
    ('ب', "پ"),
    ('ج', "چ"),
    ('ز', "ژ"),
    ('ك', "کگ"),
];

const NORDIC: Following = &[('x', "ü"), ('z', "æäøöå")];

/// Letters of languages that follow a letter instead of counting as it.
const LANGUAGES: &[(&str, Following)] = &[
    ("sv", &[('x', "ü"), ('z', "åäæöø")]),
    ("fi", &[('x', "ü"), ('z', "åäæöø")]),
    ("da", NORDIC),
    ("nb", NORDIC),
    ("nn", NORDIC),
    ("fo", NORDIC),
    ("et", &[('s', "šž"), ('z', "õäöü")]),
    (
        "is",
        &[
            ('a', "á"),
            ('d', "ð"),
            ('e', "é"),
            ('i', "í"),
            ('o', "ó"),
            ('u', "ú"),
            ('y', "ý"),
            ('z', "þæäöøå"),
        ],
    ),
    ("cs", &[('c', "č"), ('r', "ř"), ('s', "š"), ('z', "ž")]),
    ("sk", &[('a', "ä"), ('c', "č"), ('o', "ô"), ('r', "ř"), ('s', "š"), ('z', "ž")]),
    (
        "pl",
        &[
            ('a', "ą"),
            ('c', "ć"),
            ('e', "ę"),
            ('l', "ł"),
            ('n', "ń"),
            ('o', "ó"),
            ('s', "ś"),
            ('z', "źż"),
        ],
    ),
    ("es", &[('n', "ñ")]),
    ("gl", &[('n', "ñ")]),
    ("tl", &[('n', "ñ")]),
    ("tr", &[('c', "ç"), ('g', "ğ"), ('h', "ı"), ('o', "ö"), ('s', "ş"), ('u', "ü")]),
    ("hr", &[('c', "čć"), ('d', "đ"), ('s', "š"), ('z', "ž")]),
    ("sl", &[('c', "čć"), ('d', "đ"), ('s', "š"), ('z', "ž")]),
    ("hu", &[('o', "öő"), ('u', "üű")]),
    ("ro", &[('a', "ăâ"), ('i', "î"), ('s', "șş"), ('t', "țţ")]),
    ("lt", &[('c', "č"), ('s', "š"), ('z', "ž")]),
    (
        "lv",
        &[
            ('c', "č"),
            ('g', "ģ"),
            ('k', "ķ"),
            ('l', "ļ"),
            ('n', "ņ"),
            ('r', "ŗ"),
            ('s', "š"),
            ('z', "ž"),
        ],
    ),
    ("vi", &[('a', "ăâ"), ('d', "đ"), ('e', "ê"), ('o', "ôơ"), ('u', "ư")]),
    ("sq", &[('c', "ç"), ('e', "ë")]),
];

/// Languages, and the ranges of characters of their script.
type Script = (&'static [&'static str], &'static [(u32, u32)]);

/// Scripts that come before Latin in their languages.
const SCRIPTS: &[Script] = &[
    (&["ru", "uk", "bg", "be", "mk", "mn", "kk"], &[(0x400, 0x52f)]),
    (&["el"], &[(0x370, 0x3ff), (0x1f00, 0x1fff)]),
    (&["he"], &[(0x590, 0x5ff)]),
    (&["ar", "fa"], &[(0x600, 0x6ff)]),
    (&["hy"], &[(0x530, 0x58f)]),
    (&["ka"], &[(0x10a0, 0x10ff)]),
    (&["hi"], &[(0x900, 0x97f)]),
    (&["th"], &[(0xe00, 0xe7f)]),
    (&["km"], &[(0x1780, 0x17ff)]),
    (&["ko"], &[(0x1100, 0x11ff), (0x4e00, 0x9fff), (0xac00, 0xd7af)]),
    // Latin, then kana, then ideographs, before all others.
    (
        &["ja"],
        &[(0x41, 0x2af), (0x1e00, 0x1eff), (0x3040, 0x30ff), (0x3400, 0x9fff), (0xf900, 0xfaff)],
    ),
    (&["zh"], &[(0x3400, 0x9fff), (0xf900, 0xfaff), (0x2_0000, 0x3_ffff)]),
];

impl Alphabet {
    /// The alphabet of a language tag.
    pub(crate) fn of(language: &str) -> Self {
        let base = language.split(['-', '_']).next().unwrap_or_default();
        let found = LANGUAGES.iter().find(|(name, _)| *name == base);
        let script = SCRIPTS.iter().find(|(names, _)| names.contains(&base));
        Self {
            own: found.map_or(&[], |(_, letters)| letters),
            script: script.map_or(&[], |(_, ranges)| ranges),
        }
    }

    /// Whether a letter is of the script that comes first.
    pub(super) fn is_first(self, c: char) -> bool {
        self.script.iter().any(|(start, end)| (*start..=*end).contains(&u32::from(c)))
    }

    /// The letter that `c` follows, and how many are between.
    pub(super) fn position(self, c: char) -> Option<(char, u32)> {
        if c.is_ascii() {
            return None;
        }
        self.own.iter().chain(ROOT).find_map(|(before, letters)| {
            let at = letters.chars().position(|letter| letter == c)?;
            u32::try_from(at + 1).ok().map(|offset| (*before, offset))
        })
    }
}

/// The letters that one counts as.
pub(super) fn equal(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' | 'ǽ' => "ae",
        'œ' => "oe",
        'ø' | 'ǿ' | 'º' => "o",
        'ª' => "a",
        'đ' | 'ð' => "d",
        'ł' | 'ŀ' => "l",
        'ħ' => "h",
        'ſ' => "s",
        'ĳ' => "ij",
        'ǆ' | 'ǳ' => "dz",
        'ǉ' => "lj",
        'ǌ' => "nj",
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬅ' | 'ﬆ' => "st",
        'ґ' => "г",
        _ => return None,
    })
}

/// A letter without differences of form: final letters, small kana and katakana.
pub(super) fn plain(c: char) -> char {
    let c = match u32::from(c) {
        katakana @ 0x30a1..=0x30f6 => char::from_u32(katakana - 0x60).unwrap_or(c),
        _ => c,
    };
    match c {
        'ς' | 'ϲ' => 'σ',
        'ϐ' => 'β',
        'ϵ' => 'ε',
        'ϑ' => 'θ',
        'ϰ' => 'κ',
        'ϖ' => 'π',
        'ϱ' => 'ρ',
        'ϕ' => 'φ',
        'ך' => 'כ',
        'ם' => 'מ',
        'ן' => 'נ',
        'ף' => 'פ',
        'ץ' => 'צ',
        'ぁ' => 'あ',
        'ぃ' => 'い',
        'ぅ' => 'う',
        'ぇ' => 'え',
        'ぉ' => 'お',
        'っ' => 'つ',
        'ゃ' => 'や',
        'ゅ' => 'ゆ',
        'ょ' => 'よ',
        'ゎ' => 'わ',
        other => other,
    }
}
