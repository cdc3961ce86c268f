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
  assertEquals(request.startsWith("GET /.well-known/sig.json "), true);
  assertEquals(/^origin: https:\/\/a\.example\r$/im.test(request), true);
});

Deno.test("never probes http or a private address", async () => {
  await using server = startRawServer(say("HTTP/1.1 200 OK\r\n\r\n"));
  const resolve = () => Promise.resolve(["127.0.0.1"]);
  for (
    const [url, code, reason] of [
      ["http://acme.example/", "insecure_url", "only https is allowed"],
      [
        `https://a.example:${server.port}/`,
        "address_not_allowed",
        "Cannot fetch from",
      ],
    ] as const
  ) await expectSigError(() => probeUrl(url, { resolve }), code, reason);
  assertEquals(server.requests, []);
});
