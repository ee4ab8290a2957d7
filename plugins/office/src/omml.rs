//! Formulas of Office (OMML) → TeX.

use carrel_pdk::xml::tree::{Node, Piece, Tree};

/// Constructs inside each other; below that, the text alone.
const DEEPEST: u32 = 24;

/// The formula as TeX, without delimiters; `None` when it is blank.
pub(crate) fn tex(tree: &Tree<'_>, node: Node) -> Option<String> {
    let mut out = String::new();
    inside(tree, node, &mut out, 0);
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    (!out.is_empty()).then_some(out)
}

fn part(tree: &Tree<'_>, node: Node, name: &str, depth: u32) -> String {
    let mut out = String::new();
    if let Some(child) = tree.child(node, name) {
        inside(tree, child, &mut out, depth);
    }
    out.trim().to_owned()
}

/// A property of a construct, such as the character of an operator. Present without a value is empty.
fn property(tree: &Tree<'_>, node: Node, group: &str, name: &str) -> Option<String> {
    let found = tree.child(tree.child(node, group)?, name)?;
    Some(tree.attribute(found, "val").map_or_else(String::new, |value| value.into_owned()))
}

fn inside(tree: &Tree<'_>, node: Node, out: &mut String, depth: u32) {
    for child in tree.elements(node) {
        element(tree, child, out, depth + 1);
    }
}

fn flat(tree: &Tree<'_>, node: Node, out: &mut String) {
    for inner in tree.descendants(node) {
        if tree.name(inner) == "t" {
            words(&tree.verbatim(inner), out);
        }
    }
}

fn element(tree: &Tree<'_>, node: Node, out: &mut String, depth: u32) {
    if depth > DEEPEST {
        flat(tree, node, out);
        return;
    }
    match tree.name(node) {
        "r" => run(tree, node, out),
        "f" => {
            let (over, under) = (part(tree, node, "num", depth), part(tree, node, "den", depth));
            match property(tree, node, "fPr", "type").as_deref() {
                Some("lin" | "skw") => out.push_str(&format!("{{{over}}}/{{{under}}}")),
                Some("noBar") => {
                    out.push_str(&format!("\\genfrac{{}}{{}}{{0pt}}{{}}{{{over}}}{{{under}}}"))
                }
                _ => out.push_str(&format!("\\frac{{{over}}}{{{under}}}")),
            }
        }
        "sSup" => {
            out.push_str(&base(&part(tree, node, "e", depth)));
            out.push_str(&format!("^{{{}}}", part(tree, node, "sup", depth)));
        }
        "sSub" => {
            out.push_str(&base(&part(tree, node, "e", depth)));
            out.push_str(&format!("_{{{}}}", part(tree, node, "sub", depth)));
        }
        "sSubSup" => {
            out.push_str(&base(&part(tree, node, "e", depth)));
            out.push_str(&scripts(tree, node, depth));
        }
        "sPre" => {
            out.push_str("{}");
            out.push_str(&scripts(tree, node, depth));
            out.push_str(&base(&part(tree, node, "e", depth)));
        }
        "rad" => {
            let (degree, of) = (part(tree, node, "deg", depth), part(tree, node, "e", depth));
            let degree = if degree.is_empty() { degree } else { format!("[{degree}]") };
            out.push_str(&format!("\\sqrt{degree}{{{of}}}"));
        }
        "d" => delimited(tree, node, out, depth),
        "nary" => {
            let sign = property(tree, node, "naryPr", "chr");
            let sign = sign.unwrap_or_else(|| "∫".to_owned());
            words(&sign, out);
            out.push_str(&scripts(tree, node, depth));
            out.push_str(&format!("{{{}}}", part(tree, node, "e", depth)));
        }
        "func" => {
            let name = part(tree, node, "fName", depth);

            out.push_str(&format!("{name}{{{}}}", part(tree, node, "e", depth)));
        }
        "limLow" | "limUpp" => {
            let name = part(tree, node, "e", depth);
            let limit = part(tree, node, "lim", depth);
            let mark = if tree.name(node) == "limLow" { '_' } else { '^' };
            if name.strip_prefix('\\').is_some_and(|name| FUNCTIONS.contains(&name)) {
                out.push_str(&format!("{name}{mark}{{{limit}}}"));
            } else if mark == '_' {
                out.push_str(&format!("\\underset{{{limit}}}{{{name}}}"));
            } else {
                out.push_str(&format!("\\overset{{{limit}}}{{{name}}}"));
            }
        }
        "acc" => {
            let sign = property(tree, node, "accPr", "chr");
            let command = accent(sign.as_deref().unwrap_or("\u{302}"));
            out.push_str(&format!("{command}{{{}}}", part(tree, node, "e", depth)));
        }
        "bar" => {
            let top = property(tree, node, "barPr", "pos").as_deref() == Some("top");
            let command = if top { "\\overline" } else { "\\underline" };
            out.push_str(&format!("{command}{{{}}}", part(tree, node, "e", depth)));
        }
        "groupChr" => {
            let top = property(tree, node, "groupChrPr", "pos").as_deref() == Some("top");
            let command = if top { "\\overbrace" } else { "\\underbrace" };
            out.push_str(&format!("{command}{{{}}}", part(tree, node, "e", depth)));
        }
        "m" => {
            let rows: Vec<String> = tree
                .elements(node)
                .filter(|&row| tree.name(row) == "mr")
                .map(|row| cells(tree, row, depth).join(" & "))
                .collect();
            out.push_str(&format!("\\begin{{matrix}}{}\\end{{matrix}}", rows.join(" \\\\ ")));
        }
        "eqArr" => {
            let rows = cells(tree, node, depth);
            out.push_str(&format!("\\begin{{aligned}}{}\\end{{aligned}}", rows.join(" \\\\ ")));
        }
        "phant" => {
            let hidden = property(tree, node, "phantPr", "show").as_deref() == Some("0");
            let command = if hidden { "\\phantom" } else { "" };
            out.push_str(&format!("{command}{{{}}}", part(tree, node, "e", depth)));
        }
        name if name.ends_with("Pr") => {}
        "del" | "moveFrom" => {}
        _ => inside(tree, node, out, depth),
    }
}

fn cells(tree: &Tree<'_>, node: Node, depth: u32) -> Vec<String> {
    let mut out = Vec::new();
    for cell in tree.elements(node).filter(|&cell| tree.name(cell) == "e") {
        let mut text = String::new();
        inside(tree, cell, &mut text, depth + 1);
        out.push(text.trim().to_owned());
    }
    out
}

fn scripts(tree: &Tree<'_>, node: Node, depth: u32) -> String {
    let mut out = String::new();
    for (mark, name) in [('_', "sub"), ('^', "sup")] {
        let script = part(tree, node, name, depth);
        if !script.is_empty() {
            out.push_str(&format!("{mark}{{{script}}}"));
        }
    }
    out
}

fn delimited(tree: &Tree<'_>, node: Node, out: &mut String, depth: u32) {
    let sign = |name: &str, usual: &str| {
        let sign = property(tree, node, "dPr", name).unwrap_or_else(|| usual.to_owned());
        match sign.as_str() {
            "" => ".".to_owned(),
            "{" | "}" => format!("\\{sign}"),
            "⟨" => "\\langle ".to_owned(),
            "⟩" => "\\rangle ".to_owned(),
            "‖" => "\\|".to_owned(),
            _ => sign,
        }
    };
    let between = property(tree, node, "dPr", "sepChr").unwrap_or_else(|| "|".to_owned());
    let inner = cells(tree, node, depth).join(&between);
    out.push_str(&format!("\\left{}{inner}\\right{}", sign("begChr", "("), sign("endChr", ")")));
}

/// The base of a script.
fn base(text: &str) -> String {
    if text.chars().count() == 1 { text.to_owned() } else { format!("{{{text}}}") }
}

fn run(tree: &Tree<'_>, node: Node, out: &mut String) {
    let properties = tree.child(node, "rPr");
    let plain = properties.is_some_and(|properties| tree.child(properties, "nor").is_some());
    let style = properties.and_then(|properties| {
        let style = |name: &str| {
            let node = tree.child(properties, name)?;
            tree.attribute(node, "val").map(|value| value.into_owned())
        };
        match (style("scr").as_deref(), style("sty").as_deref()) {
            (Some("double-struck"), _) => Some("\\mathbb"),
            (Some("script"), _) => Some("\\mathcal"),
            (Some("fraktur"), _) => Some("\\mathfrak"),
            (_, Some("b")) => Some("\\mathbf"),
            _ => None,
        }
    });
    let mut text = String::new();
    for inner in tree.descendants(node) {
        if tree.name(inner) == "t" {
            if plain {
                text.push_str(&tree.verbatim(inner));
            } else {
                words(&tree.verbatim(inner), &mut text);
            }
        }
        if let Piece::Element("br") = tree.piece(inner) {
            text.push_str(" \\\\ ");
        }
    }
    if plain && !text.trim().is_empty() {
        out.push_str(&format!("\\text{{{text}}}"));
    } else if let Some(command) = style.filter(|_| !text.trim().is_empty()) {
        out.push_str(&format!("{command}{{{}}}", text.trim()));
    } else {
        functions(&text, out);
    }
}

/// Text with names of operators before a non-letter as commands.
fn functions(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let is_command = rest[..at].ends_with('\\');
        out.push_str(&rest[..at]);
        let word = &rest[at..];
        let end = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
        let (word, behind) = word.split_at(end);
        if !is_command && FUNCTIONS.contains(&word) {
            out.push_str(&format!("\\{word} "));
        } else {
            out.push_str(word);
        }
        rest = behind;
    }
    out.push_str(rest);
}

/// Characters as TeX writes them.
fn words(text: &str, out: &mut String) {
    for character in text.chars() {
        let command = match SIGNS.binary_search_by_key(&character, |&(sign, _)| sign) {
            Ok(at) => SIGNS.get(at).map(|(_, command)| *command),
            Err(_) => None,
        };
        match (command, character) {
            (Some(command), _) => {
                out.push('\\');
                out.push_str(command);
                out.push(' ');
            }
            (None, '\\') => out.push_str("\\backslash "),
            (None, '{' | '}' | '#' | '%' | '$') => {
                out.push('\\');
                out.push(character);
            }
            (None, '\u{2061}'..='\u{2064}' | '\u{200b}') => {}
            (None, '−') => out.push('-'),
            (None, '′') => out.push('\''),
            // TeX sets letters in mathematical italic by default.
            (None, _) => out.push(upright(character)),
        }
    }
}

/// The plain letter behind a mathematical italic one.
fn upright(character: char) -> char {
    let code = u32::from(character);
    let letter = match code {
        0x1D434..=0x1D44D => code - 0x1D434 + 0x41,
        0x1D44E..=0x1D467 => code - 0x1D44E + 0x61,
        0x210E => 0x68,
        _ => code,
    };
    char::from_u32(letter).unwrap_or(character)
}

fn accent(sign: &str) -> &'static str {
    match sign {
        "\u{303}" | "~" | "˜" => "\\tilde",
        "\u{304}" | "\u{305}" | "¯" | "‾" => "\\bar",
        "\u{307}" | "˙" => "\\dot",
        "\u{308}" | "¨" => "\\ddot",
        "\u{306}" | "˘" => "\\breve",
        "\u{30C}" | "ˇ" => "\\check",
        "\u{301}" | "´" => "\\acute",
        "\u{300}" | "`" => "\\grave",
        "\u{20D7}" | "→" => "\\vec",
        _ => "\\hat",
    }
}

/// Operators that TeX knows by name.
const FUNCTIONS: &[&str] = &[
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim",
    "exp", "gcd", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log", "max", "min", "sec",
    "sin", "sinh", "sup", "tan", "tanh",
];

/// Signs and their commands, in the order of the signs.
const SIGNS: &[(char, &str)] = &[
    ('±', "pm"),
    ('·', "cdot"),
    ('×', "times"),
    ('÷', "div"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Π', "Pi"),
    ('Σ', "Sigma"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Ω', "Omega"),
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "varepsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('ς', "varsigma"),
    ('σ', "sigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "varphi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('ϑ', "vartheta"),
    ('ϕ', "phi"),
    ('ϵ', "epsilon"),
    ('…', "ldots"),
    ('ℏ', "hbar"),
    ('ℓ', "ell"),
    ('←', "leftarrow"),
    ('↑', "uparrow"),
    ('→', "rightarrow"),
    ('↓', "downarrow"),
    ('↔', "leftrightarrow"),
    ('↦', "mapsto"),
    ('⇐', "Leftarrow"),
    ('⇒', "Rightarrow"),
    ('⇔', "Leftrightarrow"),
    ('∀', "forall"),
    ('∂', "partial"),
    ('∃', "exists"),
    ('∅', "emptyset"),
    ('∆', "Delta"),
    ('∇', "nabla"),
    ('∈', "in"),
    ('∉', "notin"),
    ('∏', "prod"),
    ('∑', "sum"),
    ('∓', "mp"),
    ('∘', "circ"),
    ('∝', "propto"),
    ('∞', "infty"),
    ('∠', "angle"),
    ('∧', "wedge"),
    ('∨', "vee"),
    ('∩', "cap"),
    ('∪', "cup"),
    ('∫', "int"),
    ('∬', "iint"),
    ('∭', "iiint"),
    ('∮', "oint"),
    ('∼', "sim"),
    ('≅', "cong"),
    ('≈', "approx"),
    ('≠', "neq"),
    ('≡', "equiv"),
    ('≤', "leq"),
    ('≥', "geq"),
    ('≪', "ll"),
    ('≫', "gg"),
    ('⊂', "subset"),
    ('⊃', "supset"),
    ('⊆', "subseteq"),
    ('⊇', "supseteq"),
    ('⊕', "oplus"),
    ('⊗', "otimes"),
    ('⊥', "perp"),
    ('⋅', "cdot"),
    ('⋮', "vdots"),
    ('⋯', "cdots"),
    ('⋱', "ddots"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(inner: &str) -> Option<String> {
        let document = format!("<m:oMath xmlns:m='m'>{inner}</m:oMath>");
        let tree = Tree::read(&document, "a formula").unwrap();
        tex(&tree, tree.root())
    }

    #[test]
    fn signs_are_in_order() {
        assert!(SIGNS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn constructs_are_written_as_tex() {
        let r = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
        let e = |name: &str, text: &str| format!("<m:{name}>{}</m:{name}>", r(text));
        let case = |inner: String, tex: &str| assert_eq!(of(&inner).as_deref(), Some(tex));
        case(format!("<m:f>{}{}</m:f>", e("num", "a"), e("den", "b")), "\\frac{a}{b}");
        case(format!("<m:sSup>{}{}</m:sSup>", e("e", "x"), e("sup", "2")), "x^{2}");
        case(format!("<m:rad><m:deg/>{}</m:rad>", e("e", "x")), "\\sqrt{x}");
        case(
            format!(
                "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>{}{}{}</m:nary>",
                e("sub", "i"),
                e("sup", "n"),
                e("e", "π")
            ),
            "\\sum _{i}^{n}{\\pi}",
        );
        case(format!("<m:d>{}</m:d>", e("e", "x")), "\\left(x\\right)");
        case(format!("<m:func>{}{}</m:func>", e("fName", "sin"), e("e", "x")), "\\sin{x}");
    }

    #[test]
    fn a_blank_formula_is_none() {
        assert_eq!(of("<m:r><m:t> </m:t></m:r>"), None);
    }
}
