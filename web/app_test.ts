import type { App } from "@sig/api/http";
import { SigError } from "@sig/core";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { type AppOptions, createApp } from "./app.ts";
import { createDemoIssuer } from "./demo/demo_issuer.ts";
import { type GivenChallenge, Person } from "./testdata/independent_client.ts";

const ORIGIN = "http://127.0.0.1:8788";
const START_MS = Date.parse("2026-01-31T09:00:00Z");

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- answers of any shape are asserted on
  readonly body: any;
}

/** A server whose clock the test sets. */
class Site {
  nowMs = START_MS;
  readonly app: App;

  constructor(options: Partial<AppOptions> = {}) {
    this.app = createApp({
      audiences: [ORIGIN],
      now: () => new Date(this.nowMs),
      ...options,
    });
  }

  async ask(path: string, sent?: unknown): Promise<Answer> {
    const response = await this.app.fetch(
      new Request(
        `${ORIGIN}${path}`,
        sent === undefined ? {} : {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(sent),
        },
      ),
    );
    const type = response.headers.get("content-type") ?? "";
    return {
      status: response.status,
      headers: response.headers,
      body: type.includes("json") && !type.includes("ndjson")
        ? await response.json()
        : await response.text(),
    };
  }

  async challenge(wanted: object = {}): Promise<GivenChallenge> {
    const { status, body } = await this.ask(
      "/v1/auth/challenge/create",
      wanted,
    );
    assertEquals(status, 200);
    return body;
  }

  async verify(attestation: string, more: object = {}): Promise<Answer> {
    return await this.ask("/v1/auth/attestation/verify", {
      attestation,
      ...more,
    });
  }
}

Deno.test("the health check names service, version and uptime", async () => {
  const site = new Site();
  site.nowMs += 2_500;
  const { status, body } = await site.ask("/healthz");
  assertEquals(status, 200);
  assertEquals(body, {
    status: "ok",
    service: "sig-web",
    version: "0.1.0",
    spec_version: "sig/0.1",
    uptime_seconds: 2,
  });
});

Deno.test("a client with keys made elsewhere logs in, once", async () => {
  const site = new Site();
  const alice = new Person();
  const challenge = await site.challenge({ scopes: ["profile", "email"] });
  const attestation = alice.attest(challenge, site.nowMs);
  const { status, body } = await site.verify(attestation, {
    audience: ORIGIN,
    nonce: challenge.nonce,
    challenge_id: challenge.challenge_id,
    scopes: ["email"],
  });
  assertEquals(status, 200);
  assertEquals(body, {
    verified: true,
    subject: alice.did,
    audience: ORIGIN,
    scopes: ["email", "profile"],
    challenge_id: challenge.challenge_id,
    kid: alice.kid,
    verified_at: "2026-01-31T09:00:00Z",
    relationship: null,
  });
  const again = await site.verify(attestation);
  assertEquals([again.status, again.body.code], [409, "challenge_used"]);
});

Deno.test("each misuse has its own status and code", async (t) => {
  const mallory = new Person();
  const cases: readonly [
    string,
    number,
    string,
    (
      alice: Person,
      challenge: GivenChallenge,
      nowMs: number,
    ) => string,
  ][] = [
    [
      "another audience",
      403,
      "audience_mismatch",
      (a, c, n) => a.attest(c, n, { aud: "https://other.example" }),
    ],
    [
      "another nonce",
      403,
      "nonce_mismatch",
      (a, c, n) => a.attest(c, n, { nonce: "A".repeat(43) }),
    ],
    [
      "another subject than the key's",
      403,
      "subject_mismatch",
      (a, c, n) => a.attest(c, n, { sub: mallory.did, iss: mallory.did }),
    ],
    [
      "a wider scope",
      403,
      "scope_not_granted",
      (a, c, n) => a.attest(c, n, { scope: "email admin" }),
    ],
    [
      "expired",
      403,
      "attestation_time_invalid",
      (a, c, n) => a.attest(c, n, { exp: Math.floor(n / 1000) }),
    ],
    [
      "from the future",
      403,
      "attestation_time_invalid",
      (a, c, n) => a.attest(c, n, { iat: Math.floor(n / 1000) + 61 }),
    ],
    [
      "somebody else's signature",
      403,
      "attestation_signature_invalid",
      (a, c, n) =>
        mallory.attest(c, n, { iss: a.did, sub: a.did }, { kid: a.kid }),
    ],
    [
      "no algorithm",
      422,
      "algorithm_not_allowed",
      (a, c, n) => a.attest(c, n, {}, { alg: "none" }).replace(/\.[^.]*$/, "."),
    ],
    [
      "an event's type",
      422,
      "typ_mismatch",
      (a, c, n) => a.attest(c, n, {}, { typ: "sig-event+jws" }),
    ],
    [
      "an embedded key",
      422,
      "invalid_header",
      (a, c, n) => a.attest(c, n, {}, { jwk: { kty: "OKP" } }),
    ],
    [
      "an unknown challenge",
      404,
      "challenge_not_found",
      (a, c, n) => a.attest(c, n, { jti: "A".repeat(32) }),
    ],
    ["no attestation", 422, "invalid_attestation", () => "a.b"],
  ];
  for (const [name, status, code, spoil] of cases) {
    await t.step(name, async () => {
      const site = new Site();
      const alice = new Person();
      const challenge = await site.challenge({ scopes: ["email"] });
      const refused = await site.verify(spoil(alice, challenge, site.nowMs));
      assertEquals([refused.status, refused.body.code], [status, code]);
      assertEquals(
        refused.headers.get("content-type"),
        "application/problem+json",
      );
      assertEquals(refused.body.type, `urn:sig:problem:${code}`);
      // A failed attempt does not use the challenge up.
      const honest = await site.verify(alice.attest(challenge, site.nowMs));
      assertEquals(honest.status, 200);
    });
  }
});

Deno.test("a challenge ends at its last millisecond, and is forgotten a minute later", async () => {
  const site = new Site();
  const alice = new Person();
  const made = () => site.challenge({ ttl_seconds: 30 });
  const [inTime, late] = [await made(), await made()];
  site.nowMs += 29_999;
  assertEquals(
    (await site.verify(alice.attest(inTime, site.nowMs))).status,
    200,
  );
  site.nowMs += 1;
  const expired = await site.verify(alice.attest(late, site.nowMs));
  assertEquals([expired.status, expired.body.code], [410, "challenge_expired"]);
  site.nowMs += 60_000;
  const gone = await site.verify(alice.attest(late, site.nowMs));
  assertEquals([gone.status, gone.body.code], [404, "challenge_not_found"]);
});

Deno.test("of a hundred answers at once exactly one logs in", async () => {
  const site = new Site();
  const alice = new Person();
  const challenge = await site.challenge();
  const attestation = alice.attest(challenge, site.nowMs);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => site.verify(attestation)),
  );
  const codes = answers.map(({ body }) => body.code ?? "verified");
  assertEquals(codes.filter((code) => code === "verified").length, 1);
  assertEquals(codes.filter((code) => code === "challenge_used").length, 99);
});

Deno.test("an audience that was not configured is refused, whatever Host says", async () => {
  const site = new Site();
  const { status, body } = await site.ask("/v1/auth/challenge/create", {
    audience: "https://evil.example",
  });
  assertEquals([status, body.code], [403, "audience_not_allowed"]);
  const response = await site.app.fetch(
    new Request("http://evil.example/v1/auth/challenge/create", {
      method: "POST",
      headers: { "content-type": "application/json", host: "evil.example" },
      body: "{}",
    }),
  );
  assertEquals((await response.json()).audience, ORIGIN);
});

Deno.test("the demo's story: enrol, log in, be revoked, be refused and see why", async () => {
  const now = { ms: START_MS };
  const demo = await createDemoIssuer({
    origin: ORIGIN,
    now: () => new Date(now.ms),
  });
  const site = new Site({ demo });
  const alice = new Person();
  const login = async () => {
    const challenge = await site.challenge();
    return await site.verify(alice.attest(challenge, site.nowMs));
  };

  const stranger = await login();
  assertEquals(
    [stranger.status, stranger.body.code],
    [403, "relationship_denied"],
  );
  assertEquals(stranger.body.reasons, [{ code: "no_relationship" }]);

  const enrolled = await site.ask("/demo/enrol", {
    subject: alice.did,
    name: "Alice",
  });
  assertEquals([enrolled.status, enrolled.body.sequence], [200, 1]);
  const employee = await login();
  assertEquals(employee.status, 200);
  assertEquals(
    employee.body.relationship.relationship_id,
    enrolled.body.relationship_id,
  );
  assertEquals(employee.body.relationship.issuer, demo.did);

  const { relationship_id } = enrolled.body;
  site.nowMs = now.ms += 1_000;
  const revoked = await site.ask("/demo/revoke", { relationship_id });
  assertEquals([revoked.status, revoked.body.sequence], [200, 2]);
  const former = await login();
  assertEquals([former.status, former.body.code], [403, "relationship_denied"]);
  assertEquals(former.body.reasons, [
    { code: "revoked", relationship_id, sequence: 2 },
  ]);
});

Deno.test("the demo is not served where others reach the application", async () => {
  const now = () => new Date(START_MS);
  const demo = await createDemoIssuer({ origin: ORIGIN, now });
  const rows: readonly (readonly [Partial<AppOptions>, string, string])[] = [
    [
      { audiences: [ORIGIN, "https://login.acme.example"] },
      "--audience",
      "https://login.acme.example",
    ],
    [{ trustProxy: ["127.0.0.1/32"] }, "--trust-proxy", "127.0.0.1/32"],
    [{ hosts: ["localhost", "acme.example"] }, "--host", "acme.example"],
  ];
  for (const [options, flag, value] of rows) {
    const error = assertThrows(
      () => new Site({ demo, ...options }),
      SigError,
      `Cannot serve the demo: "${value}" says that others reach this server`,
    );
    assertEquals([error.code, error.context.flag], ["invalid_request", flag]);
  }
});

Deno.test("the demo's issuer is an issuer like any other", async () => {
  const demo = await createDemoIssuer({
    origin: ORIGIN,
    now: () => new Date(START_MS),
  });
  const site = new Site({ demo });
  await site.ask("/demo/enrol", { subject: new Person().did });
  const metadata = await site.ask("/.well-known/sig.json");
  assertEquals(metadata.body.issuer, "did:web:127.0.0.1%3A8788");
  const config = await site.ask("/ui/config.json");
  assertEquals(config.body.issuers, [
    { did: demo.did, base: "/ui/issuers/0/" },
  ]);
  assertEquals(config.body.require, ["relationship=employee"]);
  for (
    const [file, path] of [
      ["sig.json", "sig.json"],
      ["jwks.json", "jwks.json"],
      ["did.json", "did.json"],
      ["events.jsonl", "sig/events.jsonl"],
    ]
  ) {
    const shown = await site.ask(`/ui/issuers/0/${file}`);
    assertEquals(
      shown.body,
      (await site.ask(`/.well-known/${path}`)).body,
      file,
    );
  }
  for (
    const wrong of ["1/sig.json", "-1/sig.json", "0/key.jwk", "x/did.json"]
  ) {
    const { status, body } = await site.ask(`/ui/issuers/${wrong}`);
    assertEquals([status, body.code], [404, "not_found"], wrong);
  }
});

Deno.test("who asks for no document of an issuer makes no request to it", async () => {
  let requests = 0;
  const site = new Site({
    issuers: ["acme.example"],
    fetch() {
      requests++;
      return Promise.resolve(new Response(null, { status: 404 }));
    },
  });
  const { status, body } = await site.ask("/ui/issuers/0/key.jwk");
  assertEquals([status, body.code], [404, "not_found"]);
  assertEquals(requests, 0);
  assertEquals((await site.ask("/ui/issuers/0/sig.json")).status, 502);
  assertEquals(requests, 1);
});

Deno.test("an issuer that fails is asked once in five seconds, whoever visits", async () => {
  let requests = 0;
  const site = new Site({
    issuers: ["acme.example"],
    fetch() {
      requests++;
      return Promise.resolve(new Response(null, { status: 500 }));
    },
  });
  for (let i = 0; i < 10; i++) {
    for (const file of ["sig.json", "events.jsonl"]) {
      const { status, body } = await site.ask(`/ui/issuers/0/${file}`);
      assertEquals([status, body.code], [502, "fetch_status"]);
    }
    site.nowMs += 499;
  }
  assertEquals(requests, 1);
  site.nowMs += 10;
  await site.ask("/ui/issuers/0/sig.json");
  assertEquals(requests, 2);
});

Deno.test("the demo refuses what it can't append, with the field", async () => {
  const demo = await createDemoIssuer({
    origin: ORIGIN,
    now: () => new Date(START_MS),
  });
  const site = new Site({ demo });
  const cases: readonly [string, object, number, string][] = [
    ["/demo/enrol", [], 400, "invalid_request: the body: it must be an object"],
    ["/demo/enrol", {}, 400, "invalid_request: /subject: it is required"],
    [
      "/demo/enrol",
      { subject: 1 },
      400,
      "invalid_request: /subject: it must be a string",
    ],
    [
      ...["/demo/enrol", { subject: "" }] as const,
      ...[400, "invalid_identifier: must be a did:key or did:web"] as const,
    ],
    [
      ...["/demo/enrol", { subject: `did:web:${"a".repeat(505)}` }] as const,
      ...[400, "invalid_identifier: it is longer than 512 characters"] as const,
    ],
    [
      ...["/demo/enrol", { subject: "a", name: "b".repeat(201) }] as const,
      ...[400, "invalid_request: /name: it must have at most 200"] as const,
    ],
    [
      ...["/demo/enrol", { subject: "a", nmae: "b" }] as const,
      ...[400, 'invalid_request: did you mean "name"?'] as const,
    ],
    [
      ...["/demo/revoke", {}] as const,
      ...[400, "invalid_request: /relationship_id: it is required"] as const,
    ],
    [
      ...["/demo/revoke", { relationship_id: "x" }] as const,
      ...[409, "unknown_relationship: relationship"] as const,
    ],
  ];
  for (const [path, sent, status, expected] of cases) {
    const answer = await site.ask(path, sent);
    const [, code = "", says = ""] = /^(\w+): (.*)$/.exec(expected)!;
    assertEquals([answer.status, answer.body.code], [status, code]);
    assertStringIncludes(answer.body.detail, says);
  }
});

Deno.test("without a demo its routes are not there", async () => {
  const site = new Site();
  for (const path of ["/demo/enrol", "/demo/revoke"]) {
    const { status, body } = await site.ask(path, {});
    assertEquals([status, body.code], [404, "not_found"]);
  }
  assertEquals((await site.ask("/.well-known/sig.json")).status, 404);
});

Deno.test("the page has a strict policy, and is sent again only when it changed", async () => {
  const site = new Site();
  const page = await site.ask("/");
  assertEquals(page.headers.get("content-type"), "text/html; charset=utf-8");
  const policy = page.headers.get("content-security-policy") ?? "";
  assertStringIncludes(policy, "default-src 'none'");
  assertStringIncludes(policy, "frame-ancestors 'none'");
  assert(!policy.includes("unsafe"));
  const etag = page.headers.get("etag") ?? "";
  const again = await site.app.fetch(
    new Request(`${ORIGIN}/`, { headers: { "if-none-match": etag } }),
  );
  assertEquals([again.status, await again.text()], [304, ""]);
  const paths = [...page.body.matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)];
  assert(paths.length >= 3);
  for (const [, path] of paths) {
    assertEquals((await site.ask(path)).status, 200, path);
  }
});

Deno.test("a required relationship needs exactly one issuer", () => {
  for (const issuers of [[], ["acme.example", "beta.example"]]) {
    let message = "";
    try {
      new Site({ issuers, require: ["role=deploy"] });
    } catch (error) {
      message = String(error);
    }
    assertStringIncludes(message, "exactly one issuer must be named");
  }
});

Deno.test("a did:web subject logs in with a key of its authentication, and no other", async () => {
  const bob = new Person();
  let listed = true;
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      if (new URL(request.url).pathname !== "/.well-known/did.json") {
        return new Response(null, { status: 404 });
      }
      const id = `${did}#login`;
      const publicKeyJwk = { kty: "OKP", crv: "Ed25519", x: bob.x };
      const method = { id, type: "JsonWebKey2020", controller: did };
      return Response.json({
        id: did,
        verificationMethod: [{ ...method, publicKeyJwk }],
        authentication: listed ? [id] : [],
        assertionMethod: [id],
      });
    },
  );
  const did: string = `did:web:127.0.0.1%3A${server.addr.port}`;
  const login = async (site: Site) => {
    const challenge = await site.challenge();
    const claims = { iss: did, sub: did };
    const header = { kid: `${did}#login` };
    return await site.verify(
      bob.attest(challenge, site.nowMs, claims, header),
    );
  };
  try {
    const site = new Site({ allowPrivate: true });
    const known = await login(site);
    assertEquals([known.status, known.body.subject], [200, did]);
    listed = false;
    const unlisted = await login(site);
    assertEquals(unlisted.body.code, "attestation_signature_invalid");
    const guarded = await login(new Site());
    assertEquals(guarded.body.code, "address_not_allowed");
  } finally {
    await server.shutdown();
  }
  const gone = await login(new Site({ allowPrivate: true }));
  assertEquals([gone.status, gone.body.code], [502, "key_unresolvable"]);
});

Deno.test("a page of another site can't ask in a person's name", async () => {
  const site = new Site();
  for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
    const simple = await site.app.fetch(
      new Request(`${ORIGIN}/v1/auth/challenge/create`, {
        method: "POST",
        headers: { "content-type": type },
        body: "{}",
      }),
    );
    assertEquals((await simple.json()).code, "unsupported_media_type");
  }
  const crossSite = await site.app.fetch(
    new Request(`${ORIGIN}/v1/auth/challenge/create`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "cross-site",
      },
      body: "{}",
    }),
  );
  assertEquals(crossSite.status, 403);
  assertEquals((await crossSite.json()).code, "origin_not_allowed");
});
