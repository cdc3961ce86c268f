import { assertEquals, assertThrows } from "@std/assert";
import { applyEvent, personOf, Replay, replay } from "./replay.ts";
import { revoke, upsert } from "../../tests/kit/events.ts";

/** Links in the order of the feed; "" links nothing. */
function linked(...links: readonly (readonly [string, string])[]) {
  const events = links.map(([subject, same_person_as], at) =>
    upsert(at + 1, {
      subject,
      relationship_id: `r${at + 1}`,
      metadata: same_person_as === "" ? null : { same_person_as },
    })
  );
  const { state } = replay(events);
  // The other way to the same state.
  const empty = replay([], { issuer: state.issuer }).state;
  const stepwise = events.reduce(applyEvent, empty);
  for (const [subject] of links) {
    assertEquals(personOf(stepwise, subject), personOf(state, subject));
  }
  return (subject: string) => personOf(state, subject);
}

Deno.test("a key's person is the root of the links, also of a subject without events", () => {
  const of = linked(["a", ""], ["b", "a"], ["c", "b"], ["d", "nobody"]);
  assertEquals(["a", "b", "c", "d", "unknown"].map(of), [
    ...["a", "a", "a", "nobody", "unknown"],
  ]);
});

Deno.test("only the first upsert about a subject links it", () => {
  const of = linked(
    ...[["a", ""], ["b", "a"], ["mallory", ""]] as const,
    // Later events add, change and remove nothing.
    ...[["mallory", "a"], ["b", "mallory"], ["b", ""], ["a", "b"]] as const,
  );
  assertEquals(["a", "b", "mallory"].map(of), ["a", "a", "mallory"]);
});

Deno.test("a relationship that comes to a subject later does not link it", () => {
  const { state } = replay([
    upsert(1, { subject: "a" }),
    upsert(2, { subject: "b", relationship_id: "r2" }),
    // r1 moves to b, which was known already, and to c, which was not.
    upsert(3, { subject: "b", metadata: { same_person_as: "a" } }),
    upsert(4, { subject: "c", metadata: { same_person_as: "a" } }),
  ]);
  assertEquals(["b", "c"].map((each) => personOf(state, each)), ["b", "a"]);
});

Deno.test("two subjects that claim each other, longer cycles, and a link to itself end at one root", () => {
  const two = linked(["a", "b"], ["b", "a"]);
  assertEquals(["a", "b"].map(two), ["b", "b"]);
  const three = linked(["a", "b"], ["b", "c"], ["c", "a"]);
  // Who was named before stays what it was named as: a root does not move.
  assertEquals(["a", "b", "c"].map(three), ["b", "b", "b"]);
  assertEquals(linked(["a", "a"])("a"), "a");
});

Deno.test("links after the eighth are ignored", () => {
  const keys = Array.from({ length: 12 }, (_, i) => `k${i}`);
  const of = linked(
    ...keys.map((key, i) => [key, i === 0 ? "" : `k${i - 1}`] as const),
  );
  assertEquals(keys.map(of), [
    ...Array.from({ length: 9 }, () => "k0"),
    ...["k9", "k9", "k9"],
  ]);
});

Deno.test("a root survives the end of its own relationship, and later events do not reach the past", () => {
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
  // A first event that another branch has had is still the first one here.
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

Deno.test("only the members of metadata itself link, and only a text does", () => {
  for (const metadata of [{ same_person_as: 7 }, { same_person_as: "" }, {}]) {
    const { state } = replay([upsert(1, { subject: "b", metadata })]);
    assertEquals(personOf(state, "b"), "b");
  }
  const inherited = Object.create({ same_person_as: "a" });
  const { state } = replay([upsert(1, { subject: "b", metadata: inherited })]);
  assertEquals(personOf(state, "b"), "b");
});

Deno.test("a state that was not kept whole can't tell a person", () => {
  const replaying = new Replay({ keepOnly: "b" });
  replaying.apply(upsert(1, { subject: "b" }));
  assertThrows(
    () => personOf(replaying.state(), "b"),
    TypeError,
    "not all events were kept",
  );
});
