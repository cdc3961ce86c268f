import { createMemoryStore } from "@sig/consumer/store";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { SigError } from "@sig/core";
import { type Context, Hono } from "hono";
import { Browser, cookieAt } from "../openid/testdata/test_provider.ts";
import { Person } from "../testdata/independent_client.ts";
import { requireRelationship, sigLogin, type SigLoginOptions } from "./mod.ts";
import { HonoSite } from "./testdata/hono_site.ts";
import { readAnswer } from "../testdata/answer.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** A person and a browser at one application. */
class Visitor {
  readonly browser: Browser;
  readonly person: Person;
  readonly #site: HonoSite;

  constructor(
    site: HonoSite,
    { browser, person }: Partial<Pick<Visitor, "browser" | "person">> = {},
  ) {
    this.#site = site;
    this.browser = browser ?? new Browser();
    this.person = person ?? new Person();
  }

  /** Signs a new employee in. */
  static async signedIn(site: HonoSite) {
    const visitor = new Visitor(site);
    const { did } = visitor.person;
    const { relationship_id } = await site.demo.enrol(did);
    assertEquals((await visitor.signIn()).status, 200);
    return Object.assign(visitor, { did, relationship_id });
  }

  /** Returns the same person and browser at another application. */
  at(site: HonoSite): Visitor {
    return new Visitor(site, this);
  }

  get(path: string, headers: Record<string, string> = {}) {
    return this.browser.ask(this.#site.origin + path, { headers });
  }

  /** Returns the subject that handlers see, or "nobody". */
  async seen(): Promise<string> {
    return (await this.get("/")).text;
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}) {
    return this.browser.ask(this.#site.origin + path, {
      method: "POST",
      headers: { ...JSON_TYPE, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body) ?? null,
    });
  }

  /** The value of a cookie at the application. */
  cookie(name: string): string {
    return this.browser.cookies.get(cookieAt(name, this.#site))!;
  }

  async attestation(): Promise<string> {
    const { body } = await this.post("/sig/challenge");
    return this.person.attest(body, this.#site.now().getTime());
  }

  async signIn() {
    return await this.post("/sig/session", {
      attestation: await this.attestation(),
    });
  }
}

Deno.test("a session has the DID of the key and the DID of the person", async () => {
  await using site = await HonoSite.start();
  const [laptop, phone] = [new Visitor(site), new Visitor(site)];
  await site.demo.enrol(laptop.person.did);
  await site.demo.enrol(phone.person.did, undefined, laptop.person.did);
  for (const visitor of [laptop, phone]) {
    const { did } = visitor.person;
    const { body } = await visitor.signIn();
    assertEquals([body.subject, body.person], [did, laptop.person.did]);
    assertEquals((await visitor.get("/sig/session")).body.person, body.person);
  }
});

Deno.test("an employee signs in, handlers read the session, and the employee signs out", async () => {
  await using site = await HonoSite.start();
  const visitor = new Visitor(site);
  const { did } = visitor.person;
  await site.demo.enrol(did);
  assertEquals(await visitor.seen(), "nobody");
  assertEquals((await visitor.get("/sig/session")).status, 401);
  const { status, body, headers } = await visitor.signIn();
  assertEquals([status, body.subject], [200, did]);
  assertEquals(body.relationship.roles, ["deploy"]);
  const name = cookieAt("sig-session", site);
  const cookie = headers.getSetCookie().find((each) =>
    each.startsWith(`${name}=`)
  );
  assert(cookie?.endsWith("; Path=/; HttpOnly; SameSite=Lax"), cookie);
  assertEquals(await visitor.seen(), did);
  assertEquals((await visitor.get("/sig/session")).body, body);
  assertEquals((await visitor.get("/deploy")).text, "deployed");
  const before = visitor.cookie("sig-session");
  assertEquals((await visitor.post("/sig/logout")).status, 204);
  visitor.browser.cookies.set(name, before);
  assertEquals(await visitor.seen(), "nobody");
});

Deno.test("while the issuer fails, a session continues for graceMs, then pages get 503; a revocation ends it, and so does signing out at any time", async () => {
  await using site = await HonoSite.start({ graceMs: 60_000 });
  const stays = await Visitor.signedIn(site);
  const leaves = await Visitor.signedIn(site);
  site.issuerIsDown = true;
  site.skewMs = 58_000;
  assertEquals(await stays.seen(), stays.did);
  site.skewMs = 66_000;
  for (const visitor of [stays, leaves]) {
    const { status, body } = await visitor.get("/");
    assertEquals([status, body.status, body.code], [503, 503, "fetch_status"]);
  }
  assert((await stays.get("/deploy")).headers.has("retry-after"));
  assertEquals((await leaves.get("/sig/login")).status, 200);
  const { status, headers } = await leaves.post("/sig/logout");
  assertEquals(status, 204);
  const [cookie = ""] = headers.getSetCookie();
  assertStringIncludes(cookie, "sig-session");
  assertStringIncludes(cookie, "=; Max-Age=0");
  site.issuerIsDown = false;
  site.skewMs = 76_000;
  const seen = [await stays.seen(), await leaves.seen()];
  assertEquals(seen, [stays.did, "nobody"]);
  await site.demo.revoke(stays.relationship_id);
  assertEquals(await stays.seen(), "nobody");
  assertEquals((await stays.get("/deploy")).status, 401);
  const again = await stays.signIn();
  assertEquals([again.status, again.body.code], [403, "relationship_denied"]);
});

Deno.test("signing out removes the cookie even if the store can't end the session", async () => {
  const store = createMemoryStore();
  let isDown = false;
  const put: typeof store.put = (...record) =>
    isDown
      ? Promise.reject(
        new SigError("store_unavailable", { reason: "Cannot use store" }),
      )
      : store.put(...record);
  await using site = await HonoSite.start({ store: { ...store, put } });
  const visitor = await Visitor.signedIn(site);
  isDown = true;
  const { status, body } = await visitor.post("/sig/logout");
  assertEquals([status, body.code], [503, "store_unavailable"]);
  assertEquals(await visitor.seen(), "nobody");
});

Deno.test("the issuer is not queried again within recheckMs", async () => {
  await using site = await HonoSite.start({ recheckMs: 60_000 });
  const visitor = await Visitor.signedIn(site);
  await site.demo.revoke(visitor.relationship_id);
  assertEquals(await visitor.seen(), visitor.did);
  site.skewMs = 61_000;
  assertEquals(await visitor.seen(), "nobody");
});

Deno.test("a missing relationship gets 403 with reasons; without a login, scripts get 401 and pages the login", async () => {
  await using site = await HonoSite.start();
  const visitor = new Visitor(site);
  const page = { accept: "text/html,*/*" };
  const { status, headers } = await visitor.get("/page?a=b&c", page);
  const login = "/sig/login?rd=%2Fpage%3Fa%3Db%26c";
  assertEquals([status, headers.get("location")], [303, login]);
  const cors = { ...page, "sec-fetch-mode": "cors" };
  const script = await visitor.get("/page", cors);
  assertEquals([script.status, script.body.code], [401, "unauthorized"]);
  await site.demo.enrol(visitor.person.did);
  await visitor.signIn();
  const denied = await visitor.get("/page", page);
  assertEquals([denied.status, denied.body.code], [403, "relationship_denied"]);
  assertEquals(denied.body.reasons[0], {
    code: "role_missing",
    requirement: { key: "role", value: "ops" },
  });
  assertEquals(
    denied.body.detail,
    `Cannot answer: "${site.demo.did}" does not vouch for "${visitor.person.did}" (role_missing: "role=ops")`,
  );
});

Deno.test("rejects a challenge of another browser and a used challenge", async () => {
  await using site = await HonoSite.start();
  const visitor = new Visitor(site);
  await site.demo.enrol(visitor.person.did);
  const attestation = await visitor.attestation();
  const victim = new Visitor(site);
  for (
    const [expected, code] of [
      [400, "invalid_request"],
      [422, "invalid_attestation"],
    ] as const
  ) {
    const { status, body } = await victim.post("/sig/session", { attestation });
    assertEquals([status, body.code], [expected, code]);
    // Now it has a challenge, but another one.
    await victim.post("/sig/challenge");
  }
  assertEquals(await victim.seen(), "nobody");
  const mine = visitor.cookie("sig-challenge");
  for (
    const [expected, code] of [[200], [409, "challenge_used"]] as const
  ) {
    visitor.browser.cookies.set(cookieAt("sig-challenge", site), mine);
    const answer = await visitor.post("/sig/session", { attestation });
    assertEquals([answer.status, answer.body.code], [expected, code]);
  }
});

Deno.test("pages of other sites can neither sign in nor sign out", async () => {
  await using site = await HonoSite.start();
  const visitor = await Visitor.signedIn(site);
  const attestation = await visitor.attestation();
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site", origin: site.origin },
    { origin: "null" },
  ];
  for (const headers of foreign) {
    for (const path of ["/sig/logout", "/sig/session"]) {
      const sent = { attestation };
      const { status, body } = await visitor.post(path, sent, headers);
      assertEquals([status, body.code], [403, "origin_not_allowed"]);
    }
  }
  assertEquals(await visitor.seen(), visitor.person.did);
});

Deno.test("a logout with two session cookies is an error, and the session continues", async () => {
  await using site = await HonoSite.start();
  const visitor = await Visitor.signedIn(site);
  const name = cookieAt("sig-session", site);
  const headers = { cookie: `${visitor.browser.cookie}; ${name}=x` };
  const url = `${site.origin}/sig/logout`;
  const { status, body } = await readAnswer(
    fetch(url, { method: "POST", headers }),
  );
  assertEquals([status, body.code, body.detail], [
    400,
    "invalid_request",
    "Cannot log out: the browser sent two session cookies",
  ]);
  assertEquals(await visitor.seen(), visitor.person.did);
});

Deno.test("rejects a body that is too large, is not JSON, or has unknown members", async () => {
  await using site = await HonoSite.start();
  const visitor = new Visitor(site);
  await visitor.post("/sig/challenge");
  const cases = [
    [{ attestation: "x".repeat(70_000) }, 413, "body_too_large"],
    [{ attestation: "x", subjekt: "y" }, 400, "invalid_request"],
    ["{", 400, "invalid_json"],
  ] as const;
  for (const [sent, expected, code] of cases) {
    const { status, body } = await visitor.post("/sig/session", sent);
    assertEquals([status, body.code], [expected, code]);
  }
});

Deno.test("a handler that changes c.get(sig) does not change the session", async () => {
  await using site = await HonoSite.start({ recheckMs: 60_000 });
  const visitor = await Visitor.signedIn(site);
  await visitor.get("/promote");
  assertEquals((await visitor.get("/sig/session")).body.relationship.roles, [
    "deploy",
  ]);
});

Deno.test("rejects a session of another issuer, even while our issuer fails", async () => {
  const store = createMemoryStore();
  await using before = await HonoSite.start({ store });
  const visitor = await Visitor.signedIn(before);
  await using after = await HonoSite.start({
    ...{ store, audience: before.origin },
  });
  after.issuerIsDown = true;
  const name = cookieAt("sig-session", before);
  const { browser } = visitor;
  browser.cookies.set(name, visitor.cookie("sig-session"));
  assertEquals((await browser.ask(after.origin)).text, "nobody");
});

Deno.test("two applications with the same issuer, store and host have separate logins", async () => {
  const store = createMemoryStore();
  await using shop = await HonoSite.start({ store });
  // Cookies ignore ports, so this browser sends all of them to both
  // applications.
  await using wiki = await HonoSite.start({
    ...{ store, issuer: shop.demo.did },
  });
  const visitor = await Visitor.signedIn(shop);
  const { did } = visitor;
  const there = visitor.at(wiki);
  assertEquals(await there.seen(), "nobody");
  // The cookie's value is rejected under the other application's cookie name
  // too.
  const session = visitor.cookie("sig-session");
  visitor.browser.cookies.set(cookieAt("sig-session", wiki), session);
  assertEquals(await there.seen(), "nobody");
  assertEquals((await there.signIn()).status, 200);
  assertEquals(await there.seen(), did);
  assertEquals(await visitor.seen(), did);
  await there.post("/sig/logout");
  assertEquals(await visitor.seen(), did);
});

Deno.test("rejects an attestation for another application of the same store", async () => {
  const store = createMemoryStore();
  await using shop = await HonoSite.start({ store });
  await using wiki = await HonoSite.start({
    ...{ store, issuer: shop.demo.did },
  });
  const visitor = new Visitor(shop);
  await shop.demo.enrol(visitor.person.did);
  const attestation = await visitor.attestation();
  const challenge = visitor.cookie("sig-challenge");
  visitor.browser.cookies.set(cookieAt("sig-challenge", wiki), challenge);
  const { status, body } = await visitor.at(wiki).post("/sig/session", {
    attestation,
  });
  assertEquals([status, body.code], [403, "audience_mismatch"]);
});

Deno.test("omits the relationship of a session once nothing is required", async () => {
  const store = createMemoryStore();
  await using site = await HonoSite.start({ store });
  const visitor = await Visitor.signedIn(site);
  const open = sigLogin({ audience: site.origin, store });
  const response = await open.request(`${site.origin}/sig/session`, {
    headers: { cookie: visitor.browser.cookie },
  });
  const { subject, relationship } = await response.json();
  assertEquals([subject, relationship], [visitor.person.did, null]);
});

Deno.test("rejects invalid options", () => {
  const audience = "https://a.example";
  const issuer = "b.example";
  const durations = [NaN, -1, Infinity];
  const logins: readonly (readonly [Partial<SigLoginOptions>, string])[] = [
    [{ audience: "https://shop.example/" }, "must be an origin"],
    [{ require: ["role=x"] }, "exactly one issuer"],
    [{ issuer }, "is given without requirements"],
    [{ issuer, require: [] }, "is given without requirements"],
    ...["recheckMs", "sessionMs", "graceMs"].flatMap((name) =>
      durations.map((ms) => [{ [name]: ms }, `${name} must be`] as const)
    ),
  ];
  for (const [options, message] of logins) {
    assertThrows(() => sigLogin({ audience, ...options }), SigError, message);
  }
  const required = [
    [{ require: [] }, "at least one requirement is needed"],
    [{ require: ["rule=x"] }, "rule"],
    [{ issuer: "10.0.0.1" }, "10.0.0.1"],
    ...durations.map((maxAgeMs) => [{ maxAgeMs }, "maxAgeMs must be"] as const),
  ] as const;
  for (const [options, message] of required) {
    const all = { issuer, require: ["role=x"], ...options };
    assertThrows(() => requireRelationship(all), SigError, message);
  }
});

Deno.test("requireRelationship reads the subject from the application's own variables, with requirements in both forms", async () => {
  await using site = await HonoSite.start();
  const { person } = await Visitor.signedIn(site);
  type Own = { Variables: { user: { did: string } } };
  const app = new Hono<Own>();
  let did = person.did;
  app.use(async (c, next) => {
    c.set("user", { did });
    await next();
  });
  const asked = { issuer: site.demo.did, allowPrivate: true, now: site.now };
  for (const require of [["role=deploy"], [{ role: "deploy" }]]) {
    const subject = (c: Context<Own>) => c.get("user").did;
    const options = { ...asked, require, subject };
    app.use("/deploy", requireRelationship<Own>(options));
  }
  app.get("/deploy", (c) => c.text("deployed"));
  assertEquals((await app.request("/deploy")).status, 200);
  did = new Person().did;
  assertEquals((await app.request("/deploy")).status, 403);
  for (const require of [["rol=deploy"], [{ rol: "deploy" }]]) {
    assertThrows(
      () => requireRelationship({ ...asked, require }),
      SigError,
      'Cannot use requirement: key "rol" must be one of',
    );
  }
});

Deno.test("requireRelationship: graceMs lets an older state answer while the issuer can't be reached", async () => {
  await using site = await HonoSite.start();
  const { person } = await Visitor.signedIn(site);
  const statusOf = (graceMs: number) => {
    const app = new Hono<{ Variables: { user: string } }>();
    app.use(requireRelationship({
      ...{ issuer: site.demo.did, allowPrivate: true, now: site.now },
      ...{ require: ["role=deploy"], maxAgeMs: 1_000, graceMs },
      subject: () => person.did,
    }));
    app.get("/", (c) => c.text("in"));
    return async () => (await app.request("/")).status;
  };
  const [strict, lenient] = [statusOf(0), statusOf(60_000)];
  assertEquals([await strict(), await lenient()], [200, 200]);
  site.issuerIsDown = true;
  site.skewMs += 30_000;
  assertEquals([await strict(), await lenient()], [503, 200]);
  site.skewMs += 60_000;
  assertEquals(await lenient(), 503);
});
