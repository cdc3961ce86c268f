import { assert, assertEquals, assertRejects } from "@std/assert";
import { importVerificationKey } from "@sig/jose";
import { WEB_VERIFICATIONS } from "./verification_key.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { publicJwkOf, testKey } from "../testdata/keys.ts";

// promise: A signature counts only in its canonical spelling, by a canonical
//   key not of small order.

const X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"; // RFC 8037, A.2
const RFC8037 = { kty: "OKP", crv: "Ed25519", x: X };
const message = new TextEncoder().encode("a message");

Deno.test("rejects an invalid Ed25519 public key with the reason", async () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [null, "it must be a JWK object"],
    ["key", "it must be a JWK object"],
    [[RFC8037], "it must be a JWK object"],
    [{}, 'it must have "kty" OKP and "crv" Ed25519'],
    [Object.create(RFC8037), 'it must have "kty" OKP and "crv" Ed25519'],
    [{ ...RFC8037, kty: "EC" }, 'it must have "kty" OKP'],
    [{ ...RFC8037, crv: "X25519" }, 'it must have "kty" OKP'],
    [{ ...RFC8037, x: undefined }, "member x must be a string"],
    [{ ...RFC8037, x: 5 }, "member x must be a string"],
    [{ ...RFC8037, x: `${X}=` }, "x must be base64url without padding"],
    [{ ...RFC8037, x: X.replace("_", "/") }, "x must be base64url"],
    [{ ...RFC8037, x: `${X.slice(0, -1)}p` }, "x must be base64url"],
    [{ ...RFC8037, x: "A".repeat(42) }, "x has 31 bytes (expected 32)"],
    [{ ...RFC8037, x: "" }, "x has 0 bytes (expected 32)"],
    [{ ...RFC8037, kid: "" }, "kid must be 1 to 256 characters"],
    [{ ...RFC8037, kid: "k".repeat(257) }, "kid must be 1 to 256 characters"],
    [{ ...RFC8037, kid: "a\u009fb" }, "kid must be 1 to 256 characters"],
    [{ ...RFC8037, kid: null }, "kid must be 1 to 256 characters"],
  ];
  for (const [jwk, says] of cases) {
    const error = await expectSigError(
      () => importVerificationKey(jwk),
      "invalid_key",
      `Cannot use key: ${says}`,
    );
    assert(!error.message.includes(X.slice(0, 20)));
  }
});

Deno.test("rejects a private key as a public key", async () => {
  const error = await expectSigError(
    () => importVerificationKey({ ...RFC8037, kid: "k", d: "secret" }),
    "private_key_in_jwks",
    "Cannot use key: it has a private member d",
  );
  assertEquals(error.context.kid, "k");
  assert(!error.message.includes("secret"));
});

Deno.test("a key exposes its public part and can't be changed", async () => {
  const jwk = { ...RFC8037, kid: "k", use: "sig", ext: true };
  const key = await importVerificationKey(jwk);
  assertEquals(key.kid, "k");
  assertEquals<unknown>(key.jwk, { ...RFC8037, kid: "k" });
  assert(Object.isFrozen(key.jwk));
  key.publicKey.fill(0);
  assertEquals(publicJwkOf(key.publicKey).x, X);
});

Deno.test("auto switches to the synchronous verifier", async () => {
  const signer = await testKey("a");
  const key = await importVerificationKey(signer.publicJwk);
  const signature = await signer.sign(message);
  for (let i = 0; i < WEB_VERIFICATIONS; i++) {
    const verdict = key.verify(signature, message);
    assert(verdict instanceof Promise);
    assert(await verdict);
  }
  assertEquals(key.verify(signature, message), true);
  assertEquals(key.verify(signature, new Uint8Array(0)), false);
});

Deno.test("web and auto verify without node:crypto", async () => {
  const signer = await testKey("a");
  const signature = await signer.sign(message);
  await withoutProcess(async () => {
    const key = await importVerificationKey(signer.publicJwk);
    for (let i = 0; i < WEB_VERIFICATIONS + 2; i++) {
      assert(await key.verify(signature, message));
    }
    await assertRejects(
      () => importVerificationKey(RFC8037, { backend: "node" }),
      TypeError,
      'Cannot use backend "node": this platform has no node:crypto',
    );
  });
});

Deno.test("the caller may reuse the arrays as soon as verify has returned", async () => {
  const signer = await testKey("a");
  const key = await importVerificationKey(signer.publicJwk, { backend: "web" });
  const signature = await signer.sign(message);
  const reused = [signature.slice(), message.slice()] as const;
  const verdict = key.verify(...reused);
  reused[0].fill(0);
  reused[1].fill(0);
  assertEquals(await verdict, true);
});

async function withoutProcess(fn: () => Promise<void>): Promise<void> {
  const had = Object.getOwnPropertyDescriptor(globalThis, "process");
  Object.defineProperty(globalThis, "process", {
    value: undefined,
    configurable: true,
  });
  try {
    await fn();
  } finally {
    if (had) Object.defineProperty(globalThis, "process", had);
  }
}
