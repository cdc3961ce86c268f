/** `did.json` (docs/protocol.md §1). @module */

import { base64url, type JsonObject, spell, without } from "../bytes.ts";
import { didDocument, ISSUER, jwks, method, publicJwk } from "../documents.ts";
import { upsert } from "../events.ts";
import { type FeedCase, invalid, relationship, valid } from "../feed_case.ts";
import { KEY_1, KEY_2 } from "../keys.ts";
import { line } from "../lines.ts";

const content = { lines: [line(upsert(1))] };
const once = { last_sequence: 1, state: [relationship(1)] };
const KID_1 = `${ISSUER}#${KEY_1.kid}`;

function good(name: string, description: string, did: JsonObject): FeedCase {
  const head = { description, spec: "docs/protocol.md §1" };
  return valid(`did-${name}`, head, { ...content, did }, once);
}

function bad(
  name: string,
  description: string,
  did: JsonObject | string,
  code = "invalid_did_document",
): FeedCase {
  const head = { description, spec: "docs/protocol.md §1" };
  return invalid(`did-${name}`, head, { ...content, did }, { code });
}

function unauthorized(
  name: string,
  description: string,
  did: JsonObject,
): FeedCase {
  return invalid(
    `key-not-authorized-${name}`,
    {
      description,
      spec: "docs/protocol.md §1",
    },
    { ...content, did },
    {
      code: "key_not_authorized",
      line: 1,
      kid: KEY_1.kid,
    },
  );
}

/** Cases about DID documents. */
export const didDocuments: readonly FeedCase[] = [
  valid(
    "did-missing",
    {
      description: "Without did.json every key of the set may sign.",
      spec: "docs/protocol.md §1",
    },
    { ...content, did: null },
    {
      ...once,
      warnings: ["did_document_missing"],
    },
  ),
  good(
    "relative-reference",
    "assertionMethod may say #kid.",
    didDocument([KEY_1], { assertionMethod: [`#${KEY_1.kid}`] }),
  ),
  good(
    "relative-method",
    "So may the method's own id.",
    didDocument([], {
      verificationMethod: [method(KEY_1, { id: `#${KEY_1.kid}` })],
      assertionMethod: [KID_1],
    }),
  ),
  good(
    "embedded-method",
    "Or hold the method itself.",
    didDocument([], { assertionMethod: [method(KEY_1)] }),
  ),
  good(
    "other-methods",
    "Methods of other kinds and of other DIDs authorise nothing and harm " +
      "nothing.",
    didDocument([], {
      verificationMethod: [
        {
          id: `${ISSUER}#multi`,
          type: "Multikey",
          controller: ISSUER,
          publicKeyMultibase:
            "z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        },
        method(KEY_1),
        method(KEY_2, { id: `did:web:other.example#${KEY_1.kid}` }),
      ],
      assertionMethod: [`${ISSUER}#multi`, KID_1, `${ISSUER}#gone`],
      service: [{ id: "#web", type: "LinkedDomains" }],
    }),
  ),

  unauthorized(
    "not-listed",
    "A key of the set that the DID document does not name.",
    didDocument([KEY_2]),
  ),
  unauthorized(
    "authentication-only",
    "A key for logging in is not one for signing events.",
    didDocument([KEY_1], { assertionMethod: [], authentication: [KID_1] }),
  ),
  unauthorized(
    "other-key",
    "The DID document has another key under that kid.",
    didDocument([], {
      verificationMethod: [method(KEY_1, { publicKeyJwk: publicJwk(KEY_2) })],
      assertionMethod: [KID_1],
    }),
  ),
  unauthorized(
    "other-did",
    "A method of another DID under the same fragment.",
    didDocument([], {
      verificationMethod: [
        method(KEY_1, { id: `did:web:other.example#${KEY_1.kid}` }),
      ],
      assertionMethod: [`did:web:other.example#${KEY_1.kid}`],
    }),
  ),
  unauthorized(
    "no-list",
    "Without assertionMethod nothing is authorised.",
    without(didDocument(), "assertionMethod"),
  ),
  invalid("key-not-authorized-second", {
    description:
      "After a rotation that forgot the DID document, events of the new key " +
      "are refused.",
    spec: "docs/protocol.md §1",
  }, {
    jwks: jwks(KEY_1, KEY_2),
    lines: [line(upsert(1)), line(upsert(2), { key: KEY_2 })],
  }, { code: "key_not_authorized", line: 2, kid: KEY_2.kid }),

  bad("other-id", "The document of another DID.", {
    ...didDocument(),
    id: "did:web:other.example",
  }),
  bad("not-json", "did.json is not JSON.", "404 not found\n"),
  bad("null", "did.json is no object.", "null\n"),
  bad("methods-object", "verificationMethod is an array.", {
    ...didDocument(),
    verificationMethod: { [KID_1]: method(KEY_1) },
  }),
  bad("reference-number", "assertionMethod holds references and methods.", {
    ...didDocument(),
    assertionMethod: [1],
  }),
  bad("id-for-two-keys", "One id for two keys.", {
    ...didDocument(),
    verificationMethod: [
      method(KEY_1),
      method(KEY_1, { publicKeyJwk: publicJwk(KEY_2) }),
    ],
  }),
  bad("private-key", "A published private key.", {
    ...didDocument(),
    verificationMethod: [
      method(KEY_1, {
        publicKeyJwk: publicJwk(KEY_1, { d: base64url(KEY_1.seed) }),
      }),
    ],
  }),
  bad(
    "duplicate-member",
    "Two ids.",
    spell(didDocument()).replace("{", '{"id":"did:web:other.example",'),
    "duplicate_json_member",
  ),
];
