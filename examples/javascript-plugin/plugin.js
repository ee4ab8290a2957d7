// What the contract asks of a plugin: `describe`, `call`, `parse`. jco starts here.

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
    try {
      return JSON.stringify({ entries: readBibliography(document) });
    } catch (error) {
      if (!(error instanceof InvalidDocument)) {
        throw error;
      }
      const position = { offset: error.offset, path: error.path };
      throw report("invalid_document", error.message, { position });
    }
  },
};

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
