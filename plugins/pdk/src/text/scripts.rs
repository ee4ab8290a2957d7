//! Sub- and superscripts.

/// The direction of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Below the line.
    Sub,
    /// Above the line.
    Super,
}

/// Writes `text` as a script: in Unicode where every character has such a form, else as `_{…}` or
/// `^{…}`. Blank text is written unchanged.
pub fn write_script(script: Script, text: &str, out: &mut String) {
    if text.trim().is_empty() {
        out.push_str(text);
        return;
    }
    let start = out.len();
    for character in text.chars() {
        if let Some(form) = form(script, character) {
            out.push(form);
        } else {
            out.truncate(start);
            out.push_str(if script == Script::Sub { "_{" } else { "^{" });
            out.push_str(text);
            out.push('}');
            return;
        }
    }
}

fn form(script: Script, character: char) -> Option<char> {
    let (plain, scripts) = match script {
        Script::Sub => {
            ("0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ")
        }
        Script::Super => (
            "0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδφχ",
            "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᵠᵡ",
        ),
    };
    if character == ' ' {
        return None;
    }
    let at = plain.chars().position(|candidate| candidate == character)?;
    scripts.chars().nth(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(script: Script, text: &str) -> String {
        let mut out = String::new();
        write_script(script, text, &mut out);
        out
    }

    #[test]
    fn digits_and_signs_become_unicode() {
        assert_eq!(script(Script::Sub, "2"), "₂");
        assert_eq!(script(Script::Super, "2+"), "²⁺");
        assert_eq!(script(Script::Super, "−1"), "⁻¹");
    }

    #[test]
    fn one_character_without_a_form_keeps_the_whole_script_in_braces() {
        assert_eq!(script(Script::Sub, "max, 2"), "_{max, 2}");
        assert_eq!(script(Script::Super, "2q"), "^{2q}");
    }

    #[test]
    fn blank_scripts_vanish_into_the_text() {
        assert_eq!(script(Script::Sub, " "), " ");
        assert_eq!(script(Script::Super, ""), "");
    }

    #[test]
    fn every_character_has_exactly_one_form() {
        for which in [Script::Sub, Script::Super] {
            for character in "0123456789+-=()nix".chars() {
                let form = form(which, character).unwrap();
                assert!(!form.is_ascii(), "{character} became {form}");
            }
        }
        assert_eq!(form(Script::Super, 'χ'), Some('ᵡ'));
        assert_eq!(form(Script::Sub, 'χ'), Some('ᵪ'));
    }
}
