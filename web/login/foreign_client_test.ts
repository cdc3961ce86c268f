import { assertEquals } from "@std/assert";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { jwkToDidKey } from "@sig/jose";
import { LoginFixture } from "./testdata/login_fixture.ts";

Deno.test("a client made with npm:jose logs in", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", {
    crv: "Ed25519",
  });
  const { x = "" } = await exportJWK(publicKey);
  const did = jwkToDidKey({ kty: "OKP", crv: "Ed25519", x });
  const kid = `${did}#${did.slice("did:key:".length)}`;
  const claims = { ...login.claimsOf(challenge), iss: did, sub: did };
  const jwt = await new SignJWT({ ...claims, auth_time: 1 })
    .setProtectedHeader({ alg: "EdDSA", typ: "sig-attestation+jwt", kid })
    .sign(privateKey);
  assertEquals((await login.verify(jwt)).subject, did);
});
