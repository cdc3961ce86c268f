import { assert, assertEquals } from "@std/assert";
import { dumpState, stringifyDump } from "./dump_state.ts";
import { parseJson } from "../text/json.ts";
import { replay } from "../replay/replay.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { day, ISSUER, revoke, upsert } from "../../tests/kit/events.ts";

const NOW = new Date(day(15));
const BOB = "did:web:bob.example";

const FEED = [
  upsert(1, { relationship_id: "active" }),
  upsert(2, { relationship_id: "expired", valid_until: day(10) }),
  upsert(3, { relationship_id: "later", valid_from: day(20), subject: BOB }),
  upsert(4, { relationship_id: "revoked", valid_until: day(10) }),
  revoke(5, { relationship_id: "revoked" }),
];
const STATE = replay(FEED).state;

function keys(options: Partial<Parameters<typeof dumpState>[1]>): string[] {
  const dump = dumpState(STATE, { now: NOW, ...options });
  return [...dump.by_relationship_id.keys()];
}

Deno.test("a dump is sorted by the code units of the identifiers", () => {
  const ids = "b a 10 9 __proto__ B é 😀 \uff5e constructor".split(" ");
  const { state } = replay(
    ids.map((id, i) => upsert(i + 1, { relationship_id: id })),
  );
  const dump = dumpState(state, { now: NOW });
  const sorted = "10 9 B __proto__ a b constructor é 😀 \uff5e".split(" ");
  assertEquals([...dump.by_relationship_id.keys()], sorted);
  const text = stringifyDump(dump);
  const places = sorted.map((id) => text.indexOf(`${JSON.stringify(id)}: {`));
  assertEquals(places, places.toSorted((a, b) => a - b));
  assert(places.every((place) => place > 0));
});

Deno.test("a dump's text is JSON with exactly the state, including __proto__", () => {
  const ids = ["__proto__", "10", 'a"b\\', "r1"];
  const { state } = replay(
    ids.map((id, i) => upsert(i + 1, { relationship_id: id })),
  );
  const dump = dumpState(state, { now: NOW });
  for (const indent of ["  ", "\t", ""]) {
    const value = parseJson(stringifyDump(dump, indent)) as {
      readonly issuer: string;
      readonly last_sequence: number;
      readonly by_relationship_id: Readonly<Record<string, unknown>>;
    };
    assertEquals(Object.keys(value), [
      "issuer",
      "last_sequence",
      "by_relationship_id",
    ]);
    assertEquals([value.issuer, value.last_sequence], [ISSUER, 4]);
    const map = new Map(Object.entries(value.by_relationship_id));
    assertEquals(map, new Map<string, unknown>(dump.by_relationship_id));
  }
});

Deno.test("a dump's text equals the output of JSON.stringify", () => {
  const dump = dumpState(STATE, { now: NOW });
  const plain = {
    issuer: dump.issuer,
    last_sequence: dump.last_sequence,
    by_relationship_id: Object.fromEntries(dump.by_relationship_id),
  };
  assertEquals(stringifyDump(dump), JSON.stringify(plain, null, 2));
  const empty = dumpState(replay([]).state, { now: NOW });
  assertEquals(
    stringifyDump(empty),
    '{\n  "issuer": "",\n  "last_sequence": 0,\n  "by_relationship_id": {}\n}',
  );
});

Deno.test("filters by subject and by effective status at that time", () => {
  assertEquals(keys({}), ["active", "expired", "later", "revoked"]);
  assertEquals(keys({ subject: BOB }), ["later"]);
  assertEquals(keys({ subject: "__proto__" }), []);
  assertEquals(keys({ status: "active" }), ["active"]);
  assertEquals(keys({ status: "expired" }), ["expired"]);
  assertEquals(keys({ status: "not_yet_valid" }), ["later"]);
  assertEquals(keys({ status: "revoked" }), ["revoked"]);
  assertEquals(keys({ status: "active", subject: BOB }), []);
});

Deno.test("at dumps what was true then, as_of what was known then", () => {
  const then = dumpState(STATE, { now: NOW, at: day(4) });
  assertEquals(then.last_sequence, 5);
  assertEquals(then.by_relationship_id.get("revoked")?.status, "active");
  assertEquals(keys({ at: day(2), status: "active" }), ["active", "expired"]);
  // Not issued yet, and without a start that was recorded later.
  assertEquals(keys({ at: day(1) }), ["active"]);
  const known = dumpState(STATE, { now: NOW, asOf: 2 });
  assertEquals(known.last_sequence, 2);
  assertEquals([...known.by_relationship_id.keys()], ["active", "expired"]);
});

Deno.test("rejects an unknown status and a sequence beyond the feed", () => {
  for (const status of ["", "Active", "toString", "none"]) {
    assertSigError(
      () => keys({ status }),
      "invalid_request",
      "Cannot filter: status must be one of active, revoked, expired, not_yet_valid",
    );
  }
  assertSigError(
    () => keys({ asOf: 6 }),
    "consistency_unavailable",
    "Cannot judge as of sequence 6: the feed ends at 5",
  );
});
