/** What a doctor finds in a feed that is valid. @module */

import {
  addSeconds,
  compareInstants,
  dumpState,
  instantOf,
  isUpsert,
  parseTimestamp,
  quote,
  type SigEvent,
  type UnknownEvent,
  type Warning,
} from "@sig/core";
import type {
  VerifiedEvent,
  VerifiedFeed,
  VerifiedIssuer,
} from "@sig/consumer";
import type { Finding } from "./finding.ts";
import { hiddenIn, SimilarNames } from "../issue/similar_names.ts";
import { found } from "./found.ts";

/** Bytes and events that a server takes (PROTOCOL §8). */
const SERVER_BYTES = 64 * 1024 * 1024;
const SERVER_EVENTS = 250_000;
/** Of a server's limits: what is left should last for a while. */
const NEARLY = 0.75;
const KEY_DAYS = 365;
const DAY_SECONDS = 86_400;

const PERSONAL: readonly (readonly [string, RegExp])[] = [
  // One sign before the @ is enough; more would be looked at again and again.
  ["a mail address", /[\w.+-]@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/i],
  ["a phone number", /(?<![\w.:-])\+\d{1,3}(?:[ ()/.-]{0,2}\d){7,12}(?![\w-])/],
  [
    "a birth date",
    /(?:birth|born|dob|geburt)[^\d]{0,20}(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4})/i,
  ],
];

/** Takes each event as it is verified, then the whole. */
export class FeedExamination {
  readonly #personal = new Map<string, number[]>();
  readonly #firstUse = new Map<string, string>();
  #lastKid: string | undefined;

  /** Takes the next event. */
  add({ event, kid }: VerifiedEvent): void {
    if (!this.#firstUse.has(kid)) this.#firstUse.set(kid, event.issued_at);
    this.#lastKid = kid;
    const text = freeText(event);
    for (const [what, pattern] of PERSONAL) {
      if (!pattern.test(text)) continue;
      const known = this.#personal.get(what) ?? [];
      known.push(event.sequence);
      this.#personal.set(what, known);
    }
  }

  /** What is to be said of it all. */
  findings(
    verified: VerifiedIssuer,
    now: Date,
  ): readonly Finding[] {
    return [
      ...warningFindings(verified.warnings),
      ...this.#personalFindings(),
      ...relationshipFindings(verified, now),
      ...nameFindings(verified),
      ...this.#keyFindings(now),
      ...sizeFindings(verified.feed),
    ];
  }

  #personalFindings(): readonly Finding[] {
    return [...this.#personal].map(([what, sequences]) =>
      found(
        "personal_data",
        `${sequences.length} events seem to hold ${what}`,
        places("event", sequences),
      )
    );
  }

  #keyFindings(now: Date): readonly Finding[] {
    const kid = this.#lastKid;
    if (kid === undefined) return [];
    const since = this.#firstUse.get(kid)!;
    const limit = addSeconds(parseTimestamp(since)!, KEY_DAYS * DAY_SECONDS);
    if (compareInstants(limit, instantOf(now)) > 0) return [];
    return [found(
      "key_old",
      `the key that signs has done so since ${since}`,
      `key ${kid}`,
    )];
  }
}

/** What a writer of events chose freely. */
function freeText(event: SigEvent | UnknownEvent): string {
  const display = isUpsert(event) ? event.display : undefined;
  return JSON.stringify([display, event.reason, event.metadata]);
}

function warningFindings(warnings: readonly Warning[]): readonly Finding[] {
  const groups = Map.groupBy(warnings, ({ code }) => code);
  return [...groups].map(([code, group]) => ({
    code,
    severity: "warning",
    what: group[0]!.detail,
    why: "Readers are warned of it, and strict ones may refuse the feed",
    mend: code === "issued_at_future" || code === "issued_at_back"
      ? "Set the clock of the machine that signs"
      : code === "media_type_unexpected"
      ? "Serve the document with its own content type"
      : code === "did_document_missing"
      ? "Publish .well-known/did.json"
      : "See the events; an append-only feed can only be corrected by new ones",
    where: places("event", group.flatMap(({ sequence }) => sequence ?? [])),
  }));
}

function relationshipFindings(
  { state }: VerifiedIssuer,
  now: Date,
): readonly Finding[] {
  const active = dumpState(state, { now, status: "active" });
  const groups = Map.groupBy(
    active.by_relationship_id.values(),
    ({ subject, relationship_type }) =>
      JSON.stringify([subject, relationship_type]),
  );
  const doubled = [...groups.values()].filter((group) => group.length > 1)
    .map((group) =>
      found(
        "second_active_relationship",
        `${
          group[0]!.subject
        } has ${group.length} active relationships of type ${
          group[0]!.relationship_type
        }`,
        `relationships ${
          group.map(({ relationship_id }) => relationship_id).join(", ")
        }`,
      )
    );
  const expired = dumpState(state, { now, status: "expired" });
  const ids = [...expired.by_relationship_id.keys()];
  if (ids.length === 0) return doubled;
  const ended = found(
    "expired_not_ended",
    `${ids.length} relationships have expired and were not revoked`,
    places("relationship", ids),
  );
  return [...doubled, ended];
}

function nameFindings({ state }: VerifiedIssuer): readonly Finding[] {
  const active = [...state.by_relationship_id.values()]
    .filter(({ status }) => status === "active");
  const kinds = [
    ["subjects", new Set(active.map(({ subject }) => subject))],
    ["roles", new Set(active.flatMap(({ roles }) => roles))],
  ] as const;
  return kinds.flatMap(([kind, names]) => [
    ...new SimilarNames(names).groups.map((group) =>
      found(
        "similar_names",
        `the ${kind} ${group.map(quote).join(", ")} look the same`,
        places(kind, group.map(quote)),
      )
    ),
    ...[...names].filter((name) => hiddenIn(name) !== undefined).map((name) =>
      found(
        "similar_names",
        `one of the ${kind}, ${quote(name)}, ${hiddenIn(name)}`,
        places(kind, [quote(name)]),
      )
    ),
  ]);
}

/** Whether a feed nears what servers take. */
export function sizeFindings(
  { bytes, verifiedEvents }: Pick<VerifiedFeed, "bytes" | "verifiedEvents">,
): readonly Finding[] {
  if (
    bytes < SERVER_BYTES * NEARLY && verifiedEvents < SERVER_EVENTS * NEARLY
  ) return [];
  return [found(
    "feed_large",
    `the feed has ${verifiedEvents} events and ${bytes} bytes`,
    ".well-known/sig/events.jsonl",
  )];
}

/** The first few of many. */
function places(what: string, all: readonly (string | number)[]): string {
  if (all.length === 0) return "documents";
  const shown = all.slice(0, 5).join(", ");
  return `${what} ${shown}${
    all.length > 5 ? ` and ${all.length - 5} more` : ""
  }`;
}
