import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createApp } from "../app.ts";
import { SHORT_FEED } from "../testdata/example_feed.ts";
import { post } from "../testdata/asking.ts";

const app = createApp({ issuers: ["acme.example", "other.example"] });

const GOOD = {
  issuer: "acme.example",
  subject: "did:web:alice.example",
  require: ["role=deploy"],
};
const { issuer: _issuer, ...NO_SOURCE } = GOOD;
const { subject: _subject, ...NO_SUBJECT } = GOOD;
const { require: _require, ...NO_REQUIRE } = GOOD;
const { jwks: _jwks, ...NO_JWKS } = SHORT_FEED;
const DUMP = { issuer: "acme.example" };

/** Path, body, code, pointers of the faults, a part of the text. */
type Row = readonly [
  path: "check" | "verify" | "dump-state",
  body: unknown,
  code: string,
  pointers: readonly string[],
  text: string,
];

const ROWS: readonly Row[] = [
  ["check", "", "invalid_json", [], "syntax"],
  ["check", "{", "invalid_json", [], "syntax"],
  ["check", "{'a':1}", "invalid_json", [], "syntax"],
  ["check", '{"issuer":"a","issuer":"b"}', "invalid_json", [], "twice"],
  ["check", '{"a":1e999}', "invalid_json", [], "too large"],
  ["check", `${"[".repeat(17)}${"]".repeat(17)}`, "invalid_json", [], "levels"],
  ["check", '{"subject":"\\ud800"}', "invalid_json", [], "surrogate"],
  ["check", "\ufeff{}", "invalid_json", [], "syntax"],
  ["check", "null", "invalid_request", [""], "must be an object"],
  ["check", "[]", "invalid_request", [""], "must be an object"],
  ["check", '"x"', "invalid_request", [""], "must be an object"],
  ["check", {}, "invalid_request", ["/subject", "/require", ""], "required"],
  ["check", NO_SOURCE, "invalid_request", [""], "one of issuer, sig, feed"],
  ["check", NO_SUBJECT, "invalid_request", ["/subject"], "required"],
  ["check", NO_REQUIRE, "invalid_request", ["/require"], "required"],
  [
    "check",
    { ...GOOD, sig: "https://acme.example/.well-known/sig.json" },
    "invalid_request",
    ["/sig"],
    "only one of",
  ],
  [
    "check",
    { ...GOOD, min_seqence: 3 },
    "invalid_request",
    ["/min_seqence"],
    'did you mean "min_sequence"',
  ],
  [
    "check",
    { ...GOOD, "a/b~c": 3 },
    "invalid_request",
    ["/a~1b~0c"],
    "there is no member",
  ],
  [
    "check",
    { ...GOOD, "x\u202e\u001b[2J": 3 },
    "invalid_request",
    ["/x\u202e\u001b[2J"],
    "Cannot read request: /x\\u202e\\u001b[2J: there is no member",
  ],
  [
    "check",
    { ...GOOD, ["x".repeat(79) + "\u{1f600}"]: 3 },
    "invalid_request",
    [`/${"x".repeat(79)}\ufffd`],
    "there is no member",
  ],
  [
    "check",
    { ...GOOD, min_sequence: -1, subjct: "a" },
    "invalid_request",
    ["/subjct", "/min_sequence"],
    'did you mean "subject"? (and 1 more)',
  ],
  [
    "check",
    '{"__proto__":{"subject":"x"},"issuer":"acme.example","subject":"a","require":["role=x"]}',
    "invalid_request",
    ["/__proto__"],
    "there is no member",
  ],
  [
    "check",
    { ...GOOD, subject: 7 },
    "invalid_request",
    ["/subject"],
    "a string",
  ],
  [
    "check",
    { ...GOOD, subject: null },
    "invalid_request",
    ["/subject"],
    "string",
  ],
  ["check", { ...GOOD, subject: "" }, "invalid_identifier", [], "not be empty"],
  ["check", { ...GOOD, require: [] }, "requirements_empty", [], "at least one"],
  [
    "check",
    { ...GOOD, require: "role=deploy" },
    "invalid_request",
    ["/require"],
    "an array",
  ],
  [
    "check",
    { ...GOOD, require: Array(65).fill("role=x") },
    "invalid_request",
    ["/require"],
    "1 to 64 items",
  ],
  [
    "check",
    { ...GOOD, require: ["deploy"] },
    "invalid_requirement",
    [],
    "key=value",
  ],
  [
    "check",
    { ...GOOD, require: ["title=boss"] },
    "invalid_requirement",
    [],
    "must be one of relationship, role, relationship_id",
  ],
  [
    "check",
    { ...GOOD, require: ["role="] },
    "invalid_requirement",
    [],
    "must have a value",
  ],
  [
    "check",
    { ...GOOD, require: ["relationship=boss"] },
    "invalid_requirement",
    [],
    "must be one of employee",
  ],
  [
    "check",
    { ...GOOD, require: [{}] },
    "invalid_requirement",
    [],
    "one member",
  ],
  [
    "check",
    { ...GOOD, require: [{ role: "a", relationship: "employee" }] },
    "invalid_requirement",
    [],
    "one member",
  ],
  [
    "check",
    { ...GOOD, require: [{ role: 1 }] },
    "invalid_requirement",
    [],
    "must be a string",
  ],
  [
    "check",
    { ...GOOD, require: [null, 7] },
    "invalid_request",
    ["/require/0", "/require/1"],
    "one member",
  ],
  [
    "check",
    { ...GOOD, at: "2026-01-01" },
    "invalid_request",
    ["/at"],
    "RFC 3339",
  ],
  [
    "check",
    { ...GOOD, at: "2026-01-01T00:00:00+00:00" },
    "invalid_request",
    ["/at"],
    "without an offset",
  ],
  [
    "check",
    { ...GOOD, at: 1767225600 },
    "invalid_request",
    ["/at"],
    "a string",
  ],
  [
    "check",
    { ...GOOD, as_of: 0 },
    "invalid_request",
    ["/as_of"],
    "integer from 1",
  ],
  [
    "check",
    { ...GOOD, as_of: 1.5 },
    "invalid_request",
    ["/as_of"],
    "integer from 1",
  ],
  [
    "check",
    { ...GOOD, as_of: true },
    "invalid_request",
    ["/as_of"],
    "sequence number or",
  ],
  [
    "check",
    { ...GOOD, min_sequence: -1 },
    "invalid_request",
    ["/min_sequence"],
    "integer from 0",
  ],
  [
    "check",
    { ...GOOD, max_age_seconds: "60" },
    "invalid_request",
    ["/max_age_seconds"],
    "integer from 0",
  ],
  [
    "check",
    { ...GOOD, explain: "yes" },
    "invalid_request",
    ["/explain"],
    "true or false",
  ],
  ["check", { checks: [] }, "invalid_request", ["/checks"], "1 to 100 items"],
  [
    "check",
    { checks: Array(101).fill(GOOD) },
    "invalid_request",
    ["/checks"],
    "1 to 100 items",
  ],
  ["check", { checks: {} }, "invalid_request", ["/checks"], "an array"],
  [
    "check",
    { ...GOOD, checks: [GOOD] },
    "invalid_request",
    ["/issuer", "/subject", "/require"],
    "there is no member",
  ],
  [
    "check",
    { ...NO_SOURCE, feed: NO_JWKS },
    "invalid_request",
    ["/feed/jwks"],
    "required",
  ],
  [
    "check",
    { ...NO_SOURCE, feed: { ...SHORT_FEED, events: [] } },
    "invalid_request",
    ["/feed/events"],
    "a string",
  ],
  ["verify", {}, "invalid_request", [""], "one of issuer, sig, feed"],
  ["verify", GOOD, "invalid_request", ["/subject", "/require"], "no member"],
  ["verify", { issuer: 7 }, "invalid_request", ["/issuer"], "a string"],
  ["verify", { feed: "x" }, "invalid_request", ["/feed"], "an object"],
  [
    "dump-state",
    { ...DUMP, status: "gone" },
    "invalid_request",
    ["/status"],
    "must be one of active",
  ],
  [
    "dump-state",
    { ...DUMP, limit: 0 },
    "invalid_request",
    ["/limit"],
    "1 to 10000",
  ],
  [
    "dump-state",
    { ...DUMP, limit: 10_001 },
    "invalid_request",
    ["/limit"],
    "1 to 10000",
  ],
  [
    "dump-state",
    { ...DUMP, subject: "" },
    "invalid_request",
    ["/subject"],
    "empty",
  ],
  ["dump-state", { ...DUMP, cursor: "e30" }, "invalid_request", [], "cursor"],
  ["dump-state", { ...DUMP, cursor: "%%" }, "invalid_request", [], "cursor"],
];

for (const [path, body, code, pointers, text] of ROWS) {
  const shown = (typeof body === "string" ? body : JSON.stringify(body))
    .slice(0, 70);
  Deno.test(`/v1/${path} refuses ${shown} with ${code}`, async () => {
    const { status, body: problem } = await post(app, `/v1/${path}`, body);
    assertEquals(status, 400);
    assertEquals(problem.code, code, problem.detail);
    const { errors = [] } = problem;
    assertEquals(
      errors.map(({ pointer }: { pointer: string }) => pointer),
      pointers,
    );
    assertStringIncludes(
      JSON.stringify(problem),
      JSON.stringify(text).slice(1, -1),
    );
    assert(!JSON.stringify(problem).includes(" at file:"), "no stack is told");
  });
}

Deno.test("an issuer may be left out where exactly one is on the list", async () => {
  const { status, body } = await post(
    createApp({
      issuers: ["acme.example"],
      fetch: () => Promise.resolve(new Response(null, { status: 500 })),
    }),
    "/v1/check",
    { checks: [NO_SOURCE, GOOD, { ...NO_SOURCE, feed: SHORT_FEED }] },
  );
  assertEquals(status, 200);
  const [left, named, inline] = body.results;
  assertEquals(left, named);
  assertEquals([left.error.code, inline.decision], ["fetch_status", "allow"]);
  const both = { ...GOOD, feed: SHORT_FEED };
  const one = createApp({ issuers: ["acme.example"] });
  const refused = await post(one, "/v1/check", both);
  assertEquals(refused.body.pointer, "/feed");
  assertStringIncludes(refused.body.detail, "only one of issuer, sig, feed");
  for (const path of ["/v1/verify", "/v1/dump-state"]) {
    const { body } = await post(one, path, {});
    assertStringIncludes(body.detail, "one of issuer, sig, feed is required");
  }
  const other = await post(createApp(), "/v1/check", NO_SOURCE);
  assertStringIncludes(other.body.detail, "is required");
});

Deno.test("a batch has a route of its own, and a question none there", async () => {
  const batch = {
    checks: [{ ...NO_SOURCE, feed: SHORT_FEED }, { ...NO_SOURCE, a: 1 }],
  };
  const headers = { "x-request-id": "batch" };
  const at = createApp({ now: () => new Date("2026-06-01T00:00:00Z") });
  const { status, body } = await post(at, "/v1/check/batch", batch, headers);
  assertEquals(status, 200);
  assertEquals(body.results.length, 2);
  assertEquals(body.results[0].decision, "allow");
  assertEquals(body.results[1].error.pointer, "/checks/1/a");
  assertEquals((await post(at, "/v1/check", batch, headers)).body, body);
  const single = await post(at, "/v1/check/batch", GOOD);
  assertEquals(
    single.body.errors.map(({ pointer }: { pointer: string }) => pointer),
    ["/issuer", "/subject", "/require", "/checks"],
  );
});

Deno.test("at most 100 faults are told", async () => {
  const names = Array.from({ length: 5_000 }, (_, i) => [`member-${i}`, 1]);
  const { body } = await post(app, "/v1/verify", Object.fromEntries(names));
  assertEquals(body.code, "invalid_request");
  assertEquals(body.errors.length, 100);
});

Deno.test("a fault of one item spoils no other item", async () => {
  const { status, body } = await post(app, "/v1/check", {
    checks: [
      { ...NO_SOURCE, feed: SHORT_FEED },
      { ...NO_SOURCE, feed: SHORT_FEED, require: [] },
      7,
      { ...NO_SOURCE, feed: { ...SHORT_FEED, events: "x\n" } },
      { ...NO_SOURCE, feed: SHORT_FEED, minSequence: 1 },
    ],
  });
  assertEquals(status, 200);
  assertEquals(body.results[0].decision, "allow");
  const errors = body.results.slice(1).map((each: typeof body) => {
    assertEquals(Object.keys(each), ["error"]);
    const { code, pointer, status, line } = each.error;
    return [code, pointer, status, line];
  });
  assertEquals(errors, [
    ["requirements_empty", "/checks/1/require", 400, undefined],
    ["invalid_request", "/checks/2", 400, undefined],
    ["invalid_line", undefined, 422, 1],
    ["invalid_request", "/checks/4/minSequence", 400, undefined],
  ]);
  assertStringIncludes(
    body.results[4].error.detail,
    'did you mean "min_sequence"?',
  );
});

Deno.test("bodies over their limit are refused", async () => {
  const large = { ...GOOD, subject: "x".repeat(16 * 1024 * 1024) };
  const check = await post(app, "/v1/check", large);
  assertEquals([check.status, check.body.code], [413, "body_too_large"]);
  const evaluation = { subject: { type: "user", id: "x".repeat(65_536) } };
  const authzen = await post(app, "/access/v1/evaluation", evaluation);
  assertEquals([authzen.status, authzen.body.code], [413, "body_too_large"]);
});

Deno.test("other types, encodings and methods are refused", async () => {
  for (const path of ["/v1/check", "/v1/verify", "/v1/dump-state"]) {
    const type = { "content-type": "text/plain" };
    const text = await post(app, path, GOOD, type);
    assertEquals([text.status, text.body.code], [
      415,
      "unsupported_media_type",
    ]);
    const gzip = await post(app, path, GOOD, { "content-encoding": "gzip" });
    assertEquals([gzip.status, gzip.body.code], [
      415,
      "unsupported_media_type",
    ]);
    const response = await app.fetch(new Request(`http://127.0.0.1${path}`));
    assertEquals(response.status, 405);
    assertEquals(response.headers.get("allow"), "POST");
    assertEquals((await response.json()).code, "method_not_allowed");
  }
});
