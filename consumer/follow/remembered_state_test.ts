import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { showPin } from "./manage_pins.ts";
import { sha256Hex } from "../memory/pin.ts";
import {
  feedOf,
  importTestKeys,
  lineOf,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { day, revoke, upsert } from "../../tests/kit/events.ts";
import { QUESTION } from "../../tests/kit/watched_issuer.ts";
import { type Event, withIssuer } from "../testdata/remembered_issuer.ts";

const [key] = await importTestKeys();
const NOW = () => new Date("2026-06-01T00:00:00Z");

const SUBJECTS = ["did:web:a.example", "did:web:b.example", "someone\u00e9"];
const IDS = ["r1", "r2", "__proto__", "x".repeat(300)];

/** A random event without its sequence. */
const change = fc.record({
  id: fc.constantFrom(...IDS),
  subject: fc.constantFrom(...SUBJECTS),
  role: fc.constantFrom("deploy", "review"),
  revokes: fc.boolean(),
  day: fc.integer({ min: 1, max: 28 }),
});

function eventOf(
  sequence: number,
  { id, subject, role, revokes, day: n }: typeof change extends
    fc.Arbitrary<infer T> ? T : never,
): Event {
  const common = { relationship_id: id, subject, issued_at: day(n) };
  return revokes
    ? revoke(sequence, {
      ...common,
      revokes_relationship_id: id,
      effective_at: day(n),
    })
    : upsert(sequence, { ...common, roles: [role] });
}

Deno.test("answers from stored lines equal answers from the whole feed, for any history", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(change, { minLength: 1, maxLength: 5 }), {
        minLength: 1,
        maxLength: 5,
      }),
      async (batches) => {
        await withIssuer(async ({ did, fresh, publish }) => {
          let sequence = 0;
          for (const batch of batches) {
            await publish(batch.map((each) => eventOf(++sequence, each)));
            const questions = SUBJECTS.flatMap((subject) =>
              [{}, { at: day(9) }, { asOf: day(9) }, { asOf: sequence }].map(
                (
                  time,
                ) => ({ subject, require: ["role=deploy"], ...time } as const),
              )
            );
            const both = [fresh, () => fresh({ pins: undefined })];
            for (const question of questions) {
              const [known, unpinned] = await Promise.all(
                both.map((make) =>
                  make().check(did, { ...question, explain: true })
                ),
              );
              assertEquals({ ...known, continuity: "unpinned" }, {
                ...unpinned,
                continuity: "unpinned",
              });
            }
            const [known, unpinned] = await Promise.all(
              both.map(async (make) => [
                [...(await make().state(did)).by_relationship_id],
                await make().report(did),
              ]),
            );
            assertEquals(known, unpinned);
          }
        });
      },
    ),
    { numRuns: 8 },
  );
});

Deno.test("an answer from stored lines has the same warnings as after a refresh", async () => {
  await withIssuer(async ({ did, fresh, publish }) => {
    const warned = async (minutes: number, maxAgeMs: number) => {
      const now = () => new Date(NOW().getTime() + minutes * 60_000);
      const { warnings } = await fresh({ now, maxAgeMs }).observe(did);
      return warnings.slice(-1);
    };
    // An event that is ahead of the clock at first.
    await publish([upsert(1, { issued_at: "2026-06-01T00:10:00Z" })]);
    assertEquals((await warned(0, 0)).map(({ code }) => code), [
      "issued_at_future",
    ]);
    assertEquals(await warned(20, 0), []);
    assertEquals(await warned(20, 60_000), []);
    // More warnings than are kept.
    await publish(Array.from({ length: 1_005 }, (_, i) =>
      upsert(i + 2, {
        event_id: `${i} ${"long".repeat(200)}`,
        issued_at: "2026-06-01T00:10:00Z",
      })));
    const left = {
      code: "warnings_left_out",
      detail: "left out: 6 more about any event",
    } as const;
    assertEquals(await warned(20, 0), [left]);
    assertEquals(await warned(20, 60_000), [left]);
  });
});

Deno.test("relationships are listed in the order in which the subject received them", async () => {
  await withIssuer(async ({ did, fresh, publish }) => {
    const [a, b] = SUBJECTS as [string, string];
    await publish([
      upsert(1, { relationship_id: "r1", subject: a }),
      upsert(2, { relationship_id: "r2", subject: b }),
      upsert(3, { relationship_id: "r1", subject: b }),
    ]);
    const question = {
      subject: b,
      require: ["role=x"],
      explain: true,
    } as const;
    await fresh().verify(did);
    const { explain } = await fresh().check(did, question);
    assertEquals(
      explain,
      (await fresh({ pins: undefined }).check(did, question)).explain,
    );
    assertEquals(explain?.relationships.map((each) => each.relationship_id), [
      ...["r2", "r1"],
    ]);
  });
});

Deno.test("only new events are fetched and verified", async () => {
  await withIssuer(async ({ did, fresh, publish, server, pins }) => {
    const event = (n: number) =>
      upsert(n, { relationship_id: `r${n}`, issued_at: day(1) });
    await publish(Array.from({ length: 2_000 }, (_, i) => event(i + 1)));
    const first = await fresh().check(did, QUESTION);
    assertEquals([first.decision, first.continuity], ["allow", "first_seen"]);
    const again = await fresh().check(did, QUESTION);
    assertEquals([again.decision, again.continuity], ["allow", "consistent"]);
    await publish([event(2_001), event(2_002)]);
    const grown = await fresh().check(did, QUESTION);
    assertEquals(grown.last_sequence, 2_002);
    assertEquals(
      server.of(PATHS.feed).map(({ status }) => status),
      [200, 304, 206],
    );
    assert(server.of(PATHS.feed)[2]!.bytes < 4_000);
    const pin = await showPin(pins, did);
    const bytes = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
    assertEquals(pin.prefix_sha256, await sha256Hex(bytes));
    assertEquals([pin.sequence, pin.bytes], [2_002, bytes.length]);
    // Reads several pages of stored lines.
    assertEquals((await fresh().state(did)).by_relationship_id.size, 2_002);
  });
});

Deno.test("rejects an event_id of an event that another process verified", async () => {
  await withIssuer(async ({ did, fresh, publish }) => {
    await publish([upsert(1), upsert(2)]);
    await fresh().verify(did);
    await publish([upsert(3, { event_id: upsert(1).event_id })]);
    await expectSigError(
      () => fresh().verify(did),
      "duplicate_event_id",
      "its event_id was used before",
    );
  });
});

for (
  const more of [{}, { full: true }, { unmatchedRevoke: "reject" }] as const
) {
  Deno.test(`an incident states the first event that differs (${JSON.stringify(more)})`, () =>
    withIssuer(async ({ did, fresh, publish, server, pins }) => {
      await publish([upsert(1), upsert(2), upsert(3)]);
      await fresh().verify(did);
      const { prefix_sha256: old } = await showPin(pins, did);
      const other = [
        upsert(1),
        upsert(2, { roles: ["deploy", "x"] }),
        upsert(3),
      ];
      const lines = await Promise.all(
        other.map((each) => lineOf({ ...each, issuer: did }, key)),
      );
      server.documents.set(PATHS.feed, feedOf(lines));
      for (let process = 0; process < 2; process++) {
        const { context } = await expectSigError(
          () => fresh(more).verify(did),
          "feed_rewritten",
          "event 2 is not the one that is remembered",
        );
        assertEquals([context.sequence, context.remembered_sha256], [2, old]);
      }
      const { incident, sequence } = await showPin(pins, did);
      assertEquals([incident?.code, sequence], ["feed_rewritten", 3]);
      assertStringIncludes(incident!.detail, "event 2 is not the one");
      assertStringIncludes(incident!.detail, `was ${old}, is `);
    }));
}
