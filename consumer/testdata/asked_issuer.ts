/** An issuer on a server, and a consumer that may ask it. */

import { assert } from "@std/assert";
import type { Consumer } from "../consumer.ts";
import { createConsumer } from "../create_consumer.ts";
import {
  type IssuerServer,
  startIssuerServer,
} from "../../tests/kit/issuer_server.ts";
import {
  ALICE,
  importTestKeys,
  makeDocuments,
  makeLines,
  PATHS,
} from "../../tests/kit/test_issuer.ts";

const [key1, , stranger] = await importTestKeys();
assert(key1 && stranger);

/** The key of the issuer, and one of somebody else. */
export const KEYS = { key1, stranger };

/** What is asked. */
export const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;

/** When the clock starts. */
export const START = Date.parse("2026-06-01T00:00:00Z");

/** An issuer on a server, a consumer of it, and a clock that stands still. */
export interface Setup extends AsyncDisposable {
  readonly server: IssuerServer;
  readonly consumer: Consumer;
  readonly lines: readonly string[];
  /** Holds the feed back until `go`; `asked` comes when it was asked for. */
  holdFeed(): { readonly asked: Promise<void>; readonly go: () => void };
  /** How often the feed was asked for. */
  fetches(): number;
  /** Moves the clock. */
  wait(ms: number): void;
}

/** Starts it; the consumer believes a state for so many milliseconds. */
export async function setUp(maxAgeMs?: number): Promise<Setup> {
  const server = startIssuerServer();
  const { did, origin } = server;
  const lines = await makeLines(2, key1, { issuer: did });
  const documents = makeDocuments({ did, origin, keys: [key1], lines });
  for (const [path, text] of documents) server.documents.set(path, text);
  let ms = START;
  return {
    server,
    lines,
    consumer: createConsumer({
      issuers: [did],
      allowPrivate: true,
      now: () => new Date(ms),
      maxAgeMs,
    }),
    holdFeed() {
      const feed = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
      const asked = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      server.documents.set(PATHS.feed, async () => {
        asked.resolve();
        await go.promise;
        return new Response(feed);
      });
      return { asked: asked.promise, go: () => go.resolve() };
    },
    fetches: () => server.requests.filter((path) => path === PATHS.feed).length,
    wait: (more) => {
      ms += more;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
