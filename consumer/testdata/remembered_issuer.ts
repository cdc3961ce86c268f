/** An issuer whose feed grows, and consumers that share a pin store. */

import type { Consumer, ConsumerOptions } from "../consumer.ts";
import { createConsumer } from "../create_consumer.ts";
import type { PinStore } from "../memory/open_pin_store.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import {
  type ConditionalServer,
  startConditionalServer,
} from "../../tests/kit/conditional_server.ts";
import type { revoke, upsert } from "../../tests/kit/events.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import {
  feedOf,
  importTestKeys,
  lineOf,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";

const [key] = await importTestKeys();

/** An event of the issuer's feed. */
export type Event = ReturnType<typeof upsert> | ReturnType<typeof revoke>;

/** The issuer and its consumers, for a test. */
export interface RememberedIssuer {
  readonly did: string;
  readonly pins: PinStore;
  /** The path of the pin store, if it is a file. */
  readonly path: string;
  readonly server: ConditionalServer;
  /** Creates a consumer as a new process would. */
  fresh(more?: Partial<ConsumerOptions>): Consumer;
  /** Adds events to the feed. */
  publish(events: readonly Event[]): Promise<void>;
}

/**
 * Runs a test with such an issuer; the pin store is a file, or has records
 * only.
 */
export async function withIssuer(
  work: (issuer: RememberedIssuer) => Promise<void>,
  kind: "file" | "records" = "file",
): Promise<void> {
  await using server = startConditionalServer();
  const { did, origin, documents } = server;
  const keys = [key];
  for (const each of makeDocuments({ did, origin, keys, lines: [] })) {
    documents.set(...each);
  }
  await using file = await openPinFile();
  const pins = kind === "file" ? file.pins : createMemoryStore();
  const now = () => new Date("2026-06-01T00:00:00Z");
  const lines: string[] = [];
  await work({
    ...{ did, pins, server, path: file.path },
    fresh: (more) =>
      createConsumer({
        ...{ issuers: [did], allowPrivate: true, now, maxAgeMs: 0, pins },
        ...more,
      }),
    async publish(events) {
      for (const event of events) {
        lines.push(await lineOf({ ...event, issuer: did }, key));
      }
      documents.set(PATHS.feed, feedOf(lines));
    },
  });
}
