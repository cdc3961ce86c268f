/** Where the demo's story stands: the issuer's own feed knows most of it. @module */

import { useEffect, useState } from "preact/hooks";
import type { CheckedFeed } from "../feed/check_feed.ts";
import type { FeedState, RelationshipState } from "../libraries/mod.ts";
import type { Site } from "../site/site.ts";
import { shown } from "../parts/text.ts";
import type { Login } from "../server/config.ts";
import { Problem } from "../server/problem.ts";

/** A step of the story; the sixth is its end. */
export type StoryStep = 0 | 1 | 2 | 3 | 4 | 5;

/** The story, and what moves it on. */
export interface Story {
  readonly step: StoryStep;
  /** The issuer's DID. */
  readonly issuer: string;
  readonly feed: CheckedFeed | undefined;
  /** What the feed last said of this browser's key. */
  readonly relationship: RelationshipState | undefined;
  readonly busy: boolean;
  /** What went wrong, if anything. */
  readonly trouble: string;
  makeKey(): Promise<void>;
  enrol(name: string): Promise<void>;
  revoke(): Promise<void>;
  note(outcome: Login | Problem): void;
}

/** Reads the feed whenever the key changes or the issuer has signed. */
export function useStory({ config, api, keys, readFeed }: Site): Story {
  const issuer = config.issuer ?? config.issuers[0]?.did ?? "";
  const subject = keys.current?.did;
  const [feed, setFeed] = useState<CheckedFeed | undefined>();
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  /** The events after which the person was let in, or refused. */
  const [signedInAt, setSignedInAt] = useState(0);
  const [refusedAt, setRefusedAt] = useState(0);

  const relationship = subject === undefined || feed?.state === undefined
    ? undefined
    : latestOf(feed.state, subject);

  async function refresh(minSequence = 0): Promise<void> {
    setFeed(await readFeed(issuer, minSequence).catch(() => undefined));
  }
  useEffect(() => {
    // Without a key the feed says nothing of this person yet.
    if (subject !== undefined) void refresh();
  }, [subject]);

  async function act(work: () => Promise<number | undefined>): Promise<void> {
    setTrouble("");
    setBusy(true);
    try {
      const sequence = await work();
      if (sequence !== undefined) await refresh(sequence);
    } catch (error) {
      setTrouble(
        error instanceof Problem
          ? shown(error.message)
          : "Something went wrong. Try again.",
      );
    }
    setBusy(false);
  }

  const last = relationship?.last_sequence ?? 0;
  return {
    step: stepOf(),
    issuer,
    feed,
    relationship,
    busy,
    trouble,
    makeKey: () =>
      act(async () => {
        await keys.create();
        return undefined;
      }),
    enrol: (name) =>
      act(async () => {
        if (subject === undefined) return;
        const person = { subject, ...(name === "" ? {} : { name }) };
        return (await api.enrol(person)).sequence;
      }),
    revoke: () =>
      act(async () => {
        if (relationship === undefined) return;
        return (await api.revoke(relationship.relationship_id)).sequence;
      }),
    note(outcome) {
      if (!(outcome instanceof Problem)) {
        if (outcome.subject === subject) setSignedInAt(last);
      } else if (outcome.code === "relationship_denied") setRefusedAt(last);
    },
  };

  function stepOf(): StoryStep {
    if (subject === undefined) return 0;
    if (relationship === undefined) return 1;
    if (relationship.status === "active") return signedInAt === last ? 3 : 2;
    return refusedAt === last ? 5 : 4;
  }
}

/** What the feed last said about a subject. */
function latestOf(
  state: FeedState,
  subject: string,
): RelationshipState | undefined {
  return [...state.by_relationship_id.values()]
    .filter((each) => each.subject === subject)
    .sort((a, b) => b.last_sequence - a.last_sequence)[0];
}
