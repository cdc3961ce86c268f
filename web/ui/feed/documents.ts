/** An issuer's four documents, from wherever they come. @module */

import { parseJson } from "../libraries/mod.ts";
import { isRecord } from "../parts/text.ts";

/** Bytes that the page holds. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** The documents as bytes: text would hide wrong encodings from the verifier. */
export interface Documents {
  readonly metadata: Bytes;
  readonly jwks: Bytes;
  /** Absent when there is none. */
  readonly did_document?: Bytes;
  readonly feed: Bytes;
}

type Name = keyof Documents;

/** Why documents can't be used, in a sentence for people. */
export class DocumentsError extends Error {}

const TITLES: Readonly<Record<Name, string>> = {
  metadata: "sig.json",
  jwks: "jwks.json",
  did_document: "did.json",
  feed: "events.jsonl",
};
const NAMES = Object.keys(TITLES) as readonly Name[];

const encoder = new TextEncoder();

/** From this server, which passes on the documents of the issuers it knows. */
export async function fetchDocuments(base: string): Promise<Documents> {
  const [identity, feed] = await Promise.all([
    fetchIdentity(base),
    get(`${base}${TITLES.feed}`),
  ]);
  return complete({ ...identity, feed });
}

/** All but the feed: who the issuer is, and its keys. */
export async function fetchIdentity(
  base: string,
): Promise<Partial<Documents>> {
  const bytes = await get(`${base}identity.json`);
  const value: unknown = bytes && parseJson(bytes);
  const { metadata, jwks, did_document } = isRecord(value) ? value : {};
  return {
    ...encodedText("metadata", metadata),
    ...encodedText("jwks", jwks),
    ...encodedText("did_document", did_document),
  };
}

function encodedText(name: Name, text: unknown): Partial<Documents> {
  return typeof text === "string" ? { [name]: encoder.encode(text) } : {};
}

async function get(path: string): Promise<Bytes | undefined> {
  const unreachable = new DocumentsError(
    `This server could not give ${path.split("/").at(-1)}. Try again.`,
  );
  let response: Response;
  try {
    response = await fetch(path, { cache: "no-store", redirect: "error" });
  } catch {
    throw unreachable;
  }
  if (response.status === 404 || response.status === 410) return undefined;
  if (!response.ok) throw unreachable;
  return new Uint8Array(await response.arrayBuffer());
}

/** From files: by their names, or one JSON file with everything. */
export async function readFiles(files: readonly File[]): Promise<Documents> {
  const found: Found = {};
  for (const file of files) {
    const name = nameOf(file.name);
    if (name !== undefined) {
      found[name] = await bytesOf(file);
    } else if (files.length === 1) {
      return readOne(new TextDecoder().decode(await bytesOf(file)));
    } else throw unknownFile(file.name);
  }
  return complete(found);
}

/** All but the feed, from files by their names; a feed among them is not read. */
export async function readIdentityFiles(
  files: readonly File[],
): Promise<Partial<Documents>> {
  const found: Found = {};
  for (const file of files) {
    const name = nameOf(file.name);
    if (name === undefined) throw unknownFile(file.name);
    if (name !== "feed") found[name] = await bytesOf(file);
  }
  const { metadata, jwks, did_document } = found;
  if (metadata === undefined) throw missing("metadata");
  if (jwks === undefined) throw missing("jwks");
  if (did_document === undefined) throw missing("did_document");
  return { metadata, jwks, did_document };
}

/** As many as a feed may have; more of them are not read to say so. */
const MAX_FILE_BYTES = 1024 ** 3;

async function bytesOf(file: File): Promise<Bytes> {
  if (file.size <= MAX_FILE_BYTES) {
    return new Uint8Array(await file.arrayBuffer());
  }
  throw new DocumentsError(
    `${file.name} is larger than 1 GiB: no feed may be, so it was not read.`,
  );
}

function unknownFile(name: string): DocumentsError {
  return new DocumentsError(
    `Don't know what ${name} is. Expected sig.json, jwks.json, did.json and events.jsonl.`,
  );
}

function nameOf(fileName: string): Name | undefined {
  if (/\.(jsonl|ndjson)$/.test(fileName)) return "feed";
  return NAMES.find((name) => fileName === TITLES[name]);
}

/** From texts that were pasted; an empty one is absent, an empty feed is not. */
export function readTexts(texts: Readonly<Record<Name, string>>): Documents {
  return complete({
    metadata: encoded(texts.metadata),
    jwks: encoded(texts.jwks),
    did_document: encoded(texts.did_document),
    feed: encoder.encode(withLastLineEnd(texts.feed)),
  });
}

function encoded(text: string): Bytes | undefined {
  return text.trim() === "" ? undefined : encoder.encode(text);
}

/** Copying loses the last line's end more often than not. */
function withLastLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** From one JSON that holds everything. */
export function readOne(text: string): Documents {
  let value: unknown;
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

function encodedMember(value: unknown): Bytes | undefined {
  return value === undefined ? undefined : encoder.encode(
    typeof value === "string" ? value : JSON.stringify(value),
  );
}

type Found = { [name in Name]?: Bytes | undefined };

function complete({ metadata, jwks, did_document, feed }: Found): Documents {
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

function missing(name: Name): DocumentsError {
  return new DocumentsError(`${TITLES[name]} is missing.`);
}
