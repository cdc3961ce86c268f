import type { ErrorCode } from "@sig/core";
import { importSigningKey, signEvent } from "@sig/jose";
import { createFileKeyStore, type RecoveryNotice } from "@sig/issuer";
import { assertEquals } from "@std/assert";
import {
  eachIndexFile,
  forged,
  HOST,
  type Place,
  placeTest as test,
  readFeed,
  upsert,
  walk,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";

/** Appends three events with an issuer, and closes it. */
async function fill(place: Place): Promise<Uint8Array<ArrayBuffer>> {
  const issuer = await place.open();
  await issuer.appendAll([1, 2, 3].map((n) => upsert({ event_id: `e${n}` })));
  await issuer.close();
  return await Deno.readFile(place.feed);
}

const torn = ({ dir }: Place) =>
  [...walk(`${dir}/.sig`)].filter((path) => path.includes("events.jsonl.torn-"))
    .map((path) => Deno.readFileSync(`${dir}/.sig${path}`));

const join = (...parts: (Uint8Array<ArrayBuffer> | string)[]) =>
  new Blob(parts).bytes();

/** Signs a line that the issuer would not write. */
async function lineOf(
  place: Place,
  members: Record<string, unknown>,
): Promise<string> {
  const jwk = await createFileKeyStore(place.keysDir).read({
    host: HOST,
    kid: "orgsign-1",
  });
  const [first] = await readFeed(place);
  const event = { ...first, event_id: "x", sequence: 4, ...members };
  const key = await importSigningKey(jwk);
  return `${JSON.stringify(await signEvent(event, key))}\n`;
}

test("cuts off a last line torn at any byte, and keeps a complete one", async ({ place }) => {
  const feed = await fill(place);
  const start = feed.lastIndexOf(0x0a, feed.length - 2) + 1;
  const middle = (end: number) =>
    end > start + 20 && end < feed.length - 20 && end % 9 !== 0;
  let cut = 0;
  for (let end = start; end < feed.length; end++) {
    if (middle(end)) continue;
    if (end > start && end < feed.length - 1) cut++;
    // A torn write was never acknowledged: the index knows two events.
    await Deno.writeFile(place.feed, feed.subarray(0, start));
    await eachIndexFile(place);
    await (await place.open()).state();
    await Deno.writeFile(place.feed, feed.subarray(0, end));
    const notices: RecoveryNotice[] = [];
    const issuer = await place.open({ onRecovery: (n) => notices.push(n) });
    const { sequence } = await issuer.append(upsert({ event_id: "next" }));
    await issuer.close();
    const whole = end === feed.length - 1;
    assertEquals(sequence, whole ? 4 : 3);
    assertEquals(
      notices.at(-1)?.kind,
      whole ? "line_completed" : end === start ? undefined : "tail_cut",
    );
  }
  const events = await readFeed(place);
  assertEquals(events.map(({ event_id }) => event_id), [
    "e1",
    "e2",
    "e3",
    "next",
  ]);
  // Each torn tail was saved byte for byte.
  const kept = torn(place);
  assertEquals(new Set(kept.map(({ length }) => length)).size, cut);
  for (const bytes of kept) {
    assertEquals(bytes, feed.slice(start, start + bytes.length));
  }
});

for (
  const [what, ...tail] of [
    ["zeros", new Uint8Array(4096)],
    ["zeros and the rest of a line", new Uint8Array(900), 'abc"}\n'],
    ["zeros and a whole line", new Uint8Array(9), "\n{}\n"],
    ["garbage without a line end", '{"protected":"\u0007'],
    ["more bytes than a line may have", "x".repeat(70_000)],
  ] as const
) {
  for (const index of ["kept", "lost"]) {
    test(`treats a tail of ${what} as torn, with the index ${index}`, async ({ place }) => {
      const feed = await fill(place);
      await Deno.writeFile(place.feed, await join(feed, ...tail));
      if (index === "lost") await eachIndexFile(place);
      const issuer = await place.open();
      assertEquals((await issuer.append(upsert())).sequence, 4);
      assertEquals(torn(place), [await join(...tail)]);
      assertEquals((await readFeed(place)).length, 4);
    });
  }
}

test("refuses zeros in the middle if the index is lost and events follow", async ({ place }) => {
  const feed = await fill(place);
  const damaged = feed.slice();
  damaged.fill(0, 40, 60);
  await Deno.writeFile(place.feed, damaged);
  await eachIndexFile(place);
  const issuer = await place.open();
  await expectSigError(
    issuer.append(upsert()),
    "invalid_line",
    "Cannot use the feed: line 1",
  );
  assertEquals(await Deno.readFile(place.feed), damaged);
});

/** The tail after three events: a line, or members of an event. */
const BAD_TAILS: readonly (readonly [
  what: string,
  tail: string | Record<string, unknown>,
  code: ErrorCode,
])[] = [
  ["a blank line", "\n", "invalid_line"],
  ["a line that is not JSON", "oops\n", "invalid_line"],
  ["a carriage return", "{}\r\n", "invalid_line"],
  ["a repeated sequence", { sequence: 3 }, "sequence_out_of_order"],
  ["a jump of the sequence", { sequence: 5 }, "sequence_gap"],
  ["a repeated event_id", { event_id: "e1" }, "duplicate_event_id"],
  ["another issuer", { issuer: "did:web:b.example" }, "issuer_mismatch"],
  [
    "a private event",
    { visibility: "private" },
    "private_event_in_public_feed",
  ],
  ["an unknown event type", { event_type: "other" }, "unknown_event_type"],
  ["a forged signature", {}, "signature_invalid"],
];

for (const [what, tail, code] of BAD_TAILS) {
  test(`${what} in a complete line stops the issuer and is not changed`, async ({ place }) => {
    const feed = await fill(place);
    const line = typeof tail === "string" ? tail : await lineOf(place, tail);
    const damaged = await join(
      feed,
      code === "signature_invalid" ? forged(line) : line,
    );
    await Deno.writeFile(place.feed, damaged);
    const issuer = await place.open();
    const error = await expectSigError(
      issuer.append(upsert()),
      code,
      "Cannot use the feed: line 4",
    );
    assertEquals(error.message.match(/Cannot/g)?.length, 1);
    assertEquals(error.context.line, 4);
    assertEquals(await Deno.readFile(place.feed), damaged);
    assertEquals(torn(place), []);
  });
}

test("state() detects a damaged line in the middle, and so does an append without an index", async ({ place }) => {
  const feed = await fill(place);
  const damaged = forged(new TextDecoder().decode(feed));
  await Deno.writeTextFile(place.feed, damaged);
  const issuer = await place.open();
  const error = await expectSigError(
    issuer.state(),
    "signature_invalid",
    "Cannot verify signature",
  );
  assertEquals(error.context.line, 1);
  await issuer.close();
  await eachIndexFile(place);
  const again = await place.open();
  await expectSigError(
    again.append(upsert()),
    "signature_invalid",
    "Cannot use the feed: line 1",
  );
  assertEquals(await Deno.readTextFile(place.feed), damaged);
});

test("does not recreate a missing sig.json or jwks.json", async ({ place }) => {
  for (const name of ["jwks.json", "sig.json"]) {
    await Deno.remove(`${place.dir}/.well-known/${name}`);
    await expectSigError(place.open(), "source_not_found", name);
  }
});
