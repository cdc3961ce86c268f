import { assertEquals } from "@std/assert";
import { createHealth } from "./health.ts";

Deno.test("uptime counts whole seconds from the making of the server", () => {
  let ms = 5_000;
  const now = () => new Date(ms);
  const health = createHealth({ service: "sig-web", version: "0.1.0", now });
  ms += 1_999;
  assertEquals(health(), {
    status: "ok",
    service: "sig-web",
    version: "0.1.0",
    spec_version: "sig/0.1",
    uptime_seconds: 1,
  });
});
