/** An issuer's four documents: from this server, files, or one JSON. @module */

import { parseJson, SigError } from "@sig/core";
import type { DocumentReader } from "@sig/consumer";
import { isRecord } from "../text.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The documents as bytes: text would hide wrong encodings from the verifier. */
export interface Documents {
  readonly metadata: Bytes;
  readonly jwks: Bytes;
  readonly did_document?: Bytes;
  readonly feed: Bytes;
}

type Name = keyof Documents;
/** The documents that are there. */
export type Found = { readonly [name in Name]?: Bytes | undefined };

/** Why documents can't be used, in a sentence for people. */
export class DocumentsError extends Error {}

const FILES: Readonly<Record<Name, string>> = {
  metadata: "sig.json",
  jwks: "jwks.json",
  did_document: "did.json",
  feed: "events.jsonl",
};
const IDENTITY = ["metadata", "jwks", "did_document"] as const;

const encoder = new TextEncoder();

/** From this server, which passes on the documents of the issuers it knows. */
export async function fetchDocuments(base: string): Promise<Documents> {
  return complete(await fetchAll(base, [...IDENTITY, "feed"]));
}

/** All but the feed: the issuer's name and keys. */
export function fetchIdentity(base: string): Promise<Found> {
  return fetchAll(base, IDENTITY);
}

async function fetchAll(base: string, names: readonly Name[]): Promise<Found> {
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [
      name,
      await fetchOne(`${base}${FILES[name]}`),
    ])),
  );
}

async function fetchOne(path: string): Promise<Bytes | undefined> {
  const response = await fetch(path, { cache: "no-store", redirect: "error" })
    .catch(() => undefined);
  if (response?.status === 404 || response?.status === 410) return undefined;
  if (response?.ok) return new Uint8Array(await response.arrayBuffer());
  throw new DocumentsError(
    `This server could not get ${path.split("/").at(-1)}. Try again.`,
  );
}

/** From files: by their names, or one JSON file with everything. */
export async function readFiles(files: readonly File[]): Promise<Documents> {
  const [first] = files;
  if (files.length === 1 && first && nameOf(first) === undefined) {
    return readJson(new TextDecoder().decode(await bytesOf(first)));
  }
  return complete(await readNamed(files));
}

/** All but the feed, from files by their names; a feed is not read. */
export async function readIdentityFiles(
  files: readonly File[],
): Promise<Found> {
  const found = await readNamed(
    files.filter((each) => nameOf(each) !== "feed"),
  );
  for (const name of IDENTITY) if (!found[name]) throw missing(name);
  return found;
}

async function readNamed(files: readonly File[]): Promise<Found> {
  const found: { [name in Name]?: Bytes } = {};
  for (const file of files) {
    const name = nameOf(file);
    if (name === undefined) {
      throw new DocumentsError(
        `Unknown file ${file.name}. Expected sig.json, jwks.json, did.json and events.jsonl.`,
      );
    }
    found[name] = await bytesOf(file);
  }
  return found;
}

function nameOf({ name }: File): Name | undefined {
  if (/\.(jsonl|ndjson)$/.test(name)) return "feed";
  return [...IDENTITY].find((each) => FILES[each] === name);
}

/** As large as a feed may be. */
const MAX_FILE_BYTES = 1024 ** 3;

async function bytesOf(file: File): Promise<Bytes> {
  if (file.size <= MAX_FILE_BYTES) {
    return new Uint8Array(await file.arrayBuffer());
  }
  throw new DocumentsError(
    `${file.name} is larger than 1 GiB, the limit of a feed. It was not read.`,
  );
}

/** From one JSON object with the members metadata, jwks, did_document, events. */
export function readJson(text: string): Documents {
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
  const member = (name: Name) => {
    const found = value[name];
    return found === undefined ? undefined : encoder.encode(
      typeof found === "string" ? found : JSON.stringify(found),
    );
  };
  return complete({
    metadata: member("metadata"),
    jwks: member("jwks"),
    did_document: member("did_document"),
    feed: encoder.encode(value.events),
  });
}

function complete({ metadata, jwks, did_document, feed }: Found): Documents {
  if (metadata === undefined) throw missing("metadata");
  if (jwks === undefined) throw missing("jwks");
  if (feed === undefined) throw missing("feed");
  return { metadata, jwks, feed, ...(did_document && { did_document }) };
}

function missing(name: Name): DocumentsError {
  return new DocumentsError(`${FILES[name]} is missing.`);
}

/** So much of the feed is handed on at once; then the page may draw. */
const CHUNK_BYTES = 64 * 1024;

/** The documents as the libraries read them; tells how much of the feed is read. */
export function readerOf(
  documents: Found,
  onProgress?: (share: number) => void,
): DocumentReader {
  return {
    kind: "inline",
    // deno-lint-ignore require-await -- what it throws is a rejection
    async open(_ref, { name, maxBytes }) {
      const bytes = documents[name];
      if (bytes === undefined) {
        throw new SigError(
          "source_not_found",
          `Cannot read ${name}: it is absent`,
          { context: { reason: "missing" } },
        );
      }
      if (bytes.length > maxBytes) {
        throw new SigError(
          name === "feed" ? "feed_too_large" : "document_too_large",
          `Cannot read ${name}: it is larger than ${maxBytes} bytes`,
        );
      }
      return {
        bytes: chunksOf(bytes, name === "feed" ? onProgress : undefined),
        mediaType: null,
        etag: null,
        cancel() {},
      };
    },
  };
}

/** Lets the page draw: verifying alone goes on in microtasks. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

async function* chunksOf(
  bytes: Bytes,
  onProgress?: (share: number) => void,
): AsyncGenerator<Bytes> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    onProgress?.(at / bytes.length);
    await nextTask();
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
  onProgress?.(1);
}
