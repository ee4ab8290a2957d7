// The plugin's description of itself, as `manifest.schema.json` of the contract fixes it.

const TEXT = { type: "string" };
const NAMES = { type: "array", items: TEXT };

const BIBLIOGRAPHY = {
  type: "object",
  required: ["entries"],
  additionalProperties: false,
  properties: {
    entries: {
      type: "array",
      items: {
        type: "object",
        required: ["key", "type", "authors", "editors", "fields"],
        additionalProperties: false,
        properties: {
          key: { type: "string", description: "What a citation names." },
          type: { type: "string", description: "In lower case, such as article." },
          title: TEXT,
          authors: NAMES,
          editors: NAMES,
          year: { type: "integer" },
          doi: { type: "string", description: "In lower case, without the address before it." },
          url: TEXT,
          fields: {
            type: "object",
            description: "All other fields, by their names in lower case.",
            additionalProperties: TEXT,
          },
        },
      },
    },
  },
};

export const MANIFEST = {
  contract: "1.1",
  name: "dblp",
  version: "0.1.0",
  title: "dblp",
  description: "Gets records of the dblp computer science bibliography, and reads BibTeX.",
  licence: "Apache-2.0",
  hosts: [
    {
      host: "dblp.org",
      methods: ["GET"],
      paths: ["/rec"],
      pace: { interval_ms: 1000 },
      cache_seconds: 86400,
    },
  ],
  tools: [
    {
      name: "record",
      title: "dblp record",
      description: "Gets one record of the dblp computer science bibliography by its key.",
      input_schema: {
        type: "object",
        required: ["key"],
        additionalProperties: false,
        properties: {
          key: {
            type: "string",
            pattern: "^[a-z]+(/[A-Za-z0-9_-]+)+$",
            maxLength: 200,
            description: "As in the record's address, such as journals/cacm/Knuth74.",
          },
        },
      },
      output_schema: BIBLIOGRAPHY,
      annotations: { read_only: true, destructive: false, idempotent: true, open_world: true },
    },
  ],
  formats: [
    {
      name: "bibliography",
      description: "BibTeX.",
      media_types: ["application/x-bibtex"],
      output_schema: BIBLIOGRAPHY,
    },
    {
      name: "bibliography_file",
      description: "A file of BibTeX, in UTF-8 or in the charset that is named as an option.",
      bytes: true,
      media_types: ["application/x-bibtex"],
      output_schema: BIBLIOGRAPHY,
    },
  ],
};
