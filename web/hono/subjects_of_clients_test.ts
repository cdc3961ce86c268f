import { assertEquals } from "@std/assert";
import { Person } from "../testdata/independent_client.ts";
import { sigLogin } from "./mod.ts";

const ORIGIN = "http://127.0.0.1:8000";

Deno.test("hosts that one client names keep out no subjects of others", async () => {
  const gate = Promise.withResolvers<void>();
  const arrivals = new Map<string, () => void>();
  const app = sigLogin({
    audience: ORIGIN,
    allowPrivate: true,
    fetch: async (request) => {
      arrivals.get(new URL(request.url).hostname)?.();
      await gate.promise;
      return new Response(null, { status: 404 });
    },
  });
  const logIn = async (host: string, hostname: string) => {
    const info = { remoteAddr: { hostname } };
    const begun = await app.request(
      ...[`${ORIGIN}/sig/challenge`, { method: "POST" }, info] as const,
    );
    const did = `did:web:${host}`;
    const attestation = new Person().attest(
      await begun.json(),
      Date.now(),
      { iss: did, sub: did },
      { kid: `${did}#key-1` },
    );
    const [cookie = ""] = begun.headers.getSetCookie();
    const init = {
      method: "POST",
      headers: { cookie: cookie.split(";", 1)[0]! },
      body: JSON.stringify({ attestation }),
    };
    const response = await app.request(`${ORIGIN}/sig/session`, init, info);
    return { status: response.status, ...await response.json() };
  };
  /** One whose host has been asked, and is silent. */
  const hang = async (host: string, client: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    arrivals.set(host, resolve);
    const answer = logIn(host, client);
    await Promise.race([promise, answer]);
    return { answer };
  };
  const hanging: Awaited<ReturnType<typeof hang>>[] = [];
  for (let i = 0; i < 16; i++) {
    hanging.push(await hang(`host-${i}.example`, "2001:db8::1"));
  }
  // Of the same network: it is the same client.
  const next = await hang("host-16.example", "2001:db8::2");
  const other = await hang("alice.example", "192.0.2.2");
  gate.resolve();
  const refused = await next.answer;
  assertEquals([refused.status, refused.code, refused.detail], [
    503,
    "overloaded",
    "Cannot log in: too many DID documents are being fetched for this client",
  ]);
  for (const { answer } of [...hanging, other]) {
    assertEquals((await answer).code, "key_unresolvable");
  }
});
