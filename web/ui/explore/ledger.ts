/** The content of a feed for its views: changes, and people at a moment. @module */

import {
  dumpState,
  type EffectiveStatus,
  isSigError,
  isUpsert,
  personOf,
  type RelationshipState,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { VerifiedEvent } from "@sig/consumer";
import { typeLabel, visibleText } from "../text.ts";
import type { Clock } from "../route.ts";
import { sequenceOf } from "./clock.tsx";
import type { OpenFeed } from "./documents.ts";

/** An event and what it changed. */
export interface Change {
  readonly verified: VerifiedEvent;
  /** `void`: its key had ended, so that it has no effect. */
  readonly kind: "added" | "changed" | "ended" | "unknown" | "void";
  /** A description: "joins as employee". */
  readonly what: string;
  /** The roles that an upsert adds to a relationship. */
  readonly gained: readonly string[];
  /** The roles that it removes. */
  readonly lost: readonly string[];
  /** The name and position that the issuer publishes at that time, or "". */
  readonly name: string;
  readonly position: string;
}

/** A relationship of a person at the clock's moment. */
export interface Held {
  readonly state: RelationshipState;
  readonly status: EffectiveStatus;
}

/** A person: all keys that the feed links (docs/protocol.md §4.1). */
export interface Person {
  /** The subject at the root of the links. */
  readonly root: string;
  /** All keys, the root first. */
  readonly keys: readonly string[];
  readonly name: string;
  readonly position: string;
  /** The relationships, effective ones first. */
  readonly held: readonly Held[];
  /** The most favourable status of them. */
  readonly status: EffectiveStatus;
  /** Whether an active one ends within 30 days. */
  readonly isEnding: boolean;
  /** What the search box compares, in lower case. */
  readonly searched: string;
}

/** A feed at a moment. */
export interface Ledger {
  readonly feed: OpenFeed;
  readonly clock: Clock;
  /** All changes, in the order of the feed. */
  readonly changes: readonly Change[];
  /** The changes that were known at the moment. */
  readonly known: readonly Change[];
  /** The people at the moment, by name. */
  readonly people: readonly Person[];
  /** Why the moment can't be shown; then there are no people. */
  readonly fault: string | undefined;
}

/** The order of preference of statuses. */
const RANK: Readonly<Record<EffectiveStatus, number>> = {
  active: 0,
  not_yet_valid: 1,
  expired: 2,
  revoked: 3,
};

const ENDING_MS = 30 * 24 * 60 * 60 * 1000;

const { compare } = new Intl.Collator("en", { numeric: true });

/** Returns the feed at the clock's moment. */
export function readLedger(
  feed: OpenFeed,
  changes: readonly Change[],
  clock: Clock,
): Ledger {
  const all = { feed, clock, changes };
  try {
    const known = changes.filter(isKnownAt(clock));
    const people = readPeople(feed, known, clock);
    return { ...all, known, people, fault: undefined };
  } catch (error) {
    if (!isSigError(error)) throw error;
    return { ...all, known: [], people: [], fault: error.message };
  }
}

function isKnownAt(clock: Clock): (change: Change) => boolean {
  const last = sequenceOf(clock);
  if (last !== undefined) {
    return ({ verified: { event } }) => event.sequence <= last;
  }
  const instant = clock.asOf ?? clock.at;
  if (instant === undefined) return () => true;
  const ms = Date.parse(instant);
  return ({ verified: { event } }) => Date.parse(event.issued_at) <= ms;
}

function readPeople(
  { state, events, now }: OpenFeed,
  known: readonly Change[],
  clock: Clock,
): readonly Person[] {
  const dump = dumpState(state, { now, ...clock });
  const shown = new Map<string, Change>();
  for (const change of known) {
    if (change.kind === "void") continue;
    shown.set(change.verified.event.relationship_id, change);
  }
  const number = sequenceOf(clock);
  const instant = number === undefined
    ? clock.at ?? clock.asOf
    : events[number - 1]?.event.issued_at ?? "";
  const moment = instant === undefined ? now.getTime() : Date.parse(instant);
  const held = Map.groupBy(
    dump.by_relationship_id,
    ([, { subject }]) => personOf(state, subject),
  );
  return Array.from(held, ([root, entries]): Person => {
    const all = entries.map(([id, state]) => ({
      state,
      status: dump.statuses.get(id) ?? "active",
    })).sort((a, b) =>
      RANK[a.status] - RANK[b.status] ||
      b.state.last_sequence - a.state.last_sequence
    );
    const named = all.map(({ state }) => shown.get(state.relationship_id))
      .find((change) => change?.name);
    const { name = "", position = "" } = named ?? {};
    const keys = [
      ...new Set([root, ...all.map(({ state }) => state.subject)]),
    ];
    return {
      root,
      keys,
      name,
      position,
      held: all,
      status: all[0]!.status,
      isEnding: all.some(({ state: { valid_until: until }, status }) =>
        status === "active" && until !== null &&
        Date.parse(until) - moment <= ENDING_MS
      ),
      searched: [
        ...[name, position, ...keys],
        ...all.flatMap(({ state }) => [
          ...[state.relationship_id, typeLabel(state.relationship_type)],
          ...state.roles,
        ]),
      ].join("\n").toLowerCase(),
    };
  }).sort((a, b) =>
    compare(a.name || a.root, b.name || b.root) || compare(a.root, b.root)
  );
}

const MAX_FOUND = 5;

/** Returns up to five people whose data contain a text. */
export function nearest(
  people: readonly Person[],
  text: string,
): readonly Person[] {
  const wanted = text.trim().toLowerCase();
  return people.filter(({ searched }) => searched.includes(wanted))
    .slice(0, MAX_FOUND);
}

/**
 * Returns what an upsert displays: a name (its label, or its title) and the
 * rest.
 */
function readDisplay(display: Readonly<Record<string, unknown>>) {
  const [label, title, department] = ["label", "title", "department"]
    .map((member) => {
      const value = display[member];
      return typeof value === "string" ? value : "";
    });
  return {
    name: label || title || "",
    position: [label && title, department].filter(Boolean).join(", "),
  };
}

/** Returns what each event changed, in the feed's order. */
export function readChanges(
  events: readonly VerifiedEvent[],
): readonly Change[] {
  const last = new Map<string, Change>();
  return events.map((verified): Change => {
    const { event } = verified;
    const before = last.get(event.relationship_id);
    const display = "display" in event && isObject(event.display)
      ? readDisplay(event.display)
      : undefined;
    const change: Change = {
      verified,
      ...changeOf(verified, before),
      name: display?.name || before?.name || "",
      position: display?.position ?? before?.position ?? "",
    };
    if (!verified.isVoid) last.set(event.relationship_id, change);
    return change;
  });
}

function changeOf(
  { event, isVoid }: VerifiedEvent,
  before: Change | undefined,
): Pick<Change, "kind" | "what" | "gained" | "lost"> {
  const none = { gained: [], lost: [] };
  if (isVoid) {
    return { kind: "void", what: "has no effect: its key had ended", ...none };
  }
  if ("reason_code" in event) {
    const what = `ends: ${typeLabel(event.reason_code)}`;
    return { kind: "ended", what, ...none };
  }
  if (!("relationship_type" in event)) {
    return { kind: "unknown", what: visibleText(event.event_type), ...none };
  }
  const type = typeLabel(event.relationship_type);
  const former = before?.verified.event;
  if (former === undefined || !isUpsert(former)) {
    const what = `${former === undefined ? "joins" : "comes back"} as ${type}`;
    return { kind: "added", what, gained: event.roles, lost: [] };
  }
  const [was, is] = [new Set(former.roles), new Set(event.roles)];
  const parts = [
    former.relationship_type !== event.relationship_type && `is now ${type}`,
    former.valid_from !== event.valid_from &&
    `from ${visibleText(event.valid_from ?? "any time")}`,
    former.valid_until !== event.valid_until &&
    (event.valid_until === null
      ? "has no end any more"
      : `until ${visibleText(event.valid_until)}`),
  ].filter(Boolean);
  return {
    kind: "changed",
    what: parts.join(", ") || type,
    gained: event.roles.filter((role) => !was.has(role)),
    lost: former.roles.filter((role) => !is.has(role)),
  };
}
