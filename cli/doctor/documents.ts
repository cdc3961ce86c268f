/** Findings about the documents other than the feed. @module */

import { isSigError, JsonError, parseJson } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { IssuerLocation } from "@sig/consumer";
import { type loadIssuer, maySign, readAll } from "@sig/consumer/internal";
import type { FindingTable } from "./finding.ts";
import type { Requests } from "./served.ts";

/** Maximum size of a document in bytes. */
const MAX_BYTES = 256 * 1024;

/** File names that other drafts of the protocol gave to the metadata. */
const OTHER_NAMES = ["/.well-known/sig-metadata.json"];

/** The documents of an issuer, for the findings. */
interface ExaminedDocuments {
  /** The existing paths of {@linkcode OTHER_NAMES}. */
  readonly otherDrafts: readonly string[];
  /** The kids of the key set, in its order. */
  readonly kids: readonly string[];
  readonly authorised: ReadonlySet<string>;
  readonly used: ReadonlySet<string>;
}

/** Reads the keys, and checks for documents of other drafts. */
export async function readDocuments(
  { metadataRef, reader }: IssuerLocation,
  { keys, metadata }: Awaited<ReturnType<typeof loadIssuer>>,
  used: ExaminedDocuments["used"],
  requests: Requests,
): Promise<ExaminedDocuments> {
  const base = URL.parse(metadataRef)?.href ?? metadata.events_uri;
  const otherDrafts: string[] = [];
  for (const path of OTHER_NAMES) {
    const { href } = new URL(path, base);
    const isThere = await requests.ask(href, async (signal) => {
      const options = {
        name: "metadata",
        maxBytes: MAX_BYTES,
        signal,
      } as const;
      const opened = await reader.open(href, options);
      // A server may answer every path with an HTML page.
      return isObject(parseJson(await readAll(opened, MAX_BYTES)));
    }).catch((error) => {
      if (isSigError(error) || error instanceof JsonError) return false;
      throw error;
    });
    if (isThere) otherDrafts.push(path);
  }
  const kids = [...keys.keys.keys()];
  const authorised = new Set(kids.filter((kid) => maySign(keys, kid)));
  return { otherDrafts, kids, authorised, used };
}

/** Findings about every source. */
export const DOCUMENT_FINDINGS = {
  other_draft_document: {
    severity: "warning",
    when: "A file of another draft of the protocol exists",
    why:
      "Readers of v0.1 never read it, so it may contradict the other documents",
    mend: "Remove it if it is no longer used",
    find: ({ otherDrafts }) =>
      otherDrafts.map((name) => [
        `${name} belongs to another draft of the protocol`,
        name,
      ]),
  },
  key_unauthorised: {
    severity: "warning",
    when: "A key of `jwks.json` is not in `assertionMethod` of `did.json`",
    why: "Readers refuse events that it signs from now on",
    mend: "Add it to assertionMethod, or remove it from jwks.json",
    find: ({ authorised, kids }) =>
      kids.filter((kid) => !authorised.has(kid)).map((kid) => `key ${kid}`),
  },
  key_unused: {
    severity: "info",
    when: "A key that is not the newest has signed nothing",
    why: "Every unnecessary key can be stolen",
    mend: "Remove it from jwks.json and did.json",
    // The newest key may not have signed yet.
    find: ({ authorised, kids, used }) =>
      kids.slice(0, -1)
        .filter((kid) => !used.has(kid) && authorised.has(kid))
        .map((kid) => `key ${kid}`),
  },
} as const satisfies FindingTable<ExaminedDocuments>;
