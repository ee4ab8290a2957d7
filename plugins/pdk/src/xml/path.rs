//! Finds the element path of a byte offset; used only for errors.

use super::MAX_DEPTH;
use super::tokens::{Token, Tokens};
use crate::text::excerpt;

/// The most elements in a path.
const NAMED: usize = 12;
/// The most names that are counted among the children of one element. Few repeat in any known
/// document; further ones have no number.
const COUNTED: usize = 32;

/// Names of children, each with its count.
type Children<'d> = Vec<(&'d str, u32)>;

struct Open<'d> {
    name: &'d str,
    number: u32,
    children: Children<'d>,
}

/// The elements that are open at byte `offset`, outermost first: `feed/entry[3]/title`. The number
/// counts siblings of the same name and is left out for the first.
///
/// Reads the document again from its start, so that valid documents need no such bookkeeping.
pub(super) fn at(document: &str, offset: usize) -> String {
    let mut tokens = Tokens::new(document);
    let mut attributes = Vec::new();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut top = Children::new();
    while let Ok(token) = tokens.next(&mut attributes) {
        if tokens.offset() > offset || matches!(token, Token::Eof) || open.len() > MAX_DEPTH {
            break;
        }
        match token {
            Token::Start { name, empty } => {
                let siblings = open.last_mut().map_or(&mut top, |parent| &mut parent.children);
                let number = count(siblings, name.whole);
                if !empty {
                    open.push(Open { name: name.whole, number, children: Children::new() });
                }
            }
            Token::End(_) => {
                open.pop();
            }
            Token::DocType { internal: true } => break,
            _ => {}
        }
    }
    write(&open)
}

fn write(open: &[Open<'_>]) -> String {
    let mut path = String::new();
    for element in open.iter().take(NAMED) {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(&excerpt(element.name));
        if element.number > 1 {
            path.push_str(&format!("[{}]", element.number));
        }
    }
    if open.len() > NAMED {
        path.push_str("/…");
    }
    path
}

fn count<'d>(siblings: &mut Children<'d>, name: &'d str) -> u32 {
    if let Some((_, number)) = siblings.iter_mut().find(|(seen, _)| *seen == name) {
        *number += 1;
        return *number;
    }
    if siblings.len() < COUNTED {
        siblings.push((name, 1));
    }
    1
}
