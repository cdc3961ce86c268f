/** `sig.json` (docs/protocol.md §1). @module */

import { type JsonObject, spell, without } from "../bytes.ts";
import { didDocument, metadata } from "../documents.ts";
import { upsert } from "../events.ts";
import { type FeedCase, invalid, relationship, valid } from "../feed_case.ts";
import { KEY_1 } from "../keys.ts";
import { line } from "../lines.ts";

const content = { lines: [line(upsert(1))] };
const once = { last_sequence: 1, state: [relationship(1)] };

function bad(
  name: string,
  description: string,
  document: JsonObject | string,
  code = "invalid_metadata",
): FeedCase {
  return invalid(`metadata-${name}`, {
    description,
    spec: "docs/protocol.md §1",
  }, {
    ...content,
    metadata: document,
  }, { code });
}

const BASE = "https://acme.example";
const PORT_ISSUER = "did:web:acme.example%3A8443";

/** Cases about metadata. */
export const metadataCases: readonly FeedCase[] = [
  valid("metadata-minimal", {
    description: "event_serialization may be absent.",
    spec: "docs/protocol.md §1",
  }, {
    ...content,
    metadata: without(metadata(), "event_serialization"),
  }, once),
  valid("metadata-unknown-members", {
    description: "Unknown members and further algorithms are ignored.",
    spec: "docs/protocol.md §1",
  }, {
    ...content,
    metadata: metadata({
      algorithms_supported: ["ES256", "EdDSA"],
      contact: "security@acme.example",
      checkpoint: { every: 100 },
    }),
  }, once),
  valid("metadata-other-paths", {
    description:
      "Readers follow jwks_uri and events_uri, they don't guess file names.",
    spec: "docs/protocol.md §1",
  }, {
    ...content,
    metadata: metadata({
      jwks_uri: `${BASE}/keys/sig%20keys.json?v=2`,
      events_uri: `${BASE}/feeds/2026/events.ndjson`,
    }),
    jwksPath: "keys/sig keys.json",
    feedPath: "feeds/2026/events.ndjson",
  }, once),
  valid("metadata-issuer-with-port", {
    description: "An issuer's did:web may have a percent-encoded port.",
    spec: "docs/protocol.md §1",
  }, {
    metadata: metadata({
      issuer: PORT_ISSUER,
      jwks_uri: `${BASE}:8443/.well-known/jwks.json`,
      events_uri: `${BASE}:8443/.well-known/sig/events.jsonl`,
    }),
    did: didDocument([KEY_1], {
      id: PORT_ISSUER,
      assertionMethod: [`${PORT_ISSUER}#orgsign-1`],
      verificationMethod: [{
        id: `${PORT_ISSUER}#orgsign-1`,
        type: "JsonWebKey2020",
        controller: PORT_ISSUER,
        publicKeyJwk: { kty: "OKP", crv: "Ed25519", x: KEY_1.x },
      }],
    }),
    lines: [line(upsert(1, { issuer: PORT_ISSUER }))],
  }, {
    issuer: PORT_ISSUER,
    last_sequence: 1,
    state: [relationship(1, { issuer: PORT_ISSUER })],
  }),

  bad("not-json", "sig.json is not JSON.", "not found\n"),
  bad("array", "sig.json is no object.", "[]\n"),
  bad("bom", "A byte order mark.", `\ufeff${spell(metadata())}`),
  bad(
    "duplicate-member",
    "Two issuers.",
    spell(metadata()).replace("{", '{"issuer":"did:web:other.example",'),
    "duplicate_json_member",
  ),
  bad(
    "without-issuer",
    "A required member is missing.",
    without(metadata(), "issuer"),
  ),
  bad("spec-version", "Another version.", metadata({ spec_version: "sig/1" })),
  bad("issuer-path", "An issuer's did:web has no path.", {
    ...metadata(),
    issuer: "did:web:acme.example:team",
  }),
  bad("issuer-method", "Another DID method.", {
    ...metadata(),
    issuer: "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
  }),
  bad("public-only-text", "public_only is true or false.", {
    ...metadata(),
    public_only: "true",
  }),
  bad("algorithms", "EdDSA must be among the algorithms.", {
    ...metadata(),
    algorithms_supported: ["ES256"],
  }),
  bad("serialization", "Another serialization.", {
    ...metadata(),
    event_serialization: "jws-compact",
  }),
  bad("uri-relative", "URIs are absolute.", {
    ...metadata(),
    events_uri: "/.well-known/sig/events.jsonl",
  }),
  bad("uri-file", "Of http only.", {
    ...metadata(),
    jwks_uri: "file:///etc/passwd",
  }),
];
