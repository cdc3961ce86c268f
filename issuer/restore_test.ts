import { assert, assertEquals } from "@std/assert";
import type { EventDraft } from "@sig/issuer";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { forged, placeTest as test, revoke } from "./testdata/support.ts";

const upsert = (id: string, subject = "did:web:a.example"): EventDraft => ({
  event_type: "relationship.upsert",
  event_id: `event ${id}`,
  relationship_id: id,
  subject,
  relationship_type: "other",
});

test("current() answers by identifier and by subject, before the index is flushed and after it was lost", async ({ place: { dir, open } }) => {
  const ids = async (
    issuer: Awaited<ReturnType<typeof open>>,
    most?: number,
  ) => {
    const { relationships } = await issuer.current({
      subject: "did:web:a.example",
      most,
    });
    return relationships.map(({ relationship_id }) => relationship_id);
  };
  const first = await open();
  const other = upsert("b", "did:web:b.example");
  await first.appendAll([upsert("r1"), upsert("r2"), upsert("r3"), other]);
  await first.append(revoke("r2"));
  await first.append({ ...upsert("r1"), event_id: "again" });
  assertEquals(await ids(first), ["r3", "r1"]);
  assertEquals(await ids(first, 1), ["r1"]);
  await first.close();
  const second = await open();
  assertEquals(await ids(second), ["r3", "r1"]);
  const { last_sequence, relationships } = await second.current({
    relationship_id: "r2",
  });
  assertEquals([last_sequence, relationships], [6, [{
    relationship_id: "r2",
    subject: "did:web:a.example",
    upsert: null,
    last_sequence: 5,
  }]]);
  await second.close();
  await Deno.remove(`${dir}/.sig`, { recursive: true });
  assertEquals(await ids(await open()), ["r3", "r1"]);
});

test("a batch reports up to maxFaults faults, each with its draft, and writes nothing", async ({ issuer, place: { feed } }) => {
  const [good, bad] = [upsert("r1"), upsert("r2", "")];
  const drafts = [good, bad, upsert("r3"), { ...bad, event_id: "e4" }];
  const error = await expectSigError(
    () => issuer.appendAll(drafts, { maxFaults: 10 }),
    "invalid_field",
    "subject",
  );
  assertEquals(error.context.draft, 1);
  assertEquals(
    error.context.errors?.map(({ pointer }) => pointer),
    ["/1/subject", "/3/subject"],
  );
  assertEquals(await Deno.readTextFile(feed), "");
});

test("a failed batch does not affect the next append", async ({ issuer }) => {
  const named = { ...upsert("r1"), event_id: "e1" };
  await expectSigError(
    () => issuer.appendAll([named, upsert("r2", "")]),
    "invalid_field",
    "subject",
  );
  await expectSigError(
    issuer.append(revoke("r1")),
    "unknown_relationship",
    "the feed has no relationship with this relationship_id",
  );
  const other = { ...named, roles: ["other"] };
  const { repeated, sequence } = await issuer.append(other);
  assertEquals([repeated, sequence], [false, 1]);
  const { relationships } = await issuer.current({ relationship_id: "r1" });
  assertEquals(relationships.map(({ upsert }) => upsert?.roles), [["other"]]);
});

test("compares a published feed line by line, also across read chunks", async ({ issuer, place: { feed } }) => {
  const long = { reason: "x".repeat(2_000) };
  const drafts = Array.from(
    { length: 600 },
    (_, i) => ({ ...upsert(`r${i}`), ...long }),
  );
  await issuer.appendAll(drafts);
  const all = await Deno.readFile(feed);
  assert(all.length > 1.5 * 1024 * 1024);
  await issuer.requireNotBehind(all);
  const ends = [-1];
  for (let at = all.indexOf(10); at >= 0; at = all.indexOf(10, at + 1)) {
    ends.push(at);
  }
  const behind = all.subarray(0, ends[597]! + 1);
  await issuer.requireNotBehind(behind);
  for (const line of [1, 300, 599, 600]) {
    const other = all.slice();
    other[ends[line]! - 1] = 0x20;
    await expectSigError(
      () => issuer.requireNotBehind(other),
      "feed_rewritten",
      `have different lines from sequence ${line} on`,
    );
  }
  // An unfinished local line is not compared: an append cuts it off first.
  for (const torn of [ends[599]! + 9, ends[300]! + 1]) {
    await Deno.writeFile(feed, all.subarray(0, torn));
    const lines = torn === ends[300]! + 1 ? 300 : 599;
    await expectSigError(
      () => issuer.requireNotBehind(all),
      "feed_rolled_back",
      `it ends at sequence ${lines}, but the published feed at 600`,
    );
    assertEquals(await issuer.restore(all), {
      ...{ restored: 600 - lines, last_sequence: 600 },
    });
    assertEquals(await Deno.readFile(feed), all);
  }
});

test("restore writes only events that continue the feed and that this issuer signed", async ({ issuer, place: { feed } }) => {
  await issuer.appendAll([upsert("r1"), upsert("r2"), upsert("r3")]);
  const all = await Deno.readFile(feed);
  const text = new TextDecoder().decode(all);
  const lines = text.trimEnd().split("\n").map((line) => `${line}\n`);
  const encode = (parts: readonly (string | undefined)[]) =>
    new TextEncoder().encode(parts.join(""));
  assertEquals(await issuer.restore(encode(lines.slice(0, 2))), {
    restored: 0,
    last_sequence: 3,
  });
  await issuer.requireNotBehind(encode(lines.slice(0, 2)));
  await Deno.writeFile(feed, encode(lines.slice(0, 1)));
  await expectSigError(
    () => issuer.requireNotBehind(all),
    "feed_rolled_back",
    "it ends at sequence 1, but the published feed at 3",
  );
  // Signed by this issuer, but not the next events.
  await expectSigError(
    () => issuer.restore(encode([lines[0], lines[2]])),
    "sequence_gap",
    "sequence",
  );
  await expectSigError(
    () => issuer.restore(encode([forged(text)])),
    "signature_invalid",
    "signature",
  );
  assertEquals(await Deno.readTextFile(feed), lines[0]);
  assertEquals(await issuer.restore(all), { restored: 2, last_sequence: 3 });
  assertEquals(await Deno.readFile(feed), all);
  const { sequence } = await issuer.append(upsert("r4"));
  assertEquals(sequence, 4);
});
