import { assertEquals, assertRejects } from "@std/assert";
import { RefreshQueue } from "./refresh_queue.ts";

/** Work whose end the test decides. */
class Steps {
  readonly started: { report: boolean; end: PromiseWithResolvers<number> }[] =
    [];
  #clock = 0;

  readonly queue: RefreshQueue<number> = new RefreshQueue<number>(
    (_at, report) => {
      const end = Promise.withResolvers<number>();
      this.started.push({ report, end });
      return end.promise;
    },
    () => new Date(++this.#clock),
  );
}

/** Lets everything go on that waits for nothing. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

Deno.test("what is asked for in one turn shares one run", async () => {
  const { queue, started } = new Steps();
  const results = Array.from({ length: 100 }, () => queue.next());
  assertEquals(started.length, 0);
  assertEquals(queue.isBusy, true);
  await settle();
  assertEquals(started.length, 1);
  started[0]!.end.resolve(7);
  assertEquals(await Promise.all(results), results.map(() => 7));
  assertEquals(queue.isBusy, false);
});

Deno.test("who asks while a run is under way shares the next one", async () => {
  const { queue, started } = new Steps();
  const first = queue.next();
  await settle();
  assertEquals(queue.running?.startedAt, new Date(1));
  const later = [queue.next(), queue.next()];
  await settle();
  assertEquals(started.length, 1);
  started[0]!.end.resolve(1);
  assertEquals(await first, 1);
  await settle();
  assertEquals(started.length, 2);
  assertEquals(queue.running?.startedAt, new Date(2));
  started[1]!.end.resolve(2);
  assertEquals(await Promise.all(later), [2, 2]);
  assertEquals(queue.running, undefined);
});

Deno.test("a run that failed does not fail the next one", async () => {
  const { queue, started } = new Steps();
  const first = queue.next();
  await settle();
  const second = queue.next();
  started[0]!.end.reject(new Error("no"));
  await assertRejects(() => first, Error, "no");
  await settle();
  started[1]!.end.resolve(2);
  assertEquals(await second, 2);
  const third = queue.next();
  await settle();
  started[2]!.end.resolve(3);
  assertEquals(await third, 3);
});

Deno.test("a wish for a report reaches the run that was not begun", async () => {
  const { queue, started } = new Steps();
  const results = [queue.next(), queue.next({ report: true }), queue.next()];
  await settle();
  results.push(queue.next());
  started[0]!.end.resolve(1);
  await settle();
  started[1]!.end.resolve(1);
  await Promise.all(results);
  assertEquals(started.map(({ report }) => report), [true, false]);
});
