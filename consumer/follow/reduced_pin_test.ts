import { isSigError } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import { importSigningKey, type SigningKey } from "@sig/jose";
import { FeedAllowance } from "./feed_allowance.ts";
import {
  type IssuerPin,
  namePinnedKeys,
  reducePin,
} from "../pins/issuer_pin.ts";
import { type IssuerRecord, recordOf } from "./issuer_record.ts";
import { locateIssuer } from "../read/source.ts";
import { Places } from "../verify/places.ts";
import { type Refresh, refreshIssuer } from "./refresh_issuer.ts";
import { importTestKeys, NOW } from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";

const KEYS = new URL("../../vectors/keys.json", import.meta.url);
const [, key2] = await importTestKeys();

const PIN: IssuerPin = {
  issuer: "did:web:acme.example",
  sequence: 5,
  bytes: 1234,
  prefix_sha256: "0".repeat(64),
  last_event_id: "event-5",
  keys: { a: "thumb-a", b: "thumb-b" },
  etag: '"1"',
  first_seen: "2026-01-01T00:00:00Z",
  last_seen: "2026-01-02T00:00:00Z",
};

Deno.test("a pin of usual size keeps all that continuity is judged by", async () => {
  const reduced = await reducePin(PIN);
  assertEquals(reduced, { ...PIN, last_event_id: null, etag: null });
  assertEquals(await namePinnedKeys(reduced, ["a", "b", "c"]), reduced);
});

Deno.test("no issuer chooses the size of its reduced pin", async () => {
  const kids = Array.from(
    { length: 256 },
    (_, i) => String(i).padStart(256, '"\\'),
  );
  const hostile = {
    ...PIN,
    last_event_id: "e".repeat(45_000),
    etag: `"${"x".repeat(256)}"`,
    keys: Object.fromEntries(kids.map((kid) => [kid, "t".repeat(43)])),
  };
  assert(JSON.stringify(hostile).length > 150_000);
  const reduced = await reducePin(hostile);
  assert(JSON.stringify(reduced).length < 1_500);
  const named = await namePinnedKeys(reduced, kids);
  assertEquals(Object.keys(named.keys), kids.slice(-8));
});

/** The same key under another kid. */
async function renamed(index: number, kid: string): Promise<SigningKey> {
  const { keys } = JSON.parse(await Deno.readTextFile(KEYS));
  return await importSigningKey({ ...keys[index].jwk, kid });
}

/** How a refresh relates to the pin: continuity, or the code. */
function wordOf({ outcome }: Refresh): string {
  if (outcome.observation !== undefined) return outcome.observation.continuity;
  assert(isSigError(outcome.error));
  return outcome.error.code;
}

const LONG = `${"long-".repeat(40)}kid`;

/** Verifies an issuer, then again by what is left when its state is gone. */
async function againWithout(
  key: SigningKey,
  change: (
    watched: Awaited<ReturnType<typeof watchIssuer>>,
  ) => void | Promise<void>,
) {
  await using watched = await watchIssuer(2, key);
  const location = locateIssuer(watched.server.did, { allowPrivate: true });
  const ask = async (record: IssuerRecord) =>
    await refreshIssuer(location, record, {
      now: NOW,
      report: false,
      allowance: new FeedAllowance(
        new Places({ maxWorking: 1, maxWaiting: 1, maxWaitMs: 1 }),
        () => {},
      ),
    });
  const { record, outcome } = await ask(recordOf());
  assert(outcome.observation);
  await change(watched);
  const { pin, ...rest } = record.pinned!;
  // As if it had been stored: a pin is plain JSON.
  const stored = JSON.parse(JSON.stringify(pin));
  assertEquals(stored, pin);
  return wordOf(await ask(recordOf({ pin: stored, ...rest })));
}

for (const kid of ["short", LONG]) {
  Deno.test(`what is remembered in little space is judged like the rest: a kid of ${kid.length} characters`, async () => {
    const key = await renamed(0, kid);
    const other = await renamed(1, kid);
    assertEquals(await againWithout(key, () => {}), "consistent");
    assertEquals(
      await againWithout(key, ({ publish, lines }) => {
        publish(lines.slice(0, 1));
      }),
      "feed_rolled_back",
    );
    assertEquals(
      await againWithout(key, async ({ publish, lines, line }) => {
        publish([lines[0]!, await line(2, key, { reason: "other" })]);
      }),
      "feed_rewritten",
    );
    assertEquals(
      await againWithout(key, ({ publishKeys }) => publishKeys([other])),
      "key_replaced",
    );
  });
}

Deno.test("a key of a long name that is gone is told by the feed it signed", async () => {
  assertEquals(
    await againWithout(
      await renamed(0, "short"),
      ({ publishKeys }) => publishKeys([key2]),
    ),
    "key_withdrawn",
  );
  // Its digest names no line's kid: the first of them is what is told.
  assertEquals(
    await againWithout(
      await renamed(0, LONG),
      ({ publishKeys }) => publishKeys([key2]),
    ),
    "key_not_found",
  );
});

Deno.test("keys beyond those that are named are judged by the feed", async () => {
  await using watched = await watchIssuer(1, await renamed(0, "kid-0"));
  const keys = await Promise.all(
    Array.from({ length: 10 }, (_, i) => renamed(0, `kid-${i}`)),
  );
  const lines = [...watched.lines];
  for (const [i, key] of keys.slice(1).entries()) {
    lines.push(await watched.line(i + 2, key));
  }
  watched.publishKeys(keys);
  watched.publish(lines);
  const location = locateIssuer(watched.server.did, { allowPrivate: true });
  const options = { now: NOW, report: false };
  const { record, outcome } = await refreshIssuer(
    location,
    recordOf(),
    options,
  );
  assert(outcome.observation);
  assertEquals(Object.keys(record.pinned!.pin.keys).length, 8);
  const ask = () => refreshIssuer(location, recordOf(record.pinned), options);
  assertEquals(wordOf(await ask()), "consistent");
  watched.publishKeys([await renamed(1, "kid-0"), ...keys.slice(1)]);
  watched.publish(lines);
  assertEquals(wordOf(await ask()), "signature_invalid");
});
