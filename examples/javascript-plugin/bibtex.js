// Reads BibTeX. Knows nothing of Carrel.
//
// What is read: entries in braces or parentheses, values in braces or quotes or bare, joined by
// `#`, and the abbreviations of `@string`. What is not: TeX. Values keep its commands, and lose only
// the braces that protect capitals and the line breaks of the source.

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** The document is not BibTeX. `offset` is bytes of UTF-8, `path` the entry that holds the fault. */
export class InvalidDocument extends Error {
  constructor(message, offset, path) {
    super(message);
    this.offset = offset;
    this.path = path;
  }
}

/** The entries of a document, in its order; comments and text between entries are left out. */
export function readBibliography(document) {
  return new Reader(document).entries();
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.path = "";
    this.strings = new Map(MONTHS.map((month) => [month, month]));
  }

  entries() {
    const entries = [];
    for (;;) {
      this.path = "";
      const next = this.text.indexOf("@", this.at);
      if (next < 0) {
        return entries;
      }
      this.at = next + 1;
      const type = this.word("the type of an entry").toLowerCase();
      if (type === "comment") {
        continue;
      }
      this.blanks();
      const opening = this.text[this.at];
      if (opening !== "{" && opening !== "(") {
        this.fail("expected { after the type of an entry");
      }
      this.at += 1;
      const closing = opening === "{" ? "}" : ")";
      if (type === "string") {
        for (const [name, value] of this.fields(closing)) {
          this.strings.set(name, value);
        }
      } else if (type === "preamble") {
        this.value();
        this.expect(closing);
      } else {
        entries.push(this.entry(type, closing));
      }
    }
  }

  entry(type, closing) {
    this.blanks();
    const key = this.until(/[\s,})]/y, "a key");
    this.path = key;
    this.blanks();
    if (this.text[this.at] === ",") {
      this.at += 1;
    }
    const fields = Object.fromEntries(this.fields(closing));
    return tidy({ key, type, ...fields });
  }

  /** `name = value` up to the closing bracket, which is taken too. */
  fields(closing) {
    const fields = [];
    for (;;) {
      this.blanks();
      if (this.text[this.at] === closing) {
        this.at += 1;
        return fields;
      }
      const name = this.word("a field").toLowerCase();
      this.expect("=");
      fields.push([name, this.value()]);
      this.blanks();
      if (this.text[this.at] === ",") {
        this.at += 1;
      } else if (this.text[this.at] !== closing) {
        this.fail(`expected , or ${closing} after the field ${name}`);
      }
    }
  }

  value() {
    let value = this.piece();
    for (;;) {
      this.blanks();
      if (this.text[this.at] !== "#") {
        return plain(value);
      }
      this.at += 1;
      value += this.piece();
    }
  }

  piece() {
    this.blanks();
    const opening = this.text[this.at];
    if (opening === "{" || opening === '"') {
      return this.quoted(opening);
    }
    const word = this.until(/[\s,#})]/y, "a value");
    return /^\d+$/.test(word) ? word : (this.strings.get(word.toLowerCase()) ?? word);
  }

  quoted(opening) {
    const start = this.at;
    let depth = 0;
    for (this.at += 1; this.at < this.text.length; this.at += 1) {
      const character = this.text[this.at];
      if (character === "\\") {
        this.at += 1;
      } else if (depth === 0 && character === (opening === "{" ? "}" : '"')) {
        this.at += 1;
        return this.text.slice(start + 1, this.at - 1);
      } else if (character === "{") {
        depth += 1;
      } else if (character === "}") {
        depth -= 1;
      }
    }
    this.at = start;
    return this.fail("expected the end of a value but found the end of the document");
  }

  word(what) {
    this.blanks();
    return this.until(/[^\w:.+/-]/y, what);
  }

  /** The text up to the first match of a sticky pattern; at least one character. */
  until(pattern, what) {
    const start = this.at;
    while (this.at < this.text.length) {
      pattern.lastIndex = this.at;
      if (pattern.test(this.text)) {
        break;
      }
      this.at += 1;
    }
    if (this.at === start) {
      this.fail(`expected ${what}`);
    }
    return this.text.slice(start, this.at);
  }

  expect(character) {
    this.blanks();
    if (this.text[this.at] !== character) {
      this.fail(`expected ${character}`);
    }
    this.at += 1;
  }

  blanks() {
    while (/\s/.test(this.text[this.at] ?? "")) {
      this.at += 1;
    }
  }

  fail(message) {
    throw new InvalidDocument(message, utf8Length(this.text.slice(0, this.at)), this.path);
  }
}

/** Bytes of UTF-8. */
function utf8Length(text) {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** A value without the braces that protect capitals, on one line. */
function plain(value) {
  return value
    .replace(/(?<!\\)[{}]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** An entry with names apart and the year as a number; everything else stays in `fields`. */
function tidy({ key, type, title, author, editor, year, doi, url, ...fields }) {
  const entry = { key, type, authors: names(author), editors: names(editor) };
  if (title) {
    entry.title = title;
  }
  if (/^\d{4}$/.test(year ?? "")) {
    entry.year = Number(year);
  } else if (year) {
    fields.year = year;
  }
  if (doi) {
    entry.doi = doi.replace(/^https?:\/\/(dx\.)?doi\.org\//i, "").toLowerCase();
  }
  if (url) {
    entry.url = url;
  }
  entry.fields = fields;
  return entry;
}

function names(value) {
  return value ? value.split(/\s+and\s+/).map((name) => name.trim()) : [];
}
