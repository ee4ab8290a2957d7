//! Tests the reader on small documents, and compares its tokens with quick-xml's on mutated ones.

use proptest::prelude::*;
use quick_xml::events::Event;

use super::tokens::{Token, Tokens};
use super::*;

const KNOWN: &[&str] = &["urn:a", "urn:b"];

/// Reads one element's text.
fn text_of(document: &str) -> Result<Option<String>, Error> {
    let mut xml = XmlReader::new(document, KNOWN);
    xml.root("a test")?;
    let text = xml.text()?.map(Cow::into_owned);
    xml.finish()?;
    Ok(text)
}

/// Reads everything and discards it.
fn walk(document: &str) -> Result<(), Error> {
    let mut xml = XmlReader::new(document, KNOWN);
    xml.root("a test")?;
    xml.skip()?;
    xml.finish()
}

/// Reads every element and no text.
fn climb(document: &str) -> Result<(), Error> {
    fn inside(xml: &mut XmlReader<'_>) -> Result<(), Error> {
        while xml.child()?.is_some() {
            inside(xml)?;
        }
        Ok(())
    }
    let mut xml = XmlReader::new(document, KNOWN);
    xml.root("a test")?;
    inside(&mut xml)?;
    xml.finish()
}

#[test]
fn text_flows_through_markup_and_entities() {
    for (document, text) in [
        ("<t>plain</t>", "plain"),
        ("<t> a\n b </t>", "a b"),
        ("<t>a<i>b</i>c</t>", "abc"),
        ("<t>a<b><i>b</i></b><u/>c</t>", "abc"),
        ("<t>H<sub>2</sub>O, x<sup>2q</sup></t>", "H₂O, x^{2q}"),
        ("<t>x<sub>i<sup>2</sup></sub></t>", "x_{i²}"),
        ("<t>one<br/>two<p>three</p>four</t>", "one two three four"),
        ("<t>a &amp; b &lt; c &#65;&#x42;</t>", "a & b < c AB"),
        ("<t>a &amp;amp; b &amp;lt; c</t>", "a & b < c"),
        ("<t>&lt;&amp;</t>", "<&"),
        ("<t><![CDATA[a & <b>]]></t>", "a & <b>"),
        ("<t>a<!-- - -->b<?x y?>c</t>", "abc"),
    ] {
        assert_eq!(text_of(document).unwrap().as_deref(), Some(text), "{document}");
    }
}

#[test]
fn blank_text_is_absent() {
    for document in
        ["<t/>", "<t></t>", "<t> \n</t>", "<t><!-- x --></t>", "<t><i/></t>", "<t>&#32;</t>"]
    {
        assert_eq!(text_of(document).unwrap(), None, "{document}");
    }
}

#[test]
fn names_are_resolved_by_the_declarations_in_force() {
    let document = r#"<r xmlns="urn:a" xmlns:b="urn:b"><x/><b:x/><c xmlns="urn:c"><x/></c><x xmlns:b="urn:a"/></r>"#;
    let mut xml = XmlReader::new(document, KNOWN);
    assert_eq!(xml.root("a test").unwrap().namespace, Some(0));
    let first = xml.child().unwrap().unwrap();
    assert_eq!((first.namespace, first.local), (Some(0), "x"));
    xml.skip().unwrap();
    let second = xml.child().unwrap().unwrap();
    assert_eq!((second.namespace, second.local), (Some(1), "x"));
    xml.skip().unwrap();
    assert_eq!(xml.child().unwrap().unwrap().namespace, None);
    assert_eq!(xml.child().unwrap().unwrap().namespace, None);
    xml.skip().unwrap();
    assert_eq!(xml.child().unwrap(), None);
    assert_eq!(xml.child().unwrap().unwrap().namespace, Some(0));
    xml.skip().unwrap();
    assert_eq!(xml.child().unwrap(), None);
    xml.finish().unwrap();
}

#[test]
fn attributes_are_decoded_collapsed_and_absent_when_blank() {
    let mut xml = XmlReader::new(
        "<r a=' x&amp;y\n  z ' b='&#32;' c = \"'\" d:e='1' xmlns:d='urn:a'/>",
        KNOWN,
    );
    xml.root("a test").unwrap();
    assert_eq!(xml.attribute("a").as_deref(), Some("x&y z"));
    assert_eq!(xml.attribute("b"), None);
    assert_eq!(xml.attribute("c").as_deref(), Some("'"));
    assert_eq!(xml.attribute("d:e").as_deref(), Some("1"));
    assert_eq!(xml.attribute("e"), None);
}

#[test]
fn an_error_names_the_place_by_its_path() {
    let error = walk("<r><x/><x>t</x><y/><x><z>&</z></x></r>").unwrap_err();
    let position = error.position.unwrap();
    assert_eq!((position.offset, position.path.as_str()), (25, "r/x[3]/z"));
    let error = walk("\u{feff}<r>\u{e9}&nope;</r>").unwrap_err();
    let position = error.position.unwrap();
    assert_eq!((position.offset, position.path.as_str()), (8, "r"));
}

#[test]
fn what_is_not_well_formed_is_refused_in_words() {
    for (document, message) in [
        ("<r>", "the document ends inside an element"),
        ("<r><x></r>", "expected </x> but found </r>"),
        ("<r></r></r>", "end tag </r> without a start"),
        ("<r", "the document ends inside a tag"),
        ("<r a", "the document ends inside a tag"),
        ("<r a=", "the document ends inside a tag"),
        ("<r a='", "the document ends inside a tag"),
        ("<r/", "the document ends inside a tag"),
        ("<r></r", "the document ends inside a tag"),
        ("<r a=1/>", "malformed attribute in <r>"),
        ("<r a/>", "malformed attribute in <r>"),
        ("<r a='<'/>", "malformed attribute in <r>"),
        ("<r a='1'b='2'/>", "malformed attribute in <r>"),
        ("<r ='1'/>", "malformed attribute in <r>"),
        ("<r / >", "malformed attribute in <r>"),
        ("<r a='1' a='2'/>", "attribute a twice"),
        ("<r 1='a'/>", "malformed attribute in <r>"),
        ("<r><x a='<'/></r>", "malformed attribute in <x>"),
        ("<r><x a='b< c='d'/></r>", "malformed attribute in <x>"),
        ("<r><x 1='a'/></r>", "malformed attribute in <x>"),
        ("<r><1/></r>", "malformed tag"),
        ("<1/>", "malformed tag"),
        ("< r/>", "malformed tag"),
        ("<r></ r>", "malformed end tag"),
        ("<r></r x>", "malformed end tag"),
        ("<r><!x></r>", "malformed markup after <!"),
        ("<r><!", "the document ends inside a tag"),
        ("<r><![CDA", "the document ends inside a tag"),
        ("<r><!--", "the document ends inside a comment"),
        ("<r><!-- -- --></r>", "double hyphen in a comment"),
        ("<r><![CDATA[]]", "the document ends inside a CDATA section"),
        ("<r><?x", "the document ends inside a processing instruction"),
        ("<r><? x?></r>", "malformed processing instruction"),
        ("<!DOCTYPE r", "the document ends inside a document type declaration"),
        (
            "<!DOCTYPE r [<!ENTITY a 'b'>]><r/>",
            "document type declarations with content are not accepted",
        ),
        ("<r><!DOCTYPE r></r>", "document type declaration inside an element"),
        ("<r>&;</r>", "ampersand that starts no entity"),
        ("<r>&amp</r>", "ampersand that starts no entity"),
        ("<r>&amp &amp;</r>", "ampersand that starts no entity"),
        ("<r>&nope;</r>", "unknown entity &nope;"),
        ("<r>&#0;</r>", "unknown entity &#0;"),
        ("<a:r/>", "undeclared prefix in <a:r>"),
        ("<r/>x", "expected the end of the document"),
        ("<r/><r/>", "expected the end of the document"),
        ("<r>\u{1}</r>", "control character, which XML does not allow"),
    ] {
        assert_eq!(walk(document).unwrap_err().message, message, "{document}");
        if !message.starts_with("the document ends") {
            // With enough bytes after a tag, the fast path reads it.
            let roomy = format!("{document}{:100}", "");
            assert_eq!(walk(&roomy).unwrap_err().message, message, "{document}");
            assert_eq!(climb(&roomy).unwrap_err().message, message, "{document}");
        }
    }
}

#[test]
fn a_quoted_bracket_is_no_content_of_a_document_type() {
    walk("<!DOCTYPE r SYSTEM \"[>\"><r/>").unwrap();
    walk("<!doctype r PUBLIC '-//x//[' 'y'><r/>").unwrap();
}

/// Tokens in a form common to both readers; `None` if the document is refused.
type Plain = Option<Vec<(char, String)>>;

fn ours(document: &str) -> Plain {
    let mut tokens = Tokens::new(document);
    let mut attributes = Vec::new();
    let mut all = Vec::new();
    loop {
        let mut ahead = tokens.clone();
        let quickly = tokens.usual_name();
        let bare = quickly.is_some_and(|name| ahead.bare(name));
        let token = tokens.next(&mut attributes).ok()?;
        match token {
            Token::Start { name, empty } => {
                assert!(quickly.is_none_or(|quickly| quickly == name), "{quickly:?} {name:?}");
                assert_eq!(name.colon, name.whole.find(':'));
                assert!(!bare || (!empty && attributes.is_empty()));
                assert!(!bare || ahead.offset() == tokens.offset());
                all.push(('<', name.whole.to_owned()));
                for Attribute { name, raw, plain } in &attributes {
                    let value = text::decode_entities(raw);
                    assert!(!plain || text::present(&value).as_deref() == Some(*raw), "{raw:?}");
                    all.push(('@', format!("{name}={raw}")));
                }
                if empty {
                    all.push(('>', name.whole.to_owned()));
                }
            }
            _ if quickly.is_some() => panic!("{quickly:?} {token:?}"),
            Token::End(name) => all.push(('>', name.to_owned())),
            Token::Text(text) => all.push(('t', text.to_owned())),
            Token::CData(text) => all.push(('c', text.to_owned())),
            Token::Reference(name) => all.push(('&', name.to_owned())),
            Token::DocType { internal: true } => return None,
            Token::DocType { .. } | Token::Declaration | Token::Other => {}
            Token::Eof => return Some(all),
        }
    }
}

fn theirs(document: &str) -> Plain {
    let mut reader = quick_xml::Reader::from_str(document);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    reader.config_mut().expand_empty_elements = true;
    let mut all = Vec::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                all.push(('<', start.name().0.to_owned()));
                for attribute in start.attributes() {
                    let attribute = attribute.ok()?;
                    all.push(('@', format!("{}={}", attribute.key.0, attribute.value)));
                }
            }
            Event::End(end) => all.push(('>', end.name().0.trim_end().to_owned())),
            Event::Text(text) => all.push(('t', text.into_inner().into_owned())),
            Event::CData(text) => all.push(('c', text.into_inner().into_owned())),
            Event::GeneralRef(name) => all.push(('&', name.into_inner().into_owned())),
            Event::Eof => return Some(all),
            _ => {}
        }
    }
}

/// Pieces that are well formed by themselves.
const WHOLE: &[&str] = &[
    "text",
    "<of-sixteen-bytes>",
    "<prefix:of-more-than-sixteen-bytes>",
    "<prefix:of-more-than-sixteen-bytes/>",
    "<of-so-many-bytes-that-no-quick-way-can-be-taken x:y='1' />",
    "<a b=\"one value\" c='two  spaces'  d='&amp;' e-is-long-for-a-name='\u{e9}' f=' edge' g=''/>",
    "<a b='a value of more than sixty-four bytes, which no quick way can take at once'>",
    " ",
    "é\n",
    "<a>",
    "</a>",
    "<b:c d='e'/>",
    "<f g=\"h>\" i='\"' >",
    "</f >",
    "<j\n/>",
    "&amp;",
    "&#65;",
    "<!-- > -->",
    "<![CDATA[<&]]>",
    "<?k l?>",
    ">",
    "]]",
    "<m n = 'o'>",
];
/// Pieces that are not.
const BROKEN: &[&str] = &[
    "<",
    "&",
    ";",
    "'",
    "\"",
    "=",
    "/",
    "-->",
    "]]>",
    "?>",
    "<!--",
    "<![CDATA[",
    "<?",
    "</",
    "a='b'",
    "<!",
    "<!DOCTYPE x>",
    "<!DOCTYPE x [",
];

proptest! {
    #[test]
    fn whole_pieces_are_cut_as_quick_xml_cuts_them(
        pieces in prop::collection::vec(prop::sample::select(WHOLE), 0..12)
    ) {
        let document = pieces.concat();
        let tokens = ours(&document);
        prop_assert!(tokens.is_some(), "{}", document);
        prop_assert_eq!(tokens, theirs(&document));
    }

    #[test]
    fn what_is_let_through_is_cut_as_quick_xml_cuts_it(
        pieces in prop::collection::vec(
            prop_oneof![4 => prop::sample::select(WHOLE), 1 => prop::sample::select(BROKEN)], 0..12
        )
    ) {
        let document = pieces.concat();
        // The reverse does not hold: quick-xml accepts invalid names and tags.
        if let Some(tokens) = ours(&document) {
            prop_assert_eq!(Some(tokens), theirs(&document));
        }
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place(text in "[<>/&;!?a-c='\"\\[\\]\u{e9}\n-]{0,40}") {
        if let Err(error) = walk(&text) {
            let position = error.position.unwrap();
            prop_assert!(position.offset <= text.len() as u64);
        }
    }
}

#[test]
fn leaves_are_the_texts_of_elements_that_hold_no_others() {
    let document = "<a><b>one<c>two <i>x</i></c><d/><e> </e><f>3 &amp; 4</f> tail</b></a>";
    let mut xml = XmlReader::new(document, &[]);
    xml.root("a document").unwrap();
    xml.child().unwrap();
    let mut found = Vec::new();
    xml.leaves(|around, name, text| found.push(format!("{around}/{name}={text}"))).unwrap();
    assert_eq!(found, ["c/i=x", "b/f=3 & 4"]);
    assert_eq!(xml.child().unwrap(), None);
    xml.finish().unwrap();
}

#[test]
fn an_element_without_elements_is_its_own_leaf() {
    let mut xml = XmlReader::new("<a><b> one </b></a>", &[]);
    xml.root("a document").unwrap();
    xml.child().unwrap();
    let mut found = Vec::new();
    xml.leaves(|around, name, text| found.push(format!("{around}/{name}={text}"))).unwrap();
    assert_eq!(found, ["a/b=one"]);
}
