import { assertEquals } from "@std/assert";
import { trackInFlight } from "./in_flight.ts";

const request = () => new Request("http://127.0.0.1/", { method: "POST" });

Deno.test("who was taken is answered, who comes later is sent away", async () => {
  const gate = Promise.withResolvers<void>();
  const { respond, drain } = trackInFlight(async ({ method }) => {
    if (method === "POST") await gate.promise;
    return new Response("late");
  });
  // One that came and went leaves nothing behind.
  await respond(new Request(request(), { method: "GET" }), undefined);
  const taken = respond(request(), undefined);
  let isDrained = false;
  const draining = drain().then(() => void (isDrained = true));
  const refused = await respond(request(), undefined);
  assertEquals(refused.status, 503);
  assertEquals(refused.headers.get("retry-after"), "1");
  assertEquals(refused.headers.get("connection"), "close");
  assertEquals((await refused.json()).code, "overloaded");
  assertEquals(isDrained, false);
  gate.resolve();
  assertEquals(await (await taken).text(), "late");
  await draining;
});

Deno.test("a request that fails is no longer in flight", async () => {
  const { respond, drain } = trackInFlight(() =>
    Promise.reject(new Error("x"))
  );
  await respond(request(), undefined).catch(() => {});
  await drain();
});
