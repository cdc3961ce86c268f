/** Where the demo's story stands: the issuer's own feed knows most of it. @module */

import { useEffect, useState } from "preact/hooks";
import type { CheckedFeed } from "../feed/check_feed.ts";
import type { FeedState, RelationshipState } from "../libraries/mod.ts";
import type { Site } from "../site/site.ts";
import { shown } from "../parts/text.ts";
import type { AppConfig, Login } from "../server/config.ts";
import { Problem } from "../server/problem.ts";
import { useApps } from "./use_apps.ts";

/** A step of the story, or its end. */
export type StoryStep =
  | "key"
  | "hired"
  | "sign-in"
  | "apps"
  | "let-go"
  | "again"
  | "end";

/** An application, as it is for this person. */
export interface StoryApp extends AppConfig {
  readonly open: boolean;
}

/** The story, and what moves it on. */
export interface Story {
  readonly step: StoryStep;
  /** The issuer's DID. */
  readonly issuer: string;
  readonly feed: CheckedFeed | undefined;
  /** What the feed last said of this browser's key. */
  readonly relationship: RelationshipState | undefined;
  readonly apps: readonly StoryApp[];
  /** Those that were open at the revocation, until the person goes on. */
  readonly watched: readonly StoryApp[];
  /** Whether this page has let the person in since the issuer last signed. */
  readonly signedIn: boolean;
  readonly busy: boolean;
  /** What went wrong, if anything. */
  readonly trouble: string;
  makeKey(): Promise<void>;
  enrol(name: string): Promise<void>;
  revoke(): Promise<void>;
  /** From what closes itself to the last step. */
  goOn(): void;
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
  const [watchedNames, setWatchedNames] = useState<readonly string[]>([]);

  const relationship = subject === undefined || feed?.state === undefined
    ? undefined
    : latestOf(feed.state, subject);

  const open = useApps(
    api,
    config.apps.length > 0 && relationship ? subject : undefined,
  );
  const apps = config.apps.map((app, i) => ({
    ...app,
    open: open[i] === true,
  }));
  const watched = apps.filter(({ name }) => watchedNames.includes(name));

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
    ...{ apps, watched, signedIn: signedInAt === last },
    busy,
    trouble,
    goOn: () => setWatchedNames([]),
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
        setWatchedNames(
          apps.filter(({ open }) => open).map(({ name }) => name),
        );
        return (await api.revoke(relationship.relationship_id)).sequence;
      }),
    note(outcome) {
      if (!(outcome instanceof Problem)) {
        if (outcome.subject === subject) setSignedInAt(last);
      } else if (outcome.code === "relationship_denied") setRefusedAt(last);
    },
  };

  function stepOf(): StoryStep {
    if (subject === undefined) return "key";
    if (relationship === undefined) return "hired";
    if (relationship.status === "active") {
      const isIn = signedInAt === last || apps.some(({ open }) => open);
      if (!isIn) return "sign-in";
      return apps.every(({ open }) => open) ? "let-go" : "apps";
    }
    if (watched.length > 0) return "let-go";
    return refusedAt === last ? "end" : "again";
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
