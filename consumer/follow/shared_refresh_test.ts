import { assertEquals } from "@std/assert";
import { SharedRefresh, type WaitingLimits } from "./shared_refresh.ts";
import { microtasks } from "../../tests/kit/wait.ts";

/** Work that ends when the test resolves it. */
class Steps {
  readonly started: { end: PromiseWithResolvers<number> }[] = [];
  readonly queue: SharedRefresh<number>;

  constructor(limits: Partial<WaitingLimits> = {}) {
    let clock = 0;
    this.queue = new SharedRefresh<number>(
      () => {
        const end = Promise.withResolvers<number>();
        this.started.push({ end });
        return end.promise;
      },
      {
        now: () => new Date(++clock),
        limits: { maxWaiting: 1024, maxWaitMs: 60_000, ...limits },
      },
    );
  }
}

Deno.test("questions of one turn of the event loop share one run", async () => {
  const { queue, started } = new Steps();
  const results = Array.from({ length: 100 }, () => queue.run());
  assertEquals(started.length, 0);
  assertEquals(queue.isBusy, true);
  await microtasks();
  assertEquals(started.length, 1);
  started[0]!.end.resolve(7);
  assertEquals(await Promise.all(results), results.map(() => 7));
  assertEquals(queue.isBusy, false);
});

Deno.test("questions that arrive during a run share the next run", async () => {
  const { queue, started } = new Steps();
  const first = queue.run();
  await microtasks();
  assertEquals(queue.runningSince, new Date(1));
  const later = [queue.run(), queue.run()];
  await microtasks();
  assertEquals(started.length, 1);
  started[0]!.end.resolve(1);
  assertEquals(await first, 1);
  await microtasks();
  assertEquals(started.length, 2);
  assertEquals(queue.runningSince, new Date(2));
  started[1]!.end.resolve(2);
  assertEquals(await Promise.all(later), [2, 2]);
  assertEquals(queue.runningSince, undefined);
});

Deno.test("a failed run rejects all questions that arrived during it, but no later question", async () => {
  const { queue, started } = new Steps();
  const outcome = (work: Promise<number>) =>
    work.catch((error) => (error as Error).message);
  const first = outcome(queue.run());
  await microtasks();
  const meanwhile = [queue.run(), queue.run(), queue.run(true)].map(outcome);
  await microtasks();
  started[0]!.end.reject(new Error("no"));
  assertEquals(await first, "no");
  assertEquals(await Promise.all(meanwhile), meanwhile.map(() => "no"));
  assertEquals([started.length, queue.isBusy], [1, false]);
  const later = queue.run();
  await microtasks();
  started[1]!.end.resolve(3);
  assertEquals(await later, 3);
});
