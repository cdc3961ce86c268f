import { createMemoryStore } from "@sig/consumer/store";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { SigError } from "@sig/core";
import { Hono } from "hono";
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
  static async signedIn(site: HonoSite): Promise<Visitor> {
    const visitor = new Visitor(site);
    await site.demo.enrol(visitor.person.did);
    assertEquals((await visitor.signIn()).status, 200);
    return visitor;
  }

  /** Returns the same person and browser at another application. */
  at(site: HonoSite): Visitor {
    return new Visitor(site, this);
  }

  async get(path: string, headers: Record<string, string> = {}) {
    return await readAnswer(
      this.browser.send(this.#site.origin + path, { headers }),
    );
  }

  async post(
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) {
    return await readAnswer(
      this.browser.send(this.#site.origin + path, {
        method: "POST",
        headers: { ...JSON_TYPE, ...headers },
        body: JSON.stringify(body) ?? null,
      }),
    );
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
  assertEquals((await visitor.get("/")).text, "nobody");
  assertEquals((await visitor.get("/sig/session")).status, 401);
  const { status, body, headers } = await visitor.signIn();
  assertEquals([status, body.subject], [200, did]);
  assertEquals(body.relationship.roles, ["deploy"]);
  const cookie = headers.getSetCookie().find((each) =>
    each.startsWith(`${cookieAt("sig-session", site)}=`)
  );
  assert(cookie?.endsWith("; Path=/; HttpOnly; SameSite=Lax"), cookie);
  assertEquals((await visitor.get("/")).text, did);
  assertEquals((await visitor.get("/sig/session")).body, body);
  assertEquals((await visitor.get("/deploy")).text, "deployed");
  const { cookies } = visitor.browser;
  const before = cookies.get(cookieAt("sig-session", site))!;
  assertEquals((await visitor.post("/sig/logout")).status, 204);
  cookies.set(cookieAt("sig-session", site), before);
  assertEquals((await visitor.get("/")).text, "nobody");
});

Deno.test("a revocation ends the session; an unreachable issuer does not", async () => {
  await using site = await HonoSite.start();
  const visitor = new Visitor(site);
  const { relationship_id } = await site.demo.enrol(visitor.person.did);
  await visitor.signIn();
  site.issuerIsDown = true;
  assertEquals((await visitor.get("/")).text, visitor.person.did);
  const unanswered = await visitor.get("/deploy");
  assertEquals(unanswered.status, 503);
  assertEquals(unanswered.body.status, 503);
  assert(unanswered.headers.has("retry-after"));
  site.issuerIsDown = false;
  site.skewMs += 6_000;
  await site.demo.revoke(relationship_id);
  assertEquals((await visitor.get("/")).text, "nobody");
  assertEquals((await visitor.get("/deploy")).status, 401);
  const again = await visitor.signIn();
  assertEquals([again.status, again.body.code], [403, "relationship_denied"]);
});

Deno.test("while the issuer fails, a session continues for graceMs, then pages get 503", async () => {
  await using site = await HonoSite.start({ graceMs: 60_000 });
  const visitor = await Visitor.signedIn(site);
  site.issuerIsDown = true;
  site.skewMs = 58_000;
  assertEquals((await visitor.get("/")).text, visitor.person.did);
  site.skewMs = 66_000;
  const { status, body } = await visitor.get("/");
  assertEquals([status, body.status, body.code], [503, 503, "fetch_status"]);
  site.issuerIsDown = false;
  site.skewMs = 76_000;
  assertEquals((await visitor.get("/")).text, visitor.person.did);
});

Deno.test("a person can sign out once the grace period is over, and stays signed out when the issuer answers again", async () => {
  await using site = await HonoSite.start({ graceMs: 60_000 });
  const visitor = await Visitor.signedIn(site);
  site.issuerIsDown = true;
  site.skewMs = 66_000;
  assertEquals((await visitor.get("/")).status, 503);
  assertEquals((await visitor.get("/sig/login")).status, 200);
  const { status, headers } = await visitor.post("/sig/logout");
  assertEquals(status, 204);
  const [cookie = ""] = headers.getSetCookie();
  assertStringIncludes(cookie, "sig-session");
  assertStringIncludes(cookie, "=; Max-Age=0");
  site.issuerIsDown = false;
  site.skewMs = 76_000;
  assertEquals((await visitor.get("/")).text, "nobody");
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
  assertEquals((await visitor.get("/")).text, "nobody");
});

Deno.test("the issuer is not queried again within recheckMs", async () => {
  await using site = await HonoSite.start({ recheckMs: 60_000 });
  const visitor = new Visitor(site);
  const { relationship_id } = await site.demo.enrol(visitor.person.did);
  await visitor.signIn();
  await site.demo.revoke(relationship_id);
  assertEquals((await visitor.get("/")).text, visitor.person.did);
  site.skewMs = 61_000;
  assertEquals((await visitor.get("/")).text, "nobody");
});

Deno.test("a missing relationship gets 403 with reasons; without a login, scripts get 401 and pages the login", async () => {
  await using site = await HonoSite.start();
  const visitor = new Visitor(site);
  const page = { accept: "text/html,*/*" };
  const nobody = await visitor.get("/page?a=b&c", page);
  assertEquals(
    [nobody.status, nobody.headers.get("location")],
    [303, "/sig/login?rd=%2Fpage%3Fa%3Db%26c"],
  );
  const script = await visitor.get("/page", {
    ...page,
    "sec-fetch-mode": "cors",
  });
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
  const fixed = await victim.post("/sig/session", { attestation });
  assertEquals([fixed.status, fixed.body.code], [400, "invalid_request"]);
  await victim.post("/sig/challenge");
  const confused = await victim.post("/sig/session", { attestation });
  assertEquals([confused.status, confused.body.code], [
    422,
    "invalid_attestation",
  ]);
  assertEquals((await victim.get("/")).text, "nobody");
  const mine = visitor.browser.cookies.get(cookieAt("sig-challenge", site))!;
  assertEquals(
    (await visitor.post("/sig/session", { attestation })).status,
    200,
  );
  visitor.browser.cookies.set(cookieAt("sig-challenge", site), mine);
  const again = await visitor.post("/sig/session", { attestation });
  assertEquals([again.status, again.body.code], [409, "challenge_used"]);
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
    for (
      const [path, body] of [["/sig/logout", {}], ["/sig/session", {
        attestation,
      }]] as const
    ) {
      const { status, body: problem } = await visitor.post(path, body, headers);
      assertEquals([status, problem.code], [403, "origin_not_allowed"]);
    }
  }
  assertEquals((await visitor.get("/")).text, visitor.person.did);
});

Deno.test("a logout with two session cookies is an error, and the session continues", async () => {
  await using site = await HonoSite.start();
  const visitor = await Visitor.signedIn(site);
  const cookie = `${visitor.browser.cookie}; ${
    cookieAt("sig-session", site)
  }=x`;
  const { status, body } = await readAnswer(
    fetch(`${site.origin}/sig/logout`, {
      ...{ method: "POST", headers: { cookie } },
    }),
  );
  assertEquals([status, body.code, body.detail], [
    400,
    "invalid_request",
    "Cannot log out: the browser sent two session cookies",
  ]);
  assertEquals((await visitor.get("/")).text, visitor.person.did);
});

Deno.test("rejects a body that is too large, is not JSON, or has unknown members", async () => {
  await using site = await HonoSite.start();
  const visitor = new Visitor(site);
  await visitor.post("/sig/challenge");
  const large = await visitor.post("/sig/session", {
    attestation: "x".repeat(70_000),
  });
  assertEquals([large.status, large.body.code], [413, "body_too_large"]);
  const odd = await visitor.post("/sig/session", {
    attestation: "x",
    subjekt: "y",
  });
  assertEquals([odd.status, odd.body.code], [400, "invalid_request"]);
  const none = await readAnswer(
    visitor.browser.send(`${site.origin}/sig/session`, {
      method: "POST",
      body: "{",
    }),
  );
  assertEquals([none.status, none.body.code], [400, "invalid_json"]);
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
  const value = visitor.browser.cookies.get(cookieAt("sig-session", before));
  const response = await fetch(after.origin, {
    headers: { cookie: `${cookieAt("sig-session", before)}=${value}` },
  });
  assertEquals(await response.text(), "nobody");
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
  const { did } = visitor.person;
  const there = visitor.at(wiki);
  assertEquals((await there.get("/")).text, "nobody");
  // The cookie's value is rejected under the other application's cookie name
  // too.
  const { cookies } = visitor.browser;
  const session = cookies.get(cookieAt("sig-session", shop))!;
  cookies.set(cookieAt("sig-session", wiki), session);
  assertEquals((await there.get("/")).text, "nobody");
  assertEquals((await there.signIn()).status, 200);
  assertEquals((await there.get("/")).text, did);
  assertEquals((await visitor.get("/")).text, did);
  await there.post("/sig/logout");
  assertEquals((await visitor.get("/")).text, did);
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
  const { cookies } = visitor.browser;
  const challenge = cookies.get(cookieAt("sig-challenge", shop))!;
  cookies.set(cookieAt("sig-challenge", wiki), challenge);
  const { status, body } = await visitor.at(wiki).post("/sig/session", {
    attestation,
  });
  assertEquals([status, body.code], [403, "audience_mismatch"]);
});

Deno.test("omits the relationship of a session once nothing is required", async () => {
  const store = createMemoryStore();
  await using site = await HonoSite.start({ store });
  const visitor = await Visitor.signedIn(site);
  const value = visitor.browser.cookies.get(cookieAt("sig-session", site));
  const open = sigLogin({ audience: site.origin, store });
  const response = await open.request(`${site.origin}/sig/session`, {
    headers: { cookie: `${cookieAt("sig-session", site)}=${value}` },
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
    app.use(
      "/deploy",
      requireRelationship<Own>({
        ...asked,
        require,
        subject: (c) => c.get("user").did,
      }),
    );
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
      issuer: site.demo.did,
      allowPrivate: true,
      now: site.now,
      require: ["role=deploy"],
      maxAgeMs: 1_000,
      graceMs,
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
