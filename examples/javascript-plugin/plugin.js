// What the contract asks of a plugin: `source`, and `documents` for files. jco starts here.

import { fetch } from "carrel:plugin/http@1.0.0";
import { InvalidDocument, readBibliography } from "./bibtex.js";
import { MANIFEST } from "./manifest.js";

const RECORDS = "https://dblp.org/rec/";

/** The exports of `carrel:plugin/source`. A thrown string is the contract's error. */
export const source = {
  describe() {
    return JSON.stringify(MANIFEST);
  },

  call(tool, args) {
    if (tool !== "record") {
      throw report("invalid_arguments", `this plugin has no tool ${JSON.stringify(tool)}`);
    }
    const { key } = JSON.parse(args);
    const document = get(`${RECORDS}${key}.bib`, key);
    return source.parse("bibliography", document);
  },

  parse(format, document) {
    if (format !== "bibliography") {
      throw report("invalid_arguments", `this plugin has no format ${JSON.stringify(format)}`);
    }
    return entries(document);
  },
};

const CHARSETS = ["utf-8", "latin1"];

/** The exports of `carrel:plugin/documents`: the formats that are bytes. */
export const documents = {
  parseBytes(format, document, options) {
    if (format !== "bibliography_file") {
      const name = JSON.stringify(format);
      throw report("invalid_arguments", `this plugin has no binary format ${name}`);
    }
    const { charset = "utf-8", ...unknown } = JSON.parse(options);
    const [name] = Object.keys(unknown);
    if (name !== undefined) {
      throw report("invalid_arguments", `${format} has no option ${JSON.stringify(name)}`);
    }
    if (!CHARSETS.includes(charset)) {
      const found = JSON.stringify(charset);
      throw report("invalid_arguments", `expected a charset of ${CHARSETS} but found ${found}`);
    }
    return entries(charset === "latin1" ? latin1(document) : utf8(document));
  },
};

/** The entries of a document, as JSON text. */
function entries(document) {
  try {
    return JSON.stringify({ entries: readBibliography(document) });
  } catch (error) {
    if (!(error instanceof InvalidDocument)) {
      throw error;
    }
    const position = { offset: error.offset, path: error.path };
    throw report("invalid_document", error.message, { position });
  }
}

function utf8(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const position = { offset: 0, path: "" };
    throw report("invalid_document", "expected UTF-8; charset may be latin1", { position });
  }
}

function latin1(bytes) {
  let text = "";
  for (const byte of bytes) {
    text += String.fromCharCode(byte);
  }
  return text;
}

/** The body of an answer with status 200; the host has retried where that can help. */
function get(url, key) {
  const headers = [{ name: "accept", value: "application/x-bibtex" }];
  let response;
  try {
    response = fetch({ method: "get", url, headers, body: "", cache: "default" });
  } catch (error) {
    throw failed(error.payload ?? error);
  }
  if (response.status === 404) {
    throw report("not_found", `dblp has no record ${JSON.stringify(key)}`);
  }
  if (response.status !== 200) {
    throw report("upstream_unavailable", `dblp answered with ${response.status}`);
  }
  return response.body;
}

const CODES = {
  denied: "denied",
  timeout: "timeout",
  "rate-limited": "rate_limited",
  "too-large": "too_large",
  undecodable: "upstream_invalid",
};

/** What a failed request means to the caller. */
function failed({ error, message }) {
  const more = error.tag === "rate-limited" ? { retry_after_seconds: error.val.seconds } : {};
  return report(CODES[error.tag] ?? "upstream_unavailable", message, more);
}

/** An error as `contract/v1/errors.json` describes it, to be thrown. */
function report(code, message, more = {}) {
  return JSON.stringify({ code, message, ...more });
}
