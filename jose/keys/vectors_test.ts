import { assert, assertEquals } from "@std/assert";
import { decodeHex, encodeHex } from "@std/encoding/hex";
import {
  importSigningKey,
  importVerificationKey,
  type VerificationBackend,
} from "@sig/jose";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { jwkOfSeed, publicJwkOf } from "../testdata/keys.ts";
import {
  readJsonVectors,
  readVectors,
  vectorTest,
} from "../../tests/kit/others_vectors.ts";

/** A key that can't be imported verifies no signature. */
async function verifies(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
  backend: VerificationBackend,
): Promise<boolean> {
  const jwk = publicJwkOf(publicKey);
  let key;
  try {
    key = await importVerificationKey(jwk, { backend });
  } catch {
    return false;
  }
  return await key.verify(signature, message);
}

async function signatureOf(
  seed: Uint8Array,
  message: Uint8Array,
): Promise<string> {
  const key = await importSigningKey(await jwkOfSeed(seed));
  return encodeHex(await key.sign(message));
}

interface Rfc8032 {
  readonly name: string;
  readonly secretKey: string;
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}

interface AcvpTest {
  readonly tcId: number;
  readonly d: string;
  readonly q: string;
  readonly message: string;
  readonly signature: string;
  readonly testPassed: boolean;
}

interface Acvp {
  readonly testGroups: readonly {
    readonly curve?: string;
    readonly preHash?: boolean;
    readonly d?: string;
    readonly q?: string;
    readonly tests: readonly AcvpTest[];
  }[];
}

const BACKENDS: readonly VerificationBackend[] = ["node", "web"];

for (const backend of BACKENDS) {
  vectorTest(
    `${backend}: RFC 8032, pure accepted, context and prehash refused`,
    "rfc8032/ed25519.json",
    async () => {
      const verdict = (test: Rfc8032) =>
        verifies(
          decodeHex(test.publicKey),
          decodeHex(test.message),
          decodeHex(test.signature),
          backend,
        );
      const pure = readJsonVectors<Rfc8032[]>("rfc8032/ed25519.json");
      assertEquals(pure.length, 5);
      for (const test of pure) assert(await verdict(test), test.name);
      const others = ["rfc8032/ed25519ctx.json", "rfc8032/ed25519ph.json"]
        .flatMap((path) => readJsonVectors<Rfc8032[]>(path));
      assertEquals(others.length, 5);
      for (const test of others) assert(!await verdict(test), test.name);
    },
  );

  vectorTest(
    `${backend}: ACVP key and signature verification`,
    "acvp/SigVer.json",
    async () => {
      let signatures = 0;
      for (
        const group of readJsonVectors<Acvp>("acvp/SigVer.json").testGroups
      ) {
        if (group.curve !== "ED-25519") continue;
        for (const test of group.tests) {
          const verdict = await verifies(
            decodeHex(test.q),
            decodeHex(test.message),
            decodeHex(test.signature),
            backend,
          );
          const expected = !group.preHash && test.testPassed;
          assertEquals(verdict, expected, `tcId ${test.tcId}`);
          signatures++;
        }
      }
      assertEquals(signatures, 10);
      let keys = 0;
      for (
        const group of readJsonVectors<Acvp>("acvp/KeyVer.json").testGroups
      ) {
        if (group.curve !== "ED-25519") continue;
        for (const test of group.tests) {
          const jwk = publicJwkOf(decodeHex(test.q));
          const load = () => importVerificationKey(jwk, { backend });
          if (test.testPassed) await load();
          else await expectSigError(load, "invalid_key", "not a point on the");
          keys++;
        }
      }
      assertEquals(keys, 4);
    },
  );
}

vectorTest(
  "RFC 8032: signatures, byte for byte",
  "rfc8032/ed25519.json",
  async () => {
    for (const test of readJsonVectors<Rfc8032[]>("rfc8032/ed25519.json")) {
      const seed = decodeHex(test.secretKey).slice(0, 32);
      const message = decodeHex(test.message);
      assertEquals(await signatureOf(seed, message), test.signature, test.name);
    }
  },
);

vectorTest(
  "ACVP: keys and signatures, byte for byte",
  "acvp/SigGen.json",
  async () => {
    let keys = 0;
    for (
      const { tests } of readJsonVectors<Acvp>("acvp/KeyGen.json").testGroups
    ) {
      for (const { d, q } of tests) {
        if (d.length !== 64) continue;
        const { x } = await jwkOfSeed(decodeHex(d));
        assertEquals(x, publicJwkOf(decodeHex(q)).x);
        keys++;
      }
    }
    assertEquals(keys, 3);
    let signatures = 0;
    for (const group of readJsonVectors<Acvp>("acvp/SigGen.json").testGroups) {
      if (group.curve !== "ED-25519" || group.preHash) continue;
      const seed = decodeHex(group.d ?? "");
      for (const { tcId, message, signature } of group.tests) {
        assertEquals(
          (await signatureOf(seed, decodeHex(message))).toUpperCase(),
          signature,
          `tcId ${tcId}`,
        );
        signatures++;
      }
    }
    assertEquals(signatures, 42);
  },
);

vectorTest(
  "djb: 1024 signatures, byte for byte, and rejects each with a flipped bit",
  "djb/djb_sign_input_1024.txt",
  async () => {
    const lines = readVectors("djb/djb_sign_input_1024.txt").trim().split("\n");
    assertEquals(lines.length, 1024);
    for (const [index, line] of lines.entries()) {
      const fields = line.split(":").map(decodeHex);
      const [secret, publicKey, message, signed] = fields;
      assert(secret && publicKey && message && signed);
      const signature = signed.slice(0, 64);
      const made = await signatureOf(secret.slice(0, 32), message);
      assertEquals(made, encodeHex(signature));
      const key = await importVerificationKey(publicJwkOf(publicKey), {
        backend: "node",
      });
      assertEquals(key.verify(signature, message), true);
      const bit = (index * 131) % 512;
      signature[bit >> 3] = (signature[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assertEquals(key.verify(signature, message), false, `line ${index + 1}`);
    }
  },
);
