/** Protected headers (docs/protocol.md §2). @module */

import { createHmac } from "node:crypto";
import { base64url, type JsonObject, without } from "../bytes.ts";
import { revoke, upsert } from "../events.ts";
import { publicJwk } from "../documents.ts";
import { type FeedCase, invalid } from "../feed_case.ts";
import { KEY_1 } from "../keys.ts";
import { header, line, seal } from "../lines.ts";

const first = line(upsert(1));

/** Returns a case whose second line is signed with a wrong header. */
function wrong(
  name: string,
  code: string,
  description: string,
  head: JsonObject | string,
): FeedCase {
  return invalid(
    `header-${name}`,
    { description, spec: "docs/protocol.md §2" },
    {
      lines: [first, line(revoke(2), { header: head })],
    },
    { code, line: 2 },
  );
}

const alg = (name: string, description: string, value: unknown) =>
  wrong(
    `alg-${name}`,
    "algorithm_not_allowed",
    description,
    header({ alg: value }),
  );

const typ = (name: string, description: string, value: unknown) =>
  wrong(`typ-${name}`, "typ_mismatch", description, header({ typ: value }));

const kid = (name: string, description: string, value: unknown) =>
  wrong(`kid-${name}`, "invalid_header", description, header({ kid: value }));

const member = (name: string, description: string, changes: JsonObject) =>
  wrong(`member-${name}`, "invalid_header", description, header(changes));

const crit = (name: string, description: string, changes: JsonObject) =>
  wrong(name, "crit_not_supported", description, header(changes));

/**
 * Returns a line with an HMAC whose secret is the public key: an algorithm
 * confusion attack.
 */
function hmacWithPublicKey(): string {
  const parts = {
    protected: base64url(header({ alg: "HS256" })),
    payload: base64url(revoke(2)),
  };
  const mac = createHmac("sha256", JSON.stringify(publicJwk(KEY_1)))
    .update(`${parts.protected}.${parts.payload}`).digest();
  return JSON.stringify({ ...parts, signature: base64url(mac) });
}

/** Cases about headers. */
export const headers: readonly FeedCase[] = [
  invalid("header-alg-none", {
    description: "alg none, with an empty signature.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [
      first,
      JSON.stringify({
        ...seal(revoke(2), { header: header({ alg: "none" }) }),
        signature: "",
      }),
    ],
  }, { code: "algorithm_not_allowed", line: 2 }),
  invalid(
    "header-alg-hs256",
    {
      description: "alg HS256, with the public key as the secret.",
      spec: "docs/protocol.md §2",
    },
    { lines: [first, hmacWithPublicKey()] },
    {
      code: "algorithm_not_allowed",
      line: 2,
    },
  ),
  alg("es256", "Another signature algorithm.", "ES256"),
  alg(
    "ed25519",
    "The newer name of RFC 9864 is not the one of v0.1.",
    "Ed25519",
  ),
  alg("lower-case", "Names are compared exactly.", "eddsa"),
  alg("array", "A list that contains EdDSA is not EdDSA.", ["EdDSA"]),
  wrong(
    "alg-missing",
    "algorithm_not_allowed",
    "A header without alg.",
    without(header(), "alg"),
  ),

  wrong(
    "typ-missing",
    "typ_mismatch",
    "A header without typ: any JWS could pass for an event.",
    without(header(), "typ"),
  ),
  typ("attestation", "A login attestation is no event.", "sig-attestation+jwt"),
  typ("upper-case", "typ is compared exactly.", "SIG-EVENT+JWS"),
  typ("media-type", "No application/ prefix.", "application/sig-event+jws"),

  crit("crit", "crit is refused, even for what we would know.", {
    crit: ["exp"],
    exp: 1,
  }),
  crit("crit-empty", "An empty crit is refused, too.", { crit: [] }),
  crit("b64-false", "b64 is refused: the payload is always base64url.", {
    b64: false,
    crit: ["b64"],
  }),
  crit("b64-true", "Even where it says what is the case anyway.", {
    b64: true,
  }),

  wrong(
    "kid-missing",
    "invalid_header",
    "A header without kid.",
    without(header(), "kid"),
  ),
  kid("empty", "A kid has at least one character.", ""),
  kid("number", "A kid is a string.", 1),
  kid("long", "A kid has at most 256 characters.", "k".repeat(257)),
  kid("control", "A kid has no control characters.", "orgsign-1\n"),

  member("jwk", "An embedded key is never used.", { jwk: publicJwk(KEY_1) }),
  member("jku", "Nothing is fetched because a header says so.", {
    jku: "https://acme.example/.well-known/jwks.json",
  }),
  member("x5u", "No certificates.", { x5u: "https://acme.example/x.crt" }),
  member("unknown", "No member but alg, kid and typ.", { iat: 1 }),

  wrong("not-json", "invalid_header", "A header that is not JSON.", "{alg}"),
  wrong("array", "invalid_header", "A header that is no object.", "[]"),
  wrong("empty", "invalid_header", "A header of no bytes.", ""),
  wrong(
    "bom",
    "invalid_header",
    "A byte order mark before the header.",
    `\ufeff${JSON.stringify(header())}`,
  ),
  wrong(
    "duplicate-member",
    "duplicate_json_member",
    "Two algs.",
    `{"alg":"none",${JSON.stringify(header()).slice(1)}`,
  ),
];
