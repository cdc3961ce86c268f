import { assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { openStore } from "./open_store.ts";
import { parseRedisUrl } from "./redis_connection.ts";

Deno.test("refuses a text that does not name a store and suggests the right one", async () => {
  const cases = [
    ["", "Cannot use store: it must be memory, kv:PATH", "Choose memory"],
    ["memroy", 'Cannot use store "memroy": it must be', "Did you mean memory?"],
    ["Memory", 'Cannot use store "Memory": it must be', "Did you mean memory?"],
    [
      "rediss",
      'Cannot use store "rediss": it must be',
      "Did you mean rediss://HOST?",
    ],
    ["memory:", "Cannot use store: it must be", "Choose memory"],
    ["sqlite:x.db", "Cannot use store: it must be", "Choose memory"],
    ["kv:https://x.example", "remote KV databases are not supported", "Choose"],
  ] as const;
  for (const [text, says, hint] of cases) {
    const error = await expectSigError(
      () => openStore(text),
      "invalid_request",
      says,
    );
    assertEquals(
      error.context.hint?.startsWith(hint),
      true,
      error.context.hint,
    );
  }
});

Deno.test("a mistyped URL is not shown", async () => {
  const texts = [
    "redis:/user:s3cret@host",
    "redis//user:s3cret@host",
    "redis://user:s3cret@",
    "redis://user:s3cret@host:port",
    "redis://user:s3cret@host:70000",
    "redis://user:s3cret@host/zero",
    "redis://user:s3cret@host/0/1",
    "redis://user:s3cret@host/0?tls=1",
    "redis://user:s3cret@host#x",
    "redis://user:s3cret%@host",
    "redis://user:s3 cret@ho st",
    "http://user:s3cret@host",
    "s3cret@host",
  ];
  for (const text of texts) {
    const error = await expectSigError(
      () => openStore(text),
      "invalid_request",
      "Cannot use ",
    );
    const shown = Deno.inspect(error, { depth: 20, showHidden: true });
    assertEquals(/s3 ?cret/.test(shown), false, shown);
  }
});

Deno.test("parses a Redis URL", () => {
  assertEquals(parseRedisUrl("redis://localhost"), {
    hostname: "localhost",
    port: 6379,
    tls: false,
    database: 0,
  });
  assertEquals(parseRedisUrl("rediss://u%40x:p%2Fw@[::1]:7000/12"), {
    hostname: "::1",
    port: 7000,
    tls: true,
    database: 12,
    username: "u@x",
    password: "p/w",
  });
  assertEquals(parseRedisUrl("redis://:pw@r.example/"), {
    hostname: "r.example",
    port: 6379,
    tls: false,
    database: 0,
    password: "pw",
  });
});
