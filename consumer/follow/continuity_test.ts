// Contradictions to a remembered history, and the recovery from each.
import type { ErrorCode } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import type { WatchedIssuer } from "../../tests/kit/watched_issuer.ts";
import {
  continuityTest,
  EVENTS,
  expectNoAnswer,
  expectRecovered,
  KEYS,
} from "../testdata/continuity.ts";

// promise: A shortened, rewritten or re-signed history is refused by all
//   processes of a pin store.

const { key1, key2, stranger } = KEYS;
const REWRITTEN = [
  "feed_rewritten",
  "is not the one that is remembered",
] as const;

async function resign(
  watched: WatchedIssuer,
  key: SigningKey,
  events = EVENTS,
): Promise<string[]> {
  const sequences = Array.from({ length: events }, (_, i) => i + 1);
  return await Promise.all(sequences.map((each) => watched.line(each, key)));
}

for (let changed = 1; changed <= EVENTS; changed++) {
  continuityTest(
    `rejects a rewrite of event ${changed} that is signed with the issuer's key`,
    async (watch) => {
      await using watched = await watch();
      const { lines } = watched;
      await watched.check();
      watched.wait(60_001);
      const roles = ["deploy", "admin"];
      const event = await watched.line(changed, key1, { roles });
      const other = lines.with(changed - 1, event);
      const grown = await watched.line(EVENTS + 1, key1);
      for (const feed of [other, [...other, grown]]) {
        watched.publish(feed);
        await expectNoAnswer(watched, ...REWRITTEN);
      }
      watched.publish([...lines, grown]);
      await expectRecovered(watched);
    },
  );
}

continuityTest(
  "detects a rewritten event after a fault of the feed",
  async (watch) => {
    await using watched = await watch();
    const { lines } = watched;
    await watched.verify();
    const grown = await watched.line(EVENTS + 1, key1);
    watched.publish([...lines, grown, "{}"]);
    await expectNoAnswer(watched, "invalid_envelope", "Cannot verify feed");
    const other = await watched.line(2, key1, { roles: ["admin"] });
    watched.publish([...lines.with(1, other), grown]);
    await expectNoAnswer(watched, ...REWRITTEN);
  },
);

continuityTest(
  "compares bytes, and counts events",
  async (watch) => {
    await using watched = await watch();
    const { lines } = watched;
    await watched.verify();
    watched.publish(lines.with(2, `${lines[2]} `));
    await expectNoAnswer(watched, ...REWRITTEN);
    // Longer lines, but fewer of them.
    const spaces = " ".repeat(2000);
    watched.publish(lines.slice(0, 5).map((line) => line + spaces));
    await expectNoAnswer(watched, "feed_rolled_back", "ends at sequence 5");
  },
);

const REPLACED = [
  "key_replaced",
  "Cannot trust feed: another key is published as",
] as const;
const WITHDRAWN = [
  "key_withdrawn",
  "which signed remembered events, is no longer published",
] as const;
const rolledBackTo = (events: number) =>
  [
    "feed_rolled_back",
    `Cannot trust feed: the feed ends at sequence ${events}, but ${EVENTS} ` +
    "events are remembered",
  ] as const;

/** A contradiction to six events that key 1 signed. */
interface Contradiction {
  /** The published keys. */
  readonly keys: readonly SigningKey[];
  /** The key that re-signs the feed; undefined to keep the signatures. */
  readonly signedBy?: SigningKey;
  readonly events?: number;
  readonly error: readonly [ErrorCode, string];
}

const CONTRADICTIONS: Readonly<Record<string, Contradiction>> = {
  ...Object.fromEntries(
    Array.from({ length: EVENTS }, (_, events) => [
      `a feed cut to ${events} of ${EVENTS} events`,
      { keys: [key1], events, error: rolledBackTo(events) },
    ]),
  ),
  "a key replaced": { keys: [stranger], error: REPLACED },
  "a key replaced, the feed re-signed": {
    ...{ keys: [stranger], signedBy: stranger, error: REPLACED },
  },
  "a key replaced, the feed re-signed and extended": {
    ...{ keys: [stranger], signedBy: stranger, events: EVENTS + 2 },
    error: REPLACED,
  },
  "a key withdrawn": { keys: [key2], error: WITHDRAWN },
  "a key withdrawn, the feed re-signed with another key": {
    ...{ keys: [key2], signedBy: key2, error: WITHDRAWN },
  },
  "all keys withdrawn": { keys: [], error: WITHDRAWN },
  "a key replaced, the feed rolled back": {
    ...{ keys: [stranger], events: 4, error: rolledBackTo(4) },
  },
  "a key replaced, the feed rolled back and re-signed": {
    ...{ keys: [stranger], signedBy: stranger, events: 4 },
    error: rolledBackTo(4),
  },
  "a key withdrawn, the feed rolled back to 0 events": {
    ...{ keys: [key2], events: 0, error: rolledBackTo(0) },
  },
  "the feed re-signed with another published key": {
    ...{ keys: [key1, key2], signedBy: key2, error: REWRITTEN },
  },
};

for (
  const [name, { keys, signedBy, events, error }] of Object.entries(
    CONTRADICTIONS,
  )
) {
  continuityTest(`${name}: ${error[0]}`, async (watch) => {
    await using watched = await watch();
    const { lines } = watched;
    await watched.check();
    watched.wait(60_001);
    watched.publishKeys(keys);
    watched.publish(
      signedBy
        ? await resign(watched, signedBy, events)
        : lines.slice(0, events),
    );
    await expectNoAnswer(watched, ...error);
    watched.publishKeys([key1]);
    watched.publish(lines);
    await expectRecovered(watched);
  });
}
