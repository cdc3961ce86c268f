import { assertEquals } from "@std/assert";
import {
  type CheckAnswer,
  type ErrorCode,
  isSigError,
  SigError,
} from "@sig/core";
import {
  createMemoryKeyStore,
  createMemoryStore,
  type EventDraft,
  initIssuer,
  type Issuer,
  openIssuer,
} from "@sig/issuer";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { documentOf } from "../openid/testdata/test_provider.ts";
import { createLoginGate, requireRelationship } from "./relationship.ts";
import { LoginFixture } from "./testdata/login_fixture.ts";

// promise: The relationship is checked when the attestation is verified.

const ISSUER = "did:web:acme.example";
const [LAPTOP, PHONE] = ["did:web:laptop.example", "did:web:phone.example"];

/** An issuer in memory, and a fetch of its documents. */
async function makeIssuer(now = () => new Date()) {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: ISSUER });
  const issuer = await openIssuer({ store, keys, now });
  const asked: string[] = [];
  const fetch = (request: Request) => {
    asked.push(new URL(request.url).pathname);
    const document = (path: string) => store.files.get(path);
    return Promise.resolve(documentOf({ document }, request));
  };
  return { issuer, issuers: [{ did: ISSUER, policy: { fetch } }], asked };
}

/** An issuer with proofs and a first employee. */
async function makeIssuerWithProofs() {
  const made = await makeIssuer();
  await employ(made.issuer, LAPTOP);
  await made.issuer.checkpoint({ init: true });
  return made;
}

async function employ(issuer: Issuer, subject: string, same_person_as = "") {
  await issuer.append({
    event_type: "relationship.upsert",
    subject,
    relationship_type: "employee",
    ...(same_person_as && { metadata: { same_person_as } }),
  });
  await issuer.refreshProofs();
}

Deno.test("W7: a subject with the relationship logs in and gets it; once it is revoked, the answer to an older challenge is denied and counted", async () => {
  const login = await LoginFixture.make({
    checkRelationship: async (subject) => (await ask!(subject)).answer,
  });
  const { now, did: subject } = login;
  const { issuer, issuers } = await makeIssuer(now);
  const require = ["relationship=employee", "role=deploy"];
  const { ask } = createLoginGate({ issuers, require, now });
  const upsert: EventDraft = {
    event_type: "relationship.upsert",
    relationship_id: "alice-1",
    ...{ subject, relationship_type: "employee", roles: ["deploy"] },
  };
  await issuer.append({ ...upsert, valid_until: "2026-01-31T10:00:00Z" });
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
    freshness: {
      ...{ status: "fresh", age_seconds: 0, max_age_seconds: 0 },
      observed_at: "2026-01-31T09:00:00Z",
    },
    continuity: "first_seen",
  });
  const attestation = await login.attest(await login.create());
  login.nowMs++;
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
  await issuer.append(upsert);
  login.nowMs++;
  const { relationship } = await login.verify(attestation);
  assertEquals(relationship?.last_sequence, 3);
  await issuer.close();
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

for (const kept of ["in this process", "in a file"]) {
  Deno.test(`reads the person from the whole feed, never from a proof, with a memory ${kept}`, async () => {
    await using file = kept === "in a file" ? await openPinFile() : undefined;
    const { issuer, issuers, asked } = await makeIssuerWithProofs();
    const { ask } = createLoginGate({
      issuers,
      require: ["relationship=employee"],
      pins: file?.pins,
      now: () => new Date(),
    });
    const before = await ask!(LAPTOP);
    assertEquals(await before.personOf(), LAPTOP);
    // The state loaded before does not contain this person.
    await employ(issuer, PHONE, LAPTOP);
    const answer = await ask!(PHONE);
    assertEquals(answer.relationship?.type, "employee");
    assertEquals(await answer.personOf(), LAPTOP);
    assertEquals(asked.some((path) => path.endsWith(".jsonl")), true);
    await issuer.close();
  });
}

Deno.test("a refusal says whether this key or the person has ended", async () => {
  const { issuer, issuers } = await makeIssuerWithProofs();
  await employ(issuer, PHONE, LAPTOP);
  const { ask } = createLoginGate({
    issuers,
    require: ["relationship=employee"],
    now: () => new Date(),
  });
  const endedOf = async (subject: string) => {
    const { answer } = await ask!(subject, { explains: true });
    try {
      requireRelationship(answer, subject);
      return "allowed";
    } catch (error) {
      if (!isSigError(error, "relationship_denied")) throw error;
      return [error.context.ended, error.context.hint];
    }
  };
  const end = async (subject: string) => {
    const { by_relationship_id } = await issuer.state();
    const found = Array.from(by_relationship_id.values())
      .find((each) => each.subject === subject);
    await issuer.append({
      event_type: "relationship.revoke",
      relationship_id: found!.relationship_id,
      subject,
      reason_code: "other",
    });
    await issuer.refreshProofs();
  };
  const ask_issuer =
    "Ask the issuer for the relationship that is required here.";
  assertEquals(await endedOf(LAPTOP), "allowed");
  await end(LAPTOP);
  assertEquals(await endedOf(LAPTOP), [
    "key",
    "This key has ended: use another key of yours.",
  ]);
  await end(PHONE);
  for (const subject of [LAPTOP, PHONE]) {
    assertEquals(await endedOf(subject), ["person", ask_issuer]);
  }
  // Nothing has ended for a key that the issuer does not know.
  assertEquals(await endedOf("did:web:stranger.example"), [
    undefined,
    ask_issuer,
  ]);
  await issuer.close();
});
