/** Feeds in requests, and the issuer of the OpenAPI document's examples. @module */

import type { InlineFeed } from "@sig/consumer";
import { ISSUER, revoke, upsert } from "../../tests/kit/events.ts";
import {
  DID,
  importTestKeys,
  lineOf,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";

const [key] = await importTestKeys();
const BOB = { relationship_id: "bob-1", subject: "did:web:bob.example" };

const lines = await Promise.all([
  upsert(1, {
    event_id: "acme-1",
    issued_at: "2026-01-05T09:00:00Z",
    relationship_id: "alice-1",
    roles: ["deploy", "review"],
  }),
  upsert(2, {
    ...BOB,
    event_id: "acme-2",
    issued_at: "2026-01-12T09:00:00Z",
    relationship_type: "contractor",
    valid_until: "2026-12-31T00:00:00Z",
  }),
  revoke(3, {
    ...BOB,
    event_id: "acme-3",
    issued_at: "2026-03-02T09:00:00Z",
    reason_code: "contract_ended",
    effective_at: "2026-03-01T00:00:00Z",
  }),
].map((event) => lineOf({ ...event }, key!)));

/** The documents of an issuer with the first test key, as in requests. */
export function inlineFeedOf(
  lines: readonly string[],
  did: string = DID,
): Required<InlineFeed> {
  const documents = makeDocuments({ did, keys: [key!], lines });
  const json = (path: string) => JSON.parse(String(documents.get(path)));
  return {
    metadata: json(PATHS.metadata),
    jwks: json(PATHS.jwks),
    did_document: json(PATHS.did),
    events: lines.map((line) => `${line}\n`).join(""),
  };
}

/** Three events: Alice, Bob, Bob revoked. */
export const EXAMPLE_FEED: Required<InlineFeed> = inlineFeedOf(lines, ISSUER);

const { did_document: _, ...documents } = inlineFeedOf(
  lines.slice(0, 1),
  ISSUER,
);
/** Only the first of them, and no DID document. */
export const SHORT_FEED: InlineFeed = documents;
