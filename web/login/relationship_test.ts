import { assertEquals } from "@std/assert";
import { type CheckAnswer, type ErrorCode, SigError } from "@sig/core";
import { checkIssuer, openSource, parseSource } from "@sig/consumer";
import {
  createFileStore,
  createMemoryKeyStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import type { CheckRelationship } from "./relationship.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { LoginFixture } from "./testdata/login_fixture.ts";

// promise: The relationship is checked when the attestation is verified.

const ISSUER = "did:web:acme.example";

/** A login, and an issuer in a directory, which each login reads again. */
async function openIssuerIn(folder: { readonly path: string }) {
  const dir = folder.path;
  const checkRelationship: CheckRelationship = (subject, now) =>
    checkIssuer(
      openSource(parseSource(`${dir}/`)),
      { subject, require: ["relationship=employee", "role=deploy"] },
      { now },
    );
  const login = await LoginFixture.make({ checkRelationship });
  const store = createFileStore(dir);
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: ISSUER });
  const issuer = await openIssuer({ store, keys, now: login.now });
  return {
    login,
    issuer,
    employ: (more: object = {}) =>
      issuer.append({
        event_type: "relationship.upsert",
        relationship_id: "alice-1",
        subject: login.did,
        relationship_type: "employee",
        roles: ["deploy"],
        ...more,
      }),
    [Symbol.asyncDispose]: () => issuer.close(),
  };
}

Deno.test("W7: a subject with the relationship logs in and gets it; once it is revoked, the answer to an older challenge is denied and counted", async () => {
  await using folder = await tempFolder();
  await using opened = await openIssuerIn(folder);
  const { login, issuer, employ } = opened;
  await employ({ valid_until: "2026-01-31T10:00:00Z" });
  const honest = await login.verify(await login.attest(await login.create()));
  assertEquals(honest.relationship, {
    issuer: ISSUER,
    relationship_id: "alice-1",
    requirements: [
      { key: "relationship", value: "employee" },
      { key: "role", value: "deploy" },
    ],
    last_sequence: 1,
    evaluated_at: "2026-01-31T09:00:00Z",
    not_after: "2026-01-31T10:00:00Z",
    freshness: null,
    continuity: "unpinned",
  });
  const attestation = await login.attest(await login.create());
  await issuer.append({
    event_type: "relationship.revoke",
    relationship_id: "alice-1",
    reason_code: "employment_ended",
  });
  const error = await expectSigError(
    () => login.verify(attestation),
    "relationship_denied",
    `"${ISSUER}" does not vouch for "${login.did}" (revoked)`,
  );
  const [reason] = error.context.reasons as readonly { code: string }[];
  assertEquals([reason?.code, login.failures], ["revoked", 1]);
  // With a new relationship the same attestation is accepted.
  await employ();
  const { relationship } = await login.verify(attestation);
  assertEquals(relationship?.last_sequence, 3);
});

Deno.test("W7: an unreachable issuer is neither allow nor deny, and is not counted", async () => {
  const codes: readonly ErrorCode[] = [
    "fetch_timeout",
    "feed_stale",
    "feed_rolled_back",
    "sequence_gap",
    "issuer_not_allowed",
    "signature_invalid",
  ];
  for (const code of codes) {
    const thrown = new SigError(code, {
      action: "answer",
      reason: "for this test",
    });
    const login = await LoginFixture.make({
      checkRelationship: () => Promise.reject(thrown),
    });
    const challenge = await login.create();
    const attestation = await login.attest(challenge);
    for (let i = 0; i < 6; i++) {
      const error = await expectSigError(
        () => login.verify(attestation),
        code,
        "Cannot answer: for this test",
      );
      assertEquals(error === thrown, true);
    }
    assertEquals(login.failures, 0);
    assertEquals(await login.isOpen(challenge), true);
  }
});

Deno.test("the issuer is not queried before the signature is verified", async () => {
  let isAsked = false;
  const login = await LoginFixture.make({
    checkRelationship: () => {
      isAsked = true;
      return Promise.reject(new Error("asked"));
    },
  });
  const [head, body] = (await login.attest(await login.create())).split(".");
  await expectSigError(
    () => login.verify(`${head}.${body}.${"A".repeat(86)}`),
    "attestation_signature_invalid",
    "the signature is not one of key",
  );
  assertEquals(isAsked, false);
});

Deno.test("rejects an answer about another subject and an incomplete allow", async () => {
  const answer = {
    decision: "allow",
    subject: "did:web:alice.example",
    matched_relationship_id: "alice-1",
    issuer: ISSUER,
    reasons: [],
  } as unknown as CheckAnswer;
  const login = await LoginFixture.make({
    checkRelationship: () => Promise.resolve(answer),
  });
  const challenge = await login.create();
  const attestation = await login.attest(challenge);
  const error = await login.verify(attestation).catch((error) => error);
  assertEquals(error instanceof TypeError, true);
  assertEquals(
    error.message,
    "Cannot use answer: it is about another subject",
  );
  const own = { ...answer, subject: login.did };
  const halves: readonly CheckAnswer[] = [
    { ...own, matched_relationship_id: null },
    { ...own, decision: "deny" },
  ];
  for (const half of halves) {
    await expectSigError(
      () =>
        login.verify(attestation, {}, {
          checkRelationship: () => Promise.resolve(half),
        }),
      "relationship_denied",
      "does not vouch for",
    );
  }
});
