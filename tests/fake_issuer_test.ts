import { createConsumer } from "@sig/consumer";
import type { ErrorCode } from "@sig/core";
import { fakeIssuer, type IssuerFault } from "@sig/issuer/testing";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { expectSigError } from "./kit/sig_errors.ts";

const SUBJECT = "did:web:alice.example";
const QUESTION = { subject: SUBJECT, require: ["role=refund"] } as const;
const EMPLOYEE = {
  subject: SUBJECT,
  relationship_type: "employee",
  roles: ["refund"],
} as const;

/**
 * The timeout for a silent issuer only: other tests may be slow on a busy
 * machine.
 */
const SILENT_MS = 3_000;

/** An error code and a part of its message. */
type ExpectedError = readonly [code: ErrorCode, message: string];

/**
 * The error for each fault: in a first read (undefined for none), and with a
 * pin of the whole feed.
 */
const ERRORS: {
  readonly [fault in IssuerFault]: {
    readonly first: ExpectedError | undefined;
    readonly seen: ExpectedError;
  };
} = {
  unreachable: both(["fetch_failed", "Cannot fetch"]),
  silent: both(["fetch_timeout", `${SILENT_MS} ms`]),
  missing: both(["fetch_status", "status 404"]),
  redirected: both(["fetch_redirected", "the server redirects"]),
  page: both(["fetch_media_type", "text/html"]),
  altered: both(["signature_invalid", 'not a signature of key "orgsign-2"']),
  rolled_back: {
    first: undefined,
    seen: ["feed_rolled_back", "the feed ends at sequence 1"],
  },
  rewritten: {
    first: undefined,
    seen: ["feed_rewritten", "is not the one that is remembered"],
  },
  key_withdrawn: {
    first: ["key_not_found", "the key set has no such key"],
    seen: ["key_withdrawn", "orgsign-1"],
  },
};

function both(error: ExpectedError) {
  return { first: error, seen: error };
}

for (const fault of Object.keys(ERRORS) as IssuerFault[]) {
  Deno.test(`a reader reports that an issuer is ${fault}, until the fault is repaired`, async () => {
    const did = "did:web:acme.example%3A8443";
    await using issuer = await fakeIssuer({ did });
    await issuer.upsert(EMPLOYEE);
    await issuer.rotateKey();
    await issuer.upsert({ ...EMPLOYEE, subject: "did:web:bob.example" });
    const { fetch, now } = issuer;
    const options = {
      issuers: [did],
      fetch,
      now,
      ...fault === "silent" && { totalTimeoutMs: SILENT_MS },
      maxAgeMs: 0,
    };
    const known = createConsumer(options);
    await known.check(did, QUESTION);
    issuer.break(fault);
    const { first, seen } = ERRORS[fault];
    const asked = createConsumer(options).check(did, QUESTION);
    if (first === undefined) assertEquals((await asked).decision, "allow");
    else await expectSigError(asked, ...first);
    await expectSigError(() => known.check(did, QUESTION), ...seen);
    issuer.mend();
    assertEquals((await known.check(did, QUESTION)).decision, "allow");
  });
}

Deno.test("a reader of a fake issuer fetches only new lines", async () => {
  await using issuer = await fakeIssuer({ did: "did:web:shop.example" });
  await issuer.upsert(EMPLOYEE);
  const { did, fetch, now } = issuer;
  const answers: number[] = [];
  const consumer = createConsumer({
    issuers: [did],
    now,
    maxAgeMs: 0,
    async fetch(request) {
      const response = await fetch(request);
      answers.push(response.status);
      return response;
    },
  });
  await consumer.check(did, QUESTION);
  answers.length = 0;
  await issuer.upsert({ ...EMPLOYEE, subject: "did:web:bob.example" });
  const { last_sequence } = await consumer.state(did);
  assertEquals(last_sequence, 2);
  assert(answers.includes(206) && answers.includes(304), answers.join());
});

Deno.test("the fake issuer's clock gives events their time and stands still", async () => {
  await using issuer = await fakeIssuer({ at: "2030-05-01T00:00:00Z" });
  const first = await issuer.upsert(EMPLOYEE);
  issuer.advance(1_500);
  const { relationship_id } = first;
  const { event } = await issuer.revoke({ relationship_id });
  assertEquals(
    [first.event.issued_at, event.issued_at],
    ["2030-05-01T00:00:00Z", "2030-05-01T00:00:01.5Z"],
  );
});

Deno.test("the fake issuer rejects requests to another host", async () => {
  await using issuer = await fakeIssuer();
  await assertRejects(
    () =>
      issuer.fetch(new Request("https://other.example/.well-known/sig.json")),
    TypeError,
    "No such host",
  );
  assertEquals(issuer.requests, []);
});
