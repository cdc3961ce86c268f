/** Findings about the documents other than the feed. @module */

import { isSigError } from "@sig/core";
import type { IssuerLocation } from "@sig/consumer";
import { type loadIssuer, maySign, readAll } from "@sig/consumer/internal";
import { parseObject } from "../terminal/read_input.ts";
import { type FindingTable, info, warning } from "./finding.ts";
import type { Requests } from "./ask_server.ts";

/** Maximum size of a document in bytes. */
const MAX_BYTES = 256 * 1024;

/** File names that other drafts of the protocol gave to the metadata. */
const OTHER_NAMES = ["/.well-known/sig-metadata.json"];

type ExaminedDocuments = Awaited<ReturnType<typeof readDocuments>>;

/**
 * Reads the keys, and checks for documents of other drafts.
 *
 * @param used The kids that have signed.
 */
export async function readDocuments(
  { metadataRef, reader }: IssuerLocation,
  { keys, metadata }: Awaited<ReturnType<typeof loadIssuer>>,
  used: ReadonlySet<string>,
  requests: Requests,
) {
  const base = URL.parse(metadataRef)?.href ?? metadata.events_uri;
  /** The existing paths of {@linkcode OTHER_NAMES}. */
  const otherDrafts: string[] = [];
  for (const path of OTHER_NAMES) {
    const { href } = new URL(path, base);
    const isThere = await requests.ask(href, async (signal) => {
      const opened = await reader
        .open(href, { name: "metadata", maxBytes: MAX_BYTES, signal });
      // A server may answer every path with an HTML page.
      return parseObject(await readAll(opened, MAX_BYTES)) !== undefined;
    }).catch((error) => {
      if (isSigError(error)) return false;
      throw error;
    });
    if (isThere) otherDrafts.push(path);
  }
  /** The kids of the key set, in its order. */
  const kids = [...keys.keys.keys()];
  const authorised = new Set(kids.filter((kid) => maySign(keys, kid)));
  return { otherDrafts, kids, authorised, used };
}

/** Findings about every source. */
export const DOCUMENT_FINDINGS = {
  other_draft_document: warning(
    "A file of another draft of the protocol exists",
    "Readers of v0.1 never read it, so it may contradict the other documents",
    "Remove it if it is no longer used",
    ({ otherDrafts }) =>
      otherDrafts.map((name) => [
        `${name} belongs to another draft of the protocol`,
        name,
      ]),
  ),
  key_unauthorised: warning(
    "A key of `jwks.json` is not in `assertionMethod` of `did.json`",
    "Readers refuse events that it signs from now on",
    "Add it to assertionMethod, or remove it from jwks.json",
    ({ authorised, kids }) =>
      kids.filter((kid) => !authorised.has(kid)).map((kid) => `key ${kid}`),
  ),
  key_unused: info(
    "A key that is not the newest has signed nothing",
    "Every unnecessary key can be stolen",
    "Remove it from jwks.json and did.json",
    // The newest key may not have signed yet.
    ({ authorised, kids, used }) =>
      kids.slice(0, -1)
        .filter((kid) => !used.has(kid) && authorised.has(kid))
        .map((kid) => `key ${kid}`),
  ),
} as const satisfies FindingTable<ExaminedDocuments>;
