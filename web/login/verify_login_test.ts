import { assertEquals } from "@std/assert";
import { SigError } from "@sig/core";
import { importVerificationKey, signAttestation, signEvent } from "@sig/jose";
import { createMemoryStore } from "../stores/memory_store.ts";
import type { Challenge } from "./challenge.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  AUDIENCE,
  type Changes,
  LoginFixture,
  START_MS,
} from "./testdata/login_fixture.ts";
import { type Misuse, OTHER_KEY, TABLES } from "./testdata/misuses.ts";

const NOW_S = START_MS / 1000;

Deno.test("an honest login says who, where and what was granted", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  login.nowMs += 1_500;
  assertEquals(await login.verify(await login.attest(challenge)), {
    verified: true,
    subject: login.did,
    audience: AUDIENCE,
    scopes: ["email", "profile"],
    challenge_id: challenge.challenge_id,
    kid: login.kid,
    verified_at: "2026-01-31T09:00:01.5Z",
    relationship: null,
  });
});

Deno.test("what is granted is the attestation's, sorted; absent is nothing", async () => {
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

for (const [step, misuses] of TABLES) {
  Deno.test(`W2, ${step}: each misuse has its code, and counts or does not`, async (t) => {
    for (const misuse of misuses) {
      await t.step(misuse.name, async () => {
        const login = await LoginFixture.make();
        const challenge = await login.create(misuse.asked);
        const attestation = misuse.attestation
          ? await misuse.attestation(login, challenge)
          : await login.forge(
            challenge,
            misuse.claims,
            misuse.header,
            misuse.signer,
          );
        const error = await expectSigError(
          () => login.verify(attestation, misuse.expected),
          misuse.code,
          misuse.says,
        );
        assertEquals(login.failures, misuse.counted ? 1 : 0, "counted");
        assertEquals(error.message.includes(challenge.nonce), false);
        // A failed attempt uses nothing.
        assertEquals(await login.isOpen(challenge), true);
      });
    }
  });
}

Deno.test("what the caller expects and gets is no failure", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const { challenge_id, audience, nonce, scopes } = challenge;
  const expected = { challenge_id, audience, nonce, scopes };
  await login.verify(await login.attest(challenge), expected);
});

Deno.test("W3: to the millisecond, at and after the expiry it is refused", async () => {
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
    "its challenge is not known (any more)",
  );
  // The attestation's own end.
  const exp = NOW_S + 10;
  await attempt(START_MS + 9_999, { exp });
  for (const ms of [10_000, 10_001]) {
    await expectSigError(
      () => attempt(START_MS + ms, { exp }),
      "attestation_time_invalid",
      "it has expired",
    );
  }
  // A clock that is set back by less than the skew does no harm.
  await attempt(START_MS - 60_000);
  await expectSigError(
    () => attempt(START_MS - 60_001),
    "attestation_time_invalid",
    "its iat lies more than 60 s ahead",
  );
});

Deno.test("a used challenge is used for good, whatever is presented", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const attestation = await login.attest(challenge);
  await login.verify(attestation);
  const spoilt = await login.forge(challenge, { aud: "x", nonce: "x" });
  for (const again of [attestation, spoilt]) {
    await expectSigError(
      () => login.verify(again),
      "challenge_used",
      "Cannot accept attestation: its challenge has been used",
    );
  }
  login.nowMs += 300_000;
  await expectSigError(
    () => login.verify(attestation),
    "challenge_used",
    "its challenge has been used",
  );
  assertEquals(login.failures, 0);
});

Deno.test("five failures with the right nonce burn a challenge", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const wrong = await login.forge(challenge, {}, {}, OTHER_KEY);
  for (let i = 0; i < 5; i++) {
    await expectSigError(
      () => login.verify(wrong),
      "attestation_signature_invalid",
      "the signature is not one of key",
    );
  }
  const honest = await login.attest(challenge);
  await expectSigError(
    () => login.verify(honest),
    "challenge_burned",
    "Cannot accept attestation: its challenge failed too often",
  );
  login.nowMs += 300_000;
  await expectSigError(
    () => login.verify(honest),
    "challenge_burned",
    "failed too often",
  );
});

Deno.test("four failures don't", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const wrong = await login.forge(challenge, { scope: "admin" });
  for (let i = 0; i < 4; i++) {
    await expectSigError(
      () => login.verify(wrong),
      "scope_not_granted",
      'scope "admin" is not among',
    );
  }
  await login.verify(await login.attest(challenge));
});

Deno.test("who knows the id only can't spoil a login", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  for (let i = 0; i < 50; i++) {
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

Deno.test("the first fault in the order of the protocol wins", async () => {
  const login = await LoginFixture.make();
  const asked = { scopes: ["email"], subject: login.did };
  /** One fault a step; each is its own, so that any two can be combined. */
  const steps: readonly Misuse[] = [
    {
      name: "alg",
      header: { alg: "ES256" },
      code: "algorithm_not_allowed",
      says: "",
    },
    { name: "typ", header: { typ: "JWT" }, code: "typ_mismatch", says: "" },
    {
      name: "other members",
      header: { crit: [] },
      code: "invalid_header",
      says: "",
    },
    {
      name: "claims",
      claims: { iat: "1" },
      code: "invalid_attestation",
      says: "claim iat",
    },
    {
      name: "expected challenge",
      expected: { challenge_id: "x" },
      code: "invalid_attestation",
      says: "expected",
    },
    {
      name: "aud",
      claims: { aud: "x" },
      code: "audience_mismatch",
      says: "another",
    },
    {
      name: "expected audience",
      expected: { audience: "y" },
      code: "audience_mismatch",
      says: "expected",
    },
    {
      name: "nonce",
      claims: { nonce: "x" },
      code: "nonce_mismatch",
      says: "another nonce",
    },
    {
      name: "expected nonce",
      expected: { nonce: "y" },
      code: "nonce_mismatch",
      says: "expected",
    },
    {
      name: "subject",
      claims: { sub: "x" },
      code: "subject_mismatch",
      says: "",
    },
    {
      name: "scope",
      claims: { scope: "x" },
      code: "scope_not_granted",
      says: "among",
    },
    {
      name: "expected scope",
      expected: { scopes: ["z"] },
      code: "scope_not_granted",
      says: "expected",
    },
    {
      name: "times",
      claims: { exp: 1 },
      code: "attestation_time_invalid",
      says: "",
    },
    {
      name: "signature",
      signer: OTHER_KEY,
      code: "attestation_signature_invalid",
      says: "",
    },
  ];
  for (const [i, first] of steps.entries()) {
    for (const second of steps.slice(i)) {
      const challenge = await login.create(asked);
      const attestation = await login.forge(
        challenge,
        { ...second.claims, ...first.claims },
        { ...second.header, ...first.header },
        first.signer ?? second.signer,
      );
      const expected = { ...second.expected, ...first.expected };
      await expectSigError(
        () => login.verify(attestation, expected),
        first.code,
        first.says,
      );
    }
  }
});

Deno.test("a challenge that is closed is named before any fault of the attestation's content", async () => {
  const login = await LoginFixture.make();
  const spoil: Changes = { aud: "x", nonce: "x", sub: "x", scope: "x", exp: 1 };
  const used = await login.create();
  await login.verify(await login.attest(used));
  const burned = await login.create();
  for (let i = 0; i < 5; i++) {
    await login.store.countFailure(burned.challenge_id, login.now());
  }
  const open = await login.create();
  const spoilt = (challenge: Challenge) =>
    login.forge(challenge, spoil, {}, OTHER_KEY);
  const cases = [
    [used, "challenge_used"],
    [burned, "challenge_burned"],
    [open, "challenge_expired"],
  ] as const;
  login.nowMs += 300_000;
  for (const [challenge, code] of cases) {
    const attestation = await spoilt(challenge);
    await expectSigError(
      () => login.verify(attestation),
      code,
      "Cannot accept attestation: its challenge",
    );
    // But not before its form.
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

Deno.test("a challenge that is used or expires while it is judged is not used again", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const attestation = await login.attest(challenge);
  await expectSigError(
    () =>
      login.verify(attestation, {}, {
        resolveKey: async () => {
          await login.store.consume(challenge.challenge_id, login.now());
          return await importVerificationKey(login.key.publicJwk);
        },
      }),
    "challenge_used",
    "its challenge has been used",
  );
  const late = await login.create();
  const lateAttestation = await login.attest(late);
  await expectSigError(
    () =>
      login.verify(lateAttestation, {}, {
        resolveKey: () => {
          login.nowMs += 300_000;
          return importVerificationKey(login.key.publicJwk);
        },
      }),
    "challenge_expired",
    "its challenge has expired",
  );
});

Deno.test("an attestation that expires while it is judged is refused, and counted", async () => {
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
    "Cannot accept attestation: it has expired while it was judged",
  );
  assertEquals(login.failures, 1);
});

Deno.test("a store is never asked for what can't be an id", async () => {
  const asked: string[] = [];
  const login = await LoginFixture.make({
    store: {
      ...createMemoryStore(),
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
      "its challenge is not known",
    );
  }
  assertEquals(asked, ["A".repeat(32)]);
});

Deno.test("a store that is away is neither used nor unknown, and no attempt is free", async () => {
  const away = new SigError("store_unavailable", "Cannot use: for this test");
  const memory = createMemoryStore();
  for (const step of ["read", "countFailure", "consume"] as const) {
    const store = { ...memory, [step]: () => Promise.reject(away) };
    const login = await LoginFixture.make({ store });
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

Deno.test("an event is no login", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const { kid } = login;
  const signer = {
    ...login.key,
    kid,
    sign: (m: Uint8Array) => login.key.sign(m),
  };
  const event = await signEvent(login.claimsOf(challenge), signer);
  await expectSigError(
    () =>
      login.verify(`${event.protected}.${event.payload}.${event.signature}`),
    "typ_mismatch",
    "typ must be sig-attestation+jwt",
  );
});

Deno.test("a narrower grant than asked is fine", async () => {
  const login = await LoginFixture.make();
  const challenge = await login.create();
  const { key, now } = login;
  const options = { challenge, key, now, scopes: ["profile"] };
  const { scopes } = await login.verify(await signAttestation(options));
  assertEquals(scopes, ["profile"]);
});
