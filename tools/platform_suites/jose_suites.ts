/** Suites of @sig/jose for both implementations of verification. @module */

import { isSigError, parseEventPayload, parseFeedLine } from "@sig/core";
import {
  createKeyResolver,
  importVerificationKey,
  type VerificationBackend,
  verifyEnvelope,
} from "@sig/jose";
import { decodeHex, encodeBase64Url } from "./encode.ts";
import { isAccepted, type Suite, Tally } from "./suite.ts";

interface Envelopes {
  readonly jwksSets: Readonly<Record<string, unknown>>;
  readonly cases: readonly {
    readonly id: string;
    readonly line: string;
    readonly jwks: string;
    readonly expect: string;
  }[];
}

/** Lines and key sets. */
export function envelopeSuite(backend: VerificationBackend): Suite {
  return async ({ files }) => {
    const tally = new Tally();
    const { jwksSets, cases } = files.json<Envelopes>(
      "shared/own/envelopes.json",
    );
    for (const { id, line, jwks, expect } of cases) {
      const accepted = await isAccepted(async () => {
        const keys = await createKeyResolver(jwksSets[jwks], { backend });
        const parsed = parseFeedLine(line);
        await verifyEnvelope(parsed, keys);
        parseEventPayload(parsed.payload);
      }, isSigError);
      tally.expect(id, accepted, expect === "accept");
    }
    return tally;
  };
}

interface Wycheproof {
  readonly testGroups: readonly {
    readonly publicKey: { readonly pk: string };
    readonly tests: readonly {
      readonly tcId: number;
      readonly msg: string;
      readonly sig: string;
      readonly result: string;
    }[];
  }[];
}

/** Ed25519 signatures of Project Wycheproof. */
export function wycheproofSuite(backend: VerificationBackend): Suite {
  return async ({ files }) => {
    const tally = new Tally();
    const { testGroups } = files.json<Wycheproof>(
      "shared/wycheproof/ed25519_test.json",
    );
    for (const { publicKey, tests } of testGroups) {
      const x = encodeBase64Url(decodeHex(publicKey.pk));
      const jwk = { kty: "OKP", crv: "Ed25519", x };
      const key = await importVerificationKey(jwk, { backend });
      for (const { tcId, msg, sig, result } of tests) {
        const verified = await key.verify(decodeHex(sig), decodeHex(msg));
        tally.expect(`tcId ${tcId}`, verified, result === "valid");
      }
    }
    return tally;
  };
}
