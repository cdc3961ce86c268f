/** What an apply needs confirmed, counted in people. @module */

import {
  compareInstants,
  type Instant,
  instantOf,
  parseTimestamp,
  type RelationshipUpsertEvent,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { EventDraft } from "../append/draft.ts";
import { endingsIn, personIn, type PublishedState } from "./published.ts";

/** Losses and grants up to this number need no confirmation. */
const MAX_PEOPLE = 5;

/** Nor do those up to this part of the people with an effective relationship. */
const MAX_PART = 0.1;

/** Re-admitted people that the error names at most. */
const MAX_NAMED = 20;

/** Options of {@linkcode requireGuards}: what the operator has confirmed. */
export interface GuardOptions {
  /** The clock: who loses and who gains is judged at this instant. */
  readonly now: Date;
  /** Confirmed number of people who lose something. */
  readonly losses?: number | undefined;
  /** Confirmed number of people who gain something. */
  readonly grants?: number | undefined;
  /** Whether people whose relationship was revoked may be re-admitted. */
  readonly readmit?: boolean | undefined;
}

/**
 * Refuses drafts that take an allow from, or give one to, more than 5 people
 * and more than a tenth of those with an effective relationship, unless exactly
 * that number is confirmed (a list that was cut off, a column of wrong dates,
 * the wrong file). Also refuses drafts that re-admit somebody whose
 * relationship was revoked, unless that is confirmed: a person who was
 * offboarded may still be on a list.
 *
 * Judged from the drafts themselves, by what `check` would answer before and
 * after them, so that a saved plan can't hide anything. The first events of an
 * empty feed are not grants.
 *
 * @throws {SigError} `confirmation_required` with the numbers of all that is
 * not confirmed.
 */
export function requireGuards(
  state: PublishedState,
  drafts: readonly EventDraft[],
  options: GuardOptions,
): void {
  const { people, losses, grants } = countPeople(state, drafts, options.now);
  const endingOf = endingsIn(state);
  const readmissions = drafts.flatMap((draft) => {
    if (draft.event_type !== "relationship.upsert") return [];
    const { subject, relationship_type: type, relationship_id: id } = draft;
    const before = endingOf(subject, type, id);
    return before === undefined ? [] : [{ subject, ...before }];
  });
  const isMany = (count: number) =>
    count > MAX_PEOPLE && count > people * MAX_PART;
  const needs: [why: string, flag: string][] = [];
  // A repeated, finished job changes nothing, whatever was confirmed for it.
  if (
    losses > 0 && (options.losses ?? (isMany(losses) ? 0 : losses)) !== losses
  ) {
    needs.push([
      `${losses} of ${people} people would lose access${not(options.losses)}`,
      `--confirm-losses ${losses}`,
    ]);
  }
  const isFirst = state.last_sequence === 0;
  if (
    grants > 0 &&
    (options.grants ?? (isMany(grants) && !isFirst ? 0 : grants)) !== grants
  ) {
    needs.push([
      `${grants} people would gain access, ${people} have it now${
        not(options.grants)
      }`,
      `--confirm-grants ${grants}`,
    ]);
  }
  const [first] = readmissions;
  if (first !== undefined && !options.readmit) {
    const { effective_at, reason_code, subject } = first;
    const [count, s] = [
      readmissions.length,
      readmissions.length > 1 ? "s" : "",
    ];
    needs.push([
      `${count} revoked relationship${s} would be re-admitted, such as that of ${
        quote(subject)
      } (${reason_code}, ${effective_at})`,
      "--readmit",
    ]);
  }
  if (needs.length === 0) return;
  throw new SigError(
    "confirmation_required",
    `Cannot apply plan: ${needs.map(([why]) => why).join("; ")}`,
    {
      context: {
        people,
        losses,
        grants,
        readmissions: readmissions.length,
        ...(first && { readmitted: readmissions.slice(0, MAX_NAMED) }),
        hint: `Nothing was written. If this is meant, add ${
          needs.map(([, flag]) => flag).join(" ")
        }.`,
      },
    },
  );
}

function not(confirmed: number | undefined): string {
  return confirmed === undefined ? "" : ` (not ${confirmed})`;
}

/** What decides whether a relationship allows something. */
type Grant = Pick<
  RelationshipUpsertEvent,
  "subject" | "relationship_type" | "roles" | "valid_from" | "valid_until"
>;

/** The people with an effective relationship, who loses, and who gains. */
function countPeople(
  state: PublishedState,
  drafts: readonly EventDraft[],
  now: Date,
) {
  const personOf = (subject: string) => personIn(state, subject);
  const before = new Map<string, Grant>();
  for (const [id, { status, upsert }] of state.relationships) {
    if (status === "active") before.set(id, upsert);
  }
  const after = new Map(before);
  const touched = new Set<string>();
  for (const [at, draft] of drafts.entries()) {
    // Nothing that is published is called like a new relationship here.
    const id = draft.relationship_id ?? `\n${at}`;
    const replaced = after.get(id);
    if (replaced !== undefined) touched.add(personOf(replaced.subject));
    if (draft.event_type === "relationship.revoke") after.delete(id);
    else {
      touched.add(personOf(draft.subject));
      const { roles = [], valid_from = null, valid_until = null } = draft;
      after.set(id, { ...draft, roles, valid_from, valid_until });
    }
  }
  const instant = instantOf(now);
  const had = effectiveByPerson(before.values(), instant, personOf);
  const has = effectiveByPerson(after.values(), instant, personOf);
  const count = (from: typeof had, to: typeof had) =>
    [...touched].filter((person) =>
      from.get(person)?.some((grant) => !isCovered(grant, to.get(person) ?? []))
    ).length;
  return {
    people: had.size,
    losses: count(had, has),
    grants: count(has, had),
  };
}

function effectiveByPerson(
  grants: Iterable<Grant>,
  now: Instant,
  personOf: (subject: string) => string,
): ReadonlyMap<string, readonly Grant[]> {
  const effective = Iterator.from(grants).filter((grant) => {
    const from = parseTimestamp(grant.valid_from);
    const until = parseTimestamp(grant.valid_until);
    return (from === undefined || compareInstants(from, now) <= 0) &&
      (until === undefined || compareInstants(now, until) < 0);
  });
  return Map.groupBy(effective, ({ subject }) => personOf(subject));
}

/**
 * Whether every question about types and roles that one relationship answers
 * with allow is answered so by another: `check` wants all of them of one.
 */
function isCovered(grant: Grant, by: readonly Grant[]): boolean {
  return by.some(({ relationship_type, roles }) =>
    relationship_type === grant.relationship_type &&
    grant.roles.every((role) => roles.includes(role))
  );
}
