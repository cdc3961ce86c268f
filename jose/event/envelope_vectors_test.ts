import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { type ErrorCode, isSigError } from "@sig/core";
import { parseEventPayload, parseFeedLine } from "@sig/core";
import {
  createKeyResolver,
  type VerificationBackend,
  verifyEnvelope,
} from "@sig/jose";
import { readJsonVectors, vectorTest } from "../testdata/vectors.ts";

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

/** The codes that a class of cases may end with. */
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

/** The same for faults of the key set itself. */
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
  // No network: whatever a header names (`jku`, `x5u`, a kid that is a URL),
  // a request would end with NotCapable instead of the code.
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
