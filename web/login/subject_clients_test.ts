import { assertEquals } from "@std/assert";
import { type AppOptions, createApp } from "../app.ts";
import { sigLogin } from "../hono/mod.ts";
import { Browser, TestProvider } from "../openid/testdata/test_provider.ts";
import { type GivenChallenge, Person } from "../testdata/independent_client.ts";
import { waitUntil } from "../../tests/kit/wait.ts";

const ORIGIN = "http://127.0.0.1:8788";
const JSON_TYPE = { "content-type": "application/json" };

/** Logs a did:web in from a network address. */
type LogIn = (
  sign: (challenge: GivenChallenge) => string,
  hostname: string,
) => Promise<Response>;
type Fetch = NonNullable<AppOptions["fetch"]>;

/** Each endpoint that accepts attestations. */
const PLACES: {
  readonly [name: string]: (
    fetch: Fetch,
  ) => Promise<{ readonly logIn: LogIn; readonly close?: () => Promise<void> }>;
} = {
  "POST /v1/auth/attestation/verify": (fetch) => {
    const app = createApp({ audiences: [ORIGIN], allowPrivate: true, fetch });
    const ask = (path: string, body: object, hostname: string) =>
      app.fetch(
        new Request(`${ORIGIN}/v1/auth/${path}`, {
          method: "POST",
          headers: JSON_TYPE,
          body: JSON.stringify(body),
        }),
        { remoteAddr: { hostname } },
      );
    return Promise.resolve({
      async logIn(sign, hostname) {
        const challenge = await ask("challenge/create", {}, hostname);
        const attestation = sign(await challenge.json());
        return await ask("attestation/verify", { attestation }, hostname);
      },
    });
  },
  "POST /oidc/interaction": async (fetch) => {
    const provider = await TestProvider.start({ web: { fetch } });
    return {
      async logIn(sign, hostname) {
        const browser = new Browser();
        const id = await browser.begin(await provider.authorizeUrl());
        const { challenge } = await browser.interaction(provider.origin, id);
        // Called directly: over the socket all clients have the same address.
        return await provider.web.fetch(
          new Request(`${provider.origin}/oidc/interaction/${id}`, {
            method: "POST",
            headers: { ...JSON_TYPE, cookie: browser.cookie },
            body: JSON.stringify({ attestation: sign(challenge) }),
          }),
          { remoteAddr: { hostname } },
        );
      },
      close: () => provider[Symbol.asyncDispose](),
    };
  },
  "POST /sig/session": (fetch) => {
    const app = sigLogin({ audience: ORIGIN, allowPrivate: true, fetch });
    return Promise.resolve({
      async logIn(sign, hostname) {
        const info = { remoteAddr: { hostname } };
        const begun = await app.request(
          ...[`${ORIGIN}/sig/challenge`, { method: "POST" }, info] as const,
        );
        const [cookie = ""] = begun.headers.getSetCookie();
        const init = {
          method: "POST",
          headers: { ...JSON_TYPE, cookie: cookie.split(";", 1)[0]! },
          body: JSON.stringify({ attestation: sign(await begun.json()) }),
        };
        return await app.request(`${ORIGIN}/sig/session`, init, info);
      },
    });
  },
};

for (const [name, open] of Object.entries(PLACES)) {
  Deno.test(`${name}: hanging hosts of one client do not block subjects of other clients`, async () => {
    const silence = Promise.withResolvers<void>();
    const asked = new Set<string>();
    const { logIn, close } = await open(async ({ url }) => {
      asked.add(new URL(url).hostname);
      await silence.promise;
      return new Response(null, { status: 404 });
    });
    const codeOf = async (host: string, hostname: string) => {
      const did = `did:web:${host}`;
      const response = await logIn((challenge) =>
        new Person().attest(
          ...[challenge, Date.now(), { iss: did, sub: did }] as const,
          { kid: `${did}#key-1` },
        ), hostname);
      const { status, code } = { ...await response.json() };
      return [response.status, status, code];
    };
    const hanging: ReturnType<typeof codeOf>[] = [];
    for (let i = 0; i < 16; i++) {
      hanging.push(codeOf(`host-${i}.example`, "2001:db8::1"));
    }
    await waitUntil("all hosts are asked", () => asked.size === 16);
    // An address of the same network is the same client.
    const refused = await codeOf("host-16.example", "2001:db8::2");
    assertEquals(refused, [503, 503, "overloaded"]);
    const other = codeOf("alice.example", "192.0.2.2");
    await waitUntil("another is asked", () => asked.has("alice.example"));
    silence.resolve();
    for (const answer of await Promise.all([...hanging, other])) {
      assertEquals(answer, [502, 502, "key_unresolvable"]);
    }
    await close?.();
  });
}
