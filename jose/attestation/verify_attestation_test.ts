import { assertEquals } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import {
  importVerificationKey,
  jwkToDidKey,
  parseAttestation,
  signAttestation,
  verifyAttestation,
  type VerifyAttestationOptions,
} from "@sig/jose";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { testKey } from "../testdata/keys.ts";
import {
  CHALLENGE,
  claimsOf,
  headerOf,
  NOW,
  NOW_SECONDS,
  tokenOf,
} from "../testdata/tokens.ts";

const key = await testKey("subject");
const other = await testKey("b");
const WEB = "did:web:alice.example";

/** Runs a test without network access: a did:key is verified offline. */
function offline(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: { net: false, read: true }, fn });
}

function verify(jwt: string, more: Partial<VerifyAttestationOptions> = {}) {
  return verifyAttestation(jwt, {
    challenge: CHALLENGE,
    now: () => NOW,
    ...more,
  });
}

/** Signs the claims of a valid attestation with some of them changed. */
function signed(claims: object = {}): Promise<string> {
  return tokenOf(key, headerOf(key), { ...claimsOf(key), ...claims });
}

async function refuses(
  claims: object,
  code: ErrorCode,
  says: string,
  more: Partial<VerifyAttestationOptions> = {},
): Promise<void> {
  const jwt = await signed(claims);
  await expectSigError(() => verify(jwt, more), code, says);
}

offline("a valid attestation verifies offline", async () => {
  const now = () => NOW;
  const jwt = await signAttestation({ challenge: CHALLENGE, key, now });
  const { subject, scopes } = await verify(jwt);
  assertEquals(subject, jwkToDidKey(key.publicJwk));
  assertEquals(scopes, ["email", "profile"]);
});

offline("each violation of the challenge has its error code", async () => {
  const cases: readonly (readonly [object, ErrorCode, string])[] = [
    [{ jti: "x" }, "invalid_attestation", "it answers another challenge"],
    ...["https://evil.example", `${CHALLENGE.audience}/`].map((aud) =>
      [{ aud }, "audience_mismatch", "it is for another audience"] as const
    ),
    ...["x", "", CHALLENGE.nonce + CHALLENGE.nonce].map((nonce) =>
      [{ nonce }, "nonce_mismatch", "it has another nonce"] as const
    ),
    [{ iss: WEB }, "subject_mismatch", "iss and sub must be the DID"],
    [{ sub: WEB }, "subject_mismatch", "iss and sub must be the DID"],
    ...["admin", "email admin", "email  profile", " "].map((scope) =>
      [{ scope }, "scope_not_granted", "not a scope of the challenge"] as const
    ),
  ];
  for (const [claims, code, says] of cases) await refuses(claims, code, says);
  await refuses({}, "subject_mismatch", `the challenge is for "${WEB}"`, {
    challenge: { ...CHALLENGE, subject: WEB },
  });
});

offline(
  "times: now < exp <= the challenge's, iat at most 60 s ahead",
  async () => {
    const code = "attestation_time_invalid";
    const ahead = "its iat is more than 60 s in the future";
    await refuses({ exp: NOW_SECONDS }, code, "it has expired");
    await refuses({ exp: -1 }, code, "it has expired");
    await refuses({ iat: NOW_SECONDS + 60.5 }, code, ahead);
    await refuses({ iat: NOW_SECONDS + 61 }, code, ahead);
    await refuses(
      { iat: NOW_SECONDS + 6 },
      code,
      "more than 5 s in the future",
      {
        clockSkewSeconds: 5,
      },
    );
    const after = "its exp lies after the challenge's expiry";
    await refuses({ exp: NOW_SECONDS + 300.001 }, code, after);
    await refuses({ exp: NOW_SECONDS + 301 }, code, after);
    const accepted = [
      { exp: NOW_SECONDS + 0.001 },
      { iat: NOW_SECONDS + 60 },
      { iat: 0 },
      { exp: NOW_SECONDS + 300 },
    ];
    for (const claims of accepted) await verify(await signed(claims));
  },
);

offline("reports the first failure in the order of the protocol", async () => {
  const steps: readonly (readonly [object, ErrorCode])[] = [
    [{ jti: "x" }, "invalid_attestation"],
    [{ aud: "x" }, "audience_mismatch"],
    [{ nonce: "x" }, "nonce_mismatch"],
    [{ sub: "x" }, "subject_mismatch"],
    [{ scope: "x" }, "scope_not_granted"],
    [{ exp: 1 }, "attestation_time_invalid"],
  ];
  for (let from = 0; from < steps.length; from++) {
    const claims = steps.slice(from).map(([wrong]) => wrong);
    const all = Object.assign({}, claimsOf(key), ...claims);
    // Signed with a key that is not the subject's.
    const jwt = await tokenOf(other, headerOf(key), all);
    await expectSigError(
      () => verify(jwt),
      steps[from]?.[1] ?? "internal",
      "Cannot accept attestation: ",
    );
  }
});

offline("checks required scopes after the challenge's scopes", async () => {
  const requiredScopes = ["profile"];
  const says = 'scope "profile" was expected, and is not granted';
  await refuses({ exp: 1 }, "scope_not_granted", says, { requiredScopes });
  await refuses({ scope: "x" }, "scope_not_granted", "not a scope of", {
    requiredScopes,
  });
  await verify(await signed({ scope: "email profile" }), { requiredScopes });
});

offline(
  "an attestation that was parsed before is judged the same",
  async () => {
    const parsed = parseAttestation(await signed());
    const options = { challenge: CHALLENGE, now: () => NOW };
    assertEquals(await verifyAttestation(parsed, options) === parsed, true);
    const late = { ...options, now: () => new Date("2026-01-31T09:05:00Z") };
    await expectSigError(
      () => verifyAttestation(parsed, late),
      "attestation_time_invalid",
      "it has expired",
    );
  },
);

offline(
  "a signature by another key, cut, empty or flipped does not count",
  async () => {
    const jwt = await signed();
    const [first = "", second = "", third = ""] = jwt.split(".");
    const forged = await tokenOf(other, headerOf(key), claimsOf(key));
    const flipped = (third[0] === "A" ? "B" : "A") + third.slice(1);
    const cut = third.slice(0, 84);
    const longer = `${third}AA`;
    const signatures = [forged.split(".")[2] ?? "", "", flipped, cut, longer];
    for (const signature of [...signatures, "A".repeat(86)]) {
      const error = await expectSigError(
        () => verify(`${first}.${second}.${signature}`),
        "attestation_signature_invalid",
        `the signature is not one of key "${jwkToDidKey(key.publicJwk)}#`,
      );
      assertEquals(error.category, "refused");
    }
  },
);

/** Signs an attestation of a did:web. */
function signedAs(subject: string): Promise<string> {
  const now = () => NOW;
  return signAttestation({ challenge: CHALLENGE, key, subject, now });
}

offline("a did:web subject needs a key resolver", async () => {
  const jwt = await signedAs(WEB);
  await expectSigError(
    () => verify(jwt),
    "unsupported_did_method",
    `Cannot use "${WEB}": only did:key is supported here`,
  );
  const asked: string[] = [];
  const publicKey = await importVerificationKey(key.publicJwk);
  const resolve = (kid: string) => {
    asked.push(kid);
    return Promise.resolve(publicKey);
  };
  assertEquals((await verify(jwt, { key: resolve })).subject, WEB);
  assertEquals(asked, [`${WEB}#subject`]);
  const kid = `${WEB}#subject`;
  const named = await importVerificationKey({ ...key.publicJwk, kid });
  assertEquals((await verify(jwt, { key: named })).subject, WEB);
});

offline(
  "one subject's key can't vouch for another subject's name",
  async () => {
    const victim = "did:web:victim.example";
    const jwt = await signedAs(victim);
    for (const kid of [undefined, "subject", `${WEB}#subject`]) {
      const given = await importVerificationKey({ ...key.publicJwk, kid });
      await expectSigError(
        () => verify(jwt, { key: given }),
        "attestation_signature_invalid",
        `the key given is not the one of kid "${victim}#subject"`,
      );
    }
  },
);
