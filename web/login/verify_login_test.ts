import { createMemoryStore } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import { challengesIn } from "./challenges.ts";
import type { Challenge } from "./create_challenge.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { type Changes, LoginFixture } from "./testdata/login_fixture.ts";
import { type Misuse, OTHER_KEY, TABLES } from "./testdata/misuses.ts";

// promise: A wrong audience, nonce, scope, subject or time is refused with its
//   own code.

Deno.test("the granted scopes are those of the attestation, sorted; none if absent", async () => {
  const login = await LoginFixture.make();
  const scopesOf = async (scope: unknown) => {
    const jwt = await login.forge(await login.create(), { scope });
    return (await login.verify(jwt)).scopes;
  };
  assertEquals(await scopesOf("profile email"), ["email", "profile"]);
  await expectSigError(
    () => scopesOf("email email"),
    "invalid_attestation",
    "claim scope must name each scope once",
  );
  assertEquals(await scopesOf(""), []);
  assertEquals(await scopesOf(undefined), []);
});

for (const [step, refusals] of Object.entries(TABLES)) {
  Deno.test(`W2, ${step}: each misuse has its code and is counted or not`, async (t) => {
    for (const { code, says, counted, misuses } of refusals) {
      for (const [name, misuse] of Object.entries(misuses)) {
        await t.step(name, async () => {
          const login = await LoginFixture.make();
          const challenge = await login.create(misuse.asked);
          const { claims, header, signer, attestation } = misuse;
          const sent = attestation
            ? await attestation(login, challenge)
            : await login.forge(challenge, claims, header, signer);
          const error = await expectSigError(
            () => login.verify(sent, misuse.expected),
            ...[code, says] as const,
          );
          assertEquals(login.failures, counted ? 1 : 0, "counted");
          assertEquals(error.message.includes(challenge.nonce), false);
          // A failed attempt does not use the challenge.
          assertEquals(await login.isOpen(challenge), true);
        });
      }
    }
  });
}

Deno.test("reports the first fault in the order of the protocol", async () => {
  const login = await LoginFixture.make();
  const asked = { scopes: ["email"], subject: login.did };
  /** One independent fault for each step, so that any two can be combined. */
  const steps: readonly (readonly [Misuse, ErrorCode, string])[] = [
    [{ header: { alg: "ES256" } }, "algorithm_not_allowed", ""],
    [{ header: { typ: "JWT" } }, "typ_mismatch", ""],
    [{ header: { crit: [] } }, "invalid_header", ""],
    [{ claims: { iat: "1" } }, "invalid_attestation", "claim iat"],
    [{ expected: { challenge_id: "x" } }, "invalid_attestation", "expected"],
    [{ claims: { aud: "x" } }, "audience_mismatch", "another"],
    [{ expected: { audience: "y" } }, "audience_mismatch", "expected"],
    [{ claims: { nonce: "x" } }, "nonce_mismatch", "another nonce"],
    [{ expected: { nonce: "y" } }, "nonce_mismatch", "expected"],
    [{ claims: { sub: "x" } }, "subject_mismatch", ""],
    [{ claims: { scope: "x" } }, "scope_not_granted", "not a scope of"],
    [{ expected: { scopes: ["z"] } }, "scope_not_granted", "expected"],
    [{ claims: { exp: 1 } }, "attestation_time_invalid", ""],
    [{ signer: OTHER_KEY }, "attestation_signature_invalid", ""],
  ];
  for (const [i, [first, code, says]] of steps.entries()) {
    for (const [second] of steps.slice(i)) {
      const attestation = await login.forge(
        await login.create(asked),
        { ...second.claims, ...first.claims },
        { ...second.header, ...first.header },
        first.signer ?? second.signer,
      );
      const expected = { ...second.expected, ...first.expected };
      await expectSigError(
        () => login.verify(attestation, expected),
        code,
        says,
      );
    }
  }
});

Deno.test("reports a closed challenge before any fault of the attestation's content", async () => {
  const login = await LoginFixture.make();
  const spoil: Changes = { aud: "x", nonce: "x", sub: "x", scope: "x", exp: 1 };
  const used = await login.create();
  const attested = await login.attest(used);
  await login.verify(attested);
  await expectSigError(
    () => login.verify(attested),
    "challenge_used",
    "Cannot accept attestation: its challenge has been used",
  );
  const burned = await login.create();
  for (let i = 0; i < 5; i++) {
    await login.challenges.countFailure(burned.challenge_id, login.now());
  }
  const open = await login.create();
  const spoilt = (challenge: Challenge) =>
    login.forge(challenge, spoil, {}, OTHER_KEY);
  const cases = [
    [used, "challenge_used", "has been used"],
    [burned, "challenge_burned", "failed too often"],
    [open, "challenge_expired", "has expired"],
  ] as const;
  login.nowMs += 300_000;
  for (const [challenge, code, says] of cases) {
    const attestation = await spoilt(challenge);
    await expectSigError(
      () => login.verify(attestation),
      code,
      `Cannot accept attestation: its challenge ${says}`,
    );
    // Errors of form are reported first.
    await expectSigError(
      () => login.verify(attestation.replace(".", "..")),
      "invalid_attestation",
      "it must be three base64url parts",
    );
    await expectSigError(
      () => login.verify(attestation, { challenge_id: "x" }),
      "invalid_attestation",
      "it answers another challenge than the one expected",
    );
  }
});

Deno.test("the store is not queried for texts that can't be an id", async () => {
  const asked: string[] = [];
  const login = await LoginFixture.make({
    challenges: {
      ...challengesIn(createMemoryStore()),
      read(id) {
        asked.push(id);
        return Promise.resolve({ state: "not_found" });
      },
    },
  });
  const challenge = await login.create();
  const ids = ["", "x".repeat(4_000), "../x", "A".repeat(31), "A".repeat(33)];
  for (const jti of [...ids, `${"A".repeat(31)}\n`, "A".repeat(32)]) {
    const attestation = await login.forge(challenge, { jti });
    await expectSigError(
      () => login.verify(attestation),
      "challenge_not_found",
      "its challenge is unknown",
    );
  }
  assertEquals(asked, ["A".repeat(32)]);
});
