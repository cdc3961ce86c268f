import { assertEquals } from "@std/assert";
import { signAttestation } from "@sig/jose";
import {
  createSubjectFetches,
  createSubjectKeys,
  createSubjectResolver,
} from "./subject_key.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { LoginFixture, newKey } from "./testdata/login_fixture.ts";

const to = (host: string, challengeId?: string) => ({
  did: `did:web:${host}`,
  host,
  challengeId,
});
const done = () => Promise.resolve("done");

Deno.test("A4: four fetches from one host, and 64 in all, are under way at a time", async () => {
  const run = createSubjectFetches();
  const held: PromiseWithResolvers<void>[] = [];
  const pending: Promise<void>[] = [];
  const hold = (host: string) => {
    const answer = Promise.withResolvers<void>();
    held.push(answer);
    pending.push(run(to(host), () => answer.promise));
  };
  for (let i = 0; i < 64; i++) {
    if (i === 4) {
      const error = await expectSigError(
        () => run(to("h0.example"), done),
        "overloaded",
        'Cannot get the keys of "did:web:h0.example": too many DID documents',
      );
      assertEquals(error.context.retry_after_seconds, 5);
    }
    hold(`h${Math.floor(i / 4)}.example`);
  }
  await expectSigError(
    () => run(to("other.example"), done),
    "overloaded",
    "too many DID documents are being fetched",
  );
  // A fetch that ends makes room, also when it fails.
  held[0]!.reject(new Error("reset"));
  await pending[0]!.catch(() => {});
  assertEquals(await run(to("h0.example"), done), "done");
  for (const { resolve } of held) resolve();
  await Promise.allSettled(pending);
  assertEquals(await run(to("other.example"), done), "done");
});

Deno.test("A4: what is refused for want of a place does not count as a fetch of the challenge", async () => {
  const run = createSubjectFetches({ maxPerHost: 1, maxPerChallenge: 1 });
  const answer = Promise.withResolvers<void>();
  const first = run(to("a.example", "c-1"), () => answer.promise);
  for (let i = 0; i < 3; i++) {
    await expectSigError(
      () => run(to("a.example", "c-2"), done),
      "overloaded",
      "too many DID documents",
    );
  }
  answer.resolve();
  await first;
  assertEquals(await run(to("a.example", "c-2"), done), "done");
});

Deno.test("A4: one challenge makes three fetches at most, and is not burned by more", async () => {
  let fetches = 0;
  const login = await LoginFixture.make({
    resolveKey: createSubjectKeys({
      resolveSubjectKey: createSubjectResolver({
        fetchDocument: () => {
          fetches++;
          return Promise.resolve(new TextEncoder().encode("no document"));
        },
      }),
    }),
  });
  const key = await newKey();
  const challenge = await login.create();
  const subject = "did:web:alice.example";
  const { now } = login;
  const jwt = await signAttestation({ challenge, key, subject, now });
  for (let i = 0; i < 10; i++) {
    const error = await expectSigError(
      () => login.verify(jwt),
      "key_unresolvable",
      i < 3
        ? "its DID document can't be used"
        : "its DID document was fetched 3 times for this challenge",
    );
    assertEquals(
      error.context.reason,
      i < 3 ? "invalid_did_document" : "rate_limited",
    );
  }
  assertEquals([fetches, login.failures], [3, 0]);
  // A person whose key needs no fetch still logs in.
  await login.verify(await login.attest(challenge));
});
