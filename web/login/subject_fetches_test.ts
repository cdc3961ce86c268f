import { assertEquals } from "@std/assert";
import { createSubjectKeys } from "./subject_key.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { waitUntil } from "../../tests/kit/wait.ts";

Deno.test("A4: concurrent fetches are limited to 4 per host, 16 per client and 64 in total", async () => {
  const held = new Map<string, PromiseWithResolvers<Response>[]>();
  let asked = 0;
  const resolveKey = createSubjectKeys({
    fetch: ({ url }) => {
      const answer = Promise.withResolvers<Response>();
      const { host } = new URL(url);
      held.set(host, [...held.get(host) ?? [], answer]);
      asked++;
      return answer.promise;
    },
  });
  const pending: Promise<unknown>[] = [];
  const fetchKey = async (host: string, client?: string) =>
    await resolveKey(`did:web:${host}#key-1`, client);
  const hold = async (host: string, client?: string) => {
    const before = asked;
    pending.push(fetchKey(host, client).catch((error) => error.code));
    await waitUntil("it is fetched", () => asked === before + 1);
  };
  const refused = async (host: string, client?: string) => {
    const error = await expectSigError(
      () => fetchKey(host, client),
      "overloaded",
      `Cannot get the keys of "did:web:${host}": too many DID documents are being fetched`,
    );
    assertEquals(error.context.retry_after_seconds, 5);
  };
  for (let i = 0; i < 4; i++) await hold("h0.example", "a");
  await refused("h0.example", "b");
  for (let i = 4; i < 16; i++) await hold(`a${i}.example`, "a");
  await refused("other.example", "a");
  for (let i = 16; i < 64; i++) await hold(`n${i}.example`);
  await refused("other.example", "b");
  await refused("other.example");
  // A failed fetch frees its capacity too.
  held.get("h0.example")![0]!.reject(new Error("reset"));
  await pending[0];
  await hold("h0.example", "a");
  await refused("other.example", "b");
  for (const answers of held.values()) {
    for (const { resolve } of answers) {
      resolve(new Response(null, { status: 404 }));
    }
  }
  const codes = await Promise.all(pending);
  assertEquals(new Set(codes), new Set(["key_unresolvable"]));
});
