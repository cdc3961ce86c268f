import { assertEquals, assertRejects } from "@std/assert";
import { createConsumer } from "../create_consumer.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import { revoke, upsert } from "../../tests/kit/events.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { importTestKeys, lineOf, PATHS } from "../../tests/kit/test_issuer.ts";
import {
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";
import { acknowledgePin, type ServedHistory, showPin } from "./manage_pins.ts";
import { type SeenFeed, sha256Hex } from "../memory/pin.ts";
import type { PinStore } from "../memory/open_pin_store.ts";

// promise: An acknowledgement accepts the recorded incident or a given SHA-256,
//   with a reason.

const [key1, key2] = await importTestKeys();
const NOW = new Date("2026-06-02T00:00:00Z");
const OPTIONS = { reason: "restored", now: NOW, allowPrivate: true };

/**
 * Runs a test with an issuer whose three events are remembered, and which then
 * rewrote the second.
 */
async function withIncident(
  work: (
    issuer: WatchedIssuer & {
      readonly pins: PinStore;
      /** The lines that the incident recorded. */
      readonly other: readonly string[];
    },
  ) => Promise<void>,
): Promise<void> {
  for (const kind of ["file", "records"]) {
    await using file = await openPinFile();
    const pins = kind === "file" ? file.pins : createMemoryStore();
    await using issuer = await watchIssuer(3, key1, { pins, maxAgeMs: 0 });
    await issuer.verify();
    const second = await issuer.line(2, key1, { roles: ["other"] });
    const other = issuer.lines.with(1, second);
    issuer.publish(other);
    await issuer.refused("feed_rewritten", "Cannot trust feed");
    await work({ ...issuer, pins, other });
  }
}

const sha256Of = ({ server: { documents } }: WatchedIssuer) =>
  sha256Hex(documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>);

Deno.test("the history recorded in the incident is accepted after confirmation", () =>
  withIncident(async (issuer) => {
    const { pins, did } = issuer;
    const sha256 = await sha256Of(issuer);
    const { incident, prefix_sha256: remembered } = await showPin(pins, did);
    const seen = incident?.seen as SeenFeed;
    assertEquals([seen.sha256, seen.sequence], [sha256, 3]);
    // Nothing is written if the operator declines.
    const confirm = ({ served }: ServedHistory) => {
      assertEquals([served.sha256, served.sequence], [sha256, 3]);
      assertEquals(Object.keys(served.keys), ["orgsign-1"]);
      return Promise.reject(new Error("no"));
    };
    await assertRejects(
      () => acknowledgePin(pins, did, { ...OPTIONS, confirm }),
      Error,
      "no",
    );
    assertEquals((await showPin(pins, did)).prefix_sha256, remembered);
    const pin = await acknowledgePin(pins, did, OPTIONS);
    assertEquals([pin.prefix_sha256, pin.incident, pin.inconsistency], [
      ...[sha256, null, null],
    ]);
    assertEquals(pin.acknowledged, [{
      ...{ at: "2026-06-02T00:00:00Z", reason: "restored" },
      code: "feed_rewritten",
    }]);
    assertEquals(pin.first_seen, "2026-06-01T00:00:00Z");
    const { warnings, state } = await issuer.verify();
    assertEquals(warnings, []);
    assertEquals(state.by_relationship_id.get("rel-2")?.roles, ["other"]);
  }));

Deno.test("a history served after the incident is accepted only by its SHA-256", () =>
  withIncident(async (issuer) => {
    const { pins, did, other, publish, line } = issuer;
    const recorded = await sha256Of(issuer);
    publish([...other, await line(4, key1)]);
    const served = await sha256Of(issuer);
    const error = await expectSigError(
      () => acknowledgePin(pins, did, OPTIONS),
      "confirmation_required",
      "Cannot accept history: the history that is served now differs from the recorded incident",
    );
    assertEquals(error.context.served_sha256, served);
    assertEquals(error.context.recorded_sha256, recorded);
    // A refusal records nothing.
    await expectSigError(
      () => acknowledgePin(pins, did, OPTIONS),
      "confirmation_required",
      "differs from the recorded incident",
    );
    await expectSigError(
      () => acknowledgePin(pins, did, { ...OPTIONS, expect: recorded }),
      "confirmation_required",
      `the feed that is served now has the SHA-256 ${served}`,
    );
    const { sequence } = await acknowledgePin(pins, did, {
      ...OPTIONS,
      expect: served.toUpperCase(),
    });
    assertEquals(sequence, 4);
  }));

Deno.test("a revoke dropped and a key replaced after the incident are not accepted", async () => {
  await using file = await openPinFile();
  const { pins } = file;
  await using issuer = await watchIssuer(1, key1, { pins, maxAgeMs: 0 });
  const { did, lines, publish, publishKeys } = issuer;
  const end = revoke(2, { relationship_id: "rel-1", issuer: did });
  const revoked = await lineOf({ ...end }, key1);
  publish([...lines, revoked]);
  await issuer.verify();
  // The feed of the incident has the revoke; then key and revoke are removed.
  publish([...lines, revoked.replace("{", "{ ")]);
  await issuer.refused("feed_rewritten", "Cannot trust feed");
  publishKeys([key2]);
  publish([await lineOf({ ...upsert(1), issuer: did }, key2)]);
  for (let time = 0; time < 2; time++) {
    await expectSigError(
      () => acknowledgePin(pins, did, OPTIONS),
      "confirmation_required",
      "the history that is served now differs from the recorded incident",
    );
    assertEquals((await showPin(pins, did)).sequence, 2);
  }
  await issuer.refused("feed_rolled_back", "Cannot trust feed");
});

Deno.test("a new history is recorded first, and can be accepted at the next attempt", async () => {
  await using file = await openPinFile();
  const { pins } = file;
  await using issuer = await watchIssuer(3, key1, { pins, maxAgeMs: 0 });
  const { did } = issuer;
  await issuer.verify();
  issuer.publish(issuer.lines.slice(0, 2));
  await expectSigError(
    () => acknowledgePin(pins, did, OPTIONS),
    "confirmation_required",
    "the history that is served now was not recorded before",
  );
  assertEquals((await showPin(pins, did)).incident?.code, "feed_rolled_back");
  assertEquals((await acknowledgePin(pins, did, OPTIONS)).sequence, 2);
});

Deno.test("if the remembered history is served again, acknowledging only ends the warning", () =>
  withIncident(async ({ pins, did, lines, publish, verify }) => {
    publish(lines);
    assertEquals((await verify()).warnings.length, 1);
    const pin = await acknowledgePin(pins, did, OPTIONS);
    assertEquals(pin.inconsistency, null);
    assertEquals(pin.acknowledged.length, 1);
    const fresh = createConsumer({
      ...{ issuers: [did], allowPrivate: true, pins, maxAgeMs: 0 },
      now: () => NOW,
    });
    assertEquals((await fresh.verify(did)).warnings, []);
    await expectSigError(
      () => acknowledgePin(pins, "did:web:none.example", OPTIONS),
      "not_found",
      "is not remembered",
    );
  }));
