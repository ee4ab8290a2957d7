use std::fmt::Write as _;

use super::*;
use proptest::prelude::*;

fn seen(text: &str) -> String {
    marked_up(text).map(Cow::into_owned).unwrap_or_default()
}

#[test]
fn plain_text_is_borrowed() {
    assert!(matches!(marked_up(" Naïve text, 5 > 3 "), Some(Cow::Borrowed("Naïve text, 5 > 3"))));
    assert_eq!(marked_up(" \n"), None);
    assert_eq!(marked_up("<p> </p>"), None);
}

#[test]
fn faces_flow_into_the_text() {
    for (markup, expected) in [
        ("On <i>Felis catus</i> at rest", "On Felis catus at rest"),
        ("A<B>b</B>c <SCP>d</SCP>", "Abc d"),
        ("H<sub>2</sub>O and 10<sup>12</sup>", "H₂O and 10¹²"),
        ("x<sub>q,2</sub> y<SUP>max</SUP>", "x_{q,2} yᵐᵃˣ"),
        ("10<jats:sup>\n  −3\n</jats:sup>m", "10 ⁻³ m"),
        ("one<br>two<br/>three", "one two three"),
        ("<a href='https://example.org/?a>b' target=_blank>link</a>s", "links"),
        ("<!-- no -->yes<?no?>", "yes"),
        ("<etal>et al</etal>.", "et al."),
    ] {
        assert_eq!(seen(markup), expected, "{markup}");
    }
}

#[test]
fn what_is_no_tag_stays() {
    for text in [
        "p < 0.05 and q > 0.5",
        "1<x and x>1",
        "$a<b$ or $b>c$",
        "the <HER2> receptor",
        "see <https://example.org/>",
        "a <b and c> d",
        "an end </unknown> alone",
        "R&D; AT&T & co",
        "<",
        "<a",
        "<a b=\"",
        "</",
        "<!-- open",
        "<![CDATA[ open",
    ] {
        assert_eq!(seen(text), text);
    }
}

#[test]
fn tags_that_nobody_closed_or_opened_vanish_without_harm() {
    assert_eq!(seen("H<sub>2O in <i>water"), "H2O in water");
    assert_eq!(seen("</i>late</jats:p>"), "late");
    assert_eq!(seen("<p>one<p>two"), "one two");
    assert_eq!(seen("<i>a<sub>b</i>c</sub>d"), "abcd");
}

#[test]
fn sections_of_an_abstract_keep_their_headings_apart() {
    let markup = "<jats:title>Abstract</jats:title>\n <jats:sec>\n<jats:title>Aim</jats:title>\n\
                 <jats:p>To read.</jats:p></jats:sec><jats:sec><jats:title>Is it so?</jats:title>\
                 <jats:p>It is.</jats:p><jats:p>Mostly.</jats:p></jats:sec>";
    assert_eq!(seen(markup), "Abstract: Aim: To read. Is it so? It is. Mostly.");
    assert_eq!(seen("<title>Alone</title>"), "Alone");
}

#[test]
fn formulas_read_on_one_line() {
    let math = |inner: &str| {
        let prefixed =
            inner.replace("</", "\u{0}").replace('<', "<mml:").replace('\u{0}', "</mml:");
        seen(&format!("<mml:math xmlns:mml=\"http://example.org\">{prefixed}</mml:math>"))
    };
    for (inner, expected) in [
        ("<mrow><mi>N</mi>\n <mo>=</mo>\n <mn>88</mn></mrow>", "N=88"),
        ("<msub><mi>x</mi><mn>2</mn></msub>", "x₂"),
        ("<msup><mi>e</mi><mrow><mo>-</mo><mi>x</mi></mrow></msup>", "e⁻ˣ"),
        ("<msubsup><mi>a</mi><mi>i</mi><mn>2</mn></msubsup>", "aᵢ²"),
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
        ("<msqrt><mi>s</mi></msqrt>", "√s"),
        ("<msqrt><mi>s</mi><mo>+</mo><mn>1</mn></msqrt>", "√(s+1)"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "³√x"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "x\u{304}"),
        ("<mover><mo>→</mo><mi>f</mi></mover>", "→ᶠ"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>", "∑ᵢⁿ"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a, b)"),
        ("<mi>a</mi><mspace/><mi>b</mi>", "a b"),
        ("<semantics><mi>π</mi><annotation encoding=\"TeX\">\\pi</annotation></semantics>", "π"),
        (
            "<mmultiscripts><mi>Tb</mi><mprescripts /><none /><mrow><mn>153</mn></mrow></mmultiscripts>",
            "¹⁵³Tb",
        ),
        (
            "<mmultiscripts><mi>X</mi><mn>1</mn><mn>2</mn><mprescripts/><mn>3</mn><none/></mmultiscripts>",
            "₃X₁²",
        ),
    ] {
        assert_eq!(math(inner), expected, "{inner}");
    }
}

#[test]
fn a_formula_in_two_forms_is_read_once() {
    let tex = "<jats:tex-math>\\documentclass{minimal}\\begin{document}$$x_2$$\\end{document}</jats:tex-math>";
    let math = "<mml:math><mml:msub><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msub></mml:math>";
    let inline = |inner: &str| {
        seen(&format!(
            "at <jats:inline-formula><jats:alternatives>{inner}</jats:alternatives></jats:inline-formula>."
        ))
    };
    assert_eq!(inline(&format!("{tex}{math}")), "at x₂.");
    assert_eq!(inline(&format!("{math}<jats:inline-graphic/>")), "at x₂.");
    assert_eq!(inline(tex), "at $$x_2$$.");
}

#[test]
fn what_upstream_escaped_twice_is_read_once_more() {
    for (markup, expected) in [
        ("R&amp;D", "R&D"),
        ("R&amp;amp;D", "R&D"),
        ("&amp;lt;0.05", "<0.05"),
        ("on &lt;em&gt;Les S&#233;ances&lt;/em&gt; &amp;eacute;", "on Les Séances é"),
        ("CO&amp;lt;sub&amp;gt;2&amp;lt;/sub&amp;gt;", "CO₂"),
        ("P &lt; 0.05, a &lt;b&gt; c", "P < 0.05, a <b> c"),
        ("H&lt;sub&gt;2&lt;/sub&gt;O &lt;unknown&gt;x&lt;/unknown&gt;", "H₂O <unknown>x</unknown>"),
    ] {
        assert_eq!(seen(markup), expected, "{markup}");
    }
}

#[test]
fn depth_and_length_are_bounded() {
    let deep = "<i>".repeat(100_000) + "x" + &"</i>".repeat(100_000);
    assert_eq!(seen(&deep), "x");
    let mut names = String::new();
    for number in 0..100_000 {
        write!(names, "<n{number}>").unwrap();
    }
    assert_eq!(seen(&names), names);
    for open in ["<a b='", "<!--", "<![CDATA[", "<?", "<i ", "&", "</"] {
        let many = open.repeat(100_000);
        assert_eq!(seen(&many), many.trim());
    }
}

proptest! {
    #[test]
    fn any_text_is_read_and_collapsed(text in "(<[/!]?(i|sub|mml:mi|msup|jats:p|x)( a='b')?/?>|&(amp|lt|gt|#38|x);|[<>&; a-cé]){0,30}") {
        if let Some(seen) = marked_up(&text) {
            prop_assert!(!seen.is_empty());
            let plain = seen.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert_eq!(&*seen, plain);
        }
    }
}
