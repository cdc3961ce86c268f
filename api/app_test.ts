import { assertEquals } from "@std/assert";
import { createApp } from "./app.ts";

Deno.test("the health check contains service name, version and uptime", async () => {
  let ms = 0;
  const app = createApp({ now: () => new Date(ms) });
  ms = 2_500;
  const response = await app.fetch(new Request("http://127.0.0.1/healthz"));
  assertEquals(response.status, 200);
  assertEquals(await response.json(), {
    status: "ok",
    service: "sig-api",
    version: "0.1.0",
    spec_version: "sig/0.1",
    uptime_seconds: 2,
  });
});
