//! Searches a text for a list of words in one pass.

/// Columns of a table of bytes.
const COLUMNS: usize = 32;

/// The column of a byte. A letter has that of the other case; some other bytes share it, so what a
/// table finds is compared. Small tables stay in the processor's cache.
const fn column(byte: u8) -> usize {
    (byte & 31) as usize
}

/// At most 64 words of at least two bytes, in lower case. ASCII letters are found in either case.
pub(crate) struct Needles {
    words: &'static [&'static str],
    /// Which words may have a byte in their first, second and third position: one bit for each
    /// word, by the byte's [`column`].
    positions: [[u64; COLUMNS]; 3],
}

impl Needles {
    /// Builds the tables of the words at compile time.
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        assert!(words.len() <= 64, "one bit for each word");
        let mut positions = [[0; COLUMNS]; 3];
        let mut at = 0;
        while at < words.len() {
            let word = words[at].as_bytes();
            assert!(word.len() > 1, "a word has two bytes");
            let mut position = 0;
            while position < 3 {
                let mut index = 0;
                while index < COLUMNS {
                    if position >= word.len() || column(word[position]) == index {
                        positions[position][index] |= 1 << at;
                    }
                    index += 1;
                }
                position += 1;
            }
            at += 1;
        }
        Self { words, positions }
    }

    /// Whether a text has one of the words.
    pub(crate) fn any(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// Where a text first has one of the words.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let text = text.as_bytes();
        self.beginnings(text).find(|&at| self.at(text, at, 0) != 0)
    }

    /// How many of the words a text has.
    pub(crate) fn count(&self, text: &str) -> usize {
        let text = text.as_bytes();
        let found = self.beginnings(text).fold(0, |found, at| found | self.at(text, at, found));
        found.count_ones() as usize
    }

    /// Whether a text begins with one of the words.
    pub(crate) fn begin(&self, text: &str) -> bool {
        self.at(text.as_bytes(), 0, 0) != 0
    }

    /// Whether a text is one of the words.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.get(text).is_some()
    }

    /// The word that a text is.
    pub(crate) fn get(&self, text: &str) -> Option<&'static str> {
        let mut left = self.candidates(text.as_bytes(), 0);
        while left != 0 {
            let word = self.words[left.trailing_zeros() as usize];
            if word.eq_ignore_ascii_case(text) {
                return Some(word);
            }
            left &= left - 1;
        }
        None
    }

    /// The words that are at an offset of a text, without those that are `known`.
    fn at(&self, text: &[u8], at: usize, known: u64) -> u64 {
        let mut left = self.candidates(text, at) & !known;
        let mut found = 0;
        while left != 0 {
            let word = self.words[left.trailing_zeros() as usize].as_bytes();
            let here = text.get(at..at + word.len());
            if here.is_some_and(|here| here.eq_ignore_ascii_case(word)) {
                found |= left & left.wrapping_neg();
            }
            left &= left - 1;
        }
        found
    }

    /// The offsets of a text that have the first two bytes of a word.
    #[inline]
    fn beginnings<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = usize> + 't {
        let [first, second, _] = &self.positions;
        let pairs = text.iter().zip(text.iter().skip(1)).enumerate();
        pairs
            .filter(|&(_, (&byte, &next))| first[column(byte)] & second[column(next)] != 0)
            .map(|(at, _)| at)
    }

    /// The words whose first three bytes are at an offset of a text.
    #[inline]
    fn candidates(&self, text: &[u8], at: usize) -> u64 {
        let byte = |index: usize| column(text.get(at + index).copied().unwrap_or_default());
        self.positions[0][byte(0)] & self.positions[1][byte(1)] & self.positions[2][byte(2)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static WORDS: Needles = Needles::new(&["ad", "header", "head", "café"]);

    #[test]
    fn words_are_found_wherever_they_are_in_either_case() {
        assert!(
            WORDS.any("a-head") && WORDS.any("HEADER") && WORDS.any("the café") && WORDS.any("ad")
        );
        assert!(!WORDS.any("") && !WORDS.any("a") && !WORDS.any("hea") && !WORDS.any("caf"));
    }

    #[test]
    fn each_word_counts_once() {
        assert_eq!(WORDS.count("header, header, head"), 3);
        assert_eq!(WORDS.count("nothing"), 0);
    }

    #[test]
    fn beginnings_and_whole_words_are_distinguished_from_parts() {
        assert!(WORDS.begin("headline") && !WORDS.begin("the head"));
        assert!(
            WORDS.has("Head") && WORDS.has("ad") && !WORDS.has("headline") && !WORDS.has("hea")
        );
    }
}
