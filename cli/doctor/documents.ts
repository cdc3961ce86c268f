/** The documents beside the feed. @module */

import { isSigError, JsonError, parseJson, type SigMetadata } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { IssuerLocation } from "@sig/consumer";
import type { FindingTable } from "./finding.ts";
import type { Requests } from "./served.ts";

/** Bytes of a document at most. */
const MAX_BYTES = 256 * 1024;

/** File names that other drafts of the protocol gave to the metadata. */
const OTHER_NAMES = ["/.well-known/sig-metadata.json"];

/** Documents that were read. */
interface ExaminedDocuments {
  readonly issuer: string;
  /** Those of {@linkcode OTHER_NAMES} that exist. */
  readonly otherDrafts: readonly string[];
  /** The kids of the key set's Ed25519 keys, in its order. */
  readonly kids: readonly string[];
  /** Those that may sign; undefined if the DID document does not say. */
  readonly authorised: ReadonlySet<string> | undefined;
  /** Those that have signed. */
  readonly used: ReadonlySet<string>;
}

/** Reads them. */
export async function readDocuments(
  location: IssuerLocation,
  { events_uri, jwks_uri }: SigMetadata,
  { issuer, used }: Pick<ExaminedDocuments, "issuer" | "used">,
  requests: Requests,
): Promise<ExaminedDocuments> {
  const base = URL.parse(location.metadataRef)?.href ?? events_uri;
  const read = (ref: string, name: "metadata" | "jwks" | "did_document") =>
    readObject(location, new URL(ref, base).href, name, requests);
  const otherDrafts: string[] = [];
  for (const name of OTHER_NAMES) {
    if (await read(name, "metadata") !== undefined) otherDrafts.push(name);
  }
  const jwks = await read(jwks_uri, "jwks");
  const did = await read("/.well-known/did.json", "did_document");
  const keys = Array.isArray(jwks?.keys) ? jwks.keys : [];
  const kids = keys.flatMap((key) =>
    isObject(key) && key.crv === "Ed25519" && typeof key.kid === "string"
      ? [key.kid]
      : []
  );
  const methods = Array.isArray(did?.assertionMethod)
    ? did.assertionMethod.map((each) => isObject(each) ? each.id : each)
    : undefined;
  const authorised = methods &&
    new Set(
      kids.filter((kid) =>
        methods.includes(`#${kid}`) || methods.includes(`${issuer}#${kid}`)
      ),
    );
  return { issuer, otherDrafts, kids, authorised, used };
}

/** A JSON object; anything else is treated as absent. */
async function readObject(
  { reader }: IssuerLocation,
  ref: string,
  name: "metadata" | "jwks" | "did_document",
  requests: Requests,
): Promise<{ readonly [name: string]: unknown } | undefined> {
  try {
    return await requests.ask(ref, async (signal) => {
      const opened = await reader.open(ref, {
        ...{ name, maxBytes: MAX_BYTES, signal },
      });
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      for await (const chunk of opened.bytes) chunks.push(chunk.slice());
      const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
      const value = parseJson(bytes);
      return isObject(value) ? value : undefined;
    });
  } catch (error) {
    if (isSigError(error) || error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Of every source. */
export const DOCUMENT_FINDINGS = {
  other_draft_document: {
    severity: "warning",
    when: "There is a file that another draft of the protocol names",
    why: "Readers of v0.1 never look at it, so it may say something else",
    mend: "Remove it, if nobody relies on it any more",
    find: ({ otherDrafts }) =>
      otherDrafts.map((name) => [
        `${name} belongs to another draft of the protocol`,
        name,
      ]),
  },
  key_unauthorised: {
    severity: "warning",
    when: "A key of `jwks.json` is not in `assertionMethod` of `did.json`",
    why: "What it signs from now on is refused by every reader",
    mend: "Add it to assertionMethod, or remove it from jwks.json",
    find: ({ authorised, kids }) =>
      kids.filter((kid) => authorised?.has(kid) === false).map((kid) => [
        "a key of jwks.json is not in assertionMethod of did.json",
        `key ${kid}`,
      ]),
  },
  key_unused: {
    severity: "info",
    when: "A key that is not the newest has signed nothing",
    why: "Each key that is not needed is one more that can be stolen",
    mend: "Remove it from jwks.json and did.json",
    // The newest may be about to begin.
    find: ({ authorised, kids, used }) =>
      kids.slice(0, -1)
        .filter((kid) => !used.has(kid) && authorised?.has(kid) !== false)
        .map((kid) => [
          "a key that may sign has signed nothing, and there is a newer one",
          `key ${kid}`,
        ]),
  },
} as const satisfies FindingTable<ExaminedDocuments>;
