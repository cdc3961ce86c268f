import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  ALICE,
  importTestKeys,
  makeLines,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import { createApp } from "../app.ts";
import type { RequestLogEntry } from "../http/mod.ts";
import { inlineFeedOf } from "../testdata/example_feed.ts";
import { now, post, QUESTION, serveIssuer } from "../testdata/asking.ts";
import { turns } from "../../tests/kit/wait.ts";

function fetches(requests: readonly string[], path: string): number {
  return requests.filter((each) => each === path).length;
}

Deno.test("a failing issuer is queried once per batch, whatever the bounds", async (t) => {
  const bounds: readonly (readonly [string, (i: number) => object])[] = [
    ["none", () => ({})],
    ["max_age_seconds 0", () => ({ max_age_seconds: 0 })],
    ["min_sequence", (i) => ({ min_sequence: i })],
    ["mixed", (i) => ({ max_age_seconds: i % 5, min_sequence: i % 7 })],
  ];
  for (const [name, boundsOf] of bounds) {
    await t.step(name, async () => {
      await using issuer = await serveIssuer();
      const { app, server } = issuer;
      server.documents.set(PATHS.metadata, async () => {
        // Long enough for other questions to arrive during the fetch.
        await turns(20);
        return status(500)();
      });
      const { body } = await post(app, "/v1/check", {
        checks: Array.from({ length: 100 }, (_, i) => ({
          issuer: server.did,
          ...QUESTION,
          ...boundsOf(i),
        })),
      });
      assertEquals(body.results.length, 100);
      for (const { error } of body.results) {
        assertEquals([error.code, error.status], ["fetch_status", 502]);
      }
      assertEquals(fetches(server.requests, PATHS.metadata), 1);
    });
  }
});

Deno.test("max_age_seconds 0 causes one refresh per batch", async () => {
  await using issuer = await serveIssuer({ events: 5 });
  const { app, server, publish } = issuer;
  publish(3);
  const question = { issuer: server.did, ...QUESTION };
  await post(app, "/v1/check", question);
  publish(4);
  server.requests.length = 0;
  const ask = async () =>
    (await post(app, "/v1/check", {
      checks: Array.from({ length: 100 }, (_, i) => ({
        ...question,
        ...(i % 2 === 0 ? { max_age_seconds: 0 } : {}),
      })),
    })).body.results;
  const last = (results: readonly { last_sequence: number }[]) => [
    ...new Set(results.map(({ last_sequence }) => last_sequence)),
  ];
  // A question that accepts the cached state is answered from it.
  assertEquals(last(await ask()), [4, 3]);
  assertEquals(fetches(server.requests, PATHS.metadata), 1);
  publish(5);
  assertEquals(last(await ask()), [5, 4]);
  assertEquals(fetches(server.requests, PATHS.metadata), 2);
});

Deno.test("the total size of a batch's answers is limited, and omitted answers say so", async () => {
  const [key] = await importTestKeys();
  await using issuer = await serveIssuer({ events: 0 });
  const { app, server, publish } = issuer;
  // 60 relationships of 30,000 characters: an explanation shows 1 MiB of them.
  const roles = ["r".repeat(30_000)];
  publish(await makeLines(60, key!, { issuer: server.did, roles }));
  const question = {
    issuer: server.did,
    subject: ALICE,
    require: ["role=x"],
    explain: true,
  };
  const { status, body } = await post(app, "/v1/check", {
    checks: Array(20).fill(question),
  });
  assertEquals(status, 200);
  assertEquals(body.results.length, 20);
  assert(JSON.stringify(body).length < 4.5 * 1024 * 1024);
  assertEquals(body.results[0].explain.relationships.length, 34);
  const refused = body.results.slice(4);
  assertEquals(refused.length, 16);
  for (const { error } of refused) {
    const { code, detail, limit, hint } = error;
    assertEquals([code, detail, limit, hint], [
      "invalid_request",
      "Cannot answer: the answers of the batch are longer than 4194304 characters",
      4_194_304,
      "Ask fewer questions at once, or without `explain`.",
    ]);
  }
  const { body: plain } = await post(app, "/v1/check", {
    checks: Array(100).fill({ ...question, explain: false }),
  });
  for (const each of plain.results) assertEquals(each.decision, "deny");
});

Deno.test("the total size of all concurrent batches is limited", async () => {
  await using issuer = await serveIssuer({ maxHeldBytes: 20_000 });
  const { app, server } = issuer;
  const question = { issuer: server.did, ...QUESTION };
  const { status, body } = await post(app, "/v1/check", {
    checks: Array(40).fill(question),
  });
  assertEquals(status, 200);
  assertEquals(body.results[0].decision, "allow");
  const { code, retry_after_seconds } = body.results[39].error;
  assertEquals([code, retry_after_seconds], ["overloaded", 1]);
});

Deno.test("an internal error of one item is logged with its stack; the response is 200", async () => {
  const [key] = await importTestKeys();
  const [feed, other] = [1, 2].map(async (events) =>
    inlineFeedOf(await makeLines(events, key!))
  );
  const entries: RequestLogEntry[] = [];
  let readings = 0;
  const app = createApp({
    now() {
      // Called for the request, then for each feed.
      if (++readings === 3) throw new Error("the clock broke");
      return now();
    },
    log: (entry) => entries.push(entry),
  });
  readings = 0;
  const found = await post(app, "/v1/check", {
    checks: [
      { feed: await feed, ...QUESTION },
      { feed: await other, ...QUESTION },
    ],
  });
  assertEquals(found.status, 200);
  const results: readonly { error?: { code: string }; decision?: string }[] =
    found.body.results;
  assertEquals(
    results.map(({ error, decision }) => error?.code ?? decision).sort(),
    ["allow", "internal"],
  );
  assert(!JSON.stringify(found.body).includes("clock"));
  assertEquals(entries.length, 1);
  const [{ level, status, code, error = "" }] = entries as [RequestLogEntry];
  assertEquals([level, status, code], ["error", 200, undefined]);
  assertStringIncludes(error, "the clock broke\n    at ");
});

Deno.test("invalid feeds in a batch cause no unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const listener = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unhandled.push(event.reason);
  };
  addEventListener("unhandledrejection", listener);
  try {
    const { body } = await post(createApp({ now }), "/v1/check", {
      checks: Array.from({ length: 100 }, (_, i) => ({
        ...QUESTION,
        feed: inlineFeedOf([`not a line: ${i}`]),
      })),
    });
    assertEquals(body.results.length, 100);
    for (const { error } of body.results) {
      assertEquals([error.code, error.detail], [
        "invalid_line",
        "Cannot verify feed: syntax error",
      ]);
    }
  } finally {
    removeEventListener("unhandledrejection", listener);
  }
  assertEquals(unhandled, []);
});
