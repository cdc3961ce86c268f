/** Forwards an issuer's published documents to the page. @module */

import type { Hono } from "hono";
import type {
  DocumentReader,
  FetchPolicy,
  IssuerLocation,
} from "@sig/consumer";
import {
  documentFromBytes,
  fetchPolicyOf,
  loadIssuer,
  locateIssuer,
  readAll,
} from "@sig/consumer/internal";
import { DEFAULT_LIMITS, SigError } from "@sig/core";
import {
  onceInFiveSeconds,
  PackedText,
  type ServiceEnv,
} from "@sig/api/internal/http";
import { DOCUMENT_FILES } from "../ui/page_config.ts";

/** An issuer's unchanged documents by file name. */
type IssuerDocuments = ReadonlyMap<string, PackedText>;

/** An issuer that the page can show. */
type ShownIssuer = ReturnType<typeof locateIssuers>[number];

/**
 * Locates issuers; nothing is fetched yet.
 *
 * @param issuers Each a did:web, a host, or the https URL of a `sig.json`.
 * @throws {SigError} the codes of `locateIssuer`, such as `invalid_identifier`.
 */
export function locateIssuers(
  issuers: readonly string[],
  options: FetchPolicy,
) {
  const policy = fetchPolicyOf(options);
  return issuers.map((text) => {
    const location = locateIssuer(text, policy);
    return { did: location.expectedIssuer, location, policy };
  });
}

/**
 * Maximum size of a feed for the page in bytes; a longer timeline is of no use.
 */
const MAX_FEED_BYTES = 16 * 1024 * 1024;
const LIMITS = { ...DEFAULT_LIMITS, maxFeedBytes: MAX_FEED_BYTES };

/** Serves the documents of each issuer under `/ui/issuers/<n>/`. */
export function addIssuerDocuments(
  app: Hono<ServiceEnv>,
  issuers: readonly ShownIssuer[],
  now: () => Date,
): void {
  const readers = issuers.map((issuer) => createIssuerDocuments(issuer, now));
  app.get("/ui/issuers/:n/:file", async (c) => {
    const { n, file } = c.req.param();
    const isKnown = Object.values<string>(DOCUMENT_FILES).includes(file);
    const read = /^\d{1,4}$/.test(n) ? readers[Number(n)] : undefined;
    const documents = isKnown && read !== undefined
      ? await c.get("budget").whileWaitingFor(`documents of ${n}`, read)
      : undefined;
    const document = documents?.get(file);
    if (document === undefined) {
      throw new SigError("not_found", {
        action: "answer",
        reason: "there is no such document",
      });
    }
    const type = file.endsWith(".jsonl")
      ? "application/x-ndjson"
      : "application/json";
    return await document.send(c, type);
  });
}

/**
 * Returns a function that fetches an issuer's documents at most once in five
 * seconds, also if that fails, so that visitors of the page can't cause many
 * requests to an issuer. The documents are unchanged, and the page verifies
 * them.
 *
 * @throws {SigError} from the function: the codes of `loadIssuer`;
 * `feed_too_large` over 16 MiB.
 */
function createIssuerDocuments({ location }: ShownIssuer, now: () => Date) {
  let last: IssuerDocuments = new Map();
  return onceInFiveSeconds(
    async () => last = await readDocuments(location, last),
    now,
  );
}

/** Reads the documents; unchanged ones are not compressed again. */
async function readDocuments(
  location: IssuerLocation,
  last: IssuerDocuments,
): Promise<IssuerDocuments> {
  const documents = new Map<string, string>();
  const { openFeed } = await loadIssuer({
    ...location,
    reader: recording(location.reader, documents),
  }, { limits: LIMITS });
  await openFeed();
  return new Map(Array.from(documents, ([file, text]) => {
    const before = last.get(file);
    return [file, before?.text === text ? before : new PackedText(text)];
  }));
}

/** Wraps a reader to record the text of each document that it reads. */
function recording(
  reader: DocumentReader,
  documents: Map<string, string>,
): DocumentReader {
  // Invalid UTF-8 becomes U+FFFD, and then fails the page's verification.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return {
    kind: reader.kind,
    async open(ref, options) {
      const { name, maxBytes } = options;
      const document = await reader.open(ref, options);
      const bytes = await readAll(document, maxBytes);
      if (name !== "proof") {
        documents.set(DOCUMENT_FILES[name], decoder.decode(bytes));
      }
      return documentFromBytes({ ...document, bytes });
    },
  };
}
