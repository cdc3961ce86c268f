import { createMemoryStore } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import { type ErrorCode, SigError } from "@sig/core";
import { importVerificationKey } from "@sig/jose";
import { challengesIn } from "./challenges.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  type Changes,
  LoginFixture,
  START_MS,
} from "./testdata/login_fixture.ts";
import { OTHER_KEY } from "./testdata/misuses.ts";

const NOW_S = START_MS / 1000;

Deno.test("W3: rejects an attestation at and after the expiry, to the millisecond", async () => {
  const login = await LoginFixture.make();
  const end = START_MS + 300_000;
  const attempt = async (ms: number, claims: Changes = {}) => {
    login.nowMs = START_MS;
    const jwt = await login.forge(await login.create(), claims);
    login.nowMs = ms;
    return await login.verify(jwt);
  };
  assertEquals(
    (await attempt(end - 1)).verified_at,
    "2026-01-31T09:04:59.999Z",
  );
  for (const ms of [end, end + 1, end + 59_999]) {
    await expectSigError(
      () => attempt(ms),
      "challenge_expired",
      "its challenge has expired",
    );
  }
  await expectSigError(
    () => attempt(end + 60_000),
    "challenge_not_found",
    "its challenge is unknown, or was removed",
  );
  // The expiry of the attestation itself.
  const exp = NOW_S + 10;
  await attempt(START_MS + 9_999, { exp });
  for (const ms of [10_000, 10_001]) {
    await expectSigError(
      () => attempt(START_MS + ms, { exp }),
      "attestation_time_invalid",
      "it has expired",
    );
  }
  // A clock that is set back by less than the allowed skew is accepted.
  await attempt(START_MS - 60_000);
  await expectSigError(
    () => attempt(START_MS - 60_001),
    "attestation_time_invalid",
    "its iat is more than 60 s in the future",
  );
});

Deno.test("an attacker who only knows the id can't burn the challenge", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  for (let i = 0; i < 6; i++) {
    const claims = { nonce: `guess-${i}` };
    const guess = await login.forge(challenge, claims, {}, OTHER_KEY);
    await expectSigError(
      () => login.verify(guess),
      "nonce_mismatch",
      "it has another nonce",
    );
  }
  assertEquals(login.failures, 0);
  await login.verify(await login.attest(challenge));
});

Deno.test("rejects a challenge that is used or expires during the verification", async () => {
  const login = await LoginFixture.make();
  const cases: Record<string, (id: string) => Promise<unknown> | number> = {
    used: (id) => login.challenges.consume(id, login.now()),
    expired: () => login.nowMs += 300_000,
  };
  for (const [state, happens] of Object.entries(cases)) {
    const challenge = await login.create();
    const attestation = await login.attest(challenge);
    const resolveKey = async () => {
      await happens(challenge.challenge_id);
      return await importVerificationKey(login.key.publicJwk);
    };
    await expectSigError(
      () => login.verify(attestation, {}, { resolveKey }),
      `challenge_${state}` as ErrorCode,
      `its challenge has ${state === "used" ? "been used" : state}`,
    );
  }
});

Deno.test("rejects and counts an attestation that expires during the verification", async () => {
  const login = await LoginFixture.make();
  const expiry = START_MS / 1000 + 10;
  const verifyAfter = async (waitMs: number) => {
    login.nowMs = START_MS;
    const challenge = await login.create();
    const attestation = await login.forge(challenge, { exp: expiry });
    const resolveKey = () => {
      login.nowMs += waitMs;
      return importVerificationKey({ ...login.key.publicJwk, kid: login.kid });
    };
    return await login.verify(attestation, {}, { resolveKey });
  };
  await verifyAfter(9_999);
  assertEquals(login.failures, 0);
  await expectSigError(
    () => verifyAfter(10_000),
    "attestation_time_invalid",
    "Cannot accept attestation: it expired during the verification",
  );
  assertEquals(login.failures, 1);
});

Deno.test("an unavailable store is store_unavailable at every step, also when counting a failure", async () => {
  const away = new SigError("store_unavailable", {
    action: "use",
    reason: "for this test",
  });
  const memory = challengesIn(createMemoryStore());
  for (const step of ["read", "countFailure", "consume"] as const) {
    const challenges = { ...memory, [step]: () => Promise.reject(away) };
    const login = await LoginFixture.make({ challenges });
    const challenge = await login.create();
    const attestation = step === "countFailure"
      ? await login.forge(challenge, {}, {}, OTHER_KEY)
      : await login.attest(challenge);
    const error = await expectSigError(
      () => login.verify(attestation),
      "store_unavailable",
      "Cannot use: for this test",
    );
    assertEquals(error === away, true);
  }
});
