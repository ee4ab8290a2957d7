//! Which classes and identifiers an element and its ancestors have, as a Bloom filter: most selectors
//! name an ancestor that an element has not, and need no look at the ancestors themselves.

use crate::dom::{Id, Tree};

/// Bits of names; a name sets one.
pub(crate) type Bits = u64;

/// The bits of every element.
#[derive(Debug, Default)]
pub(crate) struct Ancestry {
    of: Vec<Bits>,
}

impl Ancestry {
    /// Reads the names of all elements.
    pub(crate) fn new(tree: &Tree) -> Self {
        let mut of = vec![0; tree.len()];
        for id in 1..tree.len() {
            // A parent precedes its children.
            let mut bits = of[tree.parent(id)];
            if let Some(name) = tree.attribute(id, "id") {
                bits |= bit(name.trim());
            }
            for class in tree.attribute(id, "class").unwrap_or_default().split_ascii_whitespace() {
                bits |= bit(class);
            }
            of[id] = bits;
        }
        Self { of }
    }

    /// Whether an element or its ancestors may have all names of these bits.
    pub(crate) fn may_have(&self, id: Id, required: Bits) -> bool {
        self.of.get(id).is_none_or(|bits| bits & required == required)
    }
}

/// The bit of a name (FNV-1a).
pub(crate) fn bit(name: &str) -> Bits {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    1 << (hash >> 26)
}
