/** Keys and signatures of events (docs/protocol.md §1, §2). @module */

import { createHash } from "node:crypto";
import { base64url, concat, toBytes } from "../bytes.ts";
import { keySet, publicJwk } from "../documents.ts";
import { revoke, upsert } from "../events.ts";
import {
  type CaseContent,
  type FeedCase,
  invalid,
  relationship,
  valid,
} from "../feed_case.ts";
import { KEY_1, KEY_2, STRANGER } from "../keys.ts";
import { type Envelope, header, line, seal } from "../lines.ts";

/** L, the order of the base point (RFC 8032 §5.1). */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function fromLittleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((n, byte) => (n << 8n) | BigInt(byte), 0n);
}

function toLittleEndian(n: bigint): Uint8Array {
  return Uint8Array.from(
    { length: 32 },
    (_, i) => Number((n >> BigInt(8 * i)) & 0xffn),
  );
}

function signatureOf(envelope: Envelope): Uint8Array {
  return KEY_1.sign(messageOf(envelope));
}

function messageOf({ protected: head, payload }: Envelope): Uint8Array {
  return toBytes(`${head}.${payload}`);
}

/**
 * Returns a signature with S + L, which a verifier accepts if it does not check
 * S < L.
 */
function malleated(envelope: Envelope): Uint8Array {
  const bytes = signatureOf(envelope);
  const s = fromLittleEndian(bytes.subarray(32));
  return concat(bytes.subarray(0, 32), toLittleEndian(s + L));
}

/**
 * Returns a signature with the neutral element as R and S = h·a. It satisfies
 * the equation of RFC 8032 for the true key, and only R makes it invalid.
 */
function smallOrderR(envelope: Envelope): Uint8Array {
  const expanded = createHash("sha512").update(KEY_1.seed).digest();
  expanded[0] = expanded[0]! & 248;
  expanded[31] = (expanded[31]! & 63) | 64;
  const a = fromLittleEndian(expanded.subarray(0, 32));
  const r = toLittleEndian(1n);
  const h = createHash("sha512").update(r)
    .update(KEY_1.x, "base64url").update(messageOf(envelope)).digest();
  return concat(r, toLittleEndian((fromLittleEndian(h) * a) % L));
}

const first = line(upsert(1));
const second = seal(revoke(2));

function bad(
  name: string,
  description: string,
  changes: Partial<Envelope>,
): FeedCase {
  return invalid(`signature-${name}`, {
    description,
    spec: "docs/protocol.md §2",
  }, {
    lines: [first, JSON.stringify({ ...second, ...changes })],
  }, { code: "signature_invalid", line: 2, kid: KEY_1.kid });
}

function unknownKey(
  name: string,
  description: string,
  kid: string,
  content: CaseContent = {},
): FeedCase {
  return invalid(`key-${name}`, { description, spec: "docs/protocol.md §1" }, {
    ...content,
    lines: [first, line(revoke(2), { header: header({ kid }) })],
  }, { code: "key_not_found", line: 2, kid });
}

/** Flips one bit of the first byte. */
function flipped(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes, (byte, i) => i === 0 ? byte ^ 1 : byte);
}

const ODD_KID = `../../etc/passwd # ${"é".repeat(237)}`;

/** Cases about signatures. */
export const signatures: readonly FeedCase[] = [
  bad("flipped-bit", "One bit of the signature is flipped.", {
    signature: base64url(flipped(signatureOf(second))),
  }),
  bad("zero", "64 zero bytes.", { signature: base64url(new Uint8Array(64)) }),
  bad("empty", "A signature of no bytes.", { signature: "" }),
  bad("63-bytes", "A signature of 63 bytes.", {
    signature: base64url(signatureOf(second).subarray(0, 63)),
  }),
  bad("65-bytes", "A signature of 65 bytes.", {
    signature: base64url(concat(signatureOf(second), Uint8Array.of(0))),
  }),
  bad("s-plus-l", "S + L instead of S: one signature has one spelling.", {
    signature: base64url(malleated(second)),
  }),
  bad("small-order-r", "R of small order.", {
    signature: base64url(smallOrderR(second)),
  }),
  bad("of-other-payload", "A good signature over another event.", {
    signature: seal(revoke(2, { reason_code: "other" })).signature,
  }),
  bad("payload-respelled", "The event as it was signed, spelled anew.", {
    payload: base64url(JSON.stringify(revoke(2), null, 1)),
  }),
  bad("header-respelled", "The header as it was signed, spelled anew.", {
    protected: base64url(JSON.stringify(header(), null, 1)),
  }),
  invalid(
    "signature-of-stranger",
    {
      description: "Another key signs under a published kid.",
      spec: "docs/protocol.md §2",
    },
    { lines: [first, line(revoke(2), { key: STRANGER })] },
    {
      code: "signature_invalid",
      line: 2,
      kid: STRANGER.kid,
    },
  ),
  invalid("signature-of-jws-detached", {
    description: "A signature over the bare payload, without the header.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [
      first,
      JSON.stringify({
        ...second,
        signature: base64url(KEY_1.sign(toBytes(JSON.stringify(revoke(2))))),
      }),
    ],
  }, { code: "signature_invalid", line: 2, kid: KEY_1.kid }),

  unknownKey("unknown", "The key set has no such kid.", "orgsign-9"),
  unknownKey("other-case", "A kid is compared exactly.", "Orgsign-1"),
  unknownKey("proto", "A kid is looked up among keys only.", "__proto__"),
  unknownKey(
    "skipped",
    "A key that may not sign is as good as absent.",
    KEY_2.kid,
    {
      jwks: keySet(publicJwk(KEY_1), publicJwk(KEY_2, { use: "enc" })),
    },
  ),

  valid("key-kid-odd", {
    description: "A foreign kid of 256 characters, whatever they are.",
    spec: "docs/protocol.md §1",
  }, {
    jwks: keySet(publicJwk({ ...KEY_1, kid: ODD_KID })),
    did: null,
    lines: [line(upsert(1), { header: header({ kid: ODD_KID }) })],
  }, {
    last_sequence: 1,
    state: [relationship(1)],
    warnings: ["did_document_missing"],
  }),
];
