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
// Members that are undefined are absent from a body.
const NO_SOURCE = { ...GOOD, issuer: undefined };
const INLINE = { ...NO_SOURCE, feed: SHORT_FEED };
const LONG = "x".repeat(79);
const SIG_URL = "https://acme.example/.well-known/sig.json";
const TWO_MEMBERS = { role: "a", relationship: "employee" };

/**
 * A body or the changes to a valid one, a code or pointers, a part of the text.
 */
type Row = readonly [unknown, string | readonly string[], string];

const NOT_JSON: readonly Row[] = [
  ['{"issuer":"a","issuer":"b"}', "invalid_json", "twice"],
  ["null", [""], "must be an object"],
  ["[]", [""], "must be an object"],
  ['"x"', [""], "must be an object"],
  ["{}", ["/subject", "/require", ""], "required"],
  [
    JSON.stringify(GOOD).replace("{", '{"__proto__":{"subject":"x"},'),
    ["/__proto__"],
    "there is no member",
  ],
  ['{"checks":[]}', ["/checks"], "1 to 100 items"],
  ['{"checks":{}}', ["/checks"], "an array"],
  [
    JSON.stringify({ checks: Array(101).fill(GOOD) }),
    ["/checks"],
    "1 to 100 items",
  ],
];

const CHECK: readonly Row[] = [
  [{ issuer: undefined }, [""], "one of issuer, sig, feed"],
  [{ subject: undefined }, ["/subject"], "required"],
  [{ require: undefined }, ["/require"], "required"],
  [{ sig: SIG_URL }, ["/sig"], "only one of"],
  [{ min_seqence: 3 }, ["/min_seqence"], 'did you mean "min_sequence"'],
  [{ "a/b~c": 3 }, ["/a~1b~0c"], "there is no member"],
  [
    { "x\u202e\u001b[2J": 3 },
    ["/x\u202e\u001b[2J"],
    "Cannot read request: /x\\u202e\\u001b[2J: there is no member",
  ],
  [{ [`${LONG}\u{1f600}`]: 3 }, [`/${LONG}\ufffd`], "there is no member"],
  [
    { min_sequence: -1, subjct: "a" },
    ["/subjct", "/min_sequence"],
    'did you mean "subject"? (and 1 more)',
  ],
  [
    { checks: [GOOD] },
    ["/issuer", "/subject", "/require"],
    "there is no member",
  ],
  [{ subject: 7 }, ["/subject"], "a string"],
  [{ subject: null }, ["/subject"], "string"],
  [{ subject: "" }, "invalid_identifier", "not be empty"],
  [{ require: [] }, "requirements_empty", "at least one"],
  [{ require: "role=deploy" }, ["/require"], "an array"],
  [{ require: Array(65).fill("role=x") }, ["/require"], "1 to 64 items"],
  [
    { require: ["title=boss"] },
    "invalid_requirement",
    "must be one of relationship, role, relationship_id",
  ],
  [{ require: [TWO_MEMBERS] }, "invalid_requirement", "one member"],
  [{ require: [null, 7] }, ["/require/0", "/require/1"], "one member"],
  [{ at: "2026-01-01" }, ["/at"], "RFC 3339"],
  [{ at: "2026-01-01T00:00:00+00:00" }, ["/at"], "without an offset"],
  [{ at: 1767225600 }, ["/at"], "a string"],
  [{ as_of: 0 }, ["/as_of"], "integer from 1"],
  [{ as_of: 1.5 }, ["/as_of"], "integer from 1"],
  [{ as_of: true }, ["/as_of"], "sequence number or"],
  [{ min_sequence: -1 }, ["/min_sequence"], "integer from 0"],
  [{ max_age_seconds: "60" }, ["/max_age_seconds"], "integer from 0"],
  [{ explain: "yes" }, ["/explain"], "true or false"],
  [
    { ...INLINE, feed: { ...SHORT_FEED, jwks: undefined } },
    ["/feed/jwks"],
    "required",
  ],
  [
    { ...INLINE, feed: { ...SHORT_FEED, events: [] } },
    ["/feed/events"],
    "a string",
  ],
];

const VERIFY: readonly Row[] = [
  [{ issuer: undefined }, [""], "one of issuer, sig, feed"],
  [GOOD, ["/subject", "/require"], "no member"],
  [{ issuer: 7 }, ["/issuer"], "a string"],
  [{ issuer: undefined, feed: "x" }, ["/feed"], "an object"],
];

const DUMP_STATE: readonly Row[] = [
  [{ status: "gone" }, ["/status"], "must be one of active"],
  [{ limit: 0 }, ["/limit"], "1 to 10000"],
  [{ limit: 10_001 }, ["/limit"], "1 to 10000"],
  [{ subject: "" }, ["/subject"], "empty"],
  [{ cursor: "e30" }, [], "cursor"],
  [{ cursor: "%%" }, [], "cursor"],
];

const TABLES: readonly (readonly [string, object, readonly Row[]])[] = [
  ["/v1/check", GOOD, [...NOT_JSON, ...CHECK]],
  ["/v1/verify", { issuer: GOOD.issuer }, VERIFY],
  ["/v1/dump-state", { issuer: GOOD.issuer }, DUMP_STATE],
];

for (const [path, good, rows] of TABLES) {
  for (const [change, expected, text] of rows) {
    const body = typeof change === "string"
      ? change
      : JSON.stringify({ ...good, ...change as object });
    const isCode = typeof expected === "string";
    const code = isCode ? expected : "invalid_request";
    const shown = typeof change === "string" ? change : JSON.stringify(change);
    Deno.test(`${path} rejects ${shown.slice(0, 70)} with ${code}`, async () => {
      const { status, body: problem } = await post(app, path, body);
      assertEquals([status, problem.code], [400, code], problem.detail);
      assertEquals(pointersOf(problem), isCode ? [] : expected);
      const answer = JSON.stringify(problem);
      assertStringIncludes(answer, JSON.stringify(text).slice(1, -1));
      assert(!answer.includes(" at file:"), "the answer contains no stack");
    });
  }
}

function pointersOf(
  { errors = [] }: { errors?: readonly { pointer: string }[] },
): readonly string[] {
  return errors.map(({ pointer }) => pointer);
}

Deno.test("the issuer is optional if exactly one is listed", async () => {
  const { status, body } = await post(
    createApp({
      issuers: ["acme.example"],
      fetch: () => Promise.resolve(new Response(null, { status: 500 })),
    }),
    "/v1/check",
    { checks: [NO_SOURCE, GOOD, INLINE] },
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

Deno.test("a batch has a separate route, which rejects a single question", async () => {
  const batch = { checks: [INLINE, { ...NO_SOURCE, a: 1 }] };
  const headers = { "x-request-id": "batch" };
  const at = createApp({ now: () => new Date("2026-06-01T00:00:00Z") });
  const { status, body } = await post(at, "/v1/check/batch", batch, headers);
  assertEquals(status, 200);
  assertEquals(body.results.length, 2);
  assertEquals(body.results[0].decision, "allow");
  assertEquals(body.results[1].error.pointer, "/checks/1/a");
  assertEquals((await post(at, "/v1/check", batch, headers)).body, body);
  const single = await post(at, "/v1/check/batch", GOOD);
  const unknown = ["/issuer", "/subject", "/require", "/checks"];
  assertEquals(pointersOf(single.body), unknown);
});

Deno.test("an error lists at most 100 faults", async () => {
  const names = Array.from({ length: 5_000 }, (_, i) => [`member-${i}`, 1]);
  const { body } = await post(app, "/v1/verify", Object.fromEntries(names));
  assertEquals(body.code, "invalid_request");
  assertEquals(body.errors.length, 100);
});

Deno.test("a fault of one item does not affect the others", async () => {
  const { status, body } = await post(app, "/v1/check", {
    checks: [
      INLINE,
      { ...INLINE, require: [] },
      7,
      { ...INLINE, feed: { ...SHORT_FEED, events: "x\n" } },
      { ...INLINE, minSequence: 1 },
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
