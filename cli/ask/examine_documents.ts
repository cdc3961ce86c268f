/** What a doctor finds in the documents beside the feed. @module */

import { isObject, type SigMetadata } from "@sig/core";
import type { IssuerLocation, VerifiedIssuer } from "@sig/consumer";
import type { Finding } from "./finding.ts";
import { found } from "./found.ts";
import { type JsonObject, readObject } from "./read_object.ts";

/** Names that other drafts of the protocol gave to the metadata. */
const OTHER_NAMES = ["/.well-known/sig-metadata.json"];

/** Looks at keys, and for files of other drafts. */
export async function examineDocuments(
  location: IssuerLocation,
  metadata: SigMetadata,
  verified: VerifiedIssuer,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const base = URL.parse(location.metadataRef)?.href ?? metadata.events_uri;
  for (const name of OTHER_NAMES) {
    const url = URL.parse(name, base);
    if (url === null) continue;
    if (await readObject(location, url.href, "metadata") === undefined) {
      continue;
    }
    findings.push(found(
      "other_draft_document",
      `there is a ${name}, which is of another draft of the protocol`,
      name,
    ));
  }
  const kids = await publishedKids(location, metadata);
  const did = await readObject(
    location,
    new URL("/.well-known/did.json", base).href,
    "did_document",
  );
  findings.push(...keyFindings(kids, did, verified));
  return findings;
}

/** The Ed25519 keys of an issuer's key set, in its order. */
export async function publishedKids(
  location: IssuerLocation,
  { jwks_uri }: SigMetadata,
): Promise<readonly string[]> {
  const jwks = await readObject(location, jwks_uri, "jwks");
  const keys = Array.isArray(jwks?.keys) ? jwks.keys : [];
  return keys.flatMap((key) =>
    isObject(key) && key.crv === "Ed25519" && typeof key.kid === "string"
      ? [key.kid]
      : []
  );
}

function keyFindings(
  kids: readonly string[],
  did: JsonObject | undefined,
  { feed, issuer }: VerifiedIssuer,
): readonly Finding[] {
  const methods = Array.isArray(did?.assertionMethod)
    ? did.assertionMethod.map((each) => isObject(each) ? each.id : each)
    : undefined;
  const isAuthorised = (kid: string) =>
    methods === undefined || methods.includes(`#${kid}`) ||
    methods.includes(`${issuer}#${kid}`);
  const used = new Set(feed.keys.map(({ kid }) => kid));
  const unauthorised = kids.filter((kid) => !isAuthorised(kid))
    .map((kid) =>
      found(
        "key_unauthorised",
        "a key of jwks.json is not in assertionMethod of did.json",
        `key ${kid}`,
      )
    );
  // The newest may be about to begin.
  const unused = kids.slice(0, -1)
    .filter((kid) => !used.has(kid) && isAuthorised(kid))
    .map((kid) =>
      found(
        "key_unused",
        "a key that may sign has signed nothing, and a newer one is there",
        `key ${kid}`,
      )
    );
  return [...unauthorised, ...unused];
}
