import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { say, startRawServer, untilClosed } from "../tests/kit/raw_server.ts";
import { startIssuerServer } from "../tests/kit/issuer_server.ts";
import { PATHS } from "../tests/kit/test_issuer.ts";
import { createApp } from "./app.ts";
import { evaluationOf, post, QUESTION } from "./testdata/asking.ts";

// promise: No client can make the server fetch a private address or read a
//   file.

/**
 * Member, its value, the code; `PORT` stands for the port of a local server.
 */
const TARGETS: readonly (readonly ["issuer" | "sig", string, string])[] = [
  ["sig", "https://127.0.0.1:PORT/x", "address_not_allowed"],
  ["sig", "https://0x7f.1:PORT/x", "address_not_allowed"],
  ["sig", "https://[::ffff:127.0.0.1]:PORT/x", "address_not_allowed"],
  ["sig", "https://169.254.169.254/latest/meta-data", "address_not_allowed"],
  ["sig", "https://intranet/x", "address_not_allowed"],
  ["sig", "https://acme.example:25/x", "address_not_allowed"],
  ["sig", "http://127.0.0.1:PORT/x", "insecure_url"],
  ["sig", "https://user:secret@acme.example/x", "insecure_url"],
  ["sig", "FILE:///etc/hostname", "insecure_url"],
  ["sig", "data:application/json,{}", "insecure_url"],
  ["sig", "/etc/hostname", "invalid_identifier"],
  ["sig", "sig.json", "invalid_identifier"],
  ["sig", "//127.0.0.1:PORT/x", "invalid_identifier"],
  ["sig", "acme.example", "invalid_identifier"],
  ["issuer", "127.0.0.1:PORT", "address_not_allowed"],
  ["issuer", "localhost:PORT", "address_not_allowed"],
  ["issuer", "did:web:127.0.0.1%3APORT", "address_not_allowed"],
  ["issuer", "did:web:acme.example:users:eve", "invalid_identifier"],
  ["issuer", "did:web:acme.example%2F..%2Fx", "invalid_identifier"],
  ["issuer", "did:key:z6Mk", "unsupported_did_method"],
  ["issuer", "[::1]:PORT", "invalid_identifier"],
  ["issuer", "file:///etc/hostname", "insecure_url"],
  ["issuer", "https://acme.example/sig.json", "invalid_identifier"],
  ["issuer", "../../etc/hostname", "invalid_identifier"],
  ["issuer", "acme.json", "invalid_identifier"],
  ["issuer", "C:\\acme", "invalid_identifier"],
  ["issuer", "", "invalid_identifier"],
];

Deno.test("no request makes the service connect to its own machine", async () => {
  await using server = startRawServer(untilClosed);
  const app = createApp({ anyIssuer: true });
  for (const [member, value, code] of TARGETS) {
    const target = value.replace("PORT", String(server.port));
    for (const path of ["/v1/check", "/v1/verify", "/v1/dump-state"]) {
      const question = path === "/v1/check" ? QUESTION : {};
      const { status, body } = await post(app, path, {
        ...question,
        [member]: target,
      });
      assertEquals(body.code, code, `${member} ${target}: ${body.detail}`);
      assertEquals(status, code === "address_not_allowed" ? 403 : 400);
      assertEquals(body.pointer, `/${member}`);
      assert(!JSON.stringify(body).includes("secret"), "no password is shown");
    }
    const evaluation = evaluationOf(target);
    const { body } = await post(app, "/access/v1/evaluation", evaluation);
    assert(typeof body.code === "string" && !("decision" in body), target);
  }
  assertEquals(server.connections(), 0);
});

Deno.test("a name that resolves to a private address is rejected", async () => {
  await using server = startRawServer(untilClosed);
  const addresses = [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::1"]];
  for (const found of addresses) {
    const app = createApp({
      anyIssuer: true,
      resolve: () => Promise.resolve(found),
    });
    const { status, body } = await post(app, "/v1/check", {
      issuer: `acme.example:${server.port}`,
      ...QUESTION,
    });
    assertEquals([status, body.code], [403, "address_not_allowed"]);
  }
  assertEquals(server.connections(), 0);
});

Deno.test("a redirect is not followed, and its body is not disclosed", async () => {
  await using inside = startRawServer(untilClosed);
  for (const status of [301, 302, 303, 307, 308]) {
    await using server = startIssuerServer();
    server.documents.set(
      PATHS.metadata,
      () =>
        new Response("SECRET-BODY", {
          status,
          headers: { location: `http://127.0.0.1:${inside.port}/admin` },
        }),
    );
    const app = createApp({ issuers: [server.did], allowPrivate: true });
    const { body, status: answered } = await post(app, "/v1/verify", {
      issuer: server.did,
    });
    assertEquals([answered, body.code], [502, "fetch_redirected"]);
    assert(!JSON.stringify(body).includes("SECRET-BODY"));
    assertEquals(server.requests, [PATHS.metadata]);
  }
  assertEquals(inside.connections(), 0);
});

Deno.test("no error discloses the content of a fetched document", async () => {
  const bodies = [
    "SECRET-BODY",
    '{"SECRET-BODY":',
    '{"spec_version":"SECRET-BODY","issuer":"SECRET-BODY"}',
    '["SECRET-BODY"]',
  ];
  for (const text of bodies) {
    await using server = startRawServer(say(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`,
    ));
    const issuer = `did:web:127.0.0.1%3A${server.port}`;
    const app = createApp({ issuers: [issuer], allowPrivate: true });
    for (const path of ["/v1/check", "/v1/verify", "/v1/dump-state"]) {
      const question = path === "/v1/check" ? QUESTION : {};
      const { body } = await post(app, path, { issuer, ...question });
      const text = JSON.stringify(body);
      assert(!text.includes("SECRET-BODY"), text);
      assertStringIncludes(text, "Cannot ");
    }
  }
});
