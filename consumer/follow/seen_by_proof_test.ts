// What proofs have shown: identified by its root, kept, and compared in
// parallel reads.
import { SigError } from "@sig/core";
import { encodeBase64, leafHash, TreeHasher } from "@sig/jose/proofs";
import { assert, assertEquals } from "@std/assert";
import { showPin } from "./manage_pins.ts";
import { startProvenIssuer } from "../testdata/proven_issuer.ts";
import { revoke } from "../../tests/kit/events.ts";
import { PROOFS } from "../../tests/kit/proofs.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import {
  feedOf,
  importTestKeys,
  lineOf,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { QUESTION } from "../../tests/kit/watched_issuer.ts";

const [key1, key2] = await importTestKeys();
const REWRITTEN = [
  "feed_rewritten",
  "is not the one that is remembered",
] as const;
const ROLLED_BACK = ["feed_rolled_back", "events are remembered"] as const;

/** Starts an issuer with an event, and lines that continue it. */
async function setUp() {
  const issuer = await startProvenIssuer(1);
  const end = { relationship_id: "rel-1", issuer: issuer.did };
  const revoked = await lineOf({ ...revoke(2, end) }, key1);
  return {
    ...issuer,
    revoked: [...issuer.lines, revoked],
    kept: await issuer.longer(),
  };
}

function rootOf(lines: readonly string[]): string {
  const tree = new TreeHasher();
  for (const line of lines) tree.add(leafHash(new TextEncoder().encode(line)));
  return encodeBase64(tree.root());
}

Deno.test("an event after the checkpoint that was seen by proof can't be rewritten", async () => {
  await using issuer = await setUp();
  const { revoked, kept, publish, publishProven, pins, did } = issuer;
  publish(revoked);
  const answer = await issuer.ask();
  assertEquals([answer.decision, answer.proof?.tail], ["deny", 1]);
  const { seen, proof } = await showPin(pins, did);
  assertEquals([proof?.size, proof?.seen, seen?.size], [1, 2, 2]);
  assert(seen?.root !== proof?.root);
  // In the tail, in a longer tail, under a checkpoint, and in the whole feed.
  publish(kept);
  await expectSigError(issuer.ask, ...REWRITTEN);
  const { incident } = await showPin(pins, did);
  assertEquals([incident?.code, incident?.seen], ["feed_rewritten", {
    ...{ size: 2, root: rootOf(kept), state: null },
    ...{ keys: incident?.seen?.keys, statements: null },
  }]);
  publish([...issuer.lines, await issuer.line(2, key1, { roles: ["other"] })]);
  await expectSigError(
    issuer.accept,
    "confirmation_required",
    "the history that is served now differs from the recorded incident",
  );
  publish(revoked);
  assertEquals((await issuer.ask()).decision, "deny");
  const longer = [...kept, await issuer.line(3, key1)];
  for (const lines of [kept, longer]) {
    publish(lines);
    await expectSigError(issuer.ask, ...REWRITTEN);
    await expectSigError(() => issuer.ask({ proofs: "never" }), ...REWRITTEN);
    await issuer.prove(lines);
    await expectSigError(issuer.ask, ...REWRITTEN);
    await issuer.prove(issuer.lines);
    publish(revoked);
    assertEquals((await issuer.ask()).decision, "deny");
  }
  await publishProven([...revoked, await issuer.line(3, key1)]);
  assertEquals((await issuer.ask()).last_sequence, 3);
});

Deno.test("neither a refused range nor 304 shows that the feed has lost events", async () => {
  await using issuer = await setUp();
  const { did, server, revoked, publish } = issuer;
  const reader = issuer.fresh({ proofs: "never" });
  await reader.verify(did);
  publish(revoked);
  await issuer.ask();
  server.documents.set(PATHS.feed, (request) => {
    const { headers } = request;
    if (headers.has("if-none-match")) return status(304)();
    if (headers.has("range")) return status(416)();
    return server.respond(request, feedOf(revoked));
  });
  assertEquals((await reader.verify(did)).state.last_sequence, 2);
  const { decision, warnings } = await issuer.ask();
  assertEquals([decision, warnings.map(({ code }) => code)], ["deny", [
    "proof_not_used",
  ]]);
  publish([]);
  await expectSigError(issuer.ask, ...ROLLED_BACK);
});

Deno.test("answers by proof have the warning of a past contradiction", async () => {
  await using issuer = await setUp();
  issuer.publish(issuer.revoked);
  await issuer.ask();
  issuer.publish(issuer.lines);
  await expectSigError(issuer.ask, ...ROLLED_BACK);
  await expectSigError(issuer.read, ...ROLLED_BACK);
  issuer.publish(issuer.revoked);
  for (let nth = 0; nth < 2; nth++) {
    const { warnings } = await issuer.ask();
    const codes = warnings.map(({ code }) => code);
    assertEquals(codes, ["history_was_inconsistent"]);
  }
  const { proof } = await issuer.ask();
  assertEquals(proof?.size, 1);
});

for (const isStored of [true, false]) {
  Deno.test(`a refresh in flight does not erase what a proof has shown (stored: ${isStored})`, async () => {
    await using issuer = await setUp();
    const { did, server: { documents } } = issuer;
    const before = new Map(documents);
    const consumer = issuer.fresh({
      proofs: "always",
      ...(isStored ? {} : { pins: undefined }),
    });
    const check = () => consumer.check(did, QUESTION);
    assertEquals((await check()).decision, "allow");
    const held = issuer.server.hold(PATHS.feed);
    const slow = consumer.verify(did).catch((error) => error);
    await held.asked;
    await issuer.publishProven(issuer.revoked);
    assertEquals((await check()).decision, "deny");
    // The server withholds the revoke from then on.
    for (const [path, served] of before) documents.set(path, served);
    held.go();
    assertEquals((await slow).code, "feed_rolled_back");
    await expectSigError(check, ...ROLLED_BACK);
    await expectSigError(() => consumer.state(did), ...ROLLED_BACK);
  });

  Deno.test(`two answers by proof at the same time don't accept two forks (stored: ${isStored})`, async () => {
    await using issuer = await setUp();
    const { did, server: { documents } } = issuer;
    const consumer = issuer.fresh({
      proofs: "always",
      ...(isStored ? {} : { pins: undefined }),
    });
    const check = () => consumer.check(did, QUESTION);
    await check();
    issuer.publish(issuer.revoked);
    const fork = new Map(documents);
    await issuer.publishProven(issuer.kept);
    const path = [...documents.keys()].find((each) => !fork.has(each));
    assert(path !== undefined);
    // The first read has its documents, and waits for its lines.
    const held = issuer.server.hold(path);
    const first = check().catch((error) => error);
    await held.asked;
    for (const [path, served] of fork) documents.set(path, served);
    const second = await check().catch((error) => error);
    held.go();
    // The first one was read again, and found what the second one had seen.
    const decisions = [(await first).decision, second.decision];
    assertEquals(decisions, ["deny", "deny"]);
  });
}

Deno.test("an incident without a checkpoint binds no feed: --expect must name it", async () => {
  await using issuer = await setUp();
  const { did, pins, publishKeys, server: { documents } } = issuer;
  await issuer.ask();
  publishKeys([key1, key2]);
  documents.delete(`${PROOFS}checkpoint`);
  await expectSigError(issuer.ask, "key_not_introduced", "is new");
  const { incident } = await showPin(pins, did);
  assert(incident?.seen && "root" in incident.seen);
  assertEquals(incident.seen.root, null);
  issuer.publish([...issuer.lines, await issuer.line(2, key2)]);
  const error = await expectSigError(
    issuer.accept,
    "confirmation_required",
    "was not recorded before",
  );
  const { served_sha256 } = error.context;
  assert(typeof served_sha256 === "string");
  assertEquals((await issuer.accept(served_sha256)).sequence, 2);
});

Deno.test("a revocation that was seen by proof counts for later questions while the issuer is silent", async () => {
  await using issuer = await setUp();
  const { did } = issuer;
  const consumer = issuer.fresh({ maxAgeMs: 3_600_000, proofs: "always" });
  const known = { ...QUESTION, maxAgeMs: 60_000 };
  assertEquals((await consumer.check(did, known)).decision, "allow");
  await issuer.publishProven(issuer.revoked);
  const now = { ...QUESTION, maxAgeMs: 0 };
  assertEquals((await consumer.check(did, now)).decision, "deny");
  issuer.silence();
  for (const refresh of [true, false]) {
    const answer = await consumer.check(did, known, { refresh });
    assertEquals([answer.decision, answer.proof?.size], ["deny", 2]);
  }
  // Another subject has seen more: the part may lack events, and is not used.
  issuer.wait(61_000);
  await expectSigError(
    () => consumer.check(did, known),
    "feed_stale",
    "what is known is older than 60 s",
  );
});

Deno.test("a state that another question has just read is not stale while the issuer is silent", async () => {
  await using issuer = await setUp();
  const { did, server } = issuer;
  const consumer = issuer.fresh({ maxAgeMs: 60_000, proofs: "always" });
  await consumer.check(did, QUESTION);
  issuer.wait(61_000);
  const { asked, go } = server.hold(`${PROOFS}checkpoint`);
  const question = consumer.check(did, QUESTION);
  await asked;
  await consumer.verify(did);
  server.documents.clear();
  go();
  const { freshness } = await question;
  assertEquals([freshness?.status, freshness?.age_seconds], ["fresh", 0]);
});

Deno.test("a proven part does not answer once other events were seen", async () => {
  await using issuer = await setUp();
  const { did, server: { documents } } = issuer;
  const consumer = issuer.fresh({ maxAgeMs: 3_600_000, proofs: "always" });
  await consumer.check(did, QUESTION);
  await issuer.publishProven(issuer.revoked);
  const bob = { ...QUESTION, subject: "did:web:bob.example" };
  assertEquals((await consumer.check(did, bob)).decision, "deny");
  const metadata = documents.get(PATHS.metadata)!;
  issuer.silence();
  await expectSigError(
    () => consumer.check(did, QUESTION),
    "fetch_status",
    "404",
  );
  documents.set(PATHS.metadata, metadata);
  // Is not delayed by the failure before.
  const now = { ...QUESTION, maxAgeMs: 0 };
  assertEquals((await consumer.check(did, now)).decision, "deny");
});

Deno.test("what the tail shows counts, also if no other file can be read", async (t) => {
  const cases = {
    "an earlier end": [(issuer) => issuer.lines, "feed_rolled_back"],
    "another event": [(issuer) => issuer.kept, "feed_rewritten"],
    "a fault": [(issuer) => [...issuer.revoked, "{}"], "fetch_status"],
  } satisfies Record<string, TailCase>;
  for (const [name, [tail, code]] of Object.entries<TailCase>(cases)) {
    await t.step(name, async () => {
      await using issuer = await setUp();
      const { server, server: { documents } } = issuer;
      const grace = { maxAgeMs: 60_000, graceMs: 600_000 };
      const consumer = issuer.fresh({ ...grace, proofs: "always" });
      const check = () => consumer.check(issuer.did, QUESTION);
      issuer.publish(issuer.revoked);
      assertEquals((await check()).decision, "deny");
      issuer.wait(61_000);
      issuer.publish(tail(issuer));
      const feed = feedOf(tail(issuer));
      const size = feedOf(issuer.lines).length - 1;
      // The tail is served, the whole feed and the states are not.
      documents.set(PATHS.feed, (request) => {
        const isTail = request.headers.get("range") === `bytes=${size}-`;
        return server.respond(request, isTail ? feed : status(503));
      });
      for (const path of documents.keys()) {
        if (path.includes("/state/")) documents.set(path, status(503));
      }
      const found = await check().catch((error) => error);
      assertEquals(found.code, code);
      issuer.silence();
      const error = await check().catch((error) => error);
      assert(error instanceof SigError, `${error.decision}`);
      const { incident } = await showPin(issuer.pins, issuer.did);
      const isContradiction = code !== "fetch_status";
      assertEquals(incident?.code, isContradiction ? code : undefined);
    });
  }
});

type TailCase = readonly [
  tail: (issuer: Awaited<ReturnType<typeof setUp>>) => readonly string[],
  code: string,
];
