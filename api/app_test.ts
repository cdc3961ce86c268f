import { assertEquals } from "@std/assert";
import { createApp } from "./app.ts";
import { get } from "./testdata/asking.ts";

Deno.test("the health check contains service name, version and uptime", async () => {
  let ms = 0;
  const app = createApp({ now: () => new Date(ms) });
  ms = 2_500;
  const { status, body } = await get(app, "/healthz");
  assertEquals(status, 200);
  assertEquals(body, {
    status: "ok",
    service: "sig-api",
    version: "0.1.0",
    spec_version: "sig/0.1",
    uptime_seconds: 2,
  });
});
