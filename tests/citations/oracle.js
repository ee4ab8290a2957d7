// Renders CSL-JSON items with citeproc-js, which the tests compare Carrel with.
//
//     node oracle.js PATH_OF_CITEPROC < requests.json > results.json
//
// A request is {"style": xml, "locales": {name: xml}, "locale": name?, "format": "text"|"html",
// "items": [item], "citations": [{"items": [...], "note_index": 1}]?}. All requests come as one
// list; the answer is a list of {"bibliography": [{"id", "text"}], "citations": [{"text"}],
// "errors": [[id, message]], "seconds": rendering time} or {"error": message}.
"use strict";

const fs = require("fs");
const CSL = require(process.argv[2]);

// Returns a copy of an item for citeproc-js, which changes what it is given and fails on a volume
// that is a number instead of a text.
function prepared(item) {
  const copy = JSON.parse(JSON.stringify(item));
  for (const [name, value] of Object.entries(copy)) {
    if (typeof value === "number") copy[name] = String(value);
  }
  return copy;
}

function render(request) {
  const items = new Map(request.items.map((item) => [String(item.id), item]));
  const system = {
    retrieveItem: (id) => prepared(items.get(String(id))),
    retrieveLocale: (name) => request.locales[name] ?? false,
  };
  const started = process.hrtime.bigint();
  const engine = new CSL.Engine(system, request.style, request.locale, Boolean(request.locale));
  engine.setOutputFormat(request.format ?? "text");
  const citations = [];
  if (request.citations) {
    const before = [];
    for (const [number, cluster] of request.citations.entries()) {
      const given = {
        citationID: `c${number}`,
        citationItems: cluster.items,
        properties: { noteIndex: cluster.note_index ?? 0 },
      };
      const [, changed] = engine.processCitationCluster(given, before, []);
      for (const [place, text] of changed) citations[place] = { text };
      before.push([given.citationID, given.properties.noteIndex]);
    }
  } else {
    engine.updateItems([...items.keys()]);
  }
  const made = engine.makeBibliography();
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  if (made === false) return { bibliography: [], citations, errors: [], seconds };
  const [parameters, entries] = made;
  const bibliography = entries.map((text, place) => ({
    id: String(parameters.entry_ids[place][0]),
    text: text.trim(),
  }));
  return { bibliography, citations, errors: parameters.bibliography_errors, seconds };
}

const results = JSON.parse(fs.readFileSync(0, "utf8")).map((request) => {
  try {
    return render(request);
  } catch (fault) {
    return { error: String((fault && fault.stack) || fault).slice(0, 2000) };
  }
});
process.stdout.write(JSON.stringify(results));
