import { SigError } from "@sig/core";
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import type { AppOptions } from "../app.ts";
import { createDemoIssuer } from "./demo_issuer.ts";
import { Person } from "../testdata/independent_client.ts";
import { ORIGIN, Site, START_MS } from "../testdata/site.ts";

Deno.test("the demo's story: enrol, log in, be revoked, be refused and see why", async () => {
  const now = { ms: START_MS };
  const demo = await createDemoIssuer({
    origin: ORIGIN,
    now: () => new Date(now.ms),
  });
  const site = new Site({ demo });
  const alice = new Person();
  const login = async () => {
    const challenge = await site.challenge();
    return await site.verify(alice.attest(challenge, site.nowMs));
  };

  const stranger = await login();
  assertEquals(
    [stranger.status, stranger.body.code],
    [403, "relationship_denied"],
  );
  assertEquals(stranger.body.reasons, [{ code: "no_relationship" }]);

  const enrolled = await site.ask("/demo/enrol", {
    subject: alice.did,
    name: "Alice",
  });
  assertEquals([enrolled.status, enrolled.body.sequence], [200, 1]);
  const employee = await login();
  assertEquals(employee.status, 200);
  assertEquals(
    employee.body.relationship.relationship_id,
    enrolled.body.relationship_id,
  );
  assertEquals(employee.body.relationship.issuer, demo.did);

  const { relationship_id } = enrolled.body;
  site.nowMs = now.ms += 1_000;
  const revoked = await site.ask("/demo/revoke", { relationship_id });
  assertEquals([revoked.status, revoked.body.sequence], [200, 2]);
  const former = await login();
  assertEquals([former.status, former.body.code], [403, "relationship_denied"]);
  assertEquals(former.body.reasons, [
    { code: "revoked", relationship_id, sequence: 2 },
  ]);
});

Deno.test("the demo is not served where others reach the application", async () => {
  const now = () => new Date(START_MS);
  const demo = await createDemoIssuer({ origin: ORIGIN, now });
  const rows: readonly (readonly [Partial<AppOptions>, string, string])[] = [
    [
      { audiences: [ORIGIN, "https://login.acme.example"] },
      "--audience",
      "https://login.acme.example",
    ],
    [{ trustProxy: ["127.0.0.1/32"] }, "--trust-proxy", "127.0.0.1/32"],
    [{ hosts: ["localhost", "acme.example"] }, "--host", "acme.example"],
  ];
  for (const [options, flag, value] of rows) {
    const error = assertThrows(
      () => new Site({ demo, ...options }),
      SigError,
      `Cannot serve the demo: "${value}" says that others reach this server`,
    );
    assertEquals([error.code, error.context.flag], ["invalid_request", flag]);
  }
});

Deno.test("the demo's issuer is an issuer like any other", async () => {
  const demo = await createDemoIssuer({
    origin: ORIGIN,
    now: () => new Date(START_MS),
  });
  const site = new Site({ demo });
  await site.ask("/demo/enrol", { subject: new Person().did });
  const metadata = await site.ask("/.well-known/sig.json");
  assertEquals(metadata.body.issuer, "did:web:127.0.0.1%3A8788");
  for (
    const [file, path] of [
      ["sig.json", "sig.json"],
      ["jwks.json", "jwks.json"],
      ["did.json", "did.json"],
      ["events.jsonl", "sig/events.jsonl"],
    ]
  ) {
    const shown = await site.ask(`/ui/issuers/0/${file}`);
    assertEquals(
      shown.body,
      (await site.ask(`/.well-known/${path}`)).body,
      file,
    );
  }
  for (
    const wrong of ["1/sig.json", "-1/sig.json", "0/key.jwk", "x/sig.json"]
  ) {
    const { status, body } = await site.ask(`/ui/issuers/${wrong}`);
    assertEquals([status, body.code], [404, "not_found"], wrong);
  }
});

Deno.test("the demo refuses what it can't append, with the field", async () => {
  const demo = await createDemoIssuer({
    origin: ORIGIN,
    now: () => new Date(START_MS),
  });
  const site = new Site({ demo });
  const cases: readonly [string, object, number, string][] = [
    ["/demo/enrol", [], 400, "invalid_request: the body: it must be an object"],
    ["/demo/enrol", {}, 400, "invalid_request: /subject: it is required"],
    [
      "/demo/enrol",
      { subject: 1 },
      400,
      "invalid_request: /subject: it must be a string",
    ],
    [
      ...["/demo/enrol", { subject: "" }] as const,
      ...[400, "invalid_identifier: must be a did:key or did:web"] as const,
    ],
    [
      ...["/demo/enrol", { subject: `did:web:${"a".repeat(505)}` }] as const,
      ...[400, "invalid_identifier: it is longer than 512 characters"] as const,
    ],
    [
      ...["/demo/enrol", { subject: "a", name: "b".repeat(201) }] as const,
      ...[400, "invalid_request: /name: it must have at most 200"] as const,
    ],
    [
      ...["/demo/enrol", { subject: "a", nmae: "b" }] as const,
      ...[400, 'invalid_request: did you mean "name"?'] as const,
    ],
    [
      ...["/demo/revoke", {}] as const,
      ...[400, "invalid_request: /relationship_id: it is required"] as const,
    ],
    [
      ...["/demo/revoke", { relationship_id: "x" }] as const,
      ...[409, "unknown_relationship: relationship"] as const,
    ],
  ];
  for (const [path, sent, status, expected] of cases) {
    const answer = await site.ask(path, sent);
    const [, code = "", says = ""] = /^(\w+): (.*)$/.exec(expected)!;
    assertEquals([answer.status, answer.body.code], [status, code]);
    assertStringIncludes(answer.body.detail, says);
  }
});

Deno.test("which applications are open is asked about a person, and known of each", async () => {
  const now = () => new Date(START_MS);
  const demo = await createDemoIssuer({ origin: ORIGIN, now });
  const alice = new Person();
  const named = { url: "http://127.0.0.1:8789/", how: "by hand" };
  const demoApps = [
    ...[{ ...named, name: "A", isOpenTo: (did: string) => did === alice.did }],
    ...[{ ...named, name: "B", isOpenTo: () => false }],
  ].map((app) => ({
    ...app,
    isOpenTo: (did: string) => Promise.resolve(app.isOpenTo(did)),
  }));
  const site = new Site({ demo, demoApps });
  const told = (open: boolean[]) => [
    { ...named, name: "A", open: open[0] },
    { ...named, name: "B", open: open[1] },
  ];
  const { body: before } = await site.ask(`/demo/state?subject=${alice.did}`);
  assertEquals(before.apps, told([false, false]));
  assertEquals([before.relationship, before.total], [null, 0]);
  await demo.enrol(alice.did, "Alice");
  const { body: after } = await site.ask(`/demo/state?subject=${alice.did}`);
  assertEquals(after.apps, told([true, false]));
  assertEquals(
    [after.subject, after.relationship.status, after.total],
    [alice.did, "active", 1],
  );
  const [{ sequence, name, what }] = after.events;
  assertEquals([sequence, name, what], [1, "Alice", "employee"]);
  const { body: all } = await site.ask("/demo/state");
  assertEquals([all.subject, all.apps], [null, told([false, false])]);
  const nobody = await site.ask("/demo/state?subject=x");
  assertEquals([nobody.status, nobody.body.code], [400, "invalid_identifier"]);
});

Deno.test("without a demo its routes are not there", async () => {
  const site = new Site();
  for (const path of ["/demo/enrol", "/demo/revoke"]) {
    const { status, body } = await site.ask(path, {});
    assertEquals([status, body.code], [404, "not_found"]);
  }
  assertEquals((await site.ask("/.well-known/sig.json")).status, 404);
});
