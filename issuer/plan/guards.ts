/** Confirmation of large and unusual changes, counted in people. @module */

import {
  compareInstants,
  type Instant,
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
import { People } from "../people/people.ts";
import { appearance } from "../people/similar_names.ts";
import { joinPeople } from "./list_rows.ts";
import { PeopleHistory } from "./people_history.ts";
import {
  type EndedRelationship,
  historyOf,
  personIn,
  type PublishedState,
} from "./published.ts";

/** Changes of up to this number of people need no confirmation. */
const MAX_PEOPLE = 5;

/** Nor do those of up to this fraction of the people with access. */
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

/** Something that needs a confirmation. */
type Need = readonly [why: string, flag: string];

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
  const state = withDraftLinks(published, drafts);
  const changes = new DraftedChanges(state, drafts, options.now);
  const { grants, losses, people, texts } = changes;
  const history = new PeopleHistory(state, options.now);
  const readmissions = readmissionsIn(drafts, history);
  const isFirst = state.last_sequence === 0;
  const needs: Need[] = [];
  /** Requires the exact number, if many people are affected. */
  const confirm = (
    subjects: readonly string[],
    confirmed: number | undefined,
    why: string,
    flag: string,
    mayBeMany = false,
  ) => {
    const count = subjects.length;
    const isMany = count > MAX_PEOPLE && count > people * MAX_PART;
    // A repeated job changes nothing, so its confirmed number is not compared.
    if (count === 0 || confirmed === count) return;
    if (confirmed === undefined && (!isMany || mayBeMany)) return;
    const not = confirmed === undefined ? "" : ` (not ${confirmed})`;
    const names = state.people?.keys.size
      ? `: ${namePeople(subjects, state.people)}`
      : "";
    needs.push([`${why}${not}${names}`, `--confirm-${flag} ${count}`]);
  };
  confirm(
    losses,
    options.losses,
    `${losses.length} of ${people} people would lose access`,
    "losses",
  );
  confirm(
    grants,
    options.grants,
    `${grants.length} people would gain access, ${people} have it now`,
    "grants",
    isFirst,
  );
  confirm(
    texts,
    options.publicTexts,
    `the published title, department, label or metadata of ${texts.length} people would change`,
    "public",
  );
  const [first] = readmissions;
  if (first !== undefined && !options.readmit) {
    const { effective_at, reason_code, subject } = first;
    const s = readmissions.length > 1 ? "s" : "";
    const { name } = state.people?.named(subject) ?? {};
    needs.push([
      `${readmissions.length} revoked relationship${s} would be re-admitted, such as that of ${
        name ?? quote(subject)
      } (${reason_code}, ${effective_at})`,
      "--readmit",
    ]);
  }
  needs.push(
    ...newRolesIn(state, drafts, options.newRoles),
    ...options.namesakes ? [] : namesakesIn(state, drafts, history),
  );
  if (needs.length === 0) return;
  throw new SigError("confirmation_required", {
    action: "apply plan",
    reason: needs.map(([why]) => why).join("; "),
    context: {
      people,
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

/** Joins the people with the links that the drafts publish. */
function withDraftLinks(
  state: PublishedState,
  drafts: readonly EventDraft[],
): PublishedState {
  const links = new Map<string, string>();
  for (const draft of drafts) {
    if (draft.event_type !== "relationship.upsert") continue;
    const { metadata, subject } = draft;
    const root = metadata?.same_person_as;
    if (typeof root !== "string" || links.has(subject)) continue;
    if (state.canLink?.(subject, root) ?? true) links.set(subject, root);
  }
  return joinPeople(state, [], links);
}

function readmissionsIn(drafts: readonly EventDraft[], history: PeopleHistory) {
  return drafts.flatMap((draft) => {
    if (draft.event_type !== "relationship.upsert") return [];
    const { relationship_id, relationship_type: type, subject } = draft;
    const before = history.readmission({ subject, type, relationship_id });
    return before === undefined ? [] : [{ subject, ...before }];
  });
}

/** Finds roles that no event of a feed with events has had. */
function newRolesIn(
  state: PublishedState,
  drafts: readonly EventDraft[],
  confirmed: readonly string[] = [],
): readonly Need[] {
  if (state.last_sequence === 0) return [];
  const { roles } = historyOf(state);
  const fresh = new Set(
    drafts.flatMap((draft) =>
      draft.event_type === "relationship.upsert" ? draft.roles ?? [] : []
    ).filter((role) => !roles.has(role) && !confirmed.includes(role)),
  );
  return Array.from(fresh, (role) => {
    const near = suggest(role, [...roles]);
    const hint = near === undefined ? "" : ` (did you mean ${quote(near)}?)`;
    const word = /^[\w.:/@+-]+$/.test(role) ? role : quote(role);
    return [`the role ${quote(role)} is new${hint}`, `--new-role ${word}`];
  });
}

/**
 * Finds new people with the name or label of a person of the feed, or of
 * another new one. An id tells two people apart, unless the other one has left.
 */
function namesakesIn(
  state: PublishedState,
  drafts: readonly EventDraft[],
  history: PeopleHistory,
): readonly Need[] {
  const people = state.people ?? new People([]);
  /** The first key with a name, and its person. */
  const known = new Map<string, string>();
  const namesOf = (subject: string, label: unknown) =>
    [people.named(subject).name, label].flatMap((name) =>
      typeof name === "string" && name.trim() !== "" ? [appearance(name)] : []
    );
  for (const { upsert } of state.relationships.values()) {
    for (const name of namesOf(upsert.subject, upsert.display?.label)) {
      if (!known.has(name)) known.set(name, upsert.subject);
    }
  }
  const seen = new Set<string>();
  return drafts.flatMap((draft): readonly Need[] => {
    if (draft.event_type !== "relationship.upsert") return [];
    const { display, subject } = draft;
    if (history.isKnown(subject) || seen.has(subject)) return [];
    seen.add(subject);
    const person = people.keyOf(subject);
    const isNew = history.keysOf(person).length === 0;
    const names = namesOf(subject, display?.label);
    const other = names.map((name) => known.get(name)).find((each) =>
      each !== undefined && people.keyOf(each) !== person
    );
    for (const name of names) if (!known.has(name)) known.set(name, subject);
    if (other === undefined || !isNew) return [];
    // An id tells people apart, but a person who left may get a new one.
    const hasId = people.named(subject).person !== null;
    const isBack = history.isKnown(other) && !history.hasAccess(other) &&
      history.isEndedKey(other);
    if (hasId && !isBack) return [];
    const name = people.named(subject).name ?? display?.label;
    return [[
      `${quote(subject)} is new and has the name of ${quote(other)}, ${
        quote(String(name))
      }: give both rows a column person with one id if it is the same person`,
      "--namesakes",
    ]];
  });
}

/**
 * Returns the ending of a person of this name who has no access any more;
 * undefined if there is none, or if another person of this name has access.
 */
export function endedNamesake(
  state: PublishedState,
  name: string,
  now: Date,
): (EndedRelationship & { readonly subject: string }) | undefined {
  const history = new PeopleHistory(state, now);
  const wanted = appearance(name);
  const found = new Map<string, RelationshipUpsertEvent>();
  for (const { upsert } of state.relationships.values()) {
    const names = [
      state.people?.named(upsert.subject).name,
      upsert.display?.label,
    ];
    const isSame = names.some((each) =>
      typeof each === "string" && appearance(each) === wanted
    );
    if (isSame) found.set(personIn(state, upsert.subject), upsert);
  }
  const all = [...found.values()];
  if (all.some(({ subject }) => history.hasAccess(subject))) return undefined;
  for (const { relationship_type: type, subject } of all) {
    const ended = history.readmission({ subject, type });
    if (ended !== undefined) return { ...ended, subject };
  }
  return undefined;
}

/** The members that determine whether a relationship allows something. */
type Grant = Pick<
  RelationshipUpsertEvent,
  "subject" | "relationship_type" | "roles" | "valid_from" | "valid_until"
>;

/** The people with access, and a key of each person that drafts affect. */
class DraftedChanges {
  /** The number of people with an effective relationship. */
  readonly people: number;
  /** People who lose something that `check` allows. */
  readonly losses: readonly string[];
  /** People who gain something, or keep it for longer. */
  readonly grants: readonly string[];
  /** People of the feed whose published text changes. */
  readonly texts: readonly string[];

  constructor(
    state: PublishedState,
    drafts: readonly EventDraft[],
    now: Date,
  ) {
    const personOf = (subject: string) => personIn(state, subject);
    const before = new Map<string, Grant>();
    const texts = new Map<string, string>();
    for (const [id, { status, upsert }] of state.relationships) {
      if (status === "active") before.set(id, upsert);
    }
    const after = new Map(before);
    /** A key of each person whose relationships change. */
    const touched = new Map<string, string>();
    const touch = (subject: string) => {
      const person = personOf(subject);
      if (!touched.has(person)) touched.set(person, subject);
    };
    for (const [at, draft] of drafts.entries()) {
      // A published identifier never contains a line feed.
      const id = draft.relationship_id ?? `\n${at}`;
      const replaced = after.get(id);
      if (replaced !== undefined) touch(replaced.subject);
      if (draft.event_type === "relationship.revoke") after.delete(id);
      else {
        touch(draft.subject);
        const { roles = [], valid_from = null, valid_until = null } = draft;
        after.set(id, { ...draft, roles, valid_from, valid_until });
        const known = state.relationships.get(id)?.upsert;
        if (known !== undefined && changesText(known, draft)) {
          texts.set(personOf(draft.subject), draft.subject);
        }
      }
    }
    const instant = instantOf(now);
    const had = effectiveByPerson(before.values(), instant, personOf);
    const has = effectiveByPerson(after.values(), instant, personOf);
    const differing = (from: typeof had, to: typeof had, isCovered: Covers) =>
      [...touched].flatMap(([person, subject]) =>
        from.get(person)?.some((grant) =>
            !(to.get(person) ?? []).some((by) => isCovered(by, grant))
          )
          ? [subject]
          : []
      );
    this.people = had.size;
    this.losses = differing(had, has, covers);
    this.grants = differing(
      has,
      had,
      (by, grant) => covers(by, grant) && !endsBefore(by, grant),
    );
    this.texts = [...texts.values()];
  }
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
