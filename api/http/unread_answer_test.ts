// A response whose client stops reading, over real sockets.
import { assert, assertEquals } from "@std/assert";
import { RawClient } from "../../tests/kit/raw_client.ts";
import { listen } from "../program/listen.ts";
import { send } from "./send.ts";
import { createService, toApp } from "./service.ts";
import { WAIT_LIMIT_MS, waitForEqual, within } from "../../tests/kit/wait.ts";

/** Larger than the buffers of two sockets. */
const LENGTH = 32 * 1024 * 1024;

Deno.test("a response that is not read is aborted, and its bytes are released", async () => {
  let made = Promise.withResolvers<void>();
  const app = createService({
    ...{ service: "sig-api", version: "0.1.0" },
    ...{ sendTimeoutMs: 3_000, maxHeldBytes: LENGTH },
  });
  app.get("/large", (c) => {
    const response = send(c, "x".repeat(LENGTH), "text/plain");
    made.resolve();
    return response;
  });
  const server = listen(
    { hostname: "127.0.0.1", port: 0 },
    toApp(app).fetch,
  );
  const read = async () => {
    const response = await fetch(`${server.url}/large`);
    return [response.status, (await response.text()).length];
  };
  try {
    assertEquals(await read(), [200, LENGTH]);
    made = Promise.withResolvers();
    using client = await RawClient.connect(Number(new URL(server.url).port));
    await client.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await made.promise;
    assertEquals((await read())[0], 503);
    await waitForEqual(read, [200, LENGTH]);
    const { status, headers, body } = await client.receive();
    assertEquals([status, headers.get("content-length")], [200, `${LENGTH}`]);
    assert(body.length < LENGTH, `${body.length} bytes`);
  } finally {
    await server.shutdown(WAIT_LIMIT_MS);
    await within("the connections are closed", server.finished);
  }
});
