/** An issuer with proofs, and processes that share a memory of it. */

import type { CheckAnswer } from "@sig/core";
import type { Consumer, ConsumerOptions } from "../consumer.ts";
import { createConsumer } from "../create_consumer.ts";
import {
  acknowledgePin,
  type PinRecord,
  showPin,
} from "../follow/manage_pins.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import { type ProofsContent, publishProofs } from "../../tests/kit/proofs.ts";
import { importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import {
  QUESTION,
  START_MS,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

const [key1] = await importTestKeys();

/** An issuer with proofs, and processes that share a memory of it. */
export type ProvenIssuer = Awaited<ReturnType<typeof startProvenIssuer>>;

/** Starts an issuer with upserts 1 to n, and proofs of them. */
export async function startProvenIssuer(events: number) {
  const watched = await watchIssuer(events, key1);
  const { did, lines, line, publish, server: { documents, origin } } = watched;
  const pins = createMemoryStore();
  const prove = (
    lines: readonly string[],
    content: Partial<ProofsContent> = {},
  ) => publishProofs(documents, { origin, keys: [key1], lines, ...content });
  await prove(lines);
  let nowMs = START_MS;
  /** Creates a consumer as a new process would. */
  const fresh = (options: Partial<ConsumerOptions> = {}): Consumer =>
    createConsumer({
      ...{ issuers: [did], allowPrivate: true, maxAgeMs: 0, pins },
      now: () => new Date(nowMs),
      ...options,
    });
  return {
    ...{ ...watched, pins, prove, fresh },
    /** Answers by proof as a new process. */
    ask: (options: Partial<ConsumerOptions> = {}): Promise<CheckAnswer> =>
      fresh({ proofs: "always", ...options }).check(did, QUESTION),
    /** Reads the whole feed as a new process. */
    read: () => fresh({ proofs: "never" }).verify(did),
    pin: (): Promise<PinRecord> => showPin(pins, did),
    /** Publishes lines and their proofs. */
    async publishProven(
      lines: readonly string[],
      content?: Partial<ProofsContent>,
    ) {
      publish(lines);
      await prove(lines, content);
    },
    /** Returns the lines with one more line. */
    longer: async (key = key1) => [...lines, await line(events + 1, key)],
    /** Removes the proofs from the metadata; returns the old metadata. */
    withoutProofs() {
      const metadata = documents.get(PATHS.metadata) as string;
      const { proofs_uri: _, ...without } = JSON.parse(metadata);
      documents.set(PATHS.metadata, JSON.stringify(without));
      return metadata;
    },
    silence: () => documents.delete(PATHS.metadata),
    wait: (ms: number) => nowMs += ms,
    accept: (expect?: string): Promise<PinRecord> =>
      acknowledgePin(pins, did, {
        ...{ allowPrivate: true, now: new Date(nowMs), reason: "by phone" },
        expect,
      }),
    [Symbol.asyncDispose]: () => watched[Symbol.asyncDispose](),
  };
}
