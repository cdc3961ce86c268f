import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import {
  createFeedLineParser,
  type ErrorCode,
  isSigError,
  parseEventPayload,
  parseFeedLine,
} from "@sig/core";
import { decodeBase64UrlStrict } from "@sig/core/internal";
import {
  createKeyResolver,
  importSigningKey,
  signEvent,
  type VerificationBackend,
  verifyEnvelope,
} from "@sig/jose";
import { FlattenedSign, flattenedVerify, importJWK } from "jose";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";
import { signJws } from "./jws.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { jwkOfSeed, testJwk, testKey } from "../testdata/keys.ts";

// promise: Keys come from the issuer's key set alone; no header chooses a key
//   or an algorithm.

interface Corpus {
  readonly jwksSets: Readonly<Record<string, unknown>>;
  readonly cases: readonly {
    readonly id: string;
    readonly class: string;
    readonly line: string;
    readonly jwks: string;
    readonly expect: "accept" | "reject";
  }[];
}

/** The codes allowed for a class of cases. */
const CODES: Readonly<Record<string, readonly ErrorCode[]>> = {
  alg: ["algorithm_not_allowed"],
  kid: ["invalid_header", "key_not_found", "signature_invalid"],
  typ: ["typ_mismatch"],
  crit: ["crit_not_supported"],
  hdr: ["invalid_header"],
  hjson: ["invalid_header", "duplicate_json_member"],
  env: [
    "invalid_envelope",
    "invalid_line",
    "invalid_header",
    "duplicate_json_member",
  ],
  b64: ["invalid_base64url"],
  payload: [
    "invalid_envelope",
    "invalid_field",
    "duplicate_json_member",
    "line_too_long",
  ],
};

/** The codes allowed for faults of the key set. */
const JWKS_CODES: Readonly<Record<string, ErrorCode>> = {
  dupkid: "duplicate_kid",
  dupkidSame: "duplicate_kid",
  priv: "private_key_in_jwks",
  oct: "private_key_in_jwks",
  mixed: "private_key_in_jwks",
  ident: "invalid_key",
  xpad: "invalid_key",
  xbits: "invalid_key",
  notarray: "invalid_key",
};

const BACKENDS: readonly VerificationBackend[] = ["node", "web"];

for (const backend of BACKENDS) {
  // Without network access, a request for anything that a header names (`jku`,
  // `x5u`, a kid that is a URL) would fail with NotCapable instead of the code.
  vectorTest(
    `${backend}: every line of the envelope corpus, without any request`,
    "own/envelopes.json",
    async () => {
      const net = await Deno.permissions.query({ name: "net" });
      assertNotEquals(net.state, "granted");
      const corpus = readJsonVectors<Corpus>("own/envelopes.json");
      assertEquals(corpus.cases.length, 134);
      for (const test of corpus.cases) {
        const code = await judge(
          corpus.jwksSets[test.jwks],
          test.line,
          backend,
        );
        if (test.expect === "accept") {
          assertEquals(code, undefined, test.id);
          continue;
        }
        const expected = test.class === "jwks"
          ? [JWKS_CODES[test.jwks] ?? "key_not_found"]
          : CODES[test.class];
        assert(code && expected?.includes(code), `${test.id}: ${code}`);
      }
    },
  );
}

async function judge(
  jwks: unknown,
  line: string,
  backend: VerificationBackend,
): Promise<ErrorCode | undefined> {
  try {
    const keys = await createKeyResolver(jwks, { backend });
    const parsed = parseFeedLine(line);
    await verifyEnvelope(parsed, keys);
    parseEventPayload(parsed.payload);
    return undefined;
  } catch (error) {
    if (!isSigError(error)) throw error;
    return error.code;
  }
}

const EVENT = {
  sequence: 1,
  subject: "did:web:é.example",
  nested: { b: 1, a: [] },
};

Deno.test("jose signs the same bytes and verifies ours", async () => {
  const { kty, crv, x, d } = await testJwk("a");
  const envelope = await signEvent(EVENT, await testKey("a"));
  const theirs = await new FlattenedSign(
    new TextEncoder().encode(JSON.stringify(EVENT)),
  )
    .setProtectedHeader({ alg: "EdDSA", kid: "a", typ: "sig-event+jws" })
    .sign(await importJWK({ kty, crv, x, d }, "EdDSA"));
  assertEquals<unknown>({ ...envelope }, { ...theirs });
  assertEquals(Object.keys(envelope), ["protected", "payload", "signature"]);
  const verified = await flattenedVerify(
    { ...envelope },
    await importJWK({ kty, crv, x }, "EdDSA"),
  );
  assertEquals(
    new TextDecoder().decode(verified.payload),
    JSON.stringify(EVENT),
  );
});

Deno.test("rejects anything but an object with a TypeError", async () => {
  const key = await testKey("a");
  for (const event of [[], null, "{}", 5, undefined] as unknown[]) {
    await assertRejects(
      () => signEvent(event as Record<string, unknown>, key),
      TypeError,
      "Cannot sign event: it must be an object",
    );
  }
});

interface Rfc8037 {
  readonly input: {
    readonly payload: string;
    readonly key: { readonly d: string };
  };
  readonly output: { readonly json_flat: unknown };
}

vectorTest(
  "RFC 8037, A.4: the same members, but not a SIG event",
  "rfc8037/jws.json",
  async () => {
    const { input, output } = readJsonVectors<Rfc8037>("rfc8037/jws.json");
    const seed = decodeBase64UrlStrict(input.key.d) ?? new Uint8Array();
    const key = await importSigningKey(await jwkOfSeed(seed));
    const jws = await signJws({ alg: "EdDSA" }, input.payload, key);
    assertEquals<unknown>(jws, output.json_flat);
    await expectSigError(
      () => parseFeedLine(JSON.stringify(jws)),
      "typ_mismatch",
      "typ must be sig-event+jws",
    );
  },
);

const signer = await testKey("a");
const other = await testKey("b");
const envelope = await signEvent({ sequence: 1, note: "é😀" }, signer);

for (const backend of BACKENDS) {
  const keys = await createKeyResolver({
    keys: [signer.publicJwk, other.publicJwk],
  }, { backend });
  const verify = (members: object) =>
    verifyEnvelope(
      parseFeedLine(JSON.stringify({ ...envelope, ...members })),
      keys,
    );

  Deno.test(`${backend}: returns the key of the signature`, async () => {
    const signedBy = verify({});
    assertEquals(signedBy instanceof Promise, backend === "web");
    assertEquals((await signedBy).kid, "a");
  });

  Deno.test(`${backend}: concurrent verifications do not share bytes`, async () => {
    const lines = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const event = { sequence: i, pad: "x".repeat((i * 997) % 9000) };
        return JSON.stringify(await signEvent(event, signer));
      }),
    );
    // The parser reuses the same arrays for all lines.
    const parse = createFeedLineParser();
    const encoder = new TextEncoder();
    const verdicts = lines.map((line) =>
      verifyEnvelope(parse(encoder.encode(line)), keys)
    );
    for (const verdict of verdicts) assertEquals((await verdict).kid, "a");
  });
}
