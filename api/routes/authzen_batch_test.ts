import { assert, assertEquals } from "@std/assert";
import { status } from "../../tests/kit/issuer_server.ts";
import { ALICE, PATHS } from "../../tests/kit/test_issuer.ts";
import { createApp } from "../app.ts";
import {
  CLUSTER,
  evaluationOf,
  now,
  post,
  serveIssuer,
} from "../testdata/asking.ts";

const PATH = "/access/v1/evaluations";
const { subject: SUBJECT, action: ACTION, resource: OTHER } = evaluationOf(
  "other.example",
);

Deno.test("a batch applies defaults and stops at its semantic", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  const admin = { action: { name: "admin" } };
  const ask = async (evaluations: readonly object[], semantic?: string) => {
    const { status, body } = await post(app, PATH, {
      ...evaluationOf(server.did),
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
  // A member of an item replaces the whole default.
  const early = { context: { sig: { at: "2025-01-01T00:00:00Z" } } };
  assertEquals(await ask([early, { context: {} }]), [false, true]);
  const wrong = { subject: { id: ALICE } };
  assertEquals(await ask([{}, wrong, {}]), [true, false, true]);
  assertEquals(await ask([{}, wrong, {}], "deny_on_first_deny"), [true, false]);
  assertEquals(await ask([wrong, {}, admin], "permit_on_first_permit"), [
    false,
    true,
  ]);
});

Deno.test("an invalid batch is rejected as a whole", async () => {
  const app = createApp({ issuers: ["acme.example"] });
  const item = evaluationOf("x");
  const bodies = [
    { evaluations: 7 },
    { evaluations: [item], subject: "alice" },
    { evaluations: [item], context: { sig: { exlain: true } } },
    { evaluations: [item], context: null },
    { evaluations: Array(101).fill(item) },
    { evaluations: [item], options: { evaluations_semantic: "any" } },
    { evaluations: [item], options: [] },
    { evaluations: [], subject: SUBJECT },
  ];
  for (const body of bodies) {
    const found = await post(app, PATH, body);
    assertEquals([found.status, found.body.code], [400, "invalid_request"]);
  }
});

Deno.test("a single failure is a problem; in a batch it is an error, not a deny", async () => {
  await using good = await serveIssuer();
  await using bad = await serveIssuer();
  bad.server.documents.set(PATHS.feed, status(500));
  const app = createApp({
    issuers: [good.server.did, bad.server.did],
    allowPrivate: true,
    now,
  });
  const itemOf = (served: typeof good) => ({
    action: ACTION,
    resource: evaluationOf(served.server.did).resource,
  });
  const single = await post(app, "/access/v1/evaluation", {
    subject: SUBJECT,
    ...itemOf(bad),
  });
  assertEquals([single.status, single.body.code], [502, "fetch_status"]);
  assert(!("decision" in single.body));
  const ask = async (evaluations: readonly unknown[], semantic?: string) => {
    const { status, body } = await post(app, PATH, {
      subject: SUBJECT,
      evaluations,
      options: { evaluations_semantic: semantic },
    });
    assertEquals(status, 200);
    return body.evaluations;
  };
  const failed = {
    decision: false,
    context: {
      error: {
        status: 502,
        code: "fetch_status",
        message: single.body.detail,
      },
    },
  };
  const other = { action: ACTION, resource: OTHER };
  const none = { action: ACTION, resource: CLUSTER };
  const all = await ask([itemOf(bad), itemOf(good), other, none, 7]);
  assertEquals(all[0], failed);
  assertEquals(all[1].decision, true);
  const errors = all.slice(2).map(({ decision, context }: typeof failed) => {
    assertEquals(decision, false);
    return `${context.error.status} ${context.error.code}`;
  });
  assertEquals(errors, [
    "403 issuer_not_allowed",
    "400 invalid_request",
    "400 invalid_request",
  ]);
  // An error stops like a deny, and never permits.
  assertEquals(
    await ask([itemOf(bad), itemOf(good)], "deny_on_first_deny"),
    [failed],
  );
  const permitted = await ask(
    [itemOf(bad), itemOf(good), itemOf(bad)],
    "permit_on_first_permit",
  );
  assertEquals(permitted.length, 2);
  assertEquals([permitted[0], permitted[1].decision], [failed, true]);
});
