import { assert, assertEquals } from "@std/assert";
import { createConsumer } from "../create_consumer.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import { ALICE, revoke, upsert } from "../../tests/kit/events.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { importTestKeys, lineOf, PATHS } from "../../tests/kit/test_issuer.ts";
import {
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";
import { acknowledgePin, showPin } from "./manage_pins.ts";
import type { SeenFeed } from "../memory/pin.ts";
import type { PinStore } from "../memory/sqlite_lines.ts";

const [key1, key2] = await importTestKeys();
assert(key1 && key2);
const NOW = new Date("2026-06-02T00:00:00Z");
const OPTIONS = { reason: "restored", now: NOW, allowPrivate: true };

/** An issuer whose three events are remembered, and which rewrote the second. */
async function withIncident(
  work: (
    issuer: WatchedIssuer & {
      readonly pins: PinStore;
      readonly lines: readonly string[];
      /** The lines that the incident saw. */
      readonly other: readonly string[];
    },
  ) => Promise<void>,
): Promise<void> {
  for (const kind of ["file", "records"]) {
    await using file = await openPinFile();
    const pins = kind === "file" ? file.pins : createMemoryStore();
    await using issuer = await watchIssuer(3, key1!, { pins, maxAgeMs: 0 });
    const { consumer, server, lines, publish } = issuer;
    await consumer.verify(server.did);
    const second = await issuer.line(2, key1!, { roles: ["other"] });
    const other = lines.map((line, i) => i === 1 ? second : line);
    publish(other);
    await expectSigError(
      () => consumer.verify(server.did),
      "feed_rewritten",
      "Cannot trust feed",
    );
    await work({ ...issuer, pins, other });
  }
}

async function sha256Of({ server }: WatchedIssuer): Promise<string> {
  const feed = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", feed)).toHex();
}

Deno.test("what the incident saw is accepted, after it was shown", () =>
  withIncident(async (issuer) => {
    const { pins, server, consumer } = issuer;
    const { did } = server;
    const sha256 = await sha256Of(issuer);
    const { incident, prefix_sha256: remembered } = await showPin(pins, did);
    const seen = incident?.seen as SeenFeed;
    assertEquals([seen.sha256, seen.sequence], [sha256, 3]);
    assertEquals(Object.keys(seen.keys), ["orgsign-1"]);
    // Nothing is written where the person says no.
    const confirm = (history: unknown) => {
      shown.push(history);
      return Promise.reject(new Error("no"));
    };
    const shown: unknown[] = [];
    let message = "";
    await acknowledgePin(pins, did, { ...OPTIONS, confirm })
      .catch((error: Error) => message = error.message);
    assertEquals(message, "no");
    const [history] = shown as [
      { served: { first_difference: number | null; sha256: string } },
    ];
    // Without its lines nobody can tell where a history differs.
    const first = pins.lines === undefined ? null : 2;
    assertEquals(history.served.first_difference, first);
    assertEquals(history.served.sha256, sha256);
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
    const { warnings, state } = await consumer.verify(did);
    assertEquals(warnings, []);
    assertEquals(state.by_relationship_id.get("rel-2")?.roles, ["other"]);
  }));

Deno.test("what came after the incident is not accepted, but by its SHA-256", () =>
  withIncident(async (issuer) => {
    const { pins, server, other, publish, line } = issuer;
    const { did } = server;
    const recorded = await sha256Of(issuer);
    publish([...other, await line(4, key1!)]);
    const served = await sha256Of(issuer);
    const error = await expectSigError(
      () => acknowledgePin(pins, did, OPTIONS),
      "confirmation_required",
      "Cannot accept history: what is served now is not what the recorded incident saw",
    );
    assertEquals(error.context.served_sha256, served);
    assertEquals(error.context.recorded_sha256, recorded);
    // Neither once it was refused.
    await expectSigError(
      () => acknowledgePin(pins, did, OPTIONS),
      "confirmation_required",
      "is not what the recorded incident saw",
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

Deno.test("a dropped revoke and another key between incident and acknowledgement are not accepted", async () => {
  await using file = await openPinFile();
  const { pins } = file;
  await using issuer = await watchIssuer(1, key1!, { pins, maxAgeMs: 0 });
  const { consumer, server, lines, publish, publishKeys } = issuer;
  const { did } = server;
  const end = revoke(2, { relationship_id: "rel-1", issuer: did });
  const revoked = await lineOf({ ...end }, key1!);
  publish([...lines, revoked]);
  await consumer.verify(did);
  // The incident keeps the revoke; then key and revoke go.
  publish([...lines, revoked.replace("{", "{ ")]);
  await expectSigError(
    () => consumer.verify(did),
    "feed_rewritten",
    "Cannot trust feed",
  );
  publishKeys([key2!]);
  publish([await lineOf({ ...upsert(1), issuer: did }, key2!)]);
  for (let time = 0; time < 2; time++) {
    await expectSigError(
      () => acknowledgePin(pins, did, OPTIONS),
      "confirmation_required",
      "what is served now is not what the recorded incident saw",
    );
    assertEquals((await showPin(pins, did)).sequence, 2);
  }
  const question = { subject: ALICE, require: ["role=deploy"] };
  await expectSigError(
    () => consumer.check(did, question),
    "feed_rolled_back",
    "Cannot trust feed",
  );
});

Deno.test("a history that nobody has seen is recorded first, and accepted then", async () => {
  await using file = await openPinFile();
  const { pins } = file;
  await using issuer = await watchIssuer(3, key1!, { pins, maxAgeMs: 0 });
  const { consumer, server, lines, publish } = issuer;
  const { did } = server;
  await consumer.verify(did);
  publish(lines.slice(0, 2));
  await expectSigError(
    () => acknowledgePin(pins, did, OPTIONS),
    "confirmation_required",
    "nobody has seen before what is served now",
  );
  assertEquals((await showPin(pins, did)).incident?.code, "feed_rolled_back");
  assertEquals((await acknowledgePin(pins, did, OPTIONS)).sequence, 2);
});

Deno.test("where the remembered history is served again only the warning ends", () =>
  withIncident(async ({ pins, server, lines, publish, consumer }) => {
    const { did } = server;
    publish(lines);
    assertEquals((await consumer.verify(did)).warnings.length, 1);
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
