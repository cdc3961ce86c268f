import { assertEquals, assertRejects } from "@std/assert";
import type { GuardedFetchOptions } from "./fetch_options.ts";
import { guardedFetch } from "./guarded_fetch.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { fetchText, hold, readText } from "../testdata/fetching.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";
import { createNetworkBudget, WaitTimeout } from "./transport.ts";

const URL = "https://acme.example/.well-known/sig.json";

function fetchWith(
  answer: (request: Request) => Response | Promise<Response>,
  options: Partial<GuardedFetchOptions> = {},
  url = URL,
) {
  return guardedFetch(url, {
    maxBytes: 1000,
    tooLargeCode: "document_too_large",
    fetch: (request) => Promise.resolve(answer(request)),
    ...options,
  });
}

Deno.test("an injected fetch gets one request without cookies, cache or referrer", async () => {
  const seen: Request[] = [];
  const fetched = await fetchWith((request) => {
    seen.push(request);
    return Response.json({ a: 1 }, { headers: { etag: '"1"' } });
  }, { accept: "x/y", conditions: { ifNoneMatch: '"0"' } });
  assertEquals(await readText(fetched), '{"a":1}');
  assertEquals([fetched.unchanged, fetched.etag], [false, '"1"']);
  const [request] = seen;
  assertEquals([seen.length, request?.url, request?.redirect], [
    1,
    URL,
    "manual",
  ]);
  assertEquals([...request?.headers ?? []], [
    ["accept", "x/y"],
    ["accept-encoding", "identity"],
    ["if-none-match", '"0"'],
  ]);
});

Deno.test("an injected fetch gets public https URLs only", async () => {
  let calls = 0;
  const answer = () => {
    calls++;
    return new Response("{}");
  };
  for (
    const [url, code] of [
      ["https://0x7f.1/", "address_not_allowed"],
      ["https://localhost/", "address_not_allowed"],
      ["http://acme.example/", "insecure_url"],
      ["https://me:pw@acme.example/", "insecure_url"],
    ] as const
  ) {
    await expectSigError(
      () => fetchWith(answer, {}, url),
      code,
      "Cannot fetch",
    );
  }
  await expectSigError(
    () => fetchWith(answer, { resolve: () => Promise.resolve(["10.0.0.1"]) }),
    "address_not_allowed",
    "not public",
  );
  assertEquals(calls, 0);
});

Deno.test("refuses a body without framing if the headers show it", async () => {
  for (const connection of ["close", "Close", "x, close"]) {
    const headers = { connection };
    const error = await expectSigError(
      () => fetchWith(() => new Response("{}", { headers })),
      "fetch_failed",
      "the server did not say where the body ends",
    );
    assertEquals(error.context.kind, "unframed");
    for (
      const framed of [{ "content-length": "2" }, {
        "transfer-encoding": "chunked",
      }]
    ) {
      const init = { headers: { connection, ...framed } };
      const fetched = await fetchWith(() => new Response("{}", init));
      assertEquals(await readText(fetched), "{}");
    }
  }
  // HTTP/2 has neither header; its frames show where a body ends.
  assertEquals(await readText(await fetchWith(() => new Response("{}"))), "{}");
});

Deno.test("only SP and HTAB are trimmed around a header's value", async () => {
  for (
    const [name, value] of [
      ["content-encoding", "identity\u00a0"],
      ["transfer-encoding", "chunked\u00a0"],
      ["transfer-encoding", "\u00a0"],
    ] as const
  ) {
    const error = await expectSigError(
      () => fetchWith(() => new Response("{}", { headers: { [name]: value } })),
      "fetch_failed",
      `the server sent ${name}`,
    );
    assertEquals(error.context.kind, "encoding");
  }
});

Deno.test("a redirect that was hidden or followed is fetch_redirected", async () => {
  const hidden = Object.defineProperty(new Response(), "status", { value: 0 });
  const followed = Object.defineProperty(new Response("{}"), "redirected", {
    value: true,
  });
  for (const response of [hidden, followed]) {
    const error = await expectSigError(
      () => fetchWith(() => response),
      "fetch_redirected",
      "the server redirects to another place",
    );
    assertEquals("status" in error.context, false);
  }
});

Deno.test("a fetch that rejects or hangs has the same codes", async () => {
  const error = await expectSigError(
    () => fetchWith(() => Promise.reject(new TypeError("os error 7"))),
    "fetch_failed",
    "the connection failed",
  );
  assertEquals(error.message.includes("os error"), false);
  await expectSigError(
    () => fetchWith(() => new Promise(() => {}), { totalTimeoutMs: 30 }),
    "fetch_timeout",
    "the answer took more than 30 ms",
  );
});

Deno.test("the platform's fetch reports a truncated body, a stall and a redirect", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc";
  const away = "HTTP/1.1 302 X\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n";
  for (
    const [behave, code, message] of [
      [say(head), "fetch_failed", "the connection failed"],
      [hold(head), "fetch_timeout", "the answer took more than 100 ms"],
      [say(away), "fetch_redirected", "the server redirects to"],
    ] as const
  ) {
    await using server = startRawServer(behave);
    const totalTimeoutMs = code === "fetch_timeout" ? 100 : 5_000;
    await expectSigError(
      () => fetchText(server.url, { fetch, totalTimeoutMs }),
      code,
      message,
    );
  }
});

Deno.test("a body whose cancel never settles is closed within a second", async () => {
  let aborted: AbortSignal | undefined;
  const fetched = await fetchWith((request) => {
    aborted = request.signal;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(400)),
      cancel: () => new Promise(() => {}),
    });
    return new Response(body);
  });
  await expectSigError(
    () => readText(fetched),
    "document_too_large",
    "1000 bytes",
  );
  assertEquals(aborted?.aborted, true);
  await fetched.cancel();
});

const never = () => new Promise<never>(() => {});

// real time: the budget itself measures real time.
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

Deno.test("a wait ends at the nearer of the two limits", async () => {
  const budget = createNetworkBudget(50);
  const first = await assertRejects(() => budget.wait(never(), 5), WaitTimeout);
  assertEquals(first.scope, "wait");
  const second = await assertRejects(() => budget.wait(never()), WaitTimeout);
  assertEquals(second.scope, "total");
  const third = await assertRejects(
    () => budget.wait(Promise.resolve()),
    WaitTimeout,
  );
  assertEquals(third.scope, "total");
});

Deno.test("only the time within waits counts", async () => {
  const budget = createNetworkBudget(200);
  await budget.wait(Promise.resolve());
  // More time than the budget passes, but not within a wait.
  await pause(300);
  assertEquals(await budget.wait(Promise.resolve("ok")), "ok");
});

Deno.test("the budget counts the sum of all waits", async () => {
  const budget = createNetworkBudget(60);
  await assertRejects(async () => {
    for (let i = 0; i < 100; i++) await budget.wait(pause(5));
  }, WaitTimeout);
  // The work of the last wait is still pending.
  await pause(20);
});

Deno.test("work that rejects after its wait is not an unhandled rejection", async () => {
  const budget = createNetworkBudget(5);
  const work = pause(20).then(() => {
    throw new Error("late");
  });
  await assertRejects(() => budget.wait(work), WaitTimeout);
  await pause(30);
});
