/** The issuer of the OpenAPI document's examples. @module */

import type { InlineFeed } from "@sig/consumer";
import { ISSUER, revoke, upsert } from "../../tests/kit/events.ts";
import {
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

function feedOf(lines: readonly string[]): Required<InlineFeed> {
  const documents = makeDocuments({ did: ISSUER, keys: [key!], lines });
  const textOf = (path: string) => {
    const content = documents.get(path);
    return typeof content === "string"
      ? content
      : new TextDecoder().decode(content as Uint8Array);
  };
  return {
    metadata: JSON.parse(textOf(PATHS.metadata)),
    jwks: JSON.parse(textOf(PATHS.jwks)),
    did_document: JSON.parse(textOf(PATHS.did)),
    events: textOf(PATHS.feed),
  };
}

/** Three events: Alice, Bob, Bob revoked. */
export const EXAMPLE_FEED: Required<InlineFeed> = feedOf(lines);

const { did_document: _, ...documents } = feedOf(lines.slice(0, 1));
/** The first of them alone, and no DID document. */
export const SHORT_FEED: InlineFeed = documents;
