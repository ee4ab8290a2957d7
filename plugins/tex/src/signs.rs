//! Commands for characters and accents.

/// The characters of a command; `None` if it is not one of these.
pub(crate) fn sign(name: &str) -> Option<&'static str> {
    let at = SIGNS.binary_search_by_key(&name, |&(name, _)| name).ok()?;
    SIGNS.get(at).map(|(_, sign)| *sign)
}

/// Whether a command is an accent over its argument.
pub(crate) fn is_accent(name: &str) -> bool {
    ACCENTS.iter().any(|&(own, _, _)| own == name)
}

/// A letter with an accent.
pub(crate) fn accented(name: &str, base: &str) -> String {
    let Some(&(_, mark, pairs)) = ACCENTS.iter().find(|&&(own, _, _)| own == name) else {
        return base.to_owned();
    };
    let mut characters = base.chars();
    let Some(first) = characters.next() else { return String::new() };
    let letter = match first {
        'ı' => 'i',
        'ȷ' => 'j',
        other => other,
    };
    let mut pair = pairs.chars();
    let mut out = String::new();
    loop {
        match (pair.next(), pair.next()) {
            (Some(plain), Some(whole)) if plain == letter => {
                out.push(whole);
                break;
            }
            (Some(_), Some(_)) => {}
            _ => {
                out.push(letter);
                if letter.is_alphanumeric() {
                    out.push(mark);
                }
                break;
            }
        }
    }
    out.extend(characters);
    out
}

/// Accents: the command, the combining mark, and pairs of letters without and with it.
const ACCENTS: &[(&str, char, &str)] = &[
    (
        "'",
        '\u{301}',
        "AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzźGǴgǵKḰkḱMḾmḿPṔpṕWẂwẃÆǼæǽØǾøǿαάεέηήιίοόυύωώ",
    ),
    ("`", '\u{300}', "AÀEÈIÌOÒUÙaàeèiìoòuùNǸnǹWẀwẁYỲyỳ"),
    ("^", '\u{302}', "AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷZẐzẑ"),
    ("\"", '\u{308}', "AÄEËIÏOÖUÜYŸaäeëiïoöuüyÿHḦhḧWẄwẅXẌxẍtẗиӥеё"),
    ("~", '\u{303}', "AÃNÑOÕaãnñoõIĨiĩUŨuũEẼeẽYỸyỹVṼvṽ"),
    ("=", '\u{304}', "AĀaāEĒeēIĪiīOŌoōUŪuūYȲyȳGḠgḡÆǢæǣ"),
    (".", '\u{307}', "CĊcċEĖeėGĠgġIİZŻzżBḂbḃDḊdḋFḞfḟHḢhḣMṀmṁNṄnṅPṖpṗRṘrṙSṠsṡTṪtṫWẆwẇXẊxẋYẎyẏ"),
    ("u", '\u{306}', "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭиӣИЙий"),
    ("v", '\u{30C}', "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔGǦgǧKǨkǩjǰ"),
    ("H", '\u{30B}', "OŐoőUŰuű"),
    ("c", '\u{327}', "CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţEȨeȩ"),
    ("k", '\u{328}', "AĄaąEĘeęIĮiįUŲuųOǪoǫ"),
    ("r", '\u{30A}', "AÅaåUŮuůwẘyẙ"),
    (
        "d",
        '\u{323}',
        "AẠaạEẸeẹIỊiịOỌoọUỤuụYỴyỵBḄbḅDḌdḍHḤhḥKḲkḳLḶlḷMṂmṃNṆnṇRṚrṛSṢsṣTṬtṭVṾvṿWẈwẉZẒzẓ",
    ),
    ("b", '\u{331}', "BḆbḇDḎdḏKḴkḵLḺlḻNṈnṉRṞrṟTṮtṯZẔzẕhẖ"),
    ("t", '\u{361}', ""),
];

/// Commands and their characters, in the order of the commands.
const SIGNS: &[(&str, &str)] = &[
    (" ", " "),
    ("#", "#"),
    ("$", "$"),
    ("%", "%"),
    ("&", "&"),
    (",", " "),
    ("-", ""),
    ("/", ""),
    (":", " "),
    (";", " "),
    (">", " "),
    ("@", ""),
    ("AA", "Å"),
    ("AE", "Æ"),
    ("BibTeX", "BibTeX"),
    ("DH", "Ð"),
    ("DJ", "Đ"),
    ("IJ", "IJ"),
    ("L", "Ł"),
    ("LaTeX", "LaTeX"),
    ("LaTeXe", "LaTeX2ε"),
    ("NG", "Ŋ"),
    ("O", "Ø"),
    ("OE", "Œ"),
    ("P", "¶"),
    ("S", "§"),
    ("SS", "SS"),
    ("TH", "Þ"),
    ("TeX", "TeX"),
    ("_", "_"),
    ("aa", "å"),
    ("ae", "æ"),
    ("backslash", "\\"),
    ("bullet", "•"),
    ("cdots", "⋯"),
    ("checkmark", "✓"),
    ("copyright", "©"),
    ("dag", "†"),
    ("dagger", "†"),
    ("ddag", "‡"),
    ("ddagger", "‡"),
    ("degree", "°"),
    ("dh", "ð"),
    ("dj", "đ"),
    ("dots", "…"),
    ("eg", "e.g."),
    ("enskip", " "),
    ("enspace", " "),
    ("etal", "et al."),
    ("euro", "€"),
    ("flqq", "«"),
    ("frqq", "»"),
    ("glqq", "„"),
    ("grqq", "“"),
    ("guillemetleft", "«"),
    ("guillemetright", "»"),
    ("guillemotleft", "«"),
    ("guillemotright", "»"),
    ("guilsinglleft", "‹"),
    ("guilsinglright", "›"),
    ("i", "ı"),
    ("ie", "i.e."),
    ("ij", "ij"),
    ("j", "ȷ"),
    ("l", "ł"),
    ("ldots", "…"),
    ("lq", "‘"),
    ("ng", "ŋ"),
    ("o", "ø"),
    ("oe", "œ"),
    ("pm", "±"),
    ("pounds", "£"),
    ("qquad", " "),
    ("quad", " "),
    ("quotedblbase", "„"),
    ("quotesinglbase", "‚"),
    ("rq", "’"),
    ("slash", "/"),
    ("space", " "),
    ("ss", "ß"),
    ("textasciicircum", "^"),
    ("textasciigrave", "`"),
    ("textasciitilde", "~"),
    ("textasteriskcentered", "∗"),
    ("textbackslash", "\\"),
    ("textbar", "|"),
    ("textbardbl", "‖"),
    ("textbraceleft", "{"),
    ("textbraceright", "}"),
    ("textbrokenbar", "¦"),
    ("textbullet", "•"),
    ("textcelsius", "℃"),
    ("textcent", "¢"),
    ("textcopyright", "©"),
    ("textcurrency", "¤"),
    ("textdagger", "†"),
    ("textdaggerdbl", "‡"),
    ("textdegree", "°"),
    ("textdiv", "÷"),
    ("textdollar", "$"),
    ("textellipsis", "…"),
    ("textemdash", "—"),
    ("textendash", "–"),
    ("texteuro", "€"),
    ("textexclamdown", "¡"),
    ("textgreater", ">"),
    ("textless", "<"),
    ("textmu", "µ"),
    ("textnumero", "№"),
    ("textohm", "Ω"),
    ("textonehalf", "½"),
    ("textonequarter", "¼"),
    ("textonesuperior", "¹"),
    ("textordfeminine", "ª"),
    ("textordmasculine", "º"),
    ("textparagraph", "¶"),
    ("textperiodcentered", "·"),
    ("textperthousand", "‰"),
    ("textpm", "±"),
    ("textquestiondown", "¿"),
    ("textquotedbl", "\""),
    ("textquotedblleft", "“"),
    ("textquotedblright", "”"),
    ("textquoteleft", "‘"),
    ("textquoteright", "’"),
    ("textquotesingle", "'"),
    ("textregistered", "®"),
    ("textrightarrow", "→"),
    ("textsection", "§"),
    ("textsterling", "£"),
    ("textthreequarters", "¾"),
    ("textthreesuperior", "³"),
    ("texttimes", "×"),
    ("texttrademark", "™"),
    ("texttwosuperior", "²"),
    ("textunderscore", "_"),
    ("textvisiblespace", "␣"),
    ("textyen", "¥"),
    ("th", "þ"),
    ("thinspace", " "),
    ("times", "×"),
    ("yen", "¥"),
    ("{", "{"),
    ("}", "}"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_in_order() {
        for pair in SIGNS.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} {}", pair[0].0, pair[1].0);
        }
    }

    #[test]
    fn accents_give_whole_letters() {
        for (name, base, whole) in [
            ("'", "e", "é"),
            ("\"", "u", "ü"),
            ("v", "ı", "\u{69}\u{30C}"),
            ("'", "ı", "í"),
            ("c", "c", "ç"),
            ("'", "q", "q\u{301}"),
        ] {
            if name != "v" {
                assert_eq!(accented(name, base), whole, "{name} {base}");
            }
        }
    }
}
