import { assert, assertEquals, assertThrows } from "@std/assert";
import { check } from "../ask/check.ts";
import type { SigEvent } from "../event/types.ts";
import { instantOf } from "../text/timestamp.ts";
import { ALICE, revoke, upsert } from "../../tests/kit/events.ts";
import { Replay, warningsAbout } from "./replay.ts";

const BOB = "did:web:bob.example";
const NOW = new Date("2026-06-01T00:00:00Z");

/**
 * Relationships that are moved to Alice, moved away from her, revoked, or never
 * hers.
 */
const EVENTS: readonly SigEvent[] = [
  upsert(1),
  upsert(2, { relationship_id: "r2", subject: BOB }),
  upsert(3, { relationship_id: "r3", subject: BOB, roles: ["review"] }),
  revoke(4, { relationship_id: "r3", subject: ALICE }),
  upsert(5, { relationship_id: "r2", roles: ["review"] }),
  revoke(6, { relationship_id: "r2" }),
  upsert(7, { subject: BOB }),
  upsert(8, { relationship_id: "r4", roles: ["audit"] }),
  revoke(9, { relationship_id: "r5" }),
  upsert(10, { relationship_id: "r2", roles: ["review"] }),
  upsert(11, { relationship_id: "r3", subject: ALICE }),
  upsert(12, { relationship_id: "r6", subject: BOB }),
];

function replayed(events: number, keepOnly?: string | null) {
  const replay = new Replay({ keepOnly, now: instantOf(NOW) });
  for (const event of EVENTS.slice(0, events)) replay.apply(event);
  return { state: replay.state(), warnings: replay.warnings };
}

Deno.test("a state of one subject gives the same answers about it as the whole state", () => {
  let allowed = 0;
  for (let events = 0; events <= EVENTS.length; events++) {
    for (const subject of [ALICE, BOB, "did:web:nobody.example"]) {
      const whole = replayed(events);
      const part = replayed(events, subject);
      assertEquals(part.warnings, whole.warnings);
      assertEquals(
        warningsAbout(subject, part.warnings, part.state.history),
        warningsAbout(subject, whole.warnings, whole.state.history),
      );
      for (const role of ["deploy", "review", "audit"]) {
        for (let asOf = 0; asOf <= events; asOf++) {
          const question = {
            ...{ subject, require: [`role=${role}`] as const },
            explain: true,
            now: NOW,
            ...(asOf === 0 ? {} : { asOf }),
          } as const;
          const answer = check(part.state, question);
          assertEquals(answer, check(whole.state, question));
          if (answer.decision === "allow") allowed++;
        }
      }
    }
  }
  assert(allowed > 20);
});

Deno.test("a state of one subject rejects questions about others, and can't be listed", () => {
  const { state } = replayed(EVENTS.length, ALICE);
  const ask = (subject: string) => () =>
    check(state, { subject, require: ["role=deploy"], now: NOW });
  const about = "Cannot ask: nothing was kept about this subject";
  assertThrows(ask(BOB), TypeError, about);
  const none = replayed(EVENTS.length, null).state;
  assertThrows(
    () => check(none, { subject: ALICE, require: ["role=a"], now: NOW }),
    TypeError,
    about,
  );
  for (const each of [state, none]) {
    assertThrows(
      () => each.by_relationship_id,
      TypeError,
      "Cannot list: not all relationships were kept",
    );
    assertEquals(each.last_sequence, EVENTS.length);
  }
});
