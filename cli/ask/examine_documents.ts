/** What a doctor finds in the documents beside the feed. @module */

import { isObject } from "@sig/core";
import type { IssuerLocation, VerifiedIssuer } from "@sig/consumer";
import type { Finding } from "./finding.ts";
import { found } from "./found.ts";
import { type JsonObject, readObject } from "./read_object.ts";

/** Names that other drafts of the protocol gave to the metadata. */
const OTHER_NAMES = ["/.well-known/sig-metadata.json"];

/** Looks at keys, and for files of other drafts. */
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
    if (await readObject(location, url.href, "metadata") === undefined) {
      continue;
    }
    findings.push(found(
      "other_draft_document",
      `there is a ${name}, which is of another draft of the protocol`,
      name,
    ));
  }
  const jwks = await readObject(location, `${metadata?.jwks_uri}`, "jwks");
  const did = await readObject(
    location,
    new URL("/.well-known/did.json", base).href,
    "did_document",
  );
  findings.push(...keyFindings(jwks, did, verified));
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
