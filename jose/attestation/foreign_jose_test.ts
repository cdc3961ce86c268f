import { assert, assertEquals, assertRejects } from "@std/assert";
import { isSigError, parseFeedLine } from "@sig/core";
import { isObject } from "@sig/core/internal";
import {
  createKeyResolver,
  importVerificationKey,
  verifyAttestation,
  verifyEnvelope,
} from "@sig/jose";
import { testKey } from "../testdata/keys.ts";
import { CHALLENGE, NOW } from "../testdata/tokens.ts";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";

interface Foreign {
  readonly testGroups: readonly {
    readonly public?: unknown;
    readonly private?: unknown;
    readonly tests: readonly {
      readonly tcId: number;
      readonly jws?: unknown;
      readonly jwe?: unknown;
    }[];
  }[];
}

const FILES = [
  "json_web_signature_test",
  "json_web_key_test",
  "json_web_crypto_test",
].map((name) => `wycheproof/${name}.json`);

vectorTest(
  "Wycheproof JOSE: rejects all 510 tokens and all keys of the 56 key sets",
  "wycheproof/json_web_signature_test.json",
  async () => {
    const groups = FILES.flatMap((path) =>
      readJsonVectors<Foreign>(path).testGroups
    );
    assertEquals(groups.length, 56);
    let tokens = 0;
    for (const group of groups) {
      for (const set of [group.public, group.private]) await requireNoKey(set);
      for (const { tcId, jws, jwe } of group.tests) {
        await requireRefused(jws ?? jwe, tcId);
        tokens++;
      }
    }
    assertEquals(tokens, 510);
  },
);

async function requireNoKey(keyOrSet: unknown): Promise<void> {
  if (!isObject(keyOrSet)) return;
  const jwks = "keys" in keyOrSet ? keyOrSet : { keys: [keyOrSet] };
  try {
    assertEquals((await createKeyResolver(jwks)).keys.size, 0);
  } catch (error) {
    assert(isSigError(error), String(error));
  }
}

/**
 * Requires that a token is rejected as an event and as a login, even with a key
 * of its kid.
 */
async function requireRefused(token: unknown, tcId: number): Promise<void> {
  const { kid, parts, text } = readToken(token);
  const offered = { ...publicJwk, kid };
  const keys = await createKeyResolver({ keys: [offered] });
  const [first, payload, signature] = parts;
  const lines = [
    text,
    JSON.stringify({ protected: first, payload, signature }),
  ];
  for (const line of lines) {
    const error = await assertRejects(async () =>
      await verifyEnvelope(parseFeedLine(line), keys)
    );
    assert(isSigError(error) && error.category !== "internal", `${tcId}`);
  }
  const key = await importVerificationKey(offered);
  const options = { challenge: CHALLENGE, now: () => NOW, key: () => key };
  const error = await assertRejects(() => verifyAttestation(text, options));
  assert(isSigError(error), `${tcId}`);
}

const { publicJwk } = await testKey("offered");

function readToken(token: unknown): {
  readonly kid: string;
  readonly parts: readonly string[];
  readonly text: string;
} {
  const text = typeof token === "string" ? token : JSON.stringify(token);
  const parts = text.split(".");
  const kid = /"kid"\s*:\s*"([^"]+)"/.exec(decodeLax(parts[0] ?? ""))?.[1];
  return { kid: kid ?? "any", parts, text };
}

function decodeLax(part: string): string {
  try {
    return atob(part.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
