/** `jwks.json` (docs/protocol.md §1). @module */

import { base64url, type JsonObject, spell, without } from "../bytes.ts";
import { didDocument, jwks, keySet, publicJwk } from "../documents.ts";
import { issuedOn, revoke, upsert } from "../events.ts";
import { type FeedCase, invalid, relationship, valid } from "../feed_case.ts";
import { KEY_1, KEY_2 } from "../keys.ts";
import { line } from "../lines.ts";

const content = { lines: [line(upsert(1))] };
const once = { last_sequence: 1, state: [relationship(1)] };

/** The public P-256 key of RFC 7515, appendix A.3. */
const P256 = {
  kty: "EC",
  crv: "P-256",
  x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
};

function bad(
  name: string,
  code: string,
  description: string,
  document: JsonObject | string,
  kid?: string,
): FeedCase {
  return invalid(`jwks-${name}`, { description, spec: "docs/protocol.md §1" }, {
    ...content,
    jwks: document,
  }, { code, ...(kid === undefined ? {} : { kid }) });
}

/** Returns an invalid case whose second key has this x. */
function badX(name: string, description: string, x: unknown): FeedCase {
  return bad(
    `x-${name}`,
    "invalid_key",
    description,
    keySet(publicJwk(KEY_1), publicJwk(KEY_2, { x })),
  );
}

/** Encodes a y coordinate of 32 bytes: the first, the last, and all others. */
function point(first: number, rest = 0, last = rest): string {
  const bytes = new Uint8Array(32).fill(rest);
  bytes[0] = first;
  bytes[31] = last;
  return base64url(bytes);
}

/** Cases about key sets. */
export const keySets: readonly FeedCase[] = [
  valid("key-rotation", {
    description:
      "After a rotation both keys stay published: old events keep theirs.",
    spec: "docs/protocol.md §1",
  }, {
    jwks: jwks(KEY_1, KEY_2),
    did: didDocument([KEY_1, KEY_2]),
    lines: [
      line(upsert(1)),
      line(upsert(2, { roles: ["read"] }), { key: KEY_2 }),
      line(revoke(3), { key: KEY_2 }),
    ],
  }, {
    last_sequence: 3,
    state: [relationship(3, {
      roles: ["read"],
      revoked_reason_code: "employment_ended",
      revoked_effective_at: issuedOn(3),
    })],
  }),
  valid("jwks-foreign-keys", {
    description:
      "An organisation's other keys are skipped: another kty, crv, use or " +
      "alg, key_ops without verify, no kid. Even under the kid of a key.",
    spec: "docs/protocol.md §1",
  }, {
    ...content,
    jwks: keySet(
      { ...P256, kid: "web-1", use: "sig", alg: "ES256" },
      { ...P256, kid: KEY_1.kid },
      publicJwk(KEY_2, { crv: "X25519", kid: "enc-1" }),
      publicJwk(KEY_2, { use: "enc" }),
      publicJwk(KEY_2, { alg: "Ed25519" }),
      { ...without(publicJwk(KEY_2), "use"), key_ops: ["sign"] },
      without(publicJwk(KEY_2), "kid"),
      publicJwk(KEY_1),
    ),
  }, once),
  valid("jwks-minimal-key", {
    description: "use and alg may be absent; other members are ignored.",
    spec: "docs/protocol.md §1",
  }, {
    ...content,
    jwks: {
      keys: [{
        kid: KEY_1.kid,
        x: KEY_1.x,
        crv: "Ed25519",
        kty: "OKP",
        key_ops: ["verify"],
        "x5t#S256": "none",
        nbf: 1,
      }],
      note: "ours",
    },
  }, once),
  valid(
    "jwks-empty",
    {
      description: "A key set without keys, with an empty feed.",
      spec: "docs/protocol.md §1",
    },
    { jwks: keySet() },
    { last_sequence: 0 },
  ),

  bad("not-json", "invalid_key", "jwks.json is not JSON.", "<html></html>\n"),
  bad("array", "invalid_key", "A bare array of keys.", "[]\n"),
  bad("without-keys", "invalid_key", "No member keys.", {}),
  bad("key-null", "invalid_key", "A key is an object.", { keys: [null] }),
  bad(
    "duplicate-member",
    "duplicate_json_member",
    "Two x in one key.",
    spell(jwks(KEY_1)).replace('"x":', `"x":"${KEY_2.x}","x":`),
  ),
  bad(
    "private-key",
    "private_key_in_jwks",
    "A published private key is no longer one: the whole set is refused.",
    keySet(publicJwk(KEY_1), publicJwk(KEY_2, { d: base64url(KEY_2.seed) })),
    KEY_2.kid,
  ),
  bad(
    "symmetric-key",
    "private_key_in_jwks",
    "A symmetric key is a secret as a whole.",
    keySet(publicJwk(KEY_1), { kty: "oct", k: "AAAA", kid: "mac-1" }),
    "mac-1",
  ),
  bad(
    "private-key-of-other-kind",
    "private_key_in_jwks",
    "Also when it is of a kind that would be skipped.",
    keySet(publicJwk(KEY_1), { ...P256, d: "AAAA", kid: "web-1" }),
    "web-1",
  ),
  bad(
    "duplicate-kid",
    "duplicate_kid",
    "One kid for two keys.",
    keySet(publicJwk(KEY_1), publicJwk(KEY_2, { kid: KEY_1.kid })),
    KEY_1.kid,
  ),
  bad(
    "duplicate-kid-same-key",
    "duplicate_kid",
    "Even when both are the same key.",
    jwks(KEY_1, KEY_1),
    KEY_1.kid,
  ),
  badX("31-bytes", "A public key has 32 bytes.", base64url(new Uint8Array(31))),
  badX("padding", "base64url is strict here, too.", `${KEY_2.x}=`),
  badX("number", "x is a string.", 7),
  badX("neutral", "The neutral element: anyone can sign for it.", point(1)),
  badX("order-2", "A point of order 2: y = -1.", point(0xec, 0xff, 0x7f)),
  badX(
    "non-canonical",
    "y = p + 3, the same point as y = 3.",
    point(0xf0, 0xff, 0x7f),
  ),
  badX("off-curve", "y = 2 belongs to no point.", point(2)),
  bad(
    "kid-empty",
    "invalid_key",
    "A kid has at least one character.",
    keySet(publicJwk(KEY_1), publicJwk(KEY_2, { kid: "" })),
  ),
];
