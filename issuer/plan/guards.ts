/** Confirmation of large changes, counted in people. @module */

import {
  type Instant,
  instantOf,
  type RelationshipUpsertEvent,
  SigError,
} from "@sig/core";
import { quote, validityAt } from "@sig/core/internal";
import type { EventDraft } from "../append/draft.ts";
import { endingsIn, personIn, type PublishedState } from "./published.ts";

/** Losses and grants up to this number need no confirmation. */
const MAX_PEOPLE = 5;

/** Nor do those up to this fraction of the people with access. */
const MAX_PART = 0.1;

/** Maximum number of re-admitted people that the error lists. */
const MAX_NAMED = 20;

/** Options of {@linkcode requireGuards}: what the operator has confirmed. */
export interface GuardOptions {
  /** The current time, at which losses and grants are counted. */
  readonly now: Date;
  /** Confirmed number of people who lose access. */
  readonly losses?: number | undefined;
  /** Confirmed number of people who gain access. */
  readonly grants?: number | undefined;
  /** Whether revoked people may be re-admitted (default: false). */
  readonly readmit?: boolean | undefined;
}

/**
 * Refuses drafts that remove access from, or give access to, more than 5 people
 * and more than a tenth of those with an effective relationship, unless exactly
 * that number is confirmed. This detects a truncated list, a column of wrong
 * dates or the wrong file. Also refuses drafts that re-admit a person whose
 * relationship was revoked, unless that is confirmed: a list may still contain
 * a person who was offboarded.
 *
 * The counts are derived from the drafts, by what `check` would answer before
 * and after them, so a saved plan can't hide anything. The first events of an
 * empty feed are not grants.
 *
 * @throws {SigError} `confirmation_required` with the numbers of everything
 * that is not confirmed.
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
  // A repeated job changes nothing, so its confirmed number is not compared.
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

/** The members that determine whether a relationship allows something. */
type Grant = Pick<
  RelationshipUpsertEvent,
  "subject" | "relationship_type" | "roles" | "valid_from" | "valid_until"
>;

/** Counts the people with access, and those who lose or gain some. */
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
    // A published identifier never contains a line feed.
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
  const effective = Iterator.from(grants).filter((grant) =>
    validityAt(grant, now) === "active"
  );
  return Map.groupBy(effective, ({ subject }) => personOf(subject));
}

/**
 * Returns whether another relationship allows every question about type and
 * roles that this one allows. `check` requires all roles in one relationship.
 */
function isCovered(grant: Grant, by: readonly Grant[]): boolean {
  return by.some(({ relationship_type, roles }) =>
    relationship_type === grant.relationship_type &&
    grant.roles.every((role) => roles.includes(role))
  );
}
