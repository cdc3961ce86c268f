import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { status } from "../consumer/testdata/issuer_server.ts";
import { ALICE, PATHS } from "../consumer/testdata/test_issuer.ts";
import { createApp } from "./app.ts";
import { get, now, post, serveIssuer } from "./testdata/asking.ts";

const SUBJECT = { type: "user", id: ALICE };
const ACTION = { name: "deploy" };
const resourceOf = (id: string) => ({ type: "issuer", id });

Deno.test("the metadata names the endpoints under the name that was asked", async () => {
  const app = createApp({ hosts: ["sig.acme.example"] });
  const path = "/.well-known/authzen-configuration";
  const ask = (origin: string) => app.fetch(new Request(origin + path));
  const response = await ask("https://sig.acme.example");
  assertEquals(await response.json(), {
    policy_decision_point: "https://sig.acme.example",
    access_evaluation_endpoint: "https://sig.acme.example/access/v1/evaluation",
    access_evaluations_endpoint:
      "https://sig.acme.example/access/v1/evaluations",
  });
  const foreign = await ask("https://eve.example");
  assertEquals(foreign.status, 421);
  assert(!(await foreign.text()).includes("eve.example"));
  const told = createApp({ publicUrl: "https://sig.acme.example" });
  const { body } = await get(told, path);
  assertEquals(body.policy_decision_point, "https://sig.acme.example");
});

Deno.test("subject, action, resource and time are mapped", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  const ask = async (changes: object) =>
    (await post(app, "/access/v1/evaluation", {
      subject: SUBJECT,
      action: ACTION,
      resource: resourceOf(server.did),
      ...changes,
    })).body;
  const permit = await ask({});
  assertEquals(permit.decision, true);
  assertEquals(permit.context.reasons, []);
  assertEquals(permit.context.issuer, server.did);
  const deny = await ask({ action: { name: "admin" } });
  assertEquals(deny.decision, false);
  assertEquals(deny.context.reasons[0].code, "role_missing");
  const early = await ask({ context: { time: "2025-01-01T00:00:00Z" } });
  assertEquals(early.decision, false);
  assertEquals(early.context.reasons[0].code, "not_yet_valid");
  const other = await ask({ resource: { type: "cluster", id: "production" } });
  assertEquals(other.decision, true);
  const host = await ask({
    resource: resourceOf(server.origin.slice("http://".length)),
  });
  assertEquals(host.decision, true);
});

Deno.test("unknown members are ignored, wrong ones are 400", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  const good = {
    subject: { ...SUBJECT, properties: { department: "x" } },
    action: { ...ACTION, properties: { method: "GET" } },
    resource: { ...resourceOf(server.did), properties: {} },
    context: { time: "2026-02-01T00:00:00Z", place: { a: 1 } },
    extra: 1,
  };
  const answered = await post(app, "/access/v1/evaluation", good);
  assertEquals(answered.body.decision, true);
  const rows: readonly (readonly [object, string])[] = [
    [{ subject: undefined }, "/subject"],
    [{ action: undefined }, "/action"],
    [{ resource: undefined }, "/resource"],
    [{ subject: { id: "a" } }, "/subject/type"],
    [{ subject: { type: "user" } }, "/subject/id"],
    [{ subject: { type: "user", id: "" } }, "/subject/id"],
    [{ action: { name: 7 } }, "/action/name"],
    [{ action: "deploy" }, "/action"],
    [{ resource: { type: "issuer" } }, "/resource/id"],
    [{ context: null }, "/context"],
    [{ context: { time: "1985-10-26T01:22-07:00" } }, "/context/time"],
  ];
  for (const [changes, pointer] of rows) {
    const body = { ...good, ...changes };
    const { status, body: problem } = await post(
      app,
      "/access/v1/evaluation",
      body,
    );
    assertEquals([status, problem.code], [400, "invalid_request"]);
    assertEquals(problem.errors[0].pointer, pointer);
    const batch = await post(app, "/access/v1/evaluations", {
      evaluations: [good, body],
    });
    assertEquals(batch.status, 400);
    assertEquals(batch.body.errors[0].pointer, `/evaluations/1${pointer}`);
  }
  const file = { ...good, resource: resourceOf("./acme") };
  const refused = await post(app, "/access/v1/evaluation", file);
  assertEquals([refused.status, refused.body.code, refused.body.pointer], [
    400,
    "invalid_identifier",
    "/resource/id",
  ]);
});

Deno.test("another resource needs exactly one issuer on the list", async () => {
  const body = {
    subject: SUBJECT,
    action: ACTION,
    resource: { type: "cluster", id: "production" },
  };
  for (const issuers of [[], ["acme.example", "other.example"]]) {
    const app = createApp({ issuers, anyIssuer: true });
    const { status, body: problem } = await post(
      app,
      "/access/v1/evaluation",
      body,
    );
    assertEquals([status, problem.code], [400, "invalid_request"]);
    assertEquals(problem.pointer, "/resource/type");
  }
});

Deno.test("an issuer that is listed by DID and by host is one", async () => {
  await using issuer = await serveIssuer();
  const { did, origin } = issuer.server;
  const app = createApp({
    issuers: [did, origin.slice("http://".length)],
    allowPrivate: true,
    now,
  });
  const { body } = await post(app, "/access/v1/evaluation", {
    subject: SUBJECT,
    action: ACTION,
    resource: { type: "cluster", id: "production" },
  });
  assertEquals(body.decision, true);
});

Deno.test("the list holds for resources too", async () => {
  const app = createApp({ issuers: ["acme.example"] });
  const { status, body } = await post(app, "/access/v1/evaluation", {
    subject: SUBJECT,
    action: ACTION,
    resource: resourceOf("other.example"),
  });
  assertEquals([status, body.code], [403, "issuer_not_allowed"]);
});

Deno.test("a batch takes defaults, and stops where it is told to", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  const admin = { action: { name: "admin" } };
  const ask = async (evaluations: readonly object[], semantic?: string) => {
    const { status, body } = await post(app, "/access/v1/evaluations", {
      subject: SUBJECT,
      action: ACTION,
      resource: resourceOf(server.did),
      evaluations,
      ...(semantic ? { options: { evaluations_semantic: semantic } } : {}),
    });
    assertEquals(status, 200, JSON.stringify(body));
    assertEquals(Object.keys(body), ["evaluations"]);
    return body.evaluations.map((each: { decision: boolean }) => each.decision);
  };
  assertEquals(await ask([{}, admin, {}]), [true, false, true]);
  assertEquals(await ask([{}, admin, {}], "execute_all"), [true, false, true]);
  assertEquals(await ask([{}, admin, {}], "deny_on_first_deny"), [true, false]);
  assertEquals(await ask([admin, {}, admin], "permit_on_first_permit"), [
    false,
    true,
  ]);
  const early = { context: { time: "2025-01-01T00:00:00Z" } };
  assertEquals(await ask([early, { context: {} }]), [false, true]);
});

Deno.test("an odd batch is refused as a whole", async () => {
  const app = createApp({ issuers: ["acme.example"] });
  const item = { subject: SUBJECT, action: ACTION, resource: resourceOf("x") };
  const bodies = [
    { evaluations: 7 },
    { evaluations: [7] },
    { evaluations: Array(101).fill(item) },
    { evaluations: [item], options: { evaluations_semantic: "any" } },
    { evaluations: [item], options: [] },
    { evaluations: [], subject: SUBJECT },
  ];
  for (const body of bodies) {
    const found = await post(app, "/access/v1/evaluations", body);
    assertEquals([found.status, found.body.code], [400, "invalid_request"]);
  }
});

Deno.test("without evaluations a batch is a single evaluation", async () => {
  await using issuer = await serveIssuer();
  for (const evaluations of [undefined, []]) {
    const { body } = await post(issuer.app, "/access/v1/evaluations", {
      subject: SUBJECT,
      action: ACTION,
      resource: resourceOf(issuer.server.did),
      evaluations,
    });
    assertEquals(body.decision, true);
  }
});

Deno.test("what can't be answered is a problem in a batch too, never false", async () => {
  await using good = await serveIssuer();
  await using bad = await serveIssuer();
  bad.server.documents.set(PATHS.feed, status(500));
  const app = createApp({
    issuers: [good.server.did, bad.server.did],
    allowPrivate: true,
    now,
  });
  const itemOf = (served: typeof good, name = "deploy") => ({
    action: { name },
    resource: resourceOf(served.server.did),
  });
  const ask = (evaluations: readonly object[], semantic: string) =>
    post(app, "/access/v1/evaluations", {
      subject: SUBJECT,
      evaluations,
      options: { evaluations_semantic: semantic },
    });
  const semantics = [
    "execute_all",
    "deny_on_first_deny",
    "permit_on_first_permit",
  ];
  for (const semantic of semantics) {
    const { status, body } = await ask([itemOf(bad), itemOf(good)], semantic);
    assertEquals([status, body.code, body.evaluation], [
      502,
      "fetch_status",
      0,
    ]);
    assert(!JSON.stringify(body).includes("decision"));
  }
  const denied = await ask(
    [itemOf(good, "admin"), itemOf(bad)],
    "deny_on_first_deny",
  );
  assertEquals(denied.status, 200);
  assertEquals(denied.body.evaluations.length, 1);
  const permitted = await ask(
    [itemOf(good), itemOf(bad)],
    "permit_on_first_permit",
  );
  assertEquals(permitted.body.evaluations[0].decision, true);
});

Deno.test("the request's id is echoed", async () => {
  const app = createApp();
  for (const path of ["/access/v1/evaluation", "/access/v1/evaluations"]) {
    const { headers, body } = await post(app, path, {}, {
      "x-request-id": "bfe9eb29-ab87",
    });
    assertEquals(headers.get("x-request-id"), "bfe9eb29-ab87");
    assertEquals(body.instance, "bfe9eb29-ab87");
    assertStringIncludes(body.detail, "Cannot read request");
  }
});
