import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  ALICE,
  importTestKeys,
  makeLines,
} from "../../tests/kit/test_issuer.ts";
import { createApp } from "../app.ts";
import { get, now, post, serveIssuer } from "../testdata/asking.ts";

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
  const closed = createApp({ token: "secret" });
  assertEquals((await get(closed, path)).status, 200);
  assertEquals(body.policy_decision_point, "https://sig.acme.example");
});

Deno.test("subject, action and resource are mapped", async () => {
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
  const other = await ask({ resource: { type: "cluster", id: "production" } });
  assertEquals(other.decision, true);
  const host = await ask({
    resource: resourceOf(server.origin.slice("http://".length)),
  });
  assertEquals(host.decision, true);
});

Deno.test("of more than 100 reasons the first are told, and how many more there are", async () => {
  const [key] = await importTestKeys();
  await using issuer = await serveIssuer({ events: 0 });
  const { app, server, publish } = issuer;
  const changes = {
    issuer: server.did,
    valid_until: "2026-05-01T00:00:00Z",
  };
  const lines = await makeLines(103, key!, changes);
  const evaluation = {
    subject: SUBJECT,
    action: ACTION,
    resource: resourceOf(server.did),
  };
  for (const [events, leftOut] of [[100, undefined], [103, 3]] as const) {
    publish(lines.slice(0, events));
    const { body: checked } = await post(app, "/v1/check", {
      issuer: server.did,
      subject: ALICE,
      require: ["role=deploy"],
      max_age_seconds: 0,
    });
    const { body: one } = await post(
      app,
      "/access/v1/evaluation",
      evaluation,
    );
    const { body: several } = await post(app, "/access/v1/evaluations", {
      ...evaluation,
      evaluations: [{}],
    });
    assertEquals(several.evaluations.length, 1);
    for (const told of [checked, one.context, several.evaluations[0].context]) {
      assertEquals(told.reasons.length, 100);
      assertEquals(told.reasons[99], {
        code: "expired",
        relationship_id: "rel-100",
        sequence: 100,
      });
      assertEquals(told.reasons_left_out, leftOut);
    }
    assertEquals([checked.decision, one.decision], ["deny", false]);
  }
});

Deno.test("unknown members are ignored, wrong ones are 400", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  const good = {
    subject: { ...SUBJECT, properties: { department: "x" } },
    action: { ...ACTION, properties: { method: "GET" } },
    resource: { ...resourceOf(server.did), properties: {} },
    context: { time: "2025-06-27T18:03-07:00", place: { a: 1 }, at: 7 },
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
    [{ context: [] }, "/context"],
    [{ context: { sig: 7 } }, "/context/sig"],
    [{ context: { sig: { at: "1985-10-26T01:22-07:00" } } }, "/context/sig/at"],
    [{ context: { sig: { min_sequence: -1 } } }, "/context/sig/min_sequence"],
    [{ context: { sig: { explain: 1 } } }, "/context/sig/explain"],
    [{ context: { sig: { as_of: 0 } } }, "/context/sig/as_of"],
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
    // One that is wrong spoils no other, and gets the status of a single one.
    const batch = await post(app, "/access/v1/evaluations", {
      evaluations: [good, body],
    });
    assertEquals(batch.status, 200);
    const [first, second] = batch.body.evaluations;
    assertEquals([first.decision, second.decision], [true, false]);
    const { message, ...error } = second.context.error;
    assertEquals(error, { status: 400, code: "invalid_request" });
    assertStringIncludes(message, `/evaluations/1${pointer}: it `);
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

Deno.test("context has no effect, whatever stands in it beside sig", async () => {
  await using issuer = await serveIssuer();
  const contexts = [
    { time: "2025-06-27T18:03-07:00", ip: "192.168.1.1" },
    { time: "2020-01-01T00:00:00Z" },
    { time: 7, at: "2020-01-01T00:00:00Z", as_of: 0, min_sequence: 99 },
    { Sig: { at: "2020-01-01T00:00:00Z" }, "sig ": 1 },
    {},
  ];
  for (const context of contexts) {
    const { status, body } = await post(issuer.app, "/access/v1/evaluation", {
      subject: SUBJECT,
      action: ACTION,
      resource: resourceOf(issuer.server.did),
      context,
    });
    assertEquals([status, body.decision], [200, true], JSON.stringify(context));
  }
});

Deno.test("context.sig asks as /v1/check does, and refuses what it doesn't know", async () => {
  await using issuer = await serveIssuer();
  const ask = async (sig: object) =>
    await post(issuer.app, "/access/v1/evaluation", {
      subject: SUBJECT,
      action: ACTION,
      resource: resourceOf(issuer.server.did),
      context: { sig },
    });
  const early = await ask({ at: "2025-01-01T00:00:00Z" });
  assertEquals(early.body.decision, false);
  assertEquals(early.body.context.reasons[0].code, "not_yet_valid");
  const first = await ask({ as_of: 1, explain: true, max_age_seconds: 0 });
  assertEquals(first.body.context.last_sequence, 1);
  assertEquals(first.body.context.explain.relationships.length, 1);
  assertEquals((await ask({})).body.context.explain, undefined);
  const later = await ask({ min_sequence: 9 });
  assertEquals([later.status, later.body.code], [
    409,
    "consistency_unavailable",
  ]);
  const misspelt = await ask({ min_seqence: 9 });
  assertEquals([misspelt.status, misspelt.body.errors], [400, [{
    pointer: "/context/sig/min_seqence",
    code: "invalid_field",
    detail: 'there is no member "min_seqence"; did you mean "min_sequence"?',
  }]]);
});

Deno.test("a subject of another type is somebody else, whom no feed knows", async () => {
  await using issuer = await serveIssuer();
  const ask = async (subject: object, context?: object) => {
    const { status, body } = await post(issuer.app, "/access/v1/evaluation", {
      subject,
      action: ACTION,
      resource: resourceOf(issuer.server.did),
      context,
    });
    assertEquals(status, 200);
    return body;
  };
  for (const type of ["user", "did"]) {
    assertEquals((await ask({ type, id: ALICE })).decision, true);
  }
  const sig = { explain: true };
  const group = await ask({ type: "group", id: ALICE }, { sig });
  assertEquals(group.decision, false);
  const { reasons, matched_relationship_id, not_after, explain } =
    group.context;
  assertEquals(reasons, [{
    code: "no_relationship",
    detail:
      'no feed speaks of subjects of type "group", only of user, agent and did',
  }]);
  assertEquals([matched_relationship_id, not_after], [null, null]);
  assertEquals(explain.relationships, []);
  const name = await ask({ type: "did", id: "alice" });
  assertEquals(
    name.context.reasons[0].detail,
    [
      "no feed speaks of it:",
      'an id of type "did" must be a DID',
    ].join(" "),
  );
  const types = ["User", "user ", "service", "\u202euser"];
  for (const type of types) {
    assertEquals((await ask({ type, id: ALICE })).decision, false, type);
  }
});

Deno.test("a wrong Content-Type or charset is 400 on these routes", async () => {
  await using issuer = await serveIssuer();
  const question = {
    subject: SUBJECT,
    action: ACTION,
    resource: resourceOf(issuer.server.did),
  };
  for (const path of ["/access/v1/evaluation", "/access/v1/evaluations"]) {
    const ask = async (type: string, more: { [name: string]: string } = {}) => {
      const { status, body } = await post(issuer.app, path, question, {
        "content-type": type,
        ...more,
      });
      return [status, body.code ?? body.decision];
    };
    const refused = [400, "invalid_request"];
    for (const type of ["text/plain", "application/jsonp", ""]) {
      assertEquals(await ask(type), refused, type);
    }
    const encoded = { "content-encoding": "gzip" };
    assertEquals(await ask("application/json", encoded), refused);
    const charset = "application/json; charset=latin1";
    assertEquals(await ask(charset), refused);
    for (const parameter of ["charset=utf-8", "Charset=UTF-8", "profile=x"]) {
      assertEquals(await ask(`application/json; ${parameter}`), [200, true]);
    }
  }
});

Deno.test("the request's id is echoed", async () => {
  const app = createApp();
  for (const path of ["/access/v1/evaluation", "/access/v1/evaluations"]) {
    const { headers, body } = await post(app, path, {}, {
      "x-request-id": "bfe9eb29 ab87/é",
    });
    assertEquals(headers.get("x-request-id"), "bfe9eb29 ab87/é");
    assertEquals(body.instance, "bfe9eb29 ab87/é");
    assertStringIncludes(body.detail, "Cannot read request");
  }
});
