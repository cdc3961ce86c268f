import { assertEquals } from "@std/assert";
import { Exchange, Load, RequestFlow } from "./http/mod.ts";
import { readFeedBody } from "./read_feed_body.ts";

Deno.test("large bodies are taken in one a turn, small ones at once", async () => {
  const rows = [["2", 0], [String(1024 * 1024), 1], [undefined, 1]] as const;
  for (const [length, expected] of rows) {
    let breaths = 0;
    const request = new Request("http://127.0.0.1/v1/check", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(length === undefined ? {} : { "content-length": length }),
      },
      body: "{}",
    });
    const exchange = new Exchange(request, {
      requestId: "test",
      headers: [],
      bodyTimeoutMs: 1_000,
      sendTimeoutMs: 1_000,
      flow: new RequestFlow(
        new Load({ places: 1, heldBytes: 1_000_000 }),
        () => "",
      ),
    });
    const body = await readFeedBody(exchange, () => {
      breaths++;
      return Promise.resolve();
    });
    assertEquals(body, {});
    assertEquals(breaths, expected);
  }
});
