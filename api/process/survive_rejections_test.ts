import { assertEquals } from "@std/assert";
import { surviveRejections } from "./log.ts";

Deno.test("an unhandled rejection is logged on one line and does not end the process", () => {
  const source = new EventTarget();
  let told = "";
  surviveRejections(source, {
    stderr: (text) => void (told += text),
    now: () => new Date(0),
  });
  const event = Object.assign(
    new Event("unhandledrejection", { cancelable: true }),
    { reason: new Error("broke off\n\u001b[2J") },
  );
  source.dispatchEvent(event);
  assertEquals(event.defaultPrevented, true);
  assertEquals(told.split("\n").length, 2);
  assertEquals(told.includes("\u001b"), false);
  const { level, time, error } = JSON.parse(told);
  assertEquals([level, time], ["error", "1970-01-01T00:00:00.000Z"]);
  assertEquals(error.startsWith("Error: broke off"), true);
});
