import type { ErrorCode } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import type { WatchedIssuer } from "../../tests/kit/watched_issuer.ts";
import {
  continuityTest,
  EVENTS,
  expectNoAnswer,
  expectRecovered,
  KEYS,
  QUESTION,
} from "../testdata/continuity.ts";

const { key1, key2, stranger } = KEYS;

async function resign(
  watched: WatchedIssuer,
  key: SigningKey,
  events = EVENTS,
): Promise<string[]> {
  const sequences = Array.from({ length: events }, (_, i) => i + 1);
  return await Promise.all(sequences.map((each) => watched.line(each, key)));
}

for (let kept = 0; kept < EVENTS; kept++) {
  continuityTest(
    `a feed cut to ${kept} of ${EVENTS} events is rolled back`,
    async (watch) => {
      await using watched = await watch(EVENTS, key1);
      const { consumer, server, lines } = watched;
      await consumer.check(server.did, QUESTION);
      watched.wait(60_001);
      watched.publish(lines.slice(0, kept));
      await expectNoAnswer(
        watched,
        "feed_rolled_back",
        `Cannot trust feed: the feed ends at sequence ${kept}, but ${EVENTS} ` +
          "events are remembered",
      );
      watched.publish(lines);
      await expectRecovered(watched);
    },
  );
}

for (let changed = 1; changed <= EVENTS; changed++) {
  continuityTest(
    `event ${changed} rewritten and signed with the true key is told`,
    async (watch) => {
      await using watched = await watch(EVENTS, key1);
      const { consumer, server, lines } = watched;
      await consumer.check(server.did, QUESTION);
      watched.wait(60_001);
      const other = [...lines];
      other[changed - 1] = await watched.line(changed, key1, {
        roles: ["deploy", "admin"],
      });
      const grown = await watched.line(EVENTS + 1, key1);
      for (const feed of [other, [...other, grown]]) {
        watched.publish(feed);
        await expectNoAnswer(
          watched,
          "feed_rewritten",
          "is not the one that is remembered",
        );
      }
      watched.publish([...lines, grown]);
      await expectRecovered(watched);
    },
  );
}

continuityTest(
  "what was rewritten is reported where a fault before had ended the continuation",
  async (watch) => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.verify(server.did);
    const grown = await watched.line(EVENTS + 1, key1);
    watched.publish([...lines, grown, "{}"]);
    await expectNoAnswer(watched, "invalid_envelope", "Cannot verify feed");
    const other = await watched.line(2, key1, { roles: ["admin"] });
    watched.publish([lines[0]!, other, ...lines.slice(2), grown]);
    await expectNoAnswer(
      watched,
      "feed_rewritten",
      "is not the one that is remembered",
    );
  },
);

continuityTest(
  "a line in another spelling is rewritten too: bytes are what was seen",
  async (watch) => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.verify(server.did);
    watched.publish(lines.map((line, i) => i === 2 ? `${line} ` : line));
    await expectNoAnswer(
      watched,
      "feed_rewritten",
      "is not the one that is remembered",
    );
  },
);

continuityTest(
  "events are counted, not bytes: a shorter feed of longer lines is rolled back",
  async (watch) => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.verify(server.did);
    const spaces = " ".repeat(2000);
    watched.publish(lines.slice(0, 5).map((line) => line + spaces));
    await expectNoAnswer(watched, "feed_rolled_back", "ends at sequence 5");
  },
);

/** A way to contradict six events that key 1 signed. */
interface Contradiction {
  readonly name: string;
  readonly keys: readonly SigningKey[];
  readonly signedBy?: SigningKey;
  readonly events?: number;
  readonly code: ErrorCode;
  readonly message: string;
}

const CONTRADICTIONS: readonly Contradiction[] = [
  {
    name: "a key replaced, the feed not signed again",
    keys: [stranger],
    code: "key_replaced",
    message: "Cannot trust feed: another key is published as",
  },
  {
    name: "a key replaced, the feed signed again",
    keys: [stranger],
    signedBy: stranger,
    code: "key_replaced",
    message: "Cannot trust feed: another key is published as",
  },
  {
    name: "a key replaced, the feed signed again and grown",
    keys: [stranger],
    signedBy: stranger,
    events: EVENTS + 2,
    code: "key_replaced",
    message: "Cannot trust feed: another key is published as",
  },
  {
    name: "a key withdrawn, the feed not signed again",
    keys: [key2],
    code: "key_withdrawn",
    message: "which signed remembered events, is no longer published",
  },
  {
    name: "a key withdrawn, the feed signed again by another",
    keys: [key2],
    signedBy: key2,
    code: "key_withdrawn",
    message: "which signed remembered events, is no longer published",
  },
  {
    name: "all keys withdrawn",
    keys: [],
    code: "key_withdrawn",
    message: "which signed remembered events, is no longer published",
  },
  {
    name: "a key replaced, the feed rolled back and not signed again",
    keys: [stranger],
    events: 4,
    code: "feed_rolled_back",
    message: "Cannot trust feed: the feed ends at sequence 4, but 6",
  },
  {
    name: "a key replaced, the feed rolled back and signed again",
    keys: [stranger],
    signedBy: stranger,
    events: 4,
    code: "feed_rolled_back",
    message: "Cannot trust feed: the feed ends at sequence 4, but 6",
  },
  {
    name: "a key withdrawn, the feed rolled back to nothing",
    keys: [key2],
    events: 0,
    code: "feed_rolled_back",
    message: "Cannot trust feed: the feed ends at sequence 0, but 6",
  },
  {
    name: "another key's feed under the same keys",
    keys: [key1, key2],
    signedBy: key2,
    code: "feed_rewritten",
    message: "is not the one that is remembered",
  },
];

for (const { name, keys, signedBy, events, code, message } of CONTRADICTIONS) {
  continuityTest(`${name}: ${code}`, async (watch) => {
    await using watched = await watch(EVENTS, key1);
    const { consumer, server, lines } = watched;
    await consumer.check(server.did, QUESTION);
    watched.wait(60_001);
    watched.publishKeys(keys);
    watched.publish(
      signedBy
        ? await resign(watched, signedBy, events)
        : lines.slice(0, events),
    );
    await expectNoAnswer(watched, code, message);
    watched.publishKeys([key1]);
    watched.publish(lines);
    await expectRecovered(watched);
  });
}
