/** Findings about the feed and its state. @module */

import {
  addSeconds,
  compareInstants,
  dumpState,
  instantOf,
  isUpsert,
  parseTimestamp,
  type SigEvent,
  type UnknownEvent,
  type Warning,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type {
  LoadedIssuer,
  VerifiedEvent,
  VerifiedIssuer,
} from "@sig/consumer";
import { maySign } from "@sig/consumer/internal";
import { hiddenIn, SimilarNames } from "@sig/issuer/people";
import {
  type Finding,
  type FindingTable,
  type Found,
  places,
  warning,
} from "./finding.ts";

const KEY_DAYS = 365;
const DAY_SECONDS = 86_400;

const PERSONAL: readonly (readonly [string, RegExp])[] = [
  // Only one character before the @: a repetition there would backtrack.
  ["a mail address", /[\w.+-]@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/i],
  ["a phone number", /(?<![\w.:-])\+\d{1,3}(?:[ ()/.-]{0,2}\d){7,12}(?![\w-])/],
  [
    "a birth date",
    /(?:birth|born|dob|geburt)[^\d]{0,20}(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4})/i,
  ],
];

/** Notes about the events, taken while a feed is verified. */
export class FeedNotes {
  /** Sequences of events that seem to contain personal data, by its kind. */
  readonly personal = new Map<string, number[]>();
  /** The key of the last event, and the time of its first use. */
  key: { readonly kid: string; readonly since: string } | undefined;
  readonly #firstUse = new Map<string, string>();

  add({ event, kid }: VerifiedEvent): void {
    const since = this.#firstUse.get(kid) ?? event.issued_at;
    this.#firstUse.set(kid, since);
    this.key = { kid, since };
    const text = freeText(event);
    for (const [what, pattern] of PERSONAL) {
      if (!pattern.test(text)) continue;
      const known = this.personal.get(what) ?? [];
      this.personal.set(what, known);
      known.push(event.sequence);
    }
  }
}

/** Returns the free text of an event. */
function freeText(event: SigEvent | UnknownEvent): string {
  const display = isUpsert(event) ? event.display : undefined;
  return JSON.stringify([display, event.reason, event.metadata]);
}

/** A verified feed. */
export interface ExaminedFeed {
  readonly notes: Pick<FeedNotes, "personal" | "key">;
  readonly state: VerifiedIssuer["state"];
  readonly keys: LoadedIssuer["keys"];
  readonly now: Date;
}

/** Findings about every source. */
export const FEED_FINDINGS = {
  personal_data: warning(
    "Free text of an event looks like a mail address, a phone number or a birth date",
    "A feed is public, and its events can never be removed",
    "Leave it out of title, department, label, reason and metadata",
    ({ notes }) =>
      Array.from(notes.personal, ([what, sequences]) => [
        `${sequences.length} events seem to hold ${what}`,
        places("event", sequences),
      ]),
  ),
  second_active_relationship: warning(
    "A subject has several active relationships of one type",
    "After one of them is revoked, the subject is still allowed",
    "Revoke the unintended ones with sig revoke",
    ({ state, now }) => {
      const active = dumpState(state, { now, status: "active" });
      const groups = Map.groupBy(
        active.by_relationship_id.values(),
        ({ subject, relationship_type: type }) =>
          JSON.stringify([subject, type]),
      );
      return [...groups.values()].filter(({ length }) => length > 1)
        .map((group) => {
          const { subject, relationship_type: type } = group[0]!;
          const ids = group.map(({ relationship_id }) => relationship_id);
          return [
            `${subject} has ${group.length} active relationships of type ${type}`,
            `relationships ${ids.join(", ")}`,
          ];
        });
    },
  ),
  similar_names: warning(
    "Subjects or roles differ only in case or invisible characters, or contain an invisible character",
    "People can't distinguish them, but every check compares exactly",
    "Give people the intended subject or role, and revoke the other",
    ({ state }) => {
      const active = [...state.by_relationship_id.values()]
        .filter(({ status }) => status === "active");
      const kinds = [
        ["subjects", new Set(active.map(({ subject }) => subject))],
        ["roles", new Set(active.flatMap(({ roles }) => roles))],
      ] as const;
      return kinds.flatMap(([kind, names]) => [
        ...new SimilarNames(names).groups.map((group): Found => [
          `the ${kind} ${group.map(quote).join(", ")} look the same`,
          places(kind, group.map(quote)),
        ]),
        ...[...names].filter((name) => hiddenIn(name) !== undefined)
          .map((name): Found => [
            `one of the ${kind}, ${quote(name)}, ${hiddenIn(name)}`,
            places(kind, [quote(name)]),
          ]),
      ]);
    },
  ),
  key_old: warning(
    "The signing key has been in use for a year",
    "The longer a key is in use, the more an undetected copy can forge",
    "sig rotate-key --help",
    ({ notes: { key }, now }) => {
      if (key === undefined) return [];
      const since = parseTimestamp(key.since)!;
      const limit = addSeconds(since, KEY_DAYS * DAY_SECONDS);
      if (compareInstants(limit, instantOf(now)) > 0) return [];
      return [[
        `the signing key is in use since ${key.since}`,
        `key ${key.kid}`,
      ]];
    },
  ),
  key_unauthorised: warning(
    "A key of `jwks.json` is not in `assertionMethod` of `did.json`",
    "Readers refuse events that it signs from now on",
    "Add it to assertionMethod, or remove it from jwks.json",
    ({ keys }) =>
      [...keys.keys.keys()].filter((kid) => !maySign(keys, kid))
        .map((kid) => `key ${kid}`),
  ),
} as const satisfies FindingTable<ExaminedFeed>;

const FIXES: { readonly [code: string]: string } = {
  issued_at_future: "Set the clock of the machine that signs",
  issued_at_back: "Set the clock of the machine that signs",
  media_type_unexpected: "Serve the document with its own content type",
  did_document_missing: "Publish .well-known/did.json",
};

/** Returns the warnings of verification as findings, one for each code. */
export function warningFindings(
  warnings: readonly Warning[],
): readonly Finding[] {
  const groups = Map.groupBy(warnings, ({ code }) => code);
  return Array.from(groups, ([code, group]) => ({
    code,
    severity: "warning",
    what: group[0]!.detail,
    why: "Readers are warned of it, and strict ones may refuse the feed",
    mend: FIXES[code] ??
      "See the events; an append-only feed can only be corrected by new ones",
    where: places("event", group.flatMap(({ sequence }) => sequence ?? [])),
  }));
}
