import { assertEquals, assertThrows } from "@std/assert";
import { applyEvent, personOf, Replay, replay } from "./replay.ts";
import { revoke, upsert } from "../../tests/kit/events.ts";

// promise: The first upsert about a subject links its key to a person, for
//   good.

/**
 * `vectors/persons.json`: upserts as `[subject, same_person_as]`, null without
 * a link.
 */
interface PersonCases {
  readonly cases: readonly {
    readonly name: string;
    readonly description: string;
    readonly upserts: readonly (readonly [string, unknown])[];
    readonly persons: Readonly<Record<string, string>>;
  }[];
}

const VECTORS = new URL("../../vectors/persons.json", import.meta.url);
const { cases }: PersonCases = JSON.parse(await Deno.readTextFile(VECTORS));

for (const { name, description, upserts, persons } of cases) {
  Deno.test(`persons.json, ${name}: ${description}`, () => {
    const events = upserts.map(([subject, same_person_as], at) =>
      upsert(at + 1, {
        subject,
        relationship_id: `r${at + 1}`,
        metadata: same_person_as === null ? null : { same_person_as },
      })
    );
    const { state } = replay(events);
    // The state is also built event by event.
    const empty = replay([], { issuer: state.issuer }).state;
    const stepwise = events.reduce(applyEvent, empty);
    for (const [subject, root] of Object.entries(persons)) {
      assertEquals(personOf(state, subject), root, subject);
      assertEquals(personOf(stepwise, subject), root, subject);
    }
  });
}

Deno.test("a relationship that moves to a known subject does not link it", () => {
  const { state } = replay([
    upsert(1, { subject: "a" }),
    upsert(2, { subject: "b", relationship_id: "r2" }),
    // r1 moves to b, which is known already, and to c, which is not.
    upsert(3, { subject: "b", metadata: { same_person_as: "a" } }),
    upsert(4, { subject: "c", metadata: { same_person_as: "a" } }),
  ]);
  assertEquals(["b", "c"].map((each) => personOf(state, each)), ["b", "a"]);
});

Deno.test("a root survives the end of its relationship, and later events do not affect earlier states", () => {
  const replaying = new Replay();
  replaying.apply(upsert(1, { subject: "a" }));
  const before = replaying.state();
  replaying.apply(upsert(2, {
    subject: "b",
    relationship_id: "r2",
    metadata: { same_person_as: "a" },
  }));
  replaying.apply(revoke(3, { subject: "a" }));
  assertEquals(personOf(replaying.state(), "b"), "a");
  assertEquals(personOf(before, "b"), "b");
  // An event of another branch does not count as the first one here.
  const after = applyEvent(
    before,
    upsert(2, {
      subject: "b",
      relationship_id: "r3",
      metadata: { same_person_as: "c" },
    }),
  );
  assertEquals(personOf(after, "b"), "c");
});

Deno.test("an inherited same_person_as does not link", () => {
  const inherited = Object.create({ same_person_as: "a" });
  const { state } = replay([upsert(1, { subject: "b", metadata: inherited })]);
  assertEquals(personOf(state, "b"), "b");
});

Deno.test("a state with only some of the events can't find a person", () => {
  const replaying = new Replay({ keepOnly: "b" });
  replaying.apply(upsert(1, { subject: "b" }));
  assertThrows(
    () => personOf(replaying.state(), "b"),
    TypeError,
    "not all events were kept",
  );
});
