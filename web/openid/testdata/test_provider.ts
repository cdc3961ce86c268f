/** A provider on loopback with people and their browsers. */

import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import { assert, assertEquals } from "@std/assert";
import {
  type LoopbackServer,
  serveLoopback,
} from "../../../tests/kit/loopback.ts";
import {
  createDemoIssuer,
  DEMO_REQUIRE,
  type DemoIssuer,
} from "../../demo/demo_issuer.ts";
import { type AppOptions, createApp, type WebApp } from "../../app.ts";
import { type Answer, readAnswer, sha256 } from "../../testdata/answer.ts";
import {
  type GivenChallenge,
  Person,
} from "../../testdata/independent_client.ts";
import { createProvider, type ProviderSettings } from "../provider.ts";
import { type ProviderKeys, readProviderKeys } from "../keys.ts";
import { readClients } from "../clients.ts";

/** Returns an issuer's response; 404 without an issuer. */
export function documentOf(
  issuer: Pick<DemoIssuer, "document"> | undefined,
  { url }: Request,
): Response {
  const { pathname } = new URL(url);
  const bytes = issuer?.document(pathname);
  if (bytes === undefined) return new Response(null, { status: 404 });
  const type = pathname.endsWith(".jsonl") ? "x-ndjson" : "json";
  return new Response(bytes.slice(), {
    headers: { "content-type": `application/${type}` },
  });
}

/** The redirect_uri of the test applications; nothing listens there. */
export const CALLBACK = "https://app.example/callback";
/** The secret of the application `app`. */
export const SECRET = "test-secret-+/:%&=ä 4w7Xc0mYp2";
/** The credentials of the application `app`. */
const APP = { client_id: "app", client_secret: SECRET };

export { sha256 };

/** Fields of requests, or changes of them. */
export type Fields = Readonly<Record<string, string>>;

/** Returns the entries of a client file, which tests may extend. */
export async function usualClients(): Promise<Record<string, unknown>[]> {
  const secret = { client_secret_sha256: await sha256(SECRET), refresh: true };
  const at = (client_id: string, ...redirect_uris: string[]) => ({
    ...{ client_id, redirect_uris },
  });
  return [
    {
      ...{
        ...at("app", CALLBACK, "https://app.example/cb?tenant=1"),
        ...secret,
      },
      client_name: "The App",
      post_logout_redirect_uris: ["https://app.example/bye"],
    },
    { ...at(OTHER.client_id, OTHER.redirect_uri), ...secret },
    {
      ...at("spa", "https://spa.example/callback"),
      id_token_signed_response_alg: "ES256",
    },
    {
      ...{ ...at("ops", "https://ops.example/callback"), ...secret },
      require: ["role=ops"],
    },
  ];
}

/** Returns the usual clients, of which `app` has a logout endpoint. */
export async function clientsWithLogout(uri: string) {
  const [app, ...others] = await usualClients();
  return [{ ...app, backchannel_logout_uri: uri }, ...others];
}

/** The parameters of a request of the application `other`. */
export const OTHER = {
  client_id: "other",
  redirect_uri: "https://other.example/callback",
};

/** Returns the status of a response, and discards its body. */
export async function statusOf(response: Response | Promise<Response>) {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

/** Options of {@linkcode TestProvider.start}. */
export interface TestProviderOptions {
  readonly clients?: readonly Record<string, unknown>[];
  /** Receives the logout tokens of `app`. */
  readonly receiver?: { readonly uri: string };
  readonly store?: RecordStore;
  readonly settings?: Partial<ProviderSettings>;
  readonly web?: Partial<AppOptions>;
  /** Another replica whose issuer and origin to use. */
  readonly like?: TestProvider;
}

/** Published keys for tests only, since generating RSA keys is slow. */
const KEYS = new URL("provider_keys.json", import.meta.url);
let keysOnce: Promise<ProviderKeys> | undefined;

/** Reads the key file of all test providers. */
export function testKeysText(): Promise<string> {
  return Deno.readTextFile(KEYS);
}

/** Returns the keys of all test providers. */
export function testKeys(): Promise<ProviderKeys> {
  return keysOnce ??= testKeysText().then(readProviderKeys);
}

/** A provider on loopback. */
export class TestProvider {
  /** Offset of the clock in milliseconds. */
  skewMs = 0;
  /** The time at which the clock stops; undefined: it runs. */
  frozenMs: number | undefined;
  /** Makes the issuer's documents respond with 404. */
  issuerIsDown = false;
  origin = "";
  web!: WebApp;
  demo!: DemoIssuer;
  store!: RecordStore;
  #server!: LoopbackServer;

  readonly now = (): Date =>
    new Date((this.frozenMs ?? Date.now()) + this.skewMs);

  static async start(options: TestProviderOptions = {}): Promise<TestProvider> {
    const provider = new TestProvider();
    const ready = Promise.withResolvers<void>();
    provider.#server = serveLoopback(async (request, info) => {
      await ready.promise;
      return await provider.web.fetch(request, info);
    });
    const { origin: own } = provider.#server;
    provider.origin = own;
    const { like } = options;
    provider.demo = like?.demo ?? await createDemoIssuer({
      origin: own,
      now: provider.now,
    });
    provider.store = options.store ?? createMemoryStore();
    const { receiver } = options;
    const entries = options.clients ??
      (receiver ? await clientsWithLogout(receiver.uri) : await usualClients());
    const clients = readClients(JSON.stringify({ clients: entries }));
    const { demo } = provider;
    provider.web = createApp({
      audiences: [like?.origin ?? own],
      now: provider.now,
      issuers: [demo.did],
      require: DEMO_REQUIRE,
      allowPrivate: true,
      fetch: (request) => {
        const isDown = provider.issuerIsDown || like?.issuerIsDown;
        return Promise.resolve(documentOf(isDown ? undefined : demo, request));
      },
      store: provider.store,
      openid: createProvider({
        clients: () => clients,
        keys: await testKeys(),
        ...options.settings,
      }),
      ...options.web,
    });
    ready.resolve();
    return provider;
  }

  /** Enrols a new person as an employee, and opens a browser. */
  async employ() {
    const person = new Person();
    const { relationship_id } = await this.demo.enrol(person.did);
    return { person, browser: new Browser(), relationship: relationship_id };
  }

  /** Enrols a new person and signs them in at `app` in a new browser. */
  async logIn() {
    const employed = await this.employ();
    const tokens = await employed.browser.tokens(this, employed.person);
    return { ...employed, ...tokens };
  }

  /** Checks all sessions, as the background work does. */
  watch() {
    // A state that was read in this millisecond would count as read by the check.
    this.skewMs += 1;
    return this.web.provider!.watch();
  }

  /** Delivers logout tokens, as the background work does. */
  deliver() {
    return this.web.provider!.deliver();
  }

  /** Signs a new person in at `app` and returns the code. */
  async newCode(): Promise<string> {
    const { person, browser } = await this.employ();
    return await browser.signInForCode(this, person);
  }

  /**
   * Returns an authorization address; undefined members of `changes` are
   * omitted.
   */
  async authorizeUrl(
    changes: Record<string, string | undefined> = {},
  ): Promise<string> {
    const parameters = {
      ...{ client_id: "app", redirect_uri: CALLBACK, response_type: "code" },
      ...{ scope: "openid profile groups", state: "s1", nonce: "n1" },
      code_challenge: await sha256(VERIFIER),
      code_challenge_method: "S256",
      ...changes,
    };
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined) query.set(name, value);
    }
    return `${this.origin}/oidc/authorize?${query}`;
  }

  /** Posts a form as an application. */
  post(path: string, fields: Fields | string, headers: Fields = {}) {
    const type = "application/x-www-form-urlencoded";
    return readAnswer(fetch(`${this.origin}${path}`, {
      method: "POST",
      headers: { "content-type": type, ...headers },
      body: String(
        typeof fields === "string" ? fields : new URLSearchParams(fields),
      ),
      redirect: "manual",
    }));
  }

  /** Redeems a code as `app`; `changes` override fields. */
  redeem(code: string, changes: Fields = {}): Promise<Answer> {
    return this.post("/oidc/token", {
      ...{ grant_type: "authorization_code", code, ...APP },
      ...{ redirect_uri: CALLBACK, code_verifier: VERIFIER, ...changes },
    });
  }

  refresh(refresh_token: string, changes: Fields = {}): Promise<Answer> {
    return this.post("/oidc/token", {
      ...{ grant_type: "refresh_token", refresh_token, ...APP, ...changes },
    });
  }

  userinfo(token: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${token}` };
    return readAnswer(fetch(`${this.origin}/oidc/userinfo`, { headers }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

/** The PKCE verifier of the tests. */
export const VERIFIER = "verifier-".repeat(5);

/** Asserts an OAuth error without tokens. */
export function assertRefused(
  { status, body, headers }: Answer,
  expected: readonly [status: number, error: string],
): void {
  assertEquals([status, body.error], expected);
  assertEquals(headers.get("cache-control"), "no-store");
  assert(!JSON.stringify(body).includes("access_token"));
}

/** A request that must be refused: its difference from a valid one. */
export type Attempt<Changes> = readonly [
  what: string,
  changes: Changes,
  expected: readonly [status: number, error: string],
];

/** Sends requests that must be refused, each as a step. */
export async function refuseEach<Changes>(
  t: Deno.TestContext,
  attempts: readonly Attempt<Changes>[],
  send: (changes: Changes) => Promise<Answer>,
): Promise<void> {
  for (const [what, changes, expected] of attempts) {
    await t.step(`refuses ${what}`, async () => {
      assertRefused(await send(changes), expected);
    });
  }
}

/** The errors that tables of attempts expect. */
export const REFUSED = {
  client: [401, "invalid_client"],
  grant: [400, "invalid_grant"],
  request: [400, "invalid_request"],
  scope: [400, "invalid_scope"],
  token: [401, "invalid_token"],
} as const;

/** Returns the name of a cookie at a server, which contains the port. */
export function cookieAt(name: string, { origin }: { origin: string }) {
  return `${name}-${new URL(origin).port}`;
}

/** The tokens that `app` gets. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

/**
 * A browser without scripts, which keeps cookies and does not follow redirects.
 */
export class Browser {
  readonly cookies = new Map<string, string>();

  get cookie(): string {
    return Array.from(this.cookies, ([name, value]) => `${name}=${value}`)
      .join("; ");
  }

  async send(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.cookies.size > 0) headers.set("cookie", this.cookie);
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0\b/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  /** Opens a link and returns its redirect. */
  async follow(url: string): Promise<URL> {
    const init = { headers: { accept: "text/html" } };
    const { status, headers, text } = await this.ask(url, init);
    const location = headers.get("location");
    if (location === null) throw new Error(`no redirect: ${status} ${text}`);
    return new URL(location);
  }

  /** Opens a link and returns the id of the interaction that it starts. */
  async begin(url: string): Promise<string> {
    const { hash } = await this.follow(url);
    const [, id] = /^#\/sign-in\/([A-Za-z0-9_.-]+)$/.exec(hash) ?? [];
    if (id === undefined) throw new Error(`no interaction: ${hash}`);
    return id;
  }

  async interaction(
    origin: string,
    id: string,
  ): Promise<{ client: object; challenge: GivenChallenge }> {
    const url = `${origin}/oidc/interaction/${id}`;
    const { status, text, body } = await this.ask(url);
    if (status !== 200) throw new Error(text);
    return body;
  }

  /** Sends a request, and reads the response. */
  ask(url: string, init?: RequestInit): Promise<Answer> {
    return readAnswer(this.send(url, init));
  }

  answer(
    origin: string,
    id: string,
    body: object,
    headers: Fields = {},
  ): Promise<Answer> {
    return this.ask(`${origin}/oidc/interaction/${id}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }

  /** Reads the form of a page as a browser would submit it. */
  async form(url: string) {
    const response = await this.ask(url);
    const { text } = response;
    const [, action] = /<form method="post" action="([^"]+)">/.exec(text) ?? [];
    const read = (value: string) =>
      value.replaceAll("&quot;", '"').replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">").replaceAll("&amp;", "&");
    const fields = Object.fromEntries(
      Array.from(
        text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g),
        ([, name, value]) => [name!, read(value!)],
      ),
    );
    return { response, text, action, fields };
  }

  /** Opens a link that redirects to the application; returns the code. */
  async codeAt(url: string): Promise<string> {
    return (await this.follow(url)).searchParams.get("code")!;
  }

  /**
   * Opens a link and signs as a person; `claims` override the correct ones.
   * Returns the attestation and a function that sends it.
   */
  async sign(
    provider: Pick<TestProvider, "origin" | "now">,
    person: Person,
    url: string,
    claims: Record<string, unknown> = {},
  ) {
    return await this.signAt(provider, person, await this.begin(url), claims);
  }

  /** Signs for an interaction, as {@linkcode sign}. */
  async signAt(
    { origin, now }: Pick<TestProvider, "origin" | "now">,
    person: Person,
    id: string,
    claims: Record<string, unknown> = {},
  ) {
    const { challenge } = await this.interaction(origin, id);
    const nowMs = now().getTime();
    const attestation = person.attest(challenge, nowMs, claims);
    const send = (headers: Fields = {}) =>
      this.answer(origin, id, { attestation }, headers);
    /** Returns the redirect of an accepted answer. */
    const finish = async () => {
      const { status, text, body } = await send();
      if (status !== 200) throw new Error(text);
      return new URL(body.redirect_to);
    };
    return { id, challenge, attestation, send, finish };
  }

  /** Signs in as a person and returns the redirect. */
  async signIn(
    provider: Pick<TestProvider, "origin" | "now">,
    person: Person,
    url: string,
    claims: Record<string, unknown> = {},
  ): Promise<URL> {
    return await (await this.sign(provider, person, url, claims)).finish();
  }

  /**
   * Returns the error of a request with prompt=none; null if it gets a code.
   */
  async silentError(
    provider: TestProvider,
    changes: Fields = {},
  ): Promise<string | null> {
    const url = await provider.authorizeUrl({ ...changes, prompt: "none" });
    const { searchParams } = await this.follow(url);
    assertEquals(searchParams.has("code"), !searchParams.has("error"));
    return searchParams.get("error");
  }

  /** Signs in as a person and returns the code for the application. */
  async signInForCode(
    provider: TestProvider,
    person: Person,
    changes: Record<string, string | undefined> = {},
  ): Promise<string> {
    const url = await provider.authorizeUrl(changes);
    const { searchParams } = await this.signIn(provider, person, url);
    return searchParams.get("code")!;
  }

  /** Signs in at `app` and returns its tokens. */
  async tokens(
    provider: TestProvider,
    person: Person,
    changes: Fields = {},
  ): Promise<Tokens> {
    const code = await this.signInForCode(provider, person, changes);
    const { status, body } = await provider.redeem(code);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  }
}
