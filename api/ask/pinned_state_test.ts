// Questions about an issuer whose state is in a store (docs/protocol.md §6).
import { assert, assertEquals } from "@std/assert";
import type { PinStore } from "@sig/consumer/pins";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import {
  ALICE,
  importTestKeys,
  lineOf,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { day } from "../../tests/kit/events.ts";
import { type App, createApp } from "../app.ts";
import { evaluationOf, now, post, serveIssuer } from "../testdata/asking.ts";

const BOB = "did:web:bob.example";

/** Wraps a store to record the lines that are read. */
function watched(store: PinStore, asked: string[]): PinStore {
  const lines = new Proxy(store.lines!, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (name === "about") {
          const [, { subjects }] = args as Parameters<typeof target.about>;
          asked.push(subjects.join(" "));
        }
        if (name === "bytes") asked.push("all");
        return value.apply(target, args);
      };
    },
  });
  return { ...store, lines };
}

/**
 * Creates events 1 to 6 on six days, alternating between Alice and Bob, and an
 * app with pins.
 */
async function withPinned(
  work: (parts: {
    readonly did: string;
    readonly pinned: App;
    readonly plain: App;
    readonly asked: string[];
  }) => Promise<void>,
): Promise<void> {
  const [key] = await importTestKeys();
  await using issuer = await serveIssuer({ events: 0 });
  const { server, app: plain, publish } = issuer;
  const { did } = server;
  publish(
    await Promise.all(Array.from({ length: 6 }, (_, i) =>
      lineOf(
        upsert(i + 1, {
          issuer: did,
          issued_at: day(i + 1),
          subject: i % 2 === 0 ? ALICE : BOB,
        }),
        key!,
      ))),
  );
  await using file = await openPinFile();
  const asked: string[] = [];
  const store = watched(file.pins, asked);
  const start = () =>
    createApp({ issuers: [did], allowPrivate: true, now, pins: store });
  // Another process has verified the feed.
  await post(start(), "/v1/verify", { issuer: did });
  await work({ did, pinned: start(), plain, asked });
}

const TIMES = [{}, { at: day(3) }, { as_of: day(3) }, { as_of: 2 }, {
  as_of: day(4, "T12:00:00Z"),
  at: day(2),
}];

Deno.test("an answer from a stored state equals the answer from the feed", async () => {
  await withPinned(async ({ did, pinned, plain }) => {
    const questions = TIMES.flatMap((times) =>
      [ALICE, BOB, "did:web:nobody.example"].map((subject) => ({
        ...{ issuer: did, subject, require: ["role=deploy"], explain: true },
        ...times,
      }))
    );
    const requests: readonly (readonly [string, unknown])[] = [
      ...questions.map((each) => ["/v1/check", each] as const),
      ["/v1/check", { checks: questions }],
      ...questions.map(({ subject, require: _, ...sig }) =>
        ["/access/v1/evaluation", {
          ...evaluationOf(did),
          subject: { type: "user", id: subject },
          context: { sig: { ...sig, issuer: undefined } },
        }] as const
      ),
      ...TIMES.map((times) =>
        ["/v1/dump-state", { issuer: did, ...times }] as const
      ),
    ];
    for (const [path, body] of requests) {
      const known = await post(pinned, path, body);
      const fresh = await post(plain, path, body);
      assertEquals(known.status, 200, JSON.stringify(known.body));
      assertEquals(withoutMemory(known.body), withoutMemory(fresh.body));
    }
  });
});

Deno.test("a question reads only the lines of its subject, and a batch reads each line once", async () => {
  await withPinned(async ({ did, pinned, asked }) => {
    const question = { issuer: did, subject: BOB, require: ["role=deploy"] };
    for (let time = 0; time < 2; time++) {
      const { body } = await post(pinned, "/v1/check", question);
      assertEquals(body.decision, "allow");
    }
    // The second one is answered from the state that the first one verified.
    assertEquals(asked, [BOB]);
    asked.length = 0;
    const alice = { ...question, subject: ALICE };
    const { body: batch } = await post(pinned, "/v1/check", {
      checks: [question, alice, question, { ...question, at: day(3) }],
    });
    assert(
      batch.results.every((each: { decision: string }) =>
        each.decision === "allow"
      ),
    );
    assertEquals(asked, [`${BOB} ${ALICE}`]);
  });
});

/** Omits the members that depend on where the state came from. */
function withoutMemory(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(
      body,
      (name, value) =>
        name === "freshness" || name === "continuity" ? undefined : value,
    ),
  );
}
