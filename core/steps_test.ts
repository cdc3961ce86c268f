import { assertEquals } from "@std/assert";
import { checkSteps, runSteps, walkState } from "./internal.ts";
import {
  applyEvent,
  dumpState,
  parseQuestion,
  parseRequirements,
  replay,
} from "./mod.ts";
import { upsert } from "../tests/kit/events.ts";

// promise: Long work runs in slices, so that other requests continue.

const NOW = new Date("2026-06-01T00:00:00Z");
const MANY = 5_000;

function manyOf(subject: string) {
  return replay(
    Array.from({ length: MANY }, (_, i) =>
      upsert(i + 1, {
        relationship_id: `r${(i * 7919) % MANY}`,
        issued_at: "2026-01-05T09:00:00Z",
        subject,
        roles: ["a"],
      })),
  ).state;
}

/** Returns the number of steps and the result. */
function count<T>(steps: Generator<void, T, void>): [number, T] {
  for (let n = 0;; n++) {
    const step = steps.next();
    if (step.done) return [n, step.value];
  }
}

Deno.test("a question about many relationships is answered in steps", () => {
  const state = manyOf("did:x:s");
  const question = {
    subject: "did:x:s",
    require: parseRequirements(
      Array.from({ length: 64 }, (_, i) => `role=r${i}`),
    ),
  };
  const [steps, answer] = count(
    checkSteps(state, parseQuestion(question), { now: NOW }),
  );
  assertEquals(answer.decision, "deny");
  assertEquals(answer.reasons.length, 64);
  assertEquals(steps >= MANY / 256 - 1, true, `${steps} steps`);
  const few = parseQuestion({ ...question, subject: "did:x:other" });
  assertEquals(count(checkSteps(state, few, { now: NOW }))[0], 0);
});

Deno.test("64 requirements read each role once", () => {
  let reads = 0;
  const roles = new Proxy(Array.from({ length: 1_000 }, (_, i) => `x${i}`), {
    get(target, name, receiver) {
      if (typeof name === "string" && /^\d+$/.test(name)) reads++;
      return Reflect.get(target, name, receiver);
    },
  });
  const { state } = replay([upsert(1, { subject: "did:x:s", roles })]);
  reads = 0;
  const require = parseRequirements(
    Array.from({ length: 64 }, (_, i) => `role=r${i}`),
  );
  const asked = parseQuestion({ subject: "did:x:s", require });
  runSteps(checkSteps(state, asked, { now: NOW }));
  assertEquals(reads, 1_000);
});

Deno.test("the cost of a page is proportional to the relationships that it passes", () => {
  const state = manyOf("did:x:s");
  const page = (after?: string) =>
    count(walkState(state, { now: NOW, after, limit: 1 }));
  const [steps, first] = page();
  assertEquals(steps, 0);
  const [id = ""] = first.entries.map(([id]) => id);
  assertEquals(id, [...state.history.versions.keys()][0]);
  const [again, next] = page(id);
  assertEquals(again, 0);
  assertEquals(next.entries.map(([id]) => id), [
    [...state.history.versions.keys()][1],
  ]);
  assertEquals(next.hasMore, true);
});

Deno.test("pages are in the order of the feed and a dump is sorted, with and without a subject", () => {
  const events = Array.from({ length: 3_000 }, (_, i) =>
    upsert(i + 1, {
      issued_at: "2026-01-05T09:00:00Z",
      relationship_id: `${(i * 7919) % 3_001}`,
      subject: i % 2 === 0 ? "did:x:even" : "did:x:odd",
    }));
  const { state } = replay(events);
  for (const subject of [undefined, "did:x:odd"]) {
    const inOrder = events
      .filter((each) => subject === undefined || each.subject === subject)
      .map((each) => each.relationship_id);
    const seen: string[] = [];
    let hasMore = true;
    while (hasMore) {
      const after = seen.at(-1);
      const part = runSteps(
        walkState(state, { now: NOW, subject, after, limit: 700 }),
      );
      seen.push(...part.entries.map(([id]) => id));
      hasMore = part.hasMore;
    }
    assertEquals(seen, inOrder);
    const dump = dumpState(state, { now: NOW, subject });
    assertEquals([...dump.by_relationship_id.keys()], inOrder.toSorted());
  }
});

Deno.test("pages of one subject are in the order of the feed, also with relationships that moved to it", () => {
  const events = [
    upsert(1, { relationship_id: "z", subject: "did:x:other" }),
    upsert(2, { relationship_id: "b", subject: "did:x:s" }),
    upsert(3, { relationship_id: "z", subject: "did:x:s" }),
  ];
  const { state } = replay(events);
  const page = (after?: string) =>
    runSteps(walkState(state, {
      ...{ now: NOW, subject: "did:x:s", after, limit: 1 },
    })).entries.map(([id]) => id);
  assertEquals([page(), page("z"), page("b")], [["z"], ["b"], []]);
});

Deno.test("finds the prefix of an instant among many events", () => {
  const at = (i: number) =>
    new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString();
  // Every tenth event is dated one minute back.
  const issued = Array.from(
    { length: 4_000 },
    (_, i) => at(i % 10 === 9 ? i - 60 : i),
  );
  const { state } = replay(
    issued.map((issued_at, i) => upsert(i + 1, { issued_at })),
  );
  // A copy, with one more event after all these instants.
  const copied = applyEvent(state, upsert(4_001, { issued_at: at(9_000) }));
  for (const i of [-1, 0, 5, 1_022, 1_023, 1_024, 2_048, 2_989, 3_999, 5_000]) {
    const [seconds, nanoseconds] = [Date.parse(at(i)) / 1000, 0];
    let expected = 0;
    while (expected < 4_000 && issued[expected]! <= at(i)) expected++;
    for (const { history } of [state, copied]) {
      assertEquals(history.prefixAt({ seconds, nanoseconds }), expected);
    }
  }
});
