/** Confirmation of large and unusual changes, counted in people. @module */

import {
  compareInstants,
  instantOf,
  parseTimestamp,
  type RelationshipUpsertEvent,
  SigError,
} from "@sig/core";
import { quote, suggest, validityAt } from "@sig/core/internal";
import {
  type EventDraft,
  sameJson,
  type UpsertDraft,
} from "../append/draft.ts";
import { namePeople } from "../people/find_subject.ts";
import { findNamesakes } from "./namesakes.ts";
import { PersonIndex } from "./person_index.ts";
import {
  type EndedRelationship,
  joinPeople,
  type PublishedState,
} from "./published.ts";

/** Changes of up to this number of people need no confirmation. */
const MAX_PEOPLE = 5;

/** Nor do those of up to this fraction of the people with access: 40 of 400. */
const MAX_PART = 0.1;

/** Maximum number of people that the error's context lists. */
const MAX_NAMED = 20;

/** Options of {@linkcode requireGuards}: what the operator has confirmed. */
export interface GuardOptions {
  /** The current time, at which losses and grants are counted. */
  readonly now: Date;
  /** Confirmed number of people who lose access. */
  readonly losses?: number | undefined;
  /** Confirmed number of people who gain access, or keep it for longer. */
  readonly grants?: number | undefined;
  /** Confirmed number of people whose published text changes. */
  readonly publicTexts?: number | undefined;
  /** Confirmed roles that the feed has never had (default: none). */
  readonly newRoles?: readonly string[] | undefined;
  /** Whether revoked people may be re-admitted (default: false). */
  readonly readmit?: boolean | undefined;
  /**
   * Whether new people may have the name of a known person (default: false).
   */
  readonly namesakes?: boolean | undefined;
}

/**
 * Refuses drafts that need a confirmation which the options do not give:
 *
 * - People lose access, or gain it or keep it for longer, or their published
 *   text changes: more than 5 and more than a tenth of the people with an
 *   effective relationship. This detects a truncated list, a column of wrong
 *   dates or the wrong file. The number must be exact.
 * - A person or key that was ended is re-admitted: a list may still contain a
 *   person who was offboarded.
 * - A role that the feed has never had, such as a misspelt one.
 * - A new person has the name of a known one: it may be the same person.
 *
 * Everything is derived from the drafts, by what `check` would answer before and
 * after them, so a saved plan can't hide anything. A person is all of their
 * keys. The first events of an empty feed are not grants.
 *
 * @throws {SigError} `confirmation_required` with the numbers of everything
 * that is not confirmed.
 */
export function requireGuards(
  published: PublishedState,
  drafts: readonly EventDraft[],
  options: GuardOptions,
): void {
  const upserts = drafts.filter((draft) =>
    draft.event_type === "relationship.upsert"
  );
  const index = new PersonIndex(
    withDraftLinks(published, upserts),
    options.now,
  );
  const { people, state } = index;
  const { grants, had, losses, texts } = countChanges(index, drafts, options);
  const readmissions = upserts.flatMap((draft) => {
    const { relationship_id, relationship_type, subject } = draft;
    const ended = index.readmission(
      subject,
      relationship_type,
      relationship_id,
    );
    return ended === undefined ? [] : [{ subject, ...ended }];
  });
  const [first] = readmissions;
  /** Requires the exact number, if many people are affected. */
  const needNumber = (
    flag: string,
    subjects: readonly string[],
    confirmed: number | undefined,
    describe: (count: number) => string,
    mayBeMany = false,
  ): readonly Need[] => {
    const count = subjects.length;
    const isMany = count > MAX_PEOPLE && count > had * MAX_PART && !mayBeMany;
    const isConfirmed = confirmed === undefined
      ? !isMany
      // A repeated job changes nothing, so its number is not compared.
      : count === 0 || count === confirmed;
    if (isConfirmed) return [];
    const not = confirmed === undefined ? "" : ` (not ${confirmed})`;
    const names = people.keys.size > 0
      ? `: ${namePeople(subjects, people)}`
      : "";
    return [[`${describe(count)}${not}${names}`, `${flag} ${count}`]];
  };
  const needs: readonly Need[] = [
    ...needNumber(
      "--confirm-losses",
      losses,
      options.losses,
      (count) => `${count} of ${had} people would lose access`,
    ),
    ...needNumber(
      "--confirm-grants",
      grants,
      options.grants,
      (count) => `${count} people would gain access, ${had} have it now`,
      state.last_sequence === 0,
    ),
    ...needNumber(
      "--confirm-public",
      texts,
      options.publicTexts,
      (count) =>
        `the published title, department, label or metadata of ${count} people would change`,
    ),
    ...options.readmit ? [] : needReadmit(index, readmissions),
    ...needNewRoles(state, upserts, options.newRoles),
    ...options.namesakes
      ? []
      : findNamesakes(index, drafts).map((why) =>
        [why, "--namesakes"] as const
      ),
  ];
  if (needs.length === 0) return;
  throw new SigError("confirmation_required", {
    action: "apply plan",
    reason: needs.map(([why]) => why).join("; "),
    context: {
      people: had,
      losses: losses.length,
      grants: grants.length,
      readmissions: readmissions.length,
      ...(texts.length > 0 && { public_texts: texts.length }),
      ...(first && { readmitted: readmissions.slice(0, MAX_NAMED) }),
      hint: `Nothing was written. If this is meant, add ${
        [...new Set(needs.map(([, flag]) => flag))].join(" ")
      }.`,
    },
  });
}

/** What is to be confirmed, and the flag that confirms it. */
type Need = readonly [why: string, flag: string];

function needReadmit(
  { people }: PersonIndex,
  readmissions: readonly (EndedRelationship & { readonly subject: string })[],
): readonly Need[] {
  const [first] = readmissions;
  if (first === undefined) return [];
  const { effective_at, reason_code, subject } = first;
  const s = readmissions.length > 1 ? "s" : "";
  const name = people.named(subject).name ?? quote(subject);
  const why =
    `${readmissions.length} revoked relationship${s} would be re-admitted, such as that of ${name} (${reason_code}, ${effective_at})`;
  return [[why, "--readmit"]];
}

function needNewRoles(
  { history, last_sequence }: PublishedState,
  upserts: readonly UpsertDraft[],
  confirmed: readonly string[] = [],
): readonly Need[] {
  if (last_sequence === 0) return [];
  const fresh = new Set(upserts.flatMap(({ roles = [] }) => roles))
    .difference(history.roles).difference(new Set(confirmed));
  return Array.from(fresh, (role): Need => {
    const near = suggest(role, [...history.roles]);
    const hint = near === undefined ? "" : ` (did you mean ${quote(near)}?)`;
    const word = /^[\w.:/@+-]+$/.test(role) ? role : quote(role);
    return [`the role ${quote(role)} is new${hint}`, `--new-role ${word}`];
  });
}

/** Joins the people with the links that the drafts publish. */
function withDraftLinks(
  state: PublishedState,
  drafts: readonly UpsertDraft[],
): PublishedState {
  const links = new Map<string, string>();
  for (const { metadata, subject } of drafts) {
    const root = metadata?.same_person_as;
    if (typeof root !== "string" || links.has(subject)) continue;
    if (state.canLink(subject, root)) links.set(subject, root);
  }
  return joinPeople(state, [], links);
}

/** The members that determine whether a relationship allows something. */
type Grant = Pick<
  RelationshipUpsertEvent,
  "subject" | "relationship_type" | "roles" | "valid_from" | "valid_until"
>;

/**
 * Counts the people with access, and finds a key of each person whom drafts
 * take or give something that `check` allows, or change a published text of.
 */
function countChanges(
  index: PersonIndex,
  drafts: readonly EventDraft[],
  { now }: GuardOptions,
) {
  const before = new Map<string, Grant>(
    index.active.map(({ upsert }) => [upsert.relationship_id, upsert]),
  );
  const after = new Map(before);
  /** A key of each person whose relationships, or texts, change. */
  const touched = new Map<string, string>();
  const texts = new Map<string, string>();
  const touch = (subject: string) => {
    const person = index.personOf(subject);
    if (!touched.has(person)) touched.set(person, subject);
  };
  for (const [i, draft] of drafts.entries()) {
    // A published identifier never contains a line feed.
    const id = draft.relationship_id ?? `\n${i}`;
    const replaced = after.get(id);
    if (replaced !== undefined) touch(replaced.subject);
    if (draft.event_type === "relationship.revoke") {
      after.delete(id);
      continue;
    }
    const { roles = [], subject, valid_from = null, valid_until = null } =
      draft;
    touch(subject);
    after.set(id, { ...draft, roles, valid_from, valid_until });
    const known = index.state.relationships.get(id)?.upsert;
    if (known !== undefined && changesText(known, draft)) {
      texts.set(index.personOf(subject), subject);
    }
  }
  const instant = instantOf(now);
  const effective = (grants: ReadonlyMap<string, Grant>) =>
    Map.groupBy(
      grants.values().filter((each) => validityAt(each, instant) === "active"),
      ({ subject }) => index.personOf(subject),
    );
  const [had, has] = [effective(before), effective(after)];
  const differing = (from: typeof had, to: typeof had, isCovered: Covers) =>
    [...touched].flatMap(([person, subject]) =>
      from.get(person)?.some((grant) =>
          !(to.get(person) ?? []).some((by) => isCovered(by, grant))
        )
        ? [subject]
        : []
    );
  return {
    had: had.size,
    losses: differing(had, has, covers),
    grants: differing(
      has,
      had,
      (by, grant) => covers(by, grant) && !endsBefore(by, grant),
    ),
    texts: [...texts.values()],
  };
}

/** Returns whether an update changes what people read. */
function changesText(
  before: RelationshipUpsertEvent,
  { display, metadata }: UpsertDraft,
): boolean {
  const shown = (["title", "department", "label"] as const)
    .some((name) =>
      (before.display?.[name] ?? null) !== (display?.[name] ?? null)
    );
  return shown || !sameJson(before.metadata ?? null, metadata ?? null);
}

/** Returns whether `by` is as good as `grant`. */
type Covers = (by: Grant, grant: Grant) => boolean;

/**
 * Returns whether a relationship allows every question about type and roles
 * that another one allows. `check` requires all roles in one relationship.
 */
function covers(by: Grant, grant: Grant): boolean {
  return by.relationship_type === grant.relationship_type &&
    grant.roles.every((role) => by.roles.includes(role));
}

function endsBefore(a: Grant, b: Grant): boolean {
  const [first, second] = [a, b].map(({ valid_until }) =>
    parseTimestamp(valid_until)
  );
  return first !== undefined &&
    (second === undefined || compareInstants(first, second) < 0);
}
