import { assert, assertEquals } from "@std/assert";
import {
  feedOf,
  importTestKeys,
  lineOf,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import {
  ALONE,
  AT,
  chunksFor,
  CountedWorkers,
  good,
  outcome,
  withLines,
} from "../testdata/large_feed.ts";
import type { SignatureWorkers } from "./signature_workers.ts";

const [, , stranger] = await importTestKeys();
const forged = await lineOf(upsert(AT + 1), stranger);

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
      "let n = 0; onmessage = ({data: {id, answer}}) => { if (++n === 3) throw new Error('no'); answer[0] = 1; postMessage(id) }; postMessage('ready')",
    "find nothing valid":
      "onmessage = ({data: {id, answer}}) => { answer[0] = 1; postMessage(id) }; postMessage('ready')",
    "answer with no verdict":
      "onmessage = ({data: {id}}) => postMessage(id); postMessage('ready')",
    "answer for others":
      "onmessage = ({data: {id, answer}}) => { answer[0] = 1; postMessage(id + 7); postMessage(id) }; postMessage('ready')",
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
// real time: a process without permissions imports nothing of ours.
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
