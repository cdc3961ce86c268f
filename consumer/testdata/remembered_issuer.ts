/** An issuer on a server, and processes that share a memory of it. */

import { type Consumer, type ConsumerOptions, createConsumer } from "../mod.ts";
import { acknowledgePin, type PinRecord, showPin } from "../pins.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import type { revoke, upsert } from "../../tests/kit/events.ts";
import { importTestKeys, lineOf } from "../../tests/kit/test_issuer.ts";
import { START_MS, watchIssuer } from "../../tests/kit/watched_issuer.ts";

const [key1] = await importTestKeys();

/** An event of the issuer's feed. */
export type Event = ReturnType<typeof upsert> | ReturnType<typeof revoke>;

/** An issuer, and processes that share a memory of it. */
export type RememberedIssuer = Awaited<ReturnType<typeof rememberIssuer>>;

/**
 * Starts an issuer with upserts 1 to n.
 *
 * @param shared Options of all processes (default: a store in memory).
 */
export async function rememberIssuer(
  events = 0,
  { pins = createMemoryStore(), ...shared }: Partial<ConsumerOptions> = {},
) {
  const watched = await watchIssuer(events, key1);
  const { did, publish } = watched;
  const lines = [...watched.lines];
  let nowMs = START_MS;
  /** Creates a consumer as a new process would. */
  const fresh = (options: Partial<ConsumerOptions> = {}): Consumer =>
    createConsumer({
      ...{ issuers: [did], allowPrivate: true, maxAgeMs: 0, pins },
      ...{ now: () => new Date(nowMs), ...shared, ...options },
    });
  return {
    ...{ ...watched, pins, fresh },
    /** Reads the feed as a new process. */
    verify: (options?: Partial<ConsumerOptions>) => fresh(options).verify(did),
    /** Adds events to the feed. */
    async append(...events: readonly Event[]) {
      for (const event of events) {
        lines.push(await lineOf({ ...event, issuer: did }, key1));
      }
      publish(lines);
    },
    wait: (ms: number) => nowMs += ms,
    pin: (): Promise<PinRecord> => showPin(pins, did),
    /** Accepts the history that is served now. */
    accept: (expect?: string): Promise<PinRecord> =>
      acknowledgePin(pins, did, {
        ...{ allowPrivate: true, now: new Date(nowMs), reason: "by phone" },
        ...{ expect, mirrorFolder: shared.mirrorFolder },
      }),
  };
}
