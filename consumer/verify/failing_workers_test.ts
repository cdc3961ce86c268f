import { assertEquals, assertStringIncludes } from "@std/assert";
import { ROOT, run } from "../../tests/kit/process.ts";
import {
  expectSameResults,
  expectSameResultsWith,
  withWorkers,
} from "../testdata/failing_workers.ts";

const THROWING = {
  "fail immediately": "throw new Error('no')",
  "send an unexpected message": "postMessage('what?'); throw new Error('no')",
  "fail in the first batch":
    "onmessage = () => { throw new Error('no') }; postMessage('ready')",
  "fail in the third batch":
    "let n = 0; onmessage = ({data: {id}}) => { if (++n === 3) throw new Error('no'); postMessage({id, verdicts: new Uint8Array(999)}) }; postMessage('ready')",
};

Deno.test(
  `a feed is verified the same with workers that ${
    Object.keys(THROWING).join(", or ")
  }`,
  async () => {
    const { code, stderr } = await run(Deno.execPath(), [
      ...["run", "-A", "--no-check", "--quiet", "--config", "deno.json"],
      "consumer/testdata/failing_workers.ts",
      ...Object.values(THROWING),
    ], { cwd: ROOT });
    assertEquals(code, 0, stderr);
    assertStringIncludes(stderr, 'Uncaught (in worker "signatures")');
  },
);

for (
  const [name, code] of Object.entries({
    "find no signature valid":
      "onmessage = ({data: {id, batch}}) => postMessage({id, verdicts: new Uint8Array(batch.length)}); postMessage('ready')",
    "answer without verdicts":
      "onmessage = ({data: {id}}) => postMessage({id}); postMessage('ready')",
    "answer for other batches":
      "onmessage = ({data: {id}}) => { postMessage({id: id + 7, verdicts: new Uint8Array(9).fill(1)}); postMessage({id, verdicts: new Uint8Array()}) }; postMessage('ready')",
  })
) {
  Deno.test(`a feed is verified the same with workers that ${name}`, () =>
    expectSameResultsWith(code));
}

Deno.test("a feed is verified the same if workers don't exist or can't start", async () => {
  class Refused {
    constructor() {
      throw new TypeError("not here");
    }
  }
  for (const replacement of [undefined, Refused]) {
    await withWorkers(replacement, async () => {
      assertEquals((await expectSameResults()).batches, 0);
    });
  }
});

Deno.test("workers start in a process without permissions", async () => {
  const module = new URL("./signature_workers.ts", import.meta.url).href;
  const program = `import { SignatureWorkers } from "${module}";
const workers = new SignatureWorkers({ maxWorkers: 1 });
workers.join();
// real time: a process without permissions can't import the test kit.
while (workers.isStarting) await new Promise((r) => setTimeout(r, 5));
console.log(workers.isReady);
workers.leave();`;
  const ran = await run(Deno.execPath(), [
    ...["run", "--no-prompt", "--quiet", "--config", "deno.json"],
    `data:text/javascript,${encodeURIComponent(program)}`,
  ], { cwd: ROOT });
  assertEquals(ran, { code: 0, stdout: "true\n", stderr: "" });
});
