//! Formulas on one line: MathML's constructs by the conventions of plain text.

use super::{Script, write_script};

/// A MathML element whose children have different meanings.
#[derive(Debug)]
pub(super) enum Construct {
    /// A base and a subscript or underscript.
    Sub,
    /// A base and a superscript.
    Super,
    /// A base, below, above.
    SubSuper,
    /// A base and an accent or limit above it.
    Over,
    /// Numerator and denominator.
    Fraction,
    /// A square root's radicand.
    SquareRoot,
    /// A root's radicand and its index.
    Root,
    /// A base, pairs of scripts behind it, and, from the given child on, pairs before it.
    Scripts(Option<usize>),
    /// Items in parentheses.
    Fenced,
}

impl Construct {
    /// The construct called `local`.
    pub(super) fn of(local: &str) -> Option<Self> {
        Some(match local {
            "msub" | "munder" => Self::Sub,
            "msup" => Self::Super,
            "msubsup" | "munderover" => Self::SubSuper,
            "mover" => Self::Over,
            "mfrac" => Self::Fraction,
            "msqrt" => Self::SquareRoot,
            "mroot" => Self::Root,
            "mmultiscripts" => Self::Scripts(None),
            "mfenced" => Self::Fenced,
            _ => return None,
        })
    }

    /// Marks that the scripts from child number `child` on precede the base.
    pub(super) fn prescripts_from(&mut self, child: usize) {
        if let Self::Scripts(prescripts) = self {
            prescripts.get_or_insert(child);
        }
    }
}

/// Writes a construct whose children begin at `starts` of `content`.
pub(super) fn write(construct: &Construct, content: &str, starts: &[usize], out: &mut String) {
    let part = |number: usize| {
        let start = starts.get(number).copied().unwrap_or(content.len());
        let end = starts.get(number + 1).copied().unwrap_or(content.len());
        content.get(start..end).unwrap_or_default().trim()
    };
    // Text before the first child belongs to no part.
    out.push_str(&content[..starts.first().copied().unwrap_or(content.len())]);
    match construct {
        Construct::Sub => {
            out.push_str(part(0));
            write_script(Script::Sub, part(1), out);
        }
        Construct::Super => {
            out.push_str(part(0));
            write_script(Script::Super, part(1), out);
        }
        Construct::SubSuper => {
            out.push_str(part(0));
            write_script(Script::Sub, part(1), out);
            write_script(Script::Super, part(2), out);
        }
        Construct::Over => {
            out.push_str(part(0));
            match accent(part(1)).filter(|_| part(0).chars().count() == 1) {
                Some(accent) => out.push(accent),
                None => write_script(Script::Super, part(1), out),
            }
        }
        Construct::Fraction => {
            write_operand(part(0), out);
            out.push('/');
            write_operand(part(1), out);
        }
        Construct::SquareRoot => {
            out.push('√');
            // All children together are the radicand.
            let start = starts.first().copied().unwrap_or(content.len());
            write_operand(content[start..].trim(), out);
        }
        Construct::Root => {
            write_script(Script::Super, part(1), out);
            out.push('√');
            write_operand(part(0), out);
        }
        Construct::Scripts(prescripts) => {
            let prescripts = prescripts.unwrap_or(starts.len()).max(1);
            for number in (prescripts..starts.len()).step_by(2) {
                write_script(Script::Sub, part(number), out);
                write_script(Script::Super, part(number + 1), out);
            }
            out.push_str(part(0));
            for number in (1..prescripts).step_by(2) {
                write_script(Script::Sub, part(number), out);
                if number + 1 < prescripts {
                    write_script(Script::Super, part(number + 1), out);
                }
            }
        }
        Construct::Fenced => {
            out.push('(');
            for number in 0..starts.len() {
                out.push_str(if number > 0 { ", " } else { "" });
                out.push_str(part(number));
            }
            out.push(')');
        }
    }
}

/// An operand of `/` or `√`, in parentheses if it has more than one part.
fn write_operand(text: &str, out: &mut String) {
    if text.chars().all(|character| character.is_alphanumeric() || "./′".contains(character)) {
        out.push_str(text);
    } else {
        out.push('(');
        out.push_str(text);
        out.push(')');
    }
}

/// The combining character that sets an accent over the letter before it.
fn accent(text: &str) -> Option<char> {
    Some(match text {
        "¯" | "‾" | "−" | "-" | "―" | "_" => '\u{304}',
        "^" | "ˆ" => '\u{302}',
        "~" | "˜" | "∼" => '\u{303}',
        "→" | "⃗" => '\u{20D7}',
        "˙" | "." => '\u{307}',
        "¨" => '\u{308}',
        "ˇ" => '\u{30C}',
        "˘" => '\u{306}',
        _ => return None,
    })
}
