import { assertEquals, assertStringIncludes } from "@std/assert";
import { Person } from "../testdata/independent_client.ts";
import { startRunningDemo } from "../testdata/running_demo.ts";

Deno.test("the demo's story: enrol, sign in, be revoked, be refused and see why", async () => {
  // Requests are sequential: the login fetches from the demo's issuer while it
  // answers.
  await using demo = await startRunningDemo([
    ...["--log", "off", "--max-concurrent", "1"],
  ]);
  const { ask } = demo;
  const alice = new Person();
  const signIn = async () => {
    const { body } = await ask("/v1/auth/challenge/create", {});
    return await ask("/v1/auth/attestation/verify", {
      attestation: alice.attest(body, Date.now()),
    });
  };
  const stranger = await signIn();
  assertEquals(
    [stranger.status, stranger.body.code, stranger.body.reasons],
    [403, "relationship_denied", [{ code: "no_relationship" }]],
  );

  const { did } = alice;
  const enrolled = await ask("/demo/enrol", {
    ...{ subject: did, name: "Alice" },
  });
  assertEquals([enrolled.status, enrolled.body.sequence], [200, 1]);
  const { relationship_id } = enrolled.body;
  const employee = await signIn();
  assertEquals(employee.status, 200);
  assertEquals(
    employee.body.relationship.relationship_id,
    relationship_id,
  );
  const state = async () => (await ask(`/demo/state?subject=${did}`)).body;
  const { relationship, events, total, apps } = await state();
  assertEquals(
    [relationship.status, events[0].name, events[0].what, total],
    ["active", "Alice", "employee", 1],
  );
  assertEquals(
    apps.map(({ name, open }: { name: string; open: boolean }) => [name, open]),
    [["Shop", false], ["Wiki", false]],
  );

  const revoked = await ask("/demo/revoke", { relationship_id });
  assertEquals([revoked.status, revoked.body.sequence], [200, 2]);
  const former = await signIn();
  assertEquals([former.status, former.body.code], [403, "relationship_denied"]);
  assertEquals(former.body.reasons, [
    { code: "revoked", relationship_id, sequence: 2 },
  ]);
  assertEquals(
    [
      former.body.relationship.relationship_type,
      typeof former.body.relationship.revoked_effective_at,
    ],
    ["employee", "string"],
  );
  assertEquals((await state()).relationship.status, "revoked");
});

Deno.test("the demo's issuer publishes the usual documents, which the page also gets", async () => {
  await using demo = await startRunningDemo();
  const { ask } = demo;
  await ask("/demo/enrol", { subject: new Person().did });
  const { body } = await ask("/.well-known/sig.json");
  const { port } = new URL(demo.origin);
  assertEquals(body.issuer, `did:web:127.0.0.1%3A${port}`);
  for (const name of ["sig.json", "jwks.json", "did.json", "events.jsonl"]) {
    const path = name.endsWith("l") ? `sig/${name}` : name;
    const published = await ask(`/.well-known/${path}`);
    const shown = await ask(`/ui/issuers/0/${name}`);
    assertEquals([shown.status, shown.text], [200, published.text], name);
  }
  for (
    const wrong of ["1/sig.json", "-1/sig.json", "0/key.jwk", "x/sig.json"]
  ) {
    const { status, body } = await ask(`/ui/issuers/${wrong}`);
    assertEquals([status, body.code], [404, "not_found"], wrong);
  }
});

Deno.test("the demo rejects events that it can't append, and forms of other sites", async () => {
  await using demo = await startRunningDemo();
  const cases: readonly (readonly [string, unknown, number, string, string])[] =
    [
      ["enrol", "{", 400, "invalid_json", "syntax error"],
      ["enrol", { subject: 1 }, 400, "invalid_request", "/subject"],
      ["enrol", { subject: "" }, 422, "invalid_field", "subject"],
      [
        ...["enrol", { subject: "a", name: "b".repeat(201) }] as const,
        ...[400, "invalid_request", "/name"] as const,
      ],
      [
        "enrol",
        "x".repeat(5_000),
        413,
        "body_too_large",
        "larger than 4096 bytes",
      ],
      [
        ...["revoke", { relationship_id: "x" }] as const,
        ...[409, "unknown_relationship", "relationship"] as const,
      ],
    ];
  for (const [path, sent, status, code, says] of cases) {
    const answer = await demo.ask(`/demo/${path}`, sent);
    assertEquals(
      [answer.status, answer.body.code],
      [status, code],
      answer.text,
    );
    assertStringIncludes(answer.body.detail, says);
  }
  const form = await demo.ask("/demo/revoke", "{}", "text/plain");
  assertEquals([form.status, form.body.code], [415, "unsupported_media_type"]);
});

Deno.test("a foreign host name that resolves to this machine is rejected, as without the demo", async () => {
  await using demo = await startRunningDemo();
  const { port } = new URL(demo.origin);
  for (const path of ["/", "/demo/state", "/.well-known/sig.json"]) {
    const connection = await Deno.connect({
      hostname: "127.0.0.1",
      port: Number(port),
    });
    await connection.write(
      new TextEncoder().encode(
        `GET ${path} HTTP/1.1\r\nhost: evil.example:${port}\r\nconnection: close\r\n\r\n`,
      ),
    );
    const text = await new Response(connection.readable).text();
    assertEquals(text.split("\r\n")[0], "HTTP/1.1 421 Misdirected Request");
  }
});

Deno.test("the demo has its own issuer", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  await startRunningDemo(["--log", "off", "--issuer", "acme.example"])
    .catch((error) => resolve(error.message));
  assertStringIncludes(await promise, "--demo has its own issuer");
});
