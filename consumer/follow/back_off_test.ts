import { assert, assertEquals } from "@std/assert";
import { type ErrorCode, SigError } from "@sig/core";
import { turns, within } from "../../tests/kit/wait.ts";
import { BackOff, isUnreachable } from "./back_off.ts";

const failing = (code: ErrorCode) => () =>
  Promise.reject(new SigError(code, { action: "x", reason: "y" }));
const down = failing("fetch_failed");

/** Creates a back-off with a manual clock, and counts its attempts. */
function setUp() {
  let [ms, attempts] = [0, 0];
  const backOff = new BackOff({ now: () => new Date(ms) });
  return {
    attempts: () => attempts,
    wait: (more: number) => ms += more,
    /** Returns the result; of a failure its code, and its delay while attempts are delayed. */
    async ask(work: () => Promise<string> = down, isUrgent = false) {
      const counted = () => {
        attempts++;
        return work();
      };
      return await within("a question", backOff.ask(counted, isUrgent))
        .catch(({ code, context }) =>
          [code, context?.retry_after_seconds].join(" ").trim()
        );
    },
  };
}

Deno.test("under 50 questions a second, attempts begin 1, 2, 4, 8 and then 10 s apart", async () => {
  const { ask, attempts, wait } = setUp();
  const begun: number[] = [];
  for (let ms = 0; ms < 120_000; ms += 20) {
    const before = attempts();
    await ask();
    if (attempts() > before) begun.push(ms);
    wait(20);
  }
  const pauses = begun.slice(1).map((ms, i) => ms - begun[i]!);
  assert(pauses.length >= 11);
  for (const [i, pause] of pauses.entries()) {
    const delay = [1_000, 2_000, 4_000, 8_000][i] ?? 10_000;
    assert(delay <= pause && pause <= delay * 1.2 + 20, `${i}: ${pause} ms`);
  }
  wait(12_000);
  assertEquals(await ask(() => Promise.resolve("answer")), "answer");
  // After a success the delays begin again.
  assertEquals(await ask(), "fetch_failed");
  assertEquals(await ask(), "fetch_failed 2");
  // A clock that was set back does not prolong them.
  wait(-1);
  assertEquals(await ask(() => Promise.resolve("answer")), "answer");
});

Deno.test("attempts that fail together are one failure, and an urgent question is never delayed", async () => {
  const { ask, attempts, wait } = setUp();
  const together = await Promise.all(Array.from({ length: 10 }, () => ask()));
  assertEquals(new Set(together), new Set(["fetch_failed"]));
  assertEquals(await ask(), "fetch_failed 2");
  assertEquals(attempts(), 10);
  const { promise: silence, reject } = Promise.withResolvers<string>();
  const late = ask(() => silence, true);
  assertEquals(await ask(down, true), "fetch_failed");
  assertEquals(attempts(), 12);
  // The late failure of an attempt that overlapped does not count.
  wait(2_000);
  reject(new SigError("fetch_timeout", { reason: "y" }));
  assertEquals([await late, await ask()], ["fetch_timeout", "fetch_failed 1"]);
});

Deno.test("of the questions after the delay one tries again, for 100 ms only, and its attempt continues", async () => {
  const { ask, attempts, wait } = setUp();
  await ask();
  wait(1_200);
  const { promise, resolve } = Promise.withResolvers<string>();
  const hundred = Array.from({ length: 100 }, () => ask(() => promise));
  assertEquals(
    new Set(await Promise.all(hundred)),
    new Set(["fetch_failed 1"]),
  );
  assertEquals(attempts(), 2);
  resolve("late");
  await turns(1);
  assertEquals(await ask(() => Promise.resolve("next")), "next");
});

Deno.test("a fault of the issuer ends the delay; a full queue and an ended question don't", async () => {
  const { ask } = setUp();
  await ask();
  assertEquals(await ask(failing("overloaded"), true), "overloaded");
  await ask(() => Promise.reject(new DOMException("ended")), true);
  assertEquals(await ask(), "fetch_failed 2");
  assertEquals(
    await ask(failing("signature_invalid"), true),
    "signature_invalid",
  );
  assertEquals(await ask(() => Promise.resolve("answer")), "answer");
});

Deno.test("only an issuer that can't be reached is forgiven", () => {
  const codes = {
    ...{ fetch_failed: true, fetch_status: true, fetch_timeout: true },
    ...{ key_unresolvable: true, fetch_redirected: false },
    ...{ fetch_media_type: false, store_unavailable: false },
    ...{ checkpoint_stale: false, cosignatures_missing: false },
    ...{ overloaded: false, feed_rolled_back: false, signature_invalid: false },
  };
  for (const [code, expected] of Object.entries(codes)) {
    const error = new SigError(code as ErrorCode, { reason: "y" });
    assertEquals(isUnreachable(error), expected, code);
  }
});
