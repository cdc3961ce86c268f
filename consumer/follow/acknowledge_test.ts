import { assertEquals, assertRejects } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  type SigningKey,
} from "@sig/jose";
import { rememberIssuer } from "../testdata/remembered_issuer.ts";
import { startProvenIssuer } from "../testdata/proven_issuer.ts";
import { revoke } from "../../tests/kit/events.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { acknowledgePin, type ServedHistory } from "./manage_pins.ts";
import { type SeenFeed, sha256Hex } from "../memory/pin.ts";

// promise: An acknowledgement accepts the recorded incident or a given SHA-256,
//   with a reason.

const [key1, key2] = await importTestKeys();
const third = await importSigningKey(
  await generateSigningKey({ kid: "third" }),
);
const DIFFERS = [
  "confirmation_required",
  "Cannot accept history: the history that is served now differs from the recorded incident",
] as const;

/**
 * Starts an issuer whose three events are remembered, and which then rewrote
 * the second.
 */
async function withIncident() {
  const issuer = await rememberIssuer(3);
  await issuer.verify();
  const second = await issuer.line(2, key1, { roles: ["other"] });
  const other = issuer.lines.with(1, second);
  issuer.publish(other);
  await expectSigError(issuer.verify, "feed_rewritten", "Cannot trust feed");
  const { documents } = issuer.server;
  return {
    ...{ ...issuer, other },
    served: () =>
      sha256Hex(documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>),
  };
}

Deno.test("the history recorded in the incident is accepted after confirmation", async () => {
  await using issuer = await withIncident();
  const { pins, did, pin } = issuer;
  const sha256 = await issuer.served();
  const { incident, prefix_sha256: remembered } = await pin();
  const seen = incident?.seen as SeenFeed;
  assertEquals([seen.sha256, seen.sequence], [sha256, 3]);
  // Nothing is written if the operator declines.
  const confirm = ({ served }: ServedHistory) => {
    assertEquals([served.sha256, served.sequence], [sha256, 3]);
    assertEquals(Object.keys(served.keys), ["orgsign-1"]);
    return Promise.reject(new Error("no"));
  };
  const options = { allowPrivate: true, now: new Date(), reason: "x", confirm };
  const decline = () => acknowledgePin(pins, did, options);
  await assertRejects(decline, Error, "no");
  assertEquals((await pin()).prefix_sha256, remembered);
  issuer.wait(1_000);
  const { acknowledged, first_seen, ...after } = await issuer.accept();
  assertEquals(
    [after.prefix_sha256, after.incident, after.inconsistency],
    [sha256, null, null],
  );
  assertEquals(acknowledged, [{
    ...{ at: "2026-06-01T00:00:01Z", reason: "by phone" },
    code: "feed_rewritten",
  }]);
  assertEquals(first_seen, "2026-06-01T00:00:00Z");
  const { warnings, state } = await issuer.verify();
  assertEquals(warnings, []);
  assertEquals(state.by_relationship_id.get("rel-2")?.roles, ["other"]);
});

Deno.test("a history served after the incident is accepted only by its SHA-256", async () => {
  await using issuer = await withIncident();
  const { other, publish, line, accept } = issuer;
  const recorded = await issuer.served();
  issuer.publishKeys([key1, key2]);
  // The recorded feed, beside another key.
  await expectSigError(accept, ...DIFFERS);
  publish([...other, await line(4, key1)]);
  const served = await issuer.served();
  const error = await expectSigError(accept, ...DIFFERS);
  assertEquals(error.context.served_sha256, served);
  assertEquals(error.context.recorded_sha256, recorded);
  await expectSigError(
    () => accept(recorded),
    "confirmation_required",
    `the feed that is served now has the SHA-256 ${served}`,
  );
  assertEquals((await accept(served.toUpperCase())).sequence, 4);
});

Deno.test("after an incident by proof only the recorded history is accepted", async (t) => {
  const roles = ["other"];
  const published = [key1, key2];
  const wrongState = { claim: { state: new Uint8Array(32) } };
  const rows = {
    "another line": { roles },
    "another state": { recorded: wrongState },
    "another key": { keys: [key1, key2, third] },
  } as const;
  for (const [what, row] of Object.entries<Row>(rows)) {
    await t.step(what, async () => {
      await using issuer = await startProvenIssuer(2);
      await issuer.ask();
      issuer.publishKeys(published);
      const lines = await issuer.longer(key2);
      const content = { keys: [key2], published };
      await issuer.publishProven(lines, { ...content, ...row.recorded });
      const message = "no remembered key has signed a checkpoint";
      await expectSigError(issuer.ask, "key_not_introduced", message);
      const changes = row.roles ? { roles: row.roles } : {};
      const changed = [...issuer.lines, await issuer.line(3, key2, changes)];
      const keys = row.keys ?? published;
      issuer.publishKeys(keys);
      await issuer.publishProven(changed, { ...content, published: keys });
      await expectSigError(issuer.accept, ...DIFFERS);
      if (row.recorded) return;
      issuer.publishKeys(published);
      await issuer.publishProven(lines, content);
      const { sequence, proof } = await issuer.accept();
      assertEquals([sequence, proof?.size], [3, 3]);
      assertEquals((await issuer.ask()).proof?.size, 3);
    });
  }
});

/** What differs from the recorded history. */
interface Row {
  readonly roles?: readonly string[];
  readonly recorded?: { readonly claim: { readonly state: Uint8Array } };
  readonly keys?: readonly SigningKey[];
}

Deno.test("a revoke dropped and a key replaced after the incident are not accepted", async () => {
  await using issuer = await rememberIssuer(1);
  const { lines, publish, publishKeys, verify } = issuer;
  await issuer.append(revoke(2, { relationship_id: "rel-1" }));
  const { documents } = issuer.server;
  await verify();
  // The feed of the incident has the revoke; then key and revoke are removed.
  const feed = new TextDecoder().decode(
    documents.get(PATHS.feed) as Uint8Array,
  );
  documents.set(PATHS.feed, feed.replace("\n{", "\n{ "));
  await expectSigError(verify, "feed_rewritten", "Cannot trust feed");
  publishKeys([key2]);
  publish([await issuer.line(1, key2)]);
  for (let time = 0; time < 2; time++) {
    await expectSigError(issuer.accept, ...DIFFERS);
    assertEquals((await issuer.pin()).sequence, 2);
  }
  publish(lines);
  await expectSigError(verify, "feed_rolled_back", "Cannot trust feed");
});

Deno.test("a new history is recorded first, and can be accepted at the next attempt", async () => {
  await using issuer = await rememberIssuer(3);
  await issuer.verify();
  issuer.publish(issuer.lines.slice(0, 2));
  await expectSigError(
    issuer.accept,
    "confirmation_required",
    "the history that is served now was not recorded before",
  );
  assertEquals((await issuer.pin()).incident?.code, "feed_rolled_back");
  assertEquals((await issuer.accept()).sequence, 2);
});

Deno.test("if the remembered history is served again, acknowledging only ends the warning", async () => {
  await using issuer = await withIncident();
  issuer.publish(issuer.lines);
  assertEquals((await issuer.verify()).warnings.length, 1);
  const { inconsistency, acknowledged } = await issuer.accept();
  assertEquals([inconsistency, acknowledged.length], [null, 1]);
  assertEquals((await issuer.verify()).warnings, []);
  await expectSigError(
    () =>
      acknowledgePin(issuer.pins, "did:web:none.example", {
        ...{ reason: "x", now: new Date() },
      }),
    "not_found",
    "is not remembered",
  );
});
