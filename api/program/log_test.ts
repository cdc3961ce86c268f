import { assert, assertEquals } from "@std/assert";
import { createLogWriter, surviveRejections } from "./log.ts";
import { waitUntil } from "../../tests/kit/wait.ts";

/** A reader that reads nothing until it is released. */
function createSlowReader() {
  const texts: string[] = [];
  let open = Promise.withResolvers<void>();
  return {
    texts,
    async write(text: string) {
      texts.push(text);
      await open.promise;
    },
    let() {
      open.resolve();
      open = Promise.withResolvers<void>();
    },
  };
}

Deno.test("lines during a write share the next write", async () => {
  const reader = createSlowReader();
  const log = createLogWriter(reader.write);
  log.write("1\n");
  await waitUntil("written", () => reader.texts.length === 1);
  log.write("2\n");
  log.write("3\n");
  assertEquals(reader.texts, ["1\n"]);
  reader.let();
  await waitUntil("written", () => reader.texts.length === 2);
  reader.let();
  await log.flush();
  assertEquals(reader.texts, ["1\n", "2\n3\n"]);
});

Deno.test("a slow reader loses lines, and the log counts them", async () => {
  const reader = createSlowReader();
  const log = createLogWriter(reader.write);
  log.write("first\n");
  await waitUntil("written", () => reader.texts.length === 1);
  const line = `${"x".repeat(1023)}\n`;
  for (let i = 0; i < 1030; i++) log.write(line);
  reader.let();
  await waitUntil("written", () => reader.texts.length === 2);
  const note = '{"level":"error","dropped_lines":6}\n';
  // Written even if nothing more is logged, and in the place of the lost lines.
  assertEquals(reader.texts[1], line.repeat(1024) + note);
  log.write("last\n");
  reader.let();
  await waitUntil("written", () => reader.texts.length === 3);
  reader.let();
  await log.flush();
  assertEquals(reader.texts[2], "last\n");
});

Deno.test("a closed reader does not stop the log", async () => {
  let writes = 0;
  const log = createLogWriter(() => {
    writes++;
    return Promise.reject(new Deno.errors.BrokenPipe());
  });
  log.write("1\n");
  await log.flush();
  log.write("2\n");
  await log.flush();
  assert(writes === 2);
});

Deno.test("flush resolves immediately when nothing is buffered", async () => {
  await createLogWriter(() => new Promise(() => {})).flush();
});

Deno.test("an unhandled rejection is logged on one line and does not end the process", () => {
  const source = new EventTarget();
  let written = "";
  surviveRejections(source, {
    stderr: (text) => void (written += text),
    now: () => new Date(0),
  });
  const event = Object.assign(
    new Event("unhandledrejection", { cancelable: true }),
    { reason: new Error("broke off\n\u001b[2J") },
  );
  source.dispatchEvent(event);
  assertEquals(event.defaultPrevented, true);
  assertEquals(written.split("\n").length, 2);
  assertEquals(written.includes("\u001b"), false);
  const { level, time, error } = JSON.parse(written);
  assertEquals([level, time], ["error", "1970-01-01T00:00:00.000Z"]);
  assertEquals(error.startsWith("Error: broke off"), true);
});
