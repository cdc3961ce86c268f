/**
 * What to do after an error of some code. Its `hint`, where it has one, is about
 * what was given this time.
 *
 * @module
 */

import type { ErrorCode, SigError } from "@sig/core";

/** The hint says whom to ask; this, how this reader is told. */
const AFTER_ASKING =
  "sig pin ack <issuer> --reason TEXT accepts what is served now";

const BY_CODE: { readonly [code in ErrorCode]?: string } = {
  already_revoked: "add --amend to correct the revocation",
  duplicate_event_id: "leave out --event-id, or repeat the first append as is",
  feed_rewritten: AFTER_ASKING,
  feed_rolled_back: AFTER_ASKING,
  feed_stale: "try again, or accept older answers with --max-age",
  fetch_failed: "check the name and the network, and try again",
  fetch_status: "check that the issuer publishes its documents there",
  fetch_timeout: "try again later",
  issuer_exists: "sig upsert --help",
  key_not_authorized: "sig rotate-key --help",
  key_replaced: AFTER_ASKING,
  key_withdrawn: AFTER_ASKING,
  signing_key_not_found:
    "name the key with --key or SIG_KEY_FILE, or its folder with SIG_KEYS_DIR",
  source_not_found:
    "check the path: an issuer's directory holds .well-known; sig init makes one",
  unknown_relationship: "sig dump-state <dir> lists the relationships",
  write_failed: "check the path, its permissions and the space on the disk",
};

/** One line that quotes nothing; undefined where nothing is to be said. */
export function nextStep(error: SigError): string | undefined {
  const { category, code, context } = error;
  if (code === "source_not_found" && !isMissingIssuer(context)) {
    return undefined;
  }
  // Where the hint knows why, the disk need not be looked at.
  if (code === "write_failed" && context.hint !== undefined) return undefined;
  const known = BY_CODE[code];
  // It is the memory that contradicts: no cursor, and no index of an operator.
  if (known === AFTER_ASKING && context.remembered_sequence === undefined) {
    return undefined;
  }
  if (known !== undefined) return known;
  // A line of drafts is not a line of the feed, whose faults can be listed.
  if (context.draft !== undefined) return undefined;
  if (category === "invalid" && context.line !== undefined) {
    return "sig verify <source> lists every fault";
  }
  return undefined;
}

/** Whether a second `sig init` may be what is wanted. */
function isMissingIssuer({ ref, path }: SigError["context"]): boolean {
  // A list or a key is not an issuer; only documents of one have its path.
  if (path === undefined) return false;
  // Where a document is missing beside the metadata, the path is right.
  const place = String(ref ?? path);
  return !place.includes("/.well-known/") || place.endsWith("/sig.json");
}
