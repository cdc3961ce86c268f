import { assertEquals, assertStringIncludes } from "@std/assert";
import { status } from "../../tests/kit/issuer_server.ts";
import { PATHS } from "../../tests/kit/test_issuer.ts";
import { post, serveIssuer } from "../testdata/asking.ts";

Deno.test("the report is the documented one, and the issuer is fetched now", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  for (let i = 1; i <= 2; i++) {
    const { status, body } = await post(app, "/v1/verify", {
      issuer: server.did,
    });
    assertEquals(status, 200);
    const { feed_sha256, ...rest } = body;
    assertEquals(rest, {
      valid: true,
      issuer: server.did,
      source: "http",
      verified_events: 3,
      last_sequence: 3,
      keys: [
        { kid: "orgsign-1", events: 3, first_sequence: 1, last_sequence: 3 },
      ],
      warnings: [],
    });
    const bytes = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    assertEquals(feed_sha256, new Uint8Array(digest).toHex());
    const asked = server.requests.filter((path) => path === PATHS.feed);
    assertEquals(asked.length, i);
  }
});

Deno.test("faults, and contradictions with the history, are valid: false", async () => {
  await using issuer = await serveIssuer();
  const { app, server, publish, lines } = issuer;
  const verify = () => post(app, "/v1/verify", { issuer: server.did });
  publish([lines[0]!, "{}", "", lines[1]!]);
  const faulty = await verify();
  assertEquals([faulty.status, faulty.body.valid], [200, false]);
  assertEquals(
    faulty.body.errors.map(({ code, line }: Record<string, unknown>) => [
      code,
      line,
    ]),
    [["invalid_envelope", 2], ["invalid_line", 3]],
  );
  publish(3);
  assertEquals((await verify()).body.valid, true);
  publish(2);
  const shorter = await verify();
  assertEquals([shorter.status, shorter.body.valid], [200, false]);
  assertEquals(shorter.body.errors[0].code, "feed_rolled_back");
  server.documents.set(PATHS.jwks, '{"keys":[{"kty":"oct","k":"AA"}]}');
  const leaked = await verify();
  assertEquals(leaked.status, 200);
  assertEquals(leaked.body.errors[0].code, "private_key_in_jwks");
});

Deno.test("a feed that could not be read is a problem, not a report", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  server.documents.set(PATHS.feed, status(503));
  const { status: answered, headers, body } = await post(app, "/v1/verify", {
    issuer: server.did,
  });
  assertEquals([answered, body.code], [502, "fetch_status"]);
  assertEquals(headers.get("content-type"), "application/problem+json");
  assertStringIncludes(body.detail, "503");
  assertEquals("valid" in body, false);
});
