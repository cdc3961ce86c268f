import { assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { say, startRawServer } from "../../tests/kit/raw_server.ts";
import { probeUrl } from "./guarded_fetch.ts";

Deno.test("a probe returns the head of any response and follows no redirect", async () => {
  const answer = "HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:2/\r\n" +
    "x-a: b\r\ncontent-length: 0\r\n\r\n";
  await using server = startRawServer(say(answer));
  const probed = await probeUrl(server.url, {
    allowPrivate: true,
    method: "OPTIONS",
    headers: { origin: "https://a.example" },
  });
  assertEquals([probed.status, probed.header("x-a")], [301, "b"]);
  assertEquals(probed.header("location"), "http://127.0.0.1:2/");
  assertEquals([probed.header("etag"), probed.certificateUntil], [
    null,
    undefined,
  ]);
  assertEquals(server.requests.length, 1);
  const [request = ""] = server.requests;
  assertEquals(request.startsWith("OPTIONS /.well-known/sig.json "), true);
  assertEquals(/^origin: https:\/\/a\.example\r$/im.test(request), true);
});

Deno.test("probes http only if allowed, and never a private address", async () => {
  await using server = startRawServer(say("HTTP/1.1 200 OK\r\n\r\n"));
  const resolve = () => Promise.resolve(["127.0.0.1"]);
  await expectSigError(
    () => probeUrl("http://acme.example/", { resolve }),
    "insecure_url",
    "only https is allowed",
  );
  const http = { resolve, allowHttp: true };
  for (const host of [`127.0.0.1:${server.port}`, `a.example:${server.port}`]) {
    await expectSigError(
      () => probeUrl(`http://${host}/`, http),
      "address_not_allowed",
      "Cannot fetch from",
    );
  }
  assertEquals(server.requests, []);
});
