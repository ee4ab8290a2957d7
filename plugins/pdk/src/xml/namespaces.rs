//! Maps prefixes to namespaces at the current position.

use crate::scan;

/// The most declarations in scope. A document of any source has fewer than twenty; the bound keeps
/// each lookup short.
const MAX_BINDINGS: usize = 64;

/// The declarations in scope, newest last.
#[derive(Debug)]
pub(super) struct Namespaces<'d> {
    known: &'static [&'static str],
    bindings: Vec<Binding<'d>>,
    /// The namespace of names without a prefix, cached because most have none.
    default: Option<usize>,
}

#[derive(Debug)]
struct Binding<'d> {
    prefix: &'d str,
    namespace: Option<usize>,
    /// The depth of the element that declares it.
    depth: usize,
}

impl<'d> Namespaces<'d> {
    pub(super) fn new(known: &'static [&'static str]) -> Self {
        Self { known, bindings: Vec::with_capacity(8), default: None }
    }

    /// Adds the declaration in an attribute, if there is one, of an element at `depth`; false if
    /// there are too many declarations.
    pub(super) fn declare(&mut self, attribute: &'d str, value: &str, depth: usize) -> bool {
        let prefix = match attribute.strip_prefix("xmlns") {
            Some("") => "",
            Some(rest) => match rest.strip_prefix(':') {
                Some(prefix) => prefix,
                None => return true,
            },
            None => return true,
        };
        let namespace = self.known.iter().position(|known| *known == value);
        self.bindings.push(Binding { prefix, namespace, depth });
        if prefix.is_empty() {
            self.default = namespace;
        }
        self.bindings.len() <= MAX_BINDINGS
    }

    /// Removes the declarations of the element that was just closed; `depth` elements are still
    /// open.
    pub(super) fn leave(&mut self, depth: usize) {
        while self.bindings.last().is_some_and(|binding| binding.depth >= depth) {
            let gone = self.bindings.pop();
            if gone.is_some_and(|binding| binding.prefix.is_empty()) {
                self.default = self.find("").flatten();
            }
        }
    }

    /// The namespace of `prefix`, the empty prefix being the default: `Some(None)` for one that is
    /// unknown to the reader, `None` for a prefix that is not declared.
    #[inline(always)]
    pub(super) fn resolve(&self, prefix: &str) -> Option<Option<usize>> {
        match prefix {
            "" => Some(self.default),
            "xml" => Some(None),
            _ => self.find(prefix),
        }
    }

    fn find(&self, prefix: &str) -> Option<Option<usize>> {
        let mut newest_first = self.bindings.iter().rev();
        let same = |candidate: &str| scan::same(candidate.as_bytes(), prefix.as_bytes());
        newest_first.find(|binding| same(binding.prefix)).map(|binding| binding.namespace)
    }
}
