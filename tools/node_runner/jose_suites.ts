/** Suites of @sig/jose, for both ways to verify. @module */

import {
  decodeBase64UrlStrict,
  isSigError,
  parseEventPayload,
  parseFeedLine,
} from "@sig/core";
import {
  createKeyResolver,
  importVerificationKey,
  type VerificationBackend,
  verifyEnvelope,
} from "@sig/jose";
import { Buffer } from "node:buffer";
import { isAccepted, readJson, type Suite, Tally } from "./suite.ts";

interface Envelopes {
  readonly jwksSets: Readonly<Record<string, unknown>>;
  readonly cases: readonly {
    readonly id: string;
    readonly line: string;
    readonly jwks: string;
    readonly expect: string;
  }[];
}

/** Lines and key sets, from the bytes to the fields. */
export function envelopeSuite(backend: VerificationBackend): Suite {
  return async (vectors) => {
    const tally = new Tally();
    const { jwksSets, cases } = readJson<Envelopes>(
      vectors,
      "own/envelopes.json",
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
  return async (vectors) => {
    const tally = new Tally();
    const { testGroups } = readJson<Wycheproof>(
      vectors,
      "wycheproof/ed25519_test.json",
    );
    for (const { publicKey, tests } of testGroups) {
      const x = Buffer.from(publicKey.pk, "hex").toString("base64url");
      const jwk = { kty: "OKP", crv: "Ed25519", x };
      const key = await importVerificationKey(jwk, { backend });
      for (const { tcId, msg, sig, result } of tests) {
        const verified = await key.verify(bytesOf(sig), bytesOf(msg));
        tally.expect(`tcId ${tcId}`, verified, result === "valid");
      }
    }
    return tally;
  };
}

function bytesOf(hex: string): Uint8Array {
  return decodeBase64UrlStrict(Buffer.from(hex, "hex").toString("base64url"))!;
}
