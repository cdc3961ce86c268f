import type { ErrorCode } from "@sig/core";
import { importSigningKey, signEvent } from "@sig/jose";
import {
  createFileKeyStore,
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
  type RecoveryNotice,
} from "@sig/issuer";
import { assertEquals } from "@std/assert";
import {
  DID,
  HOST,
  NOW,
  type Place,
  readFeed,
  upsert,
  withPlace,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";

/** Three events, by an issuer that is closed again. */
async function fill(place: Place): Promise<Uint8Array> {
  const issuer = await place.open();
  await issuer.appendAll([1, 2, 3].map((n) => upsert({ event_id: `e${n}` })));
  await issuer.close();
  return await Deno.readFile(place.feed);
}

async function dropIndex(place: Place): Promise<void> {
  for (const suffix of ["", "-wal", "-shm"]) {
    await Deno.remove(`${place.dir}/.sig/index.db${suffix}`).catch(() => {});
  }
}

async function torn(place: Place): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for await (const { name } of Deno.readDir(`${place.dir}/.sig`)) {
    if (name.startsWith("events.jsonl.torn-")) {
      found.push(await Deno.readFile(`${place.dir}/.sig/${name}`));
    }
  }
  return found;
}

function join(...parts: (Uint8Array | string)[]): Uint8Array {
  const bytes = parts.map((part) =>
    typeof part === "string" ? new TextEncoder().encode(part) : part
  );
  return new Uint8Array(bytes.flatMap((part) => [...part]));
}

/** A line that our issuer would not write, but whose signature is right. */
async function lineOf(
  place: Place,
  members: Record<string, unknown>,
): Promise<string> {
  const jwk = await createFileKeyStore(place.keysDir).read({
    host: HOST,
    kid: "orgsign-1",
  });
  const [event] = await readFeed(place);
  const key = await importSigningKey(jwk);
  return `${JSON.stringify(await signEvent({ ...event, ...members }, key))}\n`;
}

Deno.test("a last line torn at any byte is cut off, a whole one is kept (in memory)", async () => {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: DID });
  const path = "/.well-known/sig/events.jsonl";
  const now = () => NOW;
  // One store is put back again and again.
  const acceptRollback = true;
  const issuer = await openIssuer({ store, keys, now, acceptRollback });
  for (const event_id of ["e1", "e2"]) {
    await issuer.append(upsert({ event_id }));
  }
  const two = store.files.get(path) ?? new Uint8Array();
  await issuer.append(upsert({ event_id: "e3" }));
  const feed = store.files.get(path) ?? new Uint8Array();
  for (let end = two.length; end < feed.length; end++) {
    // The index knows two events, the feed has a piece of a third.
    store.files.set(path, two);
    await issuer.state();
    store.files.set(path, feed.slice(0, end));
    const { sequence } = await issuer.append(upsert({ event_id: "next" }));
    const whole = end === feed.length - 1;
    assertEquals(sequence, whole ? 4 : 3);
    const state = await issuer.state();
    assertEquals(state.last_sequence, sequence);
  }
});

Deno.test("a last line torn at any byte is cut off, a whole one is kept (on disk)", () =>
  withPlace(async (place) => {
    const feed = await fill(place);
    const start = feed.lastIndexOf(0x0a, feed.length - 2) + 1;
    const middle = (end: number) =>
      end > start + 20 && end < feed.length - 20 && end % 9 !== 0;
    let cut = 0;
    for (let end = start; end < feed.length; end++) {
      if (middle(end)) continue;
      if (end > start && end < feed.length - 1) cut++;
      // A write that is torn was never acknowledged: the index knows two.
      await Deno.writeFile(place.feed, feed.subarray(0, start));
      await Deno.remove(`${place.dir}/.sig/index.db`).catch(() => {});
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
    // Each torn tail was kept aside, byte for byte.
    const kept = await torn(place);
    assertEquals(new Set(kept.map(({ length }) => length)).size, cut);
    for (const bytes of kept) {
      assertEquals(bytes, feed.slice(start, start + bytes.length));
    }
  }));

for (
  const [what, tail, sequence] of [
    ["zeros", new Uint8Array(4096), 4],
    ["zeros and the rest of a line", join(new Uint8Array(900), 'abc"}\n'), 4],
    ["zeros and a whole line", join(new Uint8Array(9), "\n{}\n"), 4],
    ["garbage without a line end", '{"protected":"\u0007', 4],
    ["a longer piece than a line may be", "x".repeat(70_000), 4],
  ] as const
) {
  for (const index of ["kept", "lost"]) {
    Deno.test(`a tail of ${what} is torn, with the index ${index}`, () =>
      withPlace(async (place) => {
        const feed = await fill(place);
        await Deno.writeFile(place.feed, join(feed, tail));
        if (index === "lost") await dropIndex(place);
        const issuer = await place.open();
        assertEquals((await issuer.append(upsert())).sequence, sequence);
        assertEquals(await torn(place), [join(tail)]);
        assertEquals((await readFeed(place)).length, 4);
      }));
  }
}

Deno.test("zeros in the middle are refused when the index is lost and events follow", () =>
  withPlace(async (place) => {
    const feed = await fill(place);
    const damaged = feed.slice();
    damaged.fill(0, 40, 60);
    await Deno.writeFile(place.feed, damaged);
    await dropIndex(place);
    const issuer = await place.open();
    await expectSigError(
      issuer.append(upsert()),
      "invalid_line",
      "Cannot use the feed: line 1",
    );
    assertEquals(await Deno.readFile(place.feed), damaged);
  }));

const BAD_TAILS: readonly [
  string,
  (place: Place) => Promise<string>,
  ErrorCode,
][] = [
  ["a blank line", () => Promise.resolve("\n"), "invalid_line"],
  ["a line that is not JSON", () => Promise.resolve("oops\n"), "invalid_line"],
  [
    "a carriage return",
    async (place) =>
      (await lineOf(place, { event_id: "x", sequence: 4 }))
        .replace("\n", "\r\n"),
    "invalid_line",
  ],
  [
    "a repeated sequence",
    (place) => lineOf(place, { event_id: "x", sequence: 3 }),
    "sequence_out_of_order",
  ],
  [
    "a jump of the sequence",
    (place) => lineOf(place, { event_id: "x", sequence: 5 }),
    "sequence_gap",
  ],
  [
    "a repeated event_id",
    (place) => lineOf(place, { event_id: "e1", sequence: 4 }),
    "duplicate_event_id",
  ],
  [
    "another issuer",
    (place) =>
      lineOf(place, {
        event_id: "x",
        sequence: 4,
        issuer: "did:web:b.example",
      }),
    "issuer_mismatch",
  ],
  [
    "a private event",
    (place) =>
      lineOf(place, { event_id: "x", sequence: 4, visibility: "private" }),
    "private_event_in_public_feed",
  ],
  [
    "an unknown event type",
    (place) =>
      lineOf(place, { event_id: "x", sequence: 4, event_type: "other" }),
    "unknown_event_type",
  ],
  ["a forged signature", async (place) => {
    const line = await lineOf(place, { event_id: "x", sequence: 4 });
    const { payload } = JSON.parse(
      await lineOf(place, { event_id: "y", sequence: 4 }),
    ) as { payload: string };
    return `${JSON.stringify({ ...JSON.parse(line), payload })}\n`;
  }, "signature_invalid"],
];

for (const [what, make, code] of BAD_TAILS) {
  Deno.test(`${what} in a complete line stops the issuer and stays`, () =>
    withPlace(async (place) => {
      const feed = await fill(place);
      const damaged = join(feed, await make(place));
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
      assertEquals(await torn(place), []);
    }));
}

Deno.test("a damaged line in the middle is found by state(), and by an append without an index", () =>
  withPlace(async (place) => {
    const feed = await fill(place);
    const damaged = feed.slice();
    const at = new TextDecoder().decode(feed).indexOf('"payload":"') + 30;
    damaged[at] = damaged[at] === 0x41 ? 0x42 : 0x41;
    await Deno.writeFile(place.feed, damaged);
    const issuer = await place.open();
    const error = await expectSigError(
      issuer.state(),
      "signature_invalid",
      "Cannot verify signature",
    );
    assertEquals(error.context.line, 1);
    await issuer.close();
    await dropIndex(place);
    const again = await place.open();
    await expectSigError(
      again.append(upsert()),
      "signature_invalid",
      "Cannot use the feed: line 1",
    );
    assertEquals(await Deno.readFile(place.feed), damaged);
  }));

Deno.test("a feed with CR LF line ends is refused", () =>
  withPlace(async (place) => {
    const feed = new TextDecoder().decode(await fill(place));
    await Deno.writeTextFile(place.feed, feed.replaceAll("\n", "\r\n"));
    const issuer = await place.open();
    await expectSigError(issuer.append(upsert()), "invalid_line", "line 1");
  }));

Deno.test("an empty feed is a feed", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    assertEquals((await issuer.state()).last_sequence, 0);
    assertEquals((await issuer.append(upsert())).sequence, 1);
  }));

Deno.test("a missing feed is not created again", () =>
  withPlace(async (place) => {
    await fill(place);
    await Deno.remove(place.feed);
    const issuer = await place.open();
    await expectSigError(
      issuer.append(upsert()),
      "source_not_found",
      'the feed "/.well-known/sig/events.jsonl" is missing',
    );
    await expectSigError(issuer.state(), "source_not_found", "is missing");
  }));

Deno.test("a missing sig.json or jwks.json is not created again", () =>
  withPlace(async (place) => {
    for (const name of ["jwks.json", "sig.json"]) {
      await Deno.remove(`${place.dir}/.well-known/${name}`);
      await expectSigError(place.open(), "source_not_found", name);
    }
  }));
