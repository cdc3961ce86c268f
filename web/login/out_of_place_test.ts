// Stores, hosts and issuers that hang, and what goes on beside them.
import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import { type AppOptions, createApp } from "../app.ts";
import { type GivenChallenge, Person } from "../testdata/independent_client.ts";
import { waitUntil } from "../../tests/kit/wait.ts";

const ORIGIN = "http://127.0.0.1:8788";
const CREATE = "/v1/auth/challenge/create";
const VERIFY = "/v1/auth/attestation/verify";

/** Asks from an address; what is answered as status and code. */
function siteOf(options: Partial<AppOptions>) {
  const app = createApp({ audiences: [ORIGIN], ...options });
  return async (path: string, sent?: unknown, hostname = "192.0.2.1") => {
    const json = JSON.stringify(sent);
    const request = new Request(
      `${ORIGIN}${path}`,
      json === undefined ? {} : {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "content-length": String(json.length),
        },
        body: json,
      },
    );
    const response = await app.fetch(request, { remoteAddr: { hostname } });
    const text = await response.text();
    const body = text.startsWith("{") ? JSON.parse(text) : {};
    return { status: response.status, body };
  };
}

Deno.test("a store that hangs holds up logins, and not the page", async () => {
  const gate = Promise.withResolvers<void>();
  const memory = createMemoryStore();
  const arrived: PromiseWithResolvers<void>[] = [];
  const store: RecordStore = {
    ...memory,
    put(...record) {
      arrived.shift()?.resolve();
      return gate.promise.then(() => memory.put(...record));
    },
  };
  const ask = siteOf({ store, maxConcurrent: 8 });
  const hanging = [];
  for (let i = 0; i < 2; i++) {
    const here = Promise.withResolvers<void>();
    arrived.push(here);
    hanging.push(ask(CREATE, {}));
    await here.promise;
  }
  const { status, body } = await ask(CREATE, {});
  assertEquals([status, body.code, body.detail], [
    503,
    "overloaded",
    "Cannot answer: too many requests of this client wait for the same answer of others",
  ]);
  assertEquals((await ask("/")).status, 200);
  assertEquals((await ask("/ui/style.css")).status, 200);
  gate.resolve();
  for (const { status } of await Promise.all(hanging)) {
    assertEquals(status, 200);
  }
});

Deno.test("hosts that one client names keep out no subjects of others", async () => {
  const gate = Promise.withResolvers<void>();
  const hosts = new Set<string>();
  const ask = siteOf({
    allowPrivate: true,
    fetch: async ({ url }) => {
      hosts.add(new URL(url).host);
      await gate.promise;
      return new Response(null, { status: 404 });
    },
  });
  const logIn = async (host: string, client: string) => {
    const person = new Person();
    const { body } = await ask(CREATE, {}, client);
    const did = `did:web:${host}`;
    const attestation = person.attest(
      body as GivenChallenge,
      Date.now(),
      { iss: did, sub: did },
      { kid: `${did}#key-1` },
    );
    return await ask(VERIFY, { attestation }, client);
  };
  const hanging: ReturnType<typeof logIn>[] = [];
  for (let i = 0; i < 16; i++) {
    hanging.push(logIn(`host-${i}.example`, "192.0.2.1"));
  }
  await waitUntil("all hosts are asked", () => hosts.size === 16);
  const refused = await logIn("host-16.example", "192.0.2.1");
  assertEquals([refused.status, refused.body.code], [503, "overloaded"]);
  const other = logIn("alice.example", "192.0.2.2");
  await waitUntil("another host is asked", () => hosts.has("alice.example"));
  gate.resolve();
  assertEquals((await other).body.code, "key_unresolvable");
  for (const { body } of await Promise.all(hanging)) {
    assertEquals(body.code, "key_unresolvable");
  }
});
