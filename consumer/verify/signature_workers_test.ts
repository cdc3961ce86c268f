import {
  DEFAULT_LIMITS,
  type ErrorCode,
  isSigError,
  SigError,
} from "@sig/core";
import { createKeyResolver } from "@sig/jose";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import {
  DID,
  feedOf,
  importTestKeys,
  lineOf,
  NOW,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import type { SignedTexts } from "./signature_worker.ts";
import { SignatureWorkers } from "./signature_workers.ts";
import type { VerifyFeedOptions } from "./verified_feed.ts";
import { verifyFeed } from "./verify_feed.ts";

const [key1, key2, stranger] = await importTestKeys();
assert(key1 && key2 && stranger);
const keys = await createKeyResolver({ keys: [key1.publicJwk] });
const bothKeys = await createKeyResolver({
  keys: [key1.publicJwk, key2.publicJwk],
});
const ALONE = new SignatureWorkers({ maxWorkers: 0 });

/** Lines that make a feed large at once, then many short ones. */
const LONG_LINES = 60;
const LINES = 900;

/** A signature costs more than reading a test: made once. */
const good = await Promise.all(
  Array.from({ length: LINES }, (_, i) => {
    const pad = i < LONG_LINES ? "x".repeat(30_000) : "";
    return lineOf(upsert(i + 1, { metadata: { pad } }), key1!);
  }),
);
/** Two thirds of the way, with lines of many batches before and behind. */
const AT = 600;

/** The feed with other lines from {@linkcode AT} on. */
function withLines(...lines: readonly (string | Uint8Array)[]): Uint8Array {
  return joined([
    feedOf(good.slice(0, AT)),
    ...lines.map((line) => typeof line === "string" ? feedOf([line]) : line),
    feedOf(good.slice(AT + lines.length)),
  ]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Counts what the workers were given, and came to. */
class CountedWorkers extends SignatureWorkers {
  batches = 0;
  answered = 0;

  override async verify(texts: SignedTexts) {
    this.batches++;
    const verdicts = await super.verify(texts);
    if (verdicts !== undefined) this.answered++;
    return verdicts;
  }
}

/** Chunks that wait, once, until there are workers. */
async function* chunksFor(
  workers: SignatureWorkers,
  bytes: Uint8Array,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) {
    yield bytes.slice(at, at + 65_536);
    while (workers.isStarting) await new Promise((r) => setTimeout(r, 1));
  }
}

/** Everything that a caller sees of a verification. */
async function outcome(
  bytes: (workers: SignatureWorkers) => AsyncIterable<Uint8Array>,
  workers: SignatureWorkers,
  options: Partial<VerifyFeedOptions>,
) {
  const events: unknown[] = [];
  const told = (error: unknown) => {
    if (!isSigError(error)) throw error;
    const { code, message, context } = error;
    return { code, message, context };
  };
  try {
    const { state, faults, bytes: _, ...rest } = await verifyFeed(
      bytes(workers),
      {
        issuer: DID,
        keys,
        publicOnly: true,
        now: NOW,
        digest: true,
        workers,
        onEvent: ({ event, ...place }) => events.push([event.event_id, place]),
        ...options,
      },
    );
    const { by_relationship_id: relationships, last_sequence } = state;
    // After a fault it depends on timing how far was read.
    const sha256 = faults.length > 0 ? undefined : rest.sha256;
    return {
      ...{ ...rest, sha256, events, last_sequence },
      relationships: [...relationships],
      faults: faults.map(told),
    };
  } catch (error) {
    return { thrown: told(error), events };
  }
}

/** The outcome with workers, which is the one without. */
async function sameOutcome(
  bytes:
    | Uint8Array
    | ((workers: SignatureWorkers) => AsyncIterable<Uint8Array>),
  options: () => Partial<VerifyFeedOptions> = () => ({}),
) {
  const source = bytes instanceof Uint8Array
    ? (workers: SignatureWorkers) => chunksFor(workers, bytes)
    : bytes;
  const workers = new CountedWorkers({ maxWorkers: 2 });
  const parallel = await outcome(source, workers, options());
  assert(workers.answered > 0);
  assertEquals(workers.size, 0);
  const alone = await outcome(source, ALONE, options());
  assertEquals(parallel, alone);
  return parallel;
}

/** The code and line of what was thrown. */
function thrown(result: Awaited<ReturnType<typeof outcome>>) {
  assert("thrown" in result && result.thrown !== undefined);
  return [result.thrown.code, result.thrown.context.line];
}

function signedBy(line: string, other: string): string {
  const { signature } = JSON.parse(other);
  return JSON.stringify({ ...JSON.parse(line), signature });
}

Deno.test("a feed comes to the same with workers as without", async () => {
  const result = await sameOutcome(feedOf(good));
  assert("verifiedEvents" in result);
  assertEquals(result.verifiedEvents, LINES);
  assertEquals(result.events.length, LINES);
});

const forged = await lineOf(upsert(AT + 1), stranger);
const FAULTY: Readonly<Record<string, readonly [Uint8Array, ErrorCode]>> = {
  "a forged line": [withLines(forged), "signature_invalid"],
  "another event's signature": [
    withLines(signedBy(good[AT]!, good[AT + 1]!)),
    "signature_invalid",
  ],
  "a signature of another length": [
    withLines(JSON.stringify({ ...JSON.parse(good[AT]!), signature: "" })),
    "signature_invalid",
  ],
  "a key that is not known": [
    withLines(await lineOf(upsert(AT + 1), key2)),
    "key_not_found",
  ],
  "a gap": [withLines(good[AT + 1]!), "sequence_gap"],
  "an event twice": [withLines(good[AT - 1]!), "sequence_out_of_order"],
  "a payload of another shape": [
    withLines(await lineOf(upsert(AT + 1, { valid_from: "soon" }), key1)),
    "invalid_field",
  ],
  "a line that is too long": [withLines("x".repeat(70_000)), "line_too_long"],
  "bytes that are not UTF-8": [
    withLines(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d, 0x0a)),
    "invalid_line",
  ],
  "an empty line": [withLines(""), "invalid_line"],
};

for (const [name, [bytes, code]] of Object.entries(FAULTY)) {
  Deno.test(`with workers ${name} is the same fault at the same place`, async () => {
    const result = await sameOutcome(bytes);
    assertEquals(thrown(result), [code, AT + 1]);
    assertEquals(result.events.length, AT);
    const survey = await sameOutcome(bytes, () => ({ maxFaults: 100 }));
    assert("faults" in survey && survey.faults !== undefined);
    assertEquals([survey.faults[0]?.code, survey.faults[0]?.context.line], [
      code,
      AT + 1,
    ]);
  });
}

Deno.test("with workers many faults of all kinds are surveyed in order", async () => {
  const lines = [...good];
  const { signature: _, ...unsigned } = JSON.parse(good[0]!);
  for (let i = 100; i < LINES; i += 97) {
    const line = good[i]!;
    lines[i] = [
      forged,
      "",
      signedBy(line, good[i - 1]!),
      JSON.stringify({ ...JSON.parse(line), signature: "AAAA" }),
      JSON.stringify(unsigned),
      "x".repeat(66_000),
    ][i % 6]!;
  }
  for (const maxFaults of [1, 3, 100]) {
    const survey = await sameOutcome(feedOf(lines), () => ({ maxFaults }));
    assert("faults" in survey && survey.faults !== undefined);
    assertEquals(survey.faults.length, Math.min(maxFaults, 9));
  }
});

Deno.test("a line that no worker is given shifts no other line's verdict", async () => {
  const short = JSON.stringify({ ...JSON.parse(good[AT]!), signature: "AAAA" });
  const swapped = signedBy(good[AT + 2]!, good[AT + 3]!);
  const survey = await sameOutcome(
    withLines(short, good[AT + 1]!, swapped),
    () => ({ maxFaults: 100 }),
  );
  assert("faults" in survey && survey.faults !== undefined);
  assertEquals(survey.faults.map(({ code, context }) => [code, context.line]), [
    ["signature_invalid", AT + 1],
    ["signature_invalid", AT + 3],
  ]);
});

Deno.test("of two faults the first counts, also when the later one is of the reading", async () => {
  const bytes = withLines(forged);
  const limits = { ...DEFAULT_LIMITS, maxFeedBytes: bytes.length - 1 };
  const tooLarge = await sameOutcome(bytes, () => ({ limits }));
  assertEquals(thrown(tooLarge), ["signature_invalid", AT + 1]);
  const broken = new SigError("fetch_failed", "Cannot fetch: it broke off");
  const torn = await sameOutcome(async function* (workers) {
    yield* chunksFor(workers, bytes);
    throw broken;
  });
  assertEquals(thrown(torn), ["signature_invalid", AT + 1]);
  const whole = await sameOutcome(async function* (workers) {
    yield* chunksFor(workers, feedOf(good));
    throw broken;
  });
  assertEquals(thrown(whole), ["fetch_failed", undefined]);
  assertEquals(whole.events.length, LINES);
});

Deno.test("with workers a torn last line is told behind all others", async () => {
  const bytes = feedOf(good);
  assertEquals(thrown(await sameOutcome(bytes.slice(0, -1))), [
    "incomplete_line",
    LINES,
  ]);
});

Deno.test("with workers a new key makes the keys be asked for once", async () => {
  const rotated = await Promise.all(
    Array.from({ length: 40 }, (_, i) => lineOf(upsert(AT + 1 + i), key2)),
  );
  let asked = 0;
  const result = await sameOutcome(withLines(...rotated), () => ({
    refreshKeys: () => {
      asked++;
      return Promise.resolve(bothKeys);
    },
  }));
  assert("keys" in result && result.keys !== undefined);
  assertEquals(result.keys.map(({ events }) => events), [LINES - 40, 40]);
  assertEquals(asked, 2);
});

Deno.test("a signature proven with the old key is judged again with the new one", async () => {
  // While its lines wait, the keys are fetched anew: the kid has another key.
  const unknown = await lineOf(upsert(AT + 1), key2);
  const swapped = await createKeyResolver({
    keys: [
      key2.publicJwk,
      { ...stranger.publicJwk, kid: key1.kid },
    ],
  });
  const result = await sameOutcome(withLines(unknown), () => ({
    refreshKeys: () => Promise.resolve(swapped),
  }));
  assertEquals(thrown(result), ["signature_invalid", AT + 2]);
});

Deno.test("a small feed starts no worker", async () => {
  const workers = new CountedWorkers({ maxWorkers: 2 });
  await outcome(
    (workers) => chunksFor(workers, feedOf(good.slice(0, 40))),
    workers,
    {},
  );
  assertEquals([workers.batches, workers.size], [0, 0]);
});

Deno.test("readers at the same time share the workers, and the last one ends them", async () => {
  const workers = new CountedWorkers({ maxWorkers: 2 });
  let most = 0;
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      outcome(
        async function* (workers) {
          for await (
            const chunk of chunksFor(
              workers,
              i === 3 ? withLines(forged) : feedOf(good),
            )
          ) {
            most = Math.max(most, workers.size);
            yield chunk;
          }
        },
        workers,
        // As in a server: others need this thread.
        { breathe: () => new Promise((resolve) => setTimeout(resolve)) },
      )),
  );
  assertEquals([most, workers.size], [2, 0]);
  assert(workers.answered > 8);
  const ends = results.map((each) => "thrown" in each ? 1 : 0);
  assertEquals(ends, [0, 0, 0, 1, 0, 0, 0, 0]);
});

Deno.test("who gives up in the middle leaves no worker behind", async () => {
  const workers = new CountedWorkers({ maxWorkers: 2 });
  const stop = new Error("enough");
  let events = 0;
  const error = await verifyFeed(chunksFor(workers, feedOf(good)), {
    issuer: DID,
    keys,
    publicOnly: true,
    now: NOW,
    workers,
    onEvent: () => {
      if (++events === AT) throw stop;
    },
  }).catch((error) => error);
  assertStrictEquals(error, stop);
  assert(workers.batches > 0);
  assertEquals(workers.size, 0);
});

/** A platform whose workers do as they are told here, and are real else. */
async function withWorkers(
  replacement: unknown,
  run: () => Promise<void>,
): Promise<void> {
  const original = globalThis.Worker;
  Object.assign(globalThis, { Worker: replacement });
  try {
    await run();
  } finally {
    Object.assign(globalThis, { Worker: original });
  }
}

/** Both feeds are judged as ever, whatever the workers do. */
async function judgesAsEver(): Promise<CountedWorkers> {
  const workers = new CountedWorkers({ maxWorkers: 2 });
  for (const [bytes, code] of [[feedOf(good)], [withLines(forged), "s"]]) {
    assert(bytes instanceof Uint8Array);
    const source = (workers: SignatureWorkers) => chunksFor(workers, bytes);
    const result = await outcome(source, workers, {});
    assertEquals(result, await outcome(source, ALONE, {}));
    assertEquals("thrown" in result, code !== undefined);
    assertEquals(workers.size, 0);
  }
  return workers;
}

for (
  const [name, code] of Object.entries({
    "die at once": "throw new Error('no')",
    "don't understand us": "postMessage('what?'); throw new Error('no')",
    "die of the first batch":
      "onmessage = () => { throw new Error('no') }; postMessage('ready')",
    "die of the third batch":
      "let n = 0; onmessage = ({data: {id, places}}) => { if (++n === 3) throw new Error('no'); postMessage({id, verdicts: new Uint8Array(places.length / 3)}) }; postMessage('ready')",
    "find nothing valid":
      "onmessage = ({data: {id, places}}) => postMessage({id, verdicts: new Uint8Array(places.length / 3)}); postMessage('ready')",
    "answer with too few verdicts":
      "onmessage = ({data: {id}}) => postMessage({id, verdicts: Uint8Array.of(1)}); postMessage('ready')",
  })
) {
  Deno.test(`with workers that ${name} a feed is judged as ever`, async () => {
    const Real = globalThis.Worker;
    class Other extends Real {
      constructor(_url: string, options: WorkerOptions) {
        super(`data:text/javascript,${encodeURIComponent(code)}`, options);
      }
    }
    await withWorkers(Other, async () => void await judgesAsEver());
  });
}

Deno.test("where workers don't exist or may not start, a feed is judged as ever", async () => {
  class Refused {
    constructor() {
      throw new TypeError("not here");
    }
  }
  for (const replacement of [undefined, Refused]) {
    await withWorkers(replacement, async () => {
      assertEquals((await judgesAsEver()).batches, 0);
    });
  }
});

Deno.test("workers start in a process without any permission", async () => {
  const module = new URL("./signature_workers.ts", import.meta.url).href;
  const program = `import { SignatureWorkers } from "${module}";
const workers = new SignatureWorkers({ maxWorkers: 1 });
workers.join();
while (workers.isStarting) await new Promise((r) => setTimeout(r, 5));
console.log(workers.isReady);
workers.leave();`;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-prompt", "--quiet", "--config", "deno.json"],
      `data:text/javascript,${encodeURIComponent(program)}`,
    ],
    cwd: new URL("../../", import.meta.url),
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assertEquals([code, text(stdout), text(stderr)], [0, "true\n", ""]);
});
