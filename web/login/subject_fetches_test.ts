import { assertEquals } from "@std/assert";
import { createSubjectKeys } from "./subject_key.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { turns, waitUntil } from "../../tests/kit/wait.ts";

// promise: A client fetches one DID document of a host at a time.

/** A resolver whose fetches wait until `answerAll` is called. */
function createHeld() {
  const held: { url: string; answer: PromiseWithResolvers<Response> }[] = [];
  const resolveKey = createSubjectKeys({
    fetch: ({ url }) => {
      const answer = Promise.withResolvers<Response>();
      held.push({ url, answer });
      return answer.promise;
    },
  });
  const pending: Promise<unknown>[] = [];
  const fetchKey = async (did: string, client?: string, challenge?: string) =>
    await resolveKey(`did:web:${did}#key-1`, client, challenge);
  return {
    held,
    pending,
    /** Asks for a key, and does not wait for the answer. */
    ask(did: string, client?: string, challenge?: string) {
      const asked = fetchKey(did, client, challenge).catch(({ code }) => code);
      pending.push(asked);
      return asked;
    },
    /** Asks for a key, and waits until its document is fetched. */
    async hold(did: string, client?: string, challenge?: string) {
      const before = held.length;
      this.ask(did, client, challenge);
      await waitUntil("it is fetched", () => held.length === before + 1);
    },
    async refused(did: string, client?: string, challenge?: string) {
      const error = await expectSigError(
        () => fetchKey(did, client, challenge),
        "overloaded",
        `Cannot get the keys of "did:web:${did}": too many DID documents are being fetched`,
      );
      assertEquals(error.context.retry_after_seconds, 5);
    },
    /** Answers every fetch, and those that begin then. */
    async answerAll() {
      const all = Promise.all(pending);
      let isOver = false;
      all.finally(() => isOver = true);
      for (let next = 0; !isOver; await turns(1)) {
        for (; next < held.length; next++) {
          held[next]!.answer.resolve(new Response(null, { status: 404 }));
        }
      }
      assertEquals(new Set(await all), new Set(["key_unresolvable"]));
    },
  };
}

Deno.test("A4: concurrent fetches are limited to 16 per host, 16 per client and 64 in total", async () => {
  const site = createHeld();
  for (let i = 0; i < 16; i++) await site.hold(`h0.example:${i}`, `c${i}`);
  await site.refused("h0.example:16", "b");
  for (let i = 0; i < 16; i++) await site.hold(`a${i}.example`, "a");
  await site.refused("other.example", "a");
  for (let i = 32; i < 64; i++) await site.hold(`n${i}.example`);
  await site.refused("other.example", "b");
  await site.refused("other.example");
  // A failed fetch frees its capacity too.
  site.held[0]!.answer.reject(new Error("reset"));
  await site.pending[0];
  await site.hold("other.example", "b");
  await site.refused("next.example", "b");
  await site.answerAll();
});

Deno.test("A4: a client fetches one document of a host at a time, so it can't block an organisation's other subjects", async () => {
  const site = createHeld();
  await site.hold("acme.example:mallory-0", "mallory", "c0");
  for (let i = 1; i < 16; i++) {
    site.ask(`acme.example:mallory-${i}`, "mallory", `c${i}`);
  }
  await site.refused("acme.example:mallory-16", "mallory");
  await turns(5);
  assertEquals(site.held.length, 1);
  await site.hold("acme.example:alice", "alice", "c-alice");
  // The fetches of the client take turns.
  await site.answerAll();
  assertEquals(site.held.length, 17);
});

Deno.test("A4: concurrent logins by one key share a fetch, and a challenge has one fetch at a time", async () => {
  const site = createHeld();
  await site.hold("acme.example:alice", "mallory", "c1");
  for (const client of ["mallory", "alice", undefined]) {
    for (let i = 0; i < 20; i++) site.ask("acme.example:alice", client, "c1");
  }
  await site.refused("other.example", "alice", "c1");
  await turns(5);
  assertEquals(site.held.length, 1);
  await site.answerAll();
  assertEquals(site.held.length, 1);
  // The next login fetches again: a removed key counts at once.
  await site.hold("acme.example:alice", "alice", "c1");
  await site.answerAll();
});
