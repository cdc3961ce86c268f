// @ts-check
/// <reference lib="dom" />
/** An issuer's four documents, from wherever they come. @module */

import { isRecord } from "./api.js";
import { parseJson } from "./verify.js";

/**
 * The documents as bytes: text would hide wrong encodings from the verifier.
 *
 * @typedef {object} Documents
 * @property {Uint8Array<ArrayBuffer>} metadata
 * @property {Uint8Array<ArrayBuffer>} jwks
 * @property {Uint8Array<ArrayBuffer>} [did_document] Absent when there is none.
 * @property {Uint8Array<ArrayBuffer>} feed
 */

/** @typedef {"metadata" | "jwks" | "did_document" | "feed"} Name */

/** Why documents can't be used, in a sentence for people. */
export class DocumentsError extends Error {}

const TITLES = Object.freeze({
  metadata: "sig.json",
  jwks: "jwks.json",
  did_document: "did.json",
  feed: "events.jsonl",
});

const encoder = new TextEncoder();

/**
 * From this server, which hosts the documents of the issuers it knows.
 *
 * @param {string} base
 * @returns {Promise<Documents>}
 */
export async function fetchDocuments(base) {
  const [metadata, jwks, didDocument, feed] = await Promise.all([
    get(`${base}sig.json`),
    get(`${base}jwks.json`),
    get(`${base}did.json`),
    get(`${base}events.jsonl`),
  ]);
  return complete({ metadata, jwks, did_document: didDocument, feed });
}

/** @param {string} path */
async function get(path) {
  const unreachable = new DocumentsError(
    `This server could not give ${path.split("/").at(-1)}. Try again.`,
  );
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, { cache: "no-store", redirect: "error" });
  } catch {
    throw unreachable;
  }
  if (response.status === 404 || response.status === 410) return undefined;
  if (!response.ok) throw unreachable;
  return new Uint8Array(await response.arrayBuffer());
}

/**
 * From files: by their names, or one JSON file with everything.
 *
 * @param {readonly File[]} files
 * @returns {Promise<Documents>}
 */
export async function readFiles(files) {
  /** @type {Partial<Record<Name, Uint8Array<ArrayBuffer>>>} */
  const found = {};
  for (const file of files) {
    const name = nameOf(file.name);
    if (name !== undefined) {
      found[name] = new Uint8Array(await file.arrayBuffer());
    } else if (files.length === 1) return readOne(await file.text());
    else {
      throw new DocumentsError(
        `Don't know what ${file.name} is. Expected sig.json, jwks.json, did.json and events.jsonl.`,
      );
    }
  }
  return complete(found);
}

/** @param {string} fileName */
function nameOf(fileName) {
  if (/\.(jsonl|ndjson)$/.test(fileName)) return "feed";
  for (const name of /** @type {Name[]} */ (Object.keys(TITLES))) {
    if (fileName === TITLES[name]) return name;
  }
  return undefined;
}

/**
 * From texts that were pasted; an empty one is absent, an empty feed is not.
 *
 * @param {Record<Name, string>} texts
 * @returns {Documents}
 */
export function readTexts(texts) {
  return complete({
    metadata: encoded(texts.metadata),
    jwks: encoded(texts.jwks),
    did_document: encoded(texts.did_document),
    feed: encoder.encode(withLastLineEnd(texts.feed)),
  });
}

/** @param {string} text */
function encoded(text) {
  return text.trim() === "" ? undefined : encoder.encode(text);
}

/**
 * Copying loses the last line's end more often than not.
 *
 * @param {string} text
 */
function withLastLineEnd(text) {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/**
 * From one JSON that holds everything.
 *
 * @param {string} text
 * @returns {Documents}
 */
export function readOne(text) {
  /** @type {unknown} */
  let value;
  try {
    value = parseJson(encoder.encode(text));
  } catch {
    throw new DocumentsError("This is not one strict JSON object.");
  }
  if (!isRecord(value) || typeof value.events !== "string") {
    throw new DocumentsError(
      "Expected the members metadata, jwks and events, where events is text.",
    );
  }
  return complete({
    metadata: encodedMember(value.metadata),
    jwks: encodedMember(value.jwks),
    did_document: encodedMember(value.did_document),
    feed: encoder.encode(value.events),
  });
}

/** @param {unknown} value */
function encodedMember(value) {
  return value === undefined ? undefined : encoder.encode(
    typeof value === "string" ? value : JSON.stringify(value),
  );
}

/**
 * @param {Partial<Record<Name, Uint8Array<ArrayBuffer> | undefined>>} found
 * @returns {Documents}
 */
function complete({ metadata, jwks, did_document, feed }) {
  if (metadata === undefined) throw missing("metadata");
  if (jwks === undefined) throw missing("jwks");
  if (feed === undefined) throw missing("feed");
  return {
    metadata,
    jwks,
    feed,
    ...(did_document === undefined ? {} : { did_document }),
  };
}

/** @param {Name} name */
function missing(name) {
  return new DocumentsError(`${TITLES[name]} is missing.`);
}
