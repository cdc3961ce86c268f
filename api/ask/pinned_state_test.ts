// Questions about an issuer whose state a store has (docs/protocol.md §6).
import { assert, assertEquals } from "@std/assert";
import { createMemoryPinStore, type PinStore } from "@sig/consumer/pins";
import {
  ALICE,
  importTestKeys,
  lineOf,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { day } from "../../tests/kit/events.ts";
import { type App, createApp } from "../app.ts";
import { now, post, serveIssuer } from "../testdata/asking.ts";

const BOB = "did:web:bob.example";

/** A store that tells which rows were asked for. */
function watched(): PinStore & { readonly asked: string[] } {
  const store = createMemoryPinStore();
  const asked: string[] = [];
  const { get, list, stage, staged, unstage, put, remove, close } = store;
  return {
    place: store.place,
    asked,
    ...{ get: get.bind(store), list: list.bind(store) },
    ...{ stage: stage.bind(store), put: put.bind(store) },
    ...{ staged: staged.bind(store), unstage: unstage.bind(store) },
    ...{ remove: remove.bind(store), close: close.bind(store) },
    rows(ref, keys) {
      asked.push(...keys);
      return store.rows(ref, keys);
    },
    all(ref, prefix) {
      asked.push(`${prefix}*`);
      return store.all(ref, prefix);
    },
  };
}

/** Events 1 to 6 on six days, in turn about Alice and Bob; an app with pins. */
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
  const store = watched();
  const start = () =>
    createApp({ issuers: [did], allowPrivate: true, now, pins: store });
  // Another process has verified the feed.
  await post(start(), "/v1/verify", { issuer: did });
  store.asked.length = 0;
  await work({ did, pinned: start(), plain, asked: store.asked });
}

const TIMES = [{}, { at: day(3) }, { as_of: day(3) }, { as_of: 2 }, {
  as_of: day(4, "T12:00:00Z"),
  at: day(2),
}];

Deno.test("an answer from a store's state is the answer from the feed", async () => {
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
          subject: { type: "user", id: subject },
          action: { name: "deploy" },
          resource: { type: "issuer", id: did },
          context: { sig: { ...sig, issuer: undefined } },
        }] as const
      ),
      ...TIMES.map((times) =>
        ["/v1/dump-state", { issuer: did, ...times }] as const
      ),
    ];
    for (const [path, body] of requests) {
      const known = await post(pinned, path, body);
      const anew = await post(plain, path, body);
      assertEquals(known.status, 200, JSON.stringify(known.body));
      assertEquals(withoutMemory(known.body), withoutMemory(anew.body));
    }
  });
});

Deno.test("a question reads the rows of its subject, and a batch each row once", async () => {
  await withPinned(async ({ did, pinned, asked }) => {
    const question = { issuer: did, subject: BOB, require: ["role=deploy"] };
    const { body } = await post(pinned, "/v1/check", question);
    assertEquals(body.decision, "allow");
    const ofBob = [`s=${BOB}`, "r=rel-2", "r=rel-4", "r=rel-6"];
    assertEquals(asked, ofBob);
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
    assertEquals(asked, [
      ...ofBob,
      ...[`s=${ALICE}`, "r=rel-1", "r=rel-3", "r=rel-5"],
    ]);
  });
});

/** Without what says how the state was come by. */
function withoutMemory(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(
      body,
      (name, value) =>
        name === "freshness" || name === "continuity" ? undefined : value,
    ),
  );
}
