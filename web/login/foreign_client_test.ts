import { assertEquals } from "@std/assert";
import { generateKeyPairSync, sign } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { encodeBase58 } from "@std/encoding/base58";
import { encodeBase64Url } from "@std/encoding/base64url";
import type { Challenge } from "./create_challenge.ts";
import { LoginFixture } from "./testdata/login_fixture.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** did:key of 32 bytes, written from its specification. */
function didKeyOf(x: string): string {
  const bytes = Uint8Array.fromBase64(x, { alphabet: "base64url" });
  return `did:key:z${encodeBase58(Uint8Array.of(0xed, 0x01, ...bytes))}`;
}

function claimsFor(challenge: Challenge, did: string) {
  return {
    iss: did,
    sub: did,
    aud: challenge.audience,
    nonce: challenge.nonce,
    jti: challenge.challenge_id,
    iat: Math.floor(Date.parse(challenge.issued_at) / 1000),
    exp: Math.floor(Date.parse(challenge.expires_at) / 1000),
    scope: challenge.scopes.join(" "),
    auth_time: 1,
  };
}

Deno.test("a client made of node:crypto alone logs in", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const did = didKeyOf(publicKey.export({ format: "jwk" }).x!);
  const kid = `${did}#${did.slice(8)}`;
  const header = { typ: "sig-attestation+jwt", kid, alg: "EdDSA" };
  const input = [header, claimsFor(challenge, did)]
    .map((part) => encodeBase64Url(JSON.stringify(part, null, 2))).join(".");
  const signature = sign(null, new TextEncoder().encode(input), privateKey);
  const jwt = `${input}.${encodeBase64Url(new Uint8Array(signature))}`;
  const { subject, scopes } = await login.verify(jwt);
  assertEquals(subject, did);
  assertEquals(scopes, ["email", "profile"]);
});

Deno.test("a client made with npm:jose logs in", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", {
    crv: "Ed25519",
  });
  const did = didKeyOf((await exportJWK(publicKey)).x!);
  const kid = `${did}#${did.slice(8)}`;
  const jwt = await new SignJWT(claimsFor(challenge, did))
    .setProtectedHeader({ alg: "EdDSA", typ: "sig-attestation+jwt", kid })
    .sign(privateKey);
  assertEquals((await login.verify(jwt)).subject, did);
});

Deno.test("sig attest signs a challenge as it is, from its file", async () => {
  const folder = await Deno.makeTempDir();
  const sig = async (...args: readonly string[]) => {
    const { stdout, stderr, success } = await new Deno.Command(
      Deno.execPath(),
      {
        args: [
          ...["run", "--quiet", "--no-prompt", "--no-check", "-A"],
          ...["--config", `${ROOT}deno.json`, `${ROOT}cli/main.ts`, ...args],
        ],
        cwd: folder,
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      },
    ).output();
    const text = new TextDecoder();
    assertEquals(success, true, text.decode(stderr));
    return text.decode(stdout).trim();
  };
  try {
    const login = await LoginFixture.make();
    // The program has a clock of its own.
    login.nowMs = Date.now();
    const challenge = await login.create();
    await sig("key", "generate", "--out", "alice.jwk");
    const file = `${folder}/challenge.json`;
    await Deno.writeTextFile(file, JSON.stringify(challenge, null, 2));
    const attestation = await sig(
      ...["attest", "--challenge", "challenge.json", "--key", "alice.jwk"],
    );
    const { subject, scopes } = await login.verify(attestation);
    assertEquals(scopes, ["email", "profile"]);
    assertEquals(subject, await sig("key", "did", "alice.jwk"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
