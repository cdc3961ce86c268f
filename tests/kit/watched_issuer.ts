/** An issuer on a server, a consumer of it, and a manual clock. @module */

import type { CheckAnswer, ErrorCode, SigError } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import {
  type Consumer,
  type ConsumerOptions,
  type ConsumerQuestion,
  createConsumer,
  type VerifiedIssuer,
} from "@sig/consumer";
import type { PinStore } from "@sig/consumer/pins";
import {
  type ConditionalServer,
  startConditionalServer,
} from "./conditional_server.ts";
import { expectSigError } from "./sig_errors.ts";
import {
  ALICE,
  feedOf,
  lineOf,
  makeDocuments,
  makeLines,
  PATHS,
  upsert,
} from "./test_issuer.ts";

/** The parts of a test of a running consumer. */
export interface WatchedIssuer extends AsyncDisposable {
  readonly server: ConditionalServer;
  readonly consumer: Consumer;
  /** The issuer's DID. */
  readonly did: string;
  /** The lines of its feed at the start. */
  readonly lines: readonly string[];
  /** Verifies the published feed. */
  verify(): Promise<VerifiedIssuer>;
  /** Asserts that the verification fails with this code and message. */
  refused(code: ErrorCode, message: string): Promise<SigError>;
  /** Asks {@linkcode QUESTION} with these changes. */
  check(changes?: Partial<ConsumerQuestion>): Promise<CheckAnswer>;
  /** Returns the HTTP status of each request for the feed. */
  statuses(): readonly number[];
  /**
   * Delays the feed until `go` is called; `asked` resolves when it is
   * requested.
   */
  holdFeed(): { readonly asked: Promise<void>; readonly go: () => void };
  /** Publishes these lines. */
  publish(lines: readonly string[]): void;
  /** Publishes these keys in the key set and the DID document. */
  publishKeys(keys: readonly SigningKey[]): void;
  /** Returns the upsert with this sequence, signed. */
  line(
    sequence: number,
    key: SigningKey,
    changes?: Record<string, unknown>,
  ): Promise<string>;
  /** Advances the clock. */
  wait(ms: number): void;
}

/**
 * The question whether Alice may deploy, which each line of the feed allows.
 */
export const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;

/** The initial time of the clock. */
export const START_MS = Date.parse("2026-06-01T00:00:00Z");

/** Starts an issuer with upserts 1 to n, signed with one key. */
export async function watchIssuer(
  n: number,
  key: SigningKey,
  options: Partial<ConsumerOptions> = {},
  make: (options: ConsumerOptions) => Consumer = createConsumer,
): Promise<WatchedIssuer> {
  const server = startConditionalServer();
  const { did, origin, documents } = server;
  const lines = await makeLines(n, key, { issuer: did });
  const publish = (
    keys: readonly SigningKey[],
    lines: readonly string[],
    paths: readonly string[],
  ) => {
    const all = makeDocuments({ did, origin, keys, lines });
    for (const path of paths) documents.set(path, all.get(path)!);
  };
  publish([key], lines, Object.values(PATHS));
  let ms = START_MS;
  const consumer = make({
    issuers: [did],
    allowPrivate: true,
    now: () => new Date(ms),
    ...options,
  });
  const verify = () => consumer.verify(did);
  return {
    ...{ server, did, lines, consumer, verify },
    refused: (code, message) => expectSigError(verify, code, message),
    check: (changes) => consumer.check(did, { ...QUESTION, ...changes }),
    statuses: () => server.of(PATHS.feed).map(({ status }) => status),
    holdFeed: () => server.hold(PATHS.feed),
    publish: (lines) => documents.set(PATHS.feed, feedOf(lines)),
    publishKeys: (keys) => publish(keys, [], [PATHS.jwks, PATHS.did]),
    line: (sequence, key, changes) =>
      lineOf(upsert(sequence, { issuer: did, ...changes }), key),
    wait: (more) => {
      ms += more;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/**
 * Returns a consumer that is created again for each question, like many
 * processes that share one memory.
 */
export function consumerOfManyProcesses(
  options: ConsumerOptions & { readonly pins: PinStore },
): Consumer {
  const fresh = () => createConsumer(options);
  return {
    verify: (...asked) => fresh().verify(...asked),
    report: (...asked) => fresh().report(...asked),
    observe: (...asked) => fresh().observe(...asked),
    state: (...asked) => fresh().state(...asked),
    check: (...asked) => fresh().check(...asked),
    ask: (...asked) => fresh().ask(...asked),
    watch: (...asked) => fresh().watch(...asked),
    checkAny: (...asked) => fresh().checkAny(...asked),
  };
}

/** Returns the last item of a non-empty list. */
export function last<T>(items: readonly T[]): T {
  return items.at(-1)!;
}
