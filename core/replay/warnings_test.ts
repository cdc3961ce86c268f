import { assertEquals } from "@std/assert";
import { replay, type Warning, warningsAbout } from "../mod.ts";
import { upsert } from "../../tests/kit/events.ts";

function oddFeed(events: number, subject: (i: number) => string) {
  return replay(
    Array.from(
      { length: events },
      (_, i) =>
        upsert(i + 1, {
          issued_at: "2026-01-05T09:00:00Z",
          relationship_id: `r${i}`,
          subject: subject(i),
        }),
    ),
  );
}

Deno.test("an answer has the warnings about its subject and the feed", () => {
  const { state, warnings } = oddFeed(50, (i) => i === 7 ? "alice" : "bob");
  const missing: Warning = {
    code: "did_document_missing",
    detail: "there is no did.json",
  };
  const all = [missing, ...warnings];
  assertEquals(all.length, 51);
  assertEquals(warningsAbout("alice", all, state.history), [missing, {
    code: "subject_not_did",
    detail: "subject is not a DID",
    sequence: 8,
  }]);
  assertEquals(warningsAbout("carol", all, state.history), [missing]);
});

Deno.test("an answer has at most 10 warnings, including the number of the rest", () => {
  const { state, warnings } = oddFeed(50, () => "bob");
  const found = warningsAbout("bob", warnings, state.history);
  assertEquals(found.length, 10);
  assertEquals(found.at(-1), {
    code: "warnings_left_out",
    detail: "left out: 41 more about the subject or the feed",
  });
});

Deno.test("warnings that a replay leaves out are counted, also in answers", () => {
  const { state, warnings } = oddFeed(1_100, () => "bob");
  assertEquals(warnings.length, 1_001);
  const rest = {
    code: "warnings_left_out",
    detail: "left out: 100 more about any event",
  };
  assertEquals(warnings.at(-1), rest as Warning);
  const found = warningsAbout("bob", warnings, state.history);
  assertEquals(found.length, 10);
  assertEquals(found.slice(-2), [{
    code: "warnings_left_out",
    detail: "left out: 992 more about the subject or the feed",
  }, rest as Warning]);
});

Deno.test("a relationship that moves to another subject concerns both", () => {
  const { state, warnings } = replay([
    upsert(1, { subject: "did:x:a" }),
    upsert(2, { subject: "did:x:b" }),
  ]);
  for (const subject of ["did:x:a", "did:x:b"]) {
    const [found] = warningsAbout(subject, warnings, state.history);
    assertEquals(found, {
      code: "subject_changed",
      detail: "the subject differs from the relationship's",
      sequence: 2,
    });
  }
  assertEquals(warningsAbout("did:x:c", warnings, state.history), []);
});
