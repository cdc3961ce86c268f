/** Reading as much of a stored state as a question needs. @module */

import {
  compareInstants,
  type FeedState,
  type Instant,
  type ParsedTime,
  type RelationshipState,
} from "@sig/core";
import {
  instantOfStored,
  readVersions,
  type StoredBlock,
  type StoredWarning,
} from "./feed_rows.ts";
import { damaged } from "./pin_store.ts";
import { type ListedState, readRows } from "./row_directory.ts";
import {
  BLOCK_EVENTS,
  blockKey,
  RELATIONSHIP_PREFIX,
  relationshipKey,
  subjectKey,
  WARNINGS_KEY,
} from "./row_keys.ts";
import { relationshipsBySubject, StoredHistory } from "./stored_history.ts";

/** A verified state that a store holds. */
export interface StoredState extends ListedState {
  /** Of the entry that names them. */
  readonly revision: number;
  /** Events that count: a process that is further may have added more. */
  readonly lastSequence: number;
  /** Whether there are warnings to be read. */
  readonly hasWarnings: boolean;
}

/** Rows read at once. */
const CHUNK_ROWS = 1_000;

/**
 * The state as far as it is about some subjects, and the time that is asked for.
 *
 * @throws {SigError} `store_unavailable`; {@linkcode StateMoved}.
 */
export async function readAbout(
  stored: StoredState,
  subjects: readonly string[],
  { asOf }: Partial<Pick<ParsedTime, "asOf">> = {},
): Promise<FeedState> {
  const history = new StoredHistory();
  await readWarnings(stored, history);
  for (const subject of new Set(subjects)) {
    await readSubject(stored, subject, history);
  }
  if (typeof asOf === "number") await readInstant(stored, asOf, history);
  else if (asOf !== undefined) {
    history.learnPrefix(asOf.instant, await eventsAt(stored, asOf.instant));
  }
  return stateOf(stored, history);
}

async function readSubject(
  stored: StoredState,
  subject: string,
  history: StoredHistory,
): Promise<void> {
  const [text] = await readRows(stored, [subjectKey(subject)]);
  const ids = text === undefined
    ? []
    : readText<readonly string[]>(stored, text, "a subject", isTexts);
  await readRelationships(
    stored,
    ids.filter((id) => !history.versions.has(id)),
    history,
  );
  history.learnSubject(
    subject,
    ids.filter((id) => history.versions.has(id)),
  );
}

/**
 * The whole state.
 *
 * @throws {SigError} `store_unavailable`; {@linkcode StateMoved}.
 */
export async function readWhole(
  stored: StoredState,
  { asOf }: Partial<Pick<ParsedTime, "asOf">> = {},
): Promise<FeedState> {
  const { store, ref, lastSequence, listed } = stored;
  const found: ReturnType<typeof readVersions>[] = [];
  for await (const [, text] of store.all(ref, RELATIONSHIP_PREFIX)) {
    const each = readRelationship(stored, text);
    if (each.versions.length > 0) found.push(each);
  }
  if (listed !== undefined && found.length !== listed.relationships) {
    throw damaged(store.place, `the state of ${ref.issuer}`);
  }
  // In the order of their first upserts, as a replay has them.
  found.sort((a, b) =>
    a.versions[0]!.state.last_sequence - b.versions[0]!.state.last_sequence
  );
  const history = new StoredHistory();
  for (const { id, versions } of found) {
    history.learnRelationship(id, versions);
  }
  for (const [subject, ids] of relationshipsBySubject(history.versions)) {
    history.learnSubject(subject, ids);
  }
  await readWarnings(stored, history);
  if (typeof asOf === "number" && asOf <= lastSequence) {
    await readInstant(stored, asOf, history);
  } else if (typeof asOf === "object") {
    history.learnPrefix(asOf.instant, await eventsAt(stored, asOf.instant));
  }
  return stateOf(stored, history);
}

/** Reads relationships into a history. */
export async function readRelationships(
  stored: StoredState,
  ids: readonly string[],
  history: StoredHistory,
): Promise<void> {
  const { store, ref } = stored;
  for (let at = 0; at < ids.length; at += CHUNK_ROWS) {
    const chunk = ids.slice(at, at + CHUNK_ROWS);
    const texts = await store.rows(ref, chunk.map(relationshipKey));
    for (const [i, text] of texts.entries()) {
      if (text === undefined) {
        throw damaged(store.place, `the state of ${ref.issuer}`);
      }
      const { id, versions } = readRelationship(stored, text);
      if (id !== chunk[i]) {
        throw damaged(store.place, `the state of ${ref.issuer}`);
      }
      history.learnRelationship(id, versions);
    }
  }
}

/** A row of a relationship. */
export function readRelationship(
  { store, ref, lastSequence }: StoredState,
  text: string,
): ReturnType<typeof readVersions> {
  try {
    return readVersions(text, ref.issuer, lastSequence);
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    throw damaged(store.place, "a relationship");
  }
}

/** Reads whom the events are about that were warned about, and their times. */
export async function readWarnings(
  stored: StoredState,
  history: StoredHistory,
): Promise<readonly StoredWarning[]> {
  if (!stored.hasWarnings) return [];
  const [text] = await stored.store.rows(stored.ref, [WARNINGS_KEY]);
  if (text === undefined) throw damaged(stored.store.place, "a warning");
  const all = readText<readonly StoredWarning[]>(
    stored,
    text,
    "a warning",
    isWarnings,
  );
  const warnings = all.filter(({ warning: { sequence = 0 } }) =>
    sequence <= stored.lastSequence
  );
  for (const { warning: { sequence }, subjects, issuedAt } of warnings) {
    if (sequence === undefined) continue;
    history.learnWarning(sequence, subjects);
    if (issuedAt) history.learnInstant(sequence, instantOfStored(issuedAt));
  }
  return warnings;
}

/** Some events in a row. */
export async function readBlock(
  stored: StoredState,
  sequence: number,
): Promise<StoredBlock> {
  const { store, ref } = stored;
  const [text] = await store.rows(ref, [blockKey(sequence)]);
  if (text === undefined) throw damaged(store.place, "a block of events");
  return readText<StoredBlock>(stored, text, "a block of events", isBlock);
}

/** Text that we wrote as JSON. */
export function readText<T>(
  { store }: Pick<StoredState, "store">,
  text: string,
  what: string,
  isWhole: (value: unknown) => boolean = Array.isArray,
): T {
  try {
    const value: unknown = JSON.parse(text);
    if (isWhole(value)) return value as T;
  } catch {
    // Told below.
  }
  throw damaged(store.place, what);
}

/** Whether a value is a list of texts. */
export function isTexts(value: unknown): boolean {
  return Array.isArray(value) &&
    value.every((each) => typeof each === "string");
}

function isWarnings(value: unknown): boolean {
  return Array.isArray(value) &&
    value.every((each: StoredWarning | null) =>
      typeof each?.warning === "object" && isTexts(each.subjects)
    );
}

/** Whether a value is a {@linkcode StoredBlock}. */
export function isBlock(value: unknown): boolean {
  const { latest, issuedAt, marks } = (value ?? {}) as Partial<StoredBlock>;
  return [latest, issuedAt, marks].every((each) => Array.isArray(each));
}

async function readInstant(
  stored: StoredState,
  sequence: number,
  history: StoredHistory,
): Promise<void> {
  // Beyond the feed there is nothing to read: core says so.
  if (sequence > stored.lastSequence) return;
  const { issuedAt } = await readBlock(stored, sequence);
  const instant = issuedAt[(sequence - 1) % BLOCK_EVENTS];
  if (instant === undefined) {
    throw damaged(stored.store.place, "a block of events");
  }
  history.learnInstant(sequence, instantOfStored(instant));
}

/** Events of the longest prefix whose every `issued_at` ≤ the instant. */
async function eventsAt(
  stored: StoredState,
  instant: Instant,
): Promise<number> {
  const { lastSequence } = stored;
  // The latest instants never go back: the blocks can be bisected.
  let low = 0;
  let high = Math.ceil(lastSequence / BLOCK_EVENTS);
  const isBefore = (at: StoredBlock["latest"]) =>
    compareInstants(instantOfStored(at), instant) <= 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    const { latest } = await readBlock(stored, middle * BLOCK_EVENTS + 1);
    if (isBefore(latest)) low = middle + 1;
    else high = middle;
  }
  const events = low * BLOCK_EVENTS;
  if (events >= lastSequence) return lastSequence;
  const { issuedAt } = await readBlock(stored, events + 1);
  const after = issuedAt.findIndex((at) => !isBefore(at));
  return Math.min(
    lastSequence,
    events + (after < 0 ? issuedAt.length : after),
  );
}

function stateOf(
  { ref, lastSequence }: StoredState,
  history: StoredHistory,
): FeedState {
  let map: ReadonlyMap<string, RelationshipState> | undefined;
  return {
    issuer: ref.issuer,
    last_sequence: lastSequence,
    get by_relationship_id() {
      return map ??= new Map(
        Array.from(
          history.versions,
          ([id, versions]) => [id, versions.at(-1)!.state],
        ),
      );
    },
    history,
  };
}
