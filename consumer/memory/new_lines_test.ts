import { assertEquals } from "@std/assert";
import { Replay, type SigEvent } from "@sig/core";
import { ISSUER, revoke, upsert } from "../../tests/kit/events.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { openPinStore } from "./open_pin_store.ts";
import { replayFrom, WarnedEvents } from "./partial_history.ts";

const OTHER = "did:web:bob.example";
const EVENTS: readonly SigEvent[] = [
  upsert(1, { relationship_id: "moved" }),
  upsert(2, { relationship_id: "ended" }),
  revoke(3, { relationship_id: "ended" }),
  upsert(4, { relationship_id: "active" }),
  revoke(5, { relationship_id: "ended" }),
  upsert(6, { relationship_id: "moved", subject: OTHER }),
  revoke(7, { relationship_id: "unknown" }),
  upsert(8, { relationship_id: "ended" }),
  revoke(9, { relationship_id: "ended" }),
];
const again = upsert(10, { event_id: EVENTS[0]!.event_id });

Deno.test("a read that holds few events finds the same faults and warnings as one that holds all", async () => {
  await using folder = await tempFolder();
  const store = await openPinStore(`${folder.path}/pins.db`);
  const lines = store.lines!.begin(undefined);
  const past = lines.past(2);
  const held: number[] = [];
  const few = new Replay(
    { issuer: ISSUER },
    replayFrom(new WarnedEvents(), {
      past: {
        ...past,
        takesOver(events) {
          held.push(events);
          return past.takesOver!(events);
        },
      },
    }),
  );
  const all = new Replay({ issuer: ISSUER });
  for (const event of EVENTS) {
    all.apply(event);
    few.apply(event);
    lines.add(new TextEncoder().encode("{}"), event);
  }
  assertEquals(all.warnings.map(({ code }) => code), [
    "revoked_again",
    "subject_changed",
    "revoke_without_upsert",
  ]);
  assertEquals(few.warnings, all.warnings);
  assertEquals(held, [0, 1, 2, 1, 2, 1, 2, 1, 2]);
  for (const replay of [all, few]) {
    assertSigError(
      () => replay.apply(again),
      "duplicate_event_id",
      "Cannot apply event: its event_id was used before",
    );
  }
  lines.end();
  await store.close();
});
