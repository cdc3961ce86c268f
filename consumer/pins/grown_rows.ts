/** Rows of a state that is being staged, with what a batch of events adds. @module */

import type { RelationshipState } from "@sig/core";
import type { FeedBatch, SubjectGrowth } from "./feed_batch.ts";
import { appendVersions, readLastState, writeVersions } from "./feed_rows.ts";
import { damaged, type PinRow, type PinStore } from "./pin_store.ts";
import type { RowDirectory } from "./row_directory.ts";
import { relationshipKey, subjectKey } from "./row_keys.ts";
import { isTexts, readText } from "./stored_state.ts";

/** Rows by their keys as they are staged; undefined for one that is not there. */
export type ReadRows = (
  keys: readonly string[],
) => Promise<readonly (string | undefined)[]>;

/** What is staged so far. */
export interface StagedRows {
  /** Where. */
  readonly store: PinStore;
  /** Of whom. */
  readonly issuer: string;
  /** The rows there are; those that are new are added. */
  readonly directory: RowDirectory;
  /** Reads what is staged. */
  readonly read: ReadRows;
}

/**
 * The rows of relationships that change.
 *
 * @throws {SigError} `store_unavailable`; {@linkcode StateMoved}.
 */
export async function growRelationships(
  staged: StagedRows,
  batch: FeedBatch,
  ids: readonly string[],
): Promise<readonly PinRow[]> {
  const keys = ids.map(relationshipKey);
  const texts = await staged.read(keys);
  const rows: PinRow[] = [];
  for (const [i, id] of ids.entries()) {
    const key = keys[i]!;
    const text = texts[i];
    if (text === undefined) {
      const added = batch.grow(id, undefined);
      if (added.length === 0) continue;
      staged.directory.add(key);
      rows.push([key, writeVersions(id, added)]);
    } else {
      const added = batch.grow(id, lastStateOf(staged, id, text));
      if (added.length === 0) continue;
      rows.push([key, appendVersions(text, id, added)]);
    }
  }
  return rows;
}

function lastStateOf(
  { store, issuer }: StagedRows,
  id: string,
  text: string,
): RelationshipState {
  let state: RelationshipState | undefined;
  try {
    state = readLastState(text, id, issuer);
  } catch {
    // Told below.
  }
  if (state !== undefined) return state;
  throw damaged(store.place, "a relationship");
}

/**
 * The rows of subjects that relationships came to be about.
 *
 * @throws {SigError} `store_unavailable`; {@linkcode StateMoved}.
 */
export async function growSubjects(
  { store, directory, read }: StagedRows,
  subjects: readonly (readonly [subject: string, growth: SubjectGrowth])[],
): Promise<readonly PinRow[]> {
  const keys = subjects.map(([subject]) => subjectKey(subject));
  const texts = await read(keys);
  return subjects.map(([, { ids, areNew }], i): PinRow => {
    const key = keys[i]!;
    const text = texts[i];
    if (text === undefined) {
      directory.add(key);
      return [key, JSON.stringify([...new Set(ids)])];
    }
    // Without reading those that are there: they may be very many.
    if (areNew) {
      return [key, `${text.slice(0, -1)},${JSON.stringify(ids).slice(1)}`];
    }
    const known = readText<readonly string[]>(
      { store },
      text,
      "a subject",
      isTexts,
    );
    return [key, JSON.stringify([...new Set([...known, ...ids])])];
  });
}
