/** What a doctor finds in the documents beside the feed. @module */

import { isObject, isSigError, JsonError, parseJson } from "@sig/core";
import type { IssuerLocation, VerifiedIssuer } from "@sig/consumer";
import type { Finding } from "./finding.ts";

/** Bytes of a document that is looked at. */
const MAX_BYTES = 256 * 1024;

/** Names that other drafts of the protocol gave to the metadata. */
const OTHER_NAMES = ["/.well-known/sig-metadata.json"];

/** Looks at keys, at entity tags and ranges, and for files of other drafts. */
export async function examineDocuments(
  location: IssuerLocation,
  verified: VerifiedIssuer,
): Promise<readonly Finding[]> {
  const { metadataRef } = location;
  const metadata = await readObject(location, metadataRef, "metadata");
  const findings: Finding[] = [];
  const base = URL.parse(metadataRef)?.href ?? `${metadata?.events_uri}`;
  for (const name of OTHER_NAMES) {
    const url = URL.parse(name, base);
    if (url === null) continue;
    const found = await readObject(location, url.href, "metadata");
    if (found === undefined) continue;
    findings.push({
      code: "other_draft_document",
      severity: "warning",
      what: `there is a ${name}, which is of another draft of the protocol`,
      why: "Readers of v0.1 never look at it, so it may say something else",
      mend: "Remove it, if nobody relies on it any more",
      where: name,
    });
  }
  const jwks = await readObject(location, `${metadata?.jwks_uri}`, "jwks");
  const did = await readObject(
    location,
    new URL("/.well-known/did.json", base).href,
    "did_document",
  );
  findings.push(...keyFindings(jwks, did, verified));
  if (location.reader.kind === "https") {
    findings.push(
      ...await servedFindings(
        location,
        `${metadata?.events_uri}`,
        verified.feed.bytes,
      ),
    );
  }
  if (metadataRef.startsWith("http:")) {
    findings.push({
      code: "no_tls",
      severity: "error",
      what: "the documents are served over http",
      why: "Whoever is on the way can hold back, or put back, a revocation",
      mend: "Serve them over https with a certificate of the host",
      where: metadataRef,
    });
  }
  return findings;
}

function keyFindings(
  jwks: JsonObject | undefined,
  did: JsonObject | undefined,
  { feed, issuer }: VerifiedIssuer,
): readonly Finding[] {
  const keys = Array.isArray(jwks?.keys) ? jwks.keys : [];
  const kids = keys.flatMap((key) =>
    isObject(key) && key.crv === "Ed25519" && typeof key.kid === "string"
      ? [key.kid]
      : []
  );
  const methods = Array.isArray(did?.assertionMethod)
    ? did.assertionMethod.map((each) => isObject(each) ? each.id : each)
    : undefined;
  const isAuthorised = (kid: string) =>
    methods === undefined || methods.includes(`#${kid}`) ||
    methods.includes(`${issuer}#${kid}`);
  const used = new Set(feed.keys.map(({ kid }) => kid));
  const unauthorised = kids.filter((kid) => !isAuthorised(kid))
    .map((kid): Finding => ({
      code: "key_unauthorised",
      severity: "warning",
      what: "a key of jwks.json is not in assertionMethod of did.json",
      why: "What it signs from now on is refused by every reader",
      mend: "Add it to assertionMethod, or take it out of jwks.json",
      where: `key ${kid}`,
    }));
  // The newest may be about to begin.
  const unused = kids.slice(0, -1)
    .filter((kid) => !used.has(kid) && isAuthorised(kid))
    .map((kid): Finding => ({
      code: "key_unused",
      severity: "info",
      what: "a key that may sign has signed nothing, and a newer one is there",
      why: "A key that nobody needs is one more that can be stolen",
      mend: "Take it out of jwks.json and did.json",
      where: `key ${kid}`,
    }));
  return [...unauthorised, ...unused];
}

/** Whether a reader can ask for what is new only. */
async function servedFindings(
  { reader }: IssuerLocation,
  feedRef: string,
  bytes: number,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const maxBytes = bytes + MAX_BYTES;
  const options = { name: "feed", maxBytes } as const;
  const plain = await reader.open(feedRef, options);
  await plain.cancel();
  const costs = "Every look costs the whole feed, for its readers and for you";
  if (plain.etag === null) {
    findings.push({
      code: "etag_missing",
      severity: "warning",
      what: "the feed is served without an ETag",
      why: costs,
      mend: "Let the server send ETag",
      where: feedRef,
    });
  } else {
    const again = await reader.open(feedRef, {
      ...options,
      conditions: { ifNoneMatch: plain.etag },
    });
    await again.cancel();
    if (!again.unchanged) {
      findings.push({
        code: "etag_ignored",
        severity: "warning",
        what: "the server sends the feed again to who has it already",
        why: costs,
        mend: "Let the server answer If-None-Match with 304",
        where: feedRef,
      });
    }
  }
  if (bytes > 1) {
    const part = await reader.open(feedRef, {
      ...options,
      conditions: { range: { from: bytes - 1 } },
    });
    await part.cancel();
    if (part.range === undefined) {
      findings.push({
        code: "range_ignored",
        severity: "warning",
        what: "the server sends the whole feed to who asks for its end",
        why: costs,
        mend: "Let the server answer Range with 206, without compression",
        where: feedRef,
      });
    }
  }
  return findings;
}

type JsonObject = { readonly [name: string]: unknown };

/** A document that is there and is an object; others are no matter here. */
async function readObject(
  { reader }: IssuerLocation,
  ref: string,
  name: "metadata" | "jwks" | "did_document",
): Promise<JsonObject | undefined> {
  try {
    const opened = await reader.open(ref, { name, maxBytes: MAX_BYTES });
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of opened.bytes) chunks.push(chunk.slice());
    const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
    const value = parseJson(bytes);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (isSigError(error) || error instanceof JsonError) return undefined;
    throw error;
  }
}
