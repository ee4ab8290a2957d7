//! The HTML of posts and comments: paragraphs, code, emphasis and links, nothing else.

use carrel_pdk::document::{Block, Kind};
use carrel_pdk::text::{collapse, decode_entities};

/// The blocks of a text.
pub(crate) fn blocks(html: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = html;
    while let Some((before, code)) = rest.split_once("<pre>") {
        paragraphs(before, &mut blocks);
        let (code, behind) = code.split_once("</pre>").unwrap_or((code, ""));
        let code = words(code);
        if !code.trim().is_empty() {
            blocks.push(Block::new(Kind::Code, code.trim_end()));
        }
        rest = behind;
    }
    paragraphs(rest, &mut blocks);
    blocks
}

fn paragraphs(html: &str, blocks: &mut Vec<Block>) {
    for paragraph in html.split("<p>") {
        let words = words(paragraph);
        let text = collapse(&words);
        if !text.is_empty() {
            blocks.push(Block::new(Kind::Paragraph, text));
        }
    }
}

/// The text without tags. The text of a link is cut where its address is long, so the address
/// replaces it.
fn words(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        out.push_str(before);
        let Some((tag, behind)) = tag.split_once('>') else {
            out.push('<');
            rest = tag;
            break;
        };
        rest = behind;
        if let Some(href) = href(tag) {
            let (label, behind) = behind.split_once("</a>").unwrap_or((behind, ""));
            out.push_str(if label.trim_end().ends_with("...") { href } else { label });
            rest = behind;
        }
    }
    out.push_str(rest);
    decode_entities(&out).into_owned()
}

fn href(tag: &str) -> Option<&str> {
    tag.strip_prefix("a ")?.split_once("href=\"")?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_code_and_links_are_kept() {
        let html = "One &amp; <i>two</i><p>See <a href=\"https:&#x2F;&#x2F;a.example&#x2F;long\" \
            rel=\"nofollow\">https:&#x2F;&#x2F;a.exa...</a> and <a href=\"https://b.example\">b</a>.\
            <p><pre><code>  if a &lt; b:\n    c()\n</code></pre>\n<p>";
        let found = blocks(html);
        let texts: Vec<&str> = found.iter().filter_map(|block| block.text.as_deref()).collect();
        assert_eq!(
            texts,
            ["One & two", "See https://a.example/long and b.", "  if a < b:\n    c()"]
        );
        assert_eq!(found[2].kind, Kind::Code);
    }

    #[test]
    fn broken_markup_is_text() {
        for html in ["", "<", "a < b", "<a href=\"x", "<pre>", "<p><p>"] {
            let _ = blocks(html);
        }
        assert_eq!(blocks("a < b")[0].text.as_deref(), Some("a < b"));
    }
}
