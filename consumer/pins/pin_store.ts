/** The contract of what remembers issuers for longer than a process (PROTOCOL §6). @module */

import { SigError } from "@sig/core";

/** What a store keeps of one issuer. */
export interface PinEntry {
  /** The issuer's DID. */
  readonly issuer: string;
  /** From 1; each writing adds one. */
  readonly revision: number;
  /** The name of the rows that belong to it. */
  readonly state: string;
  /** Everything else, as text that no store looks into. */
  readonly body: string;
}

/**
 * Entries whose `issuer` begins so are no issuers', but say how far somebody
 * who watches a feed has come.
 */
export const CURSOR_PREFIX = "cursor:";

/** Whose rows, and which. */
export type StateRef = Pick<PinEntry, "issuer" | "state">;

/** One text for a state: only with its issuer its name is unique. */
export function stateName({ issuer, state }: StateRef): string {
  return `${state} ${issuer}`;
}

/** A row of a state: its key and its value. */
export type PinRow = readonly [key: string, value: string];

/**
 * Keeps a few texts an issuer: one entry with its pin, and the rows of what was
 * verified. A driver knows nothing of what they mean.
 *
 * - An entry is written only in the place of the revision that was read
 *   ({@linkcode put}), together with its rows or not at all: so an older view
 *   never overwrites a newer one, and a crash leaves the last complete entry.
 * - Rows of a state that no entry names are seen by nobody. A first
 *   verification writes them piece by piece ({@linkcode stage}) before its
 *   entry, or takes them back ({@linkcode unstage}); what one that was killed
 *   has left there goes with the next entry.
 * - Rows of a state that the entry no longer names are never mistaken for rows
 *   that are missing: that would make a deny of an allow
 *   ({@linkcode StateMoved}).
 * - All of it may be shared by processes. What can't be read, or is not ours, is
 *   `store_unavailable` with its place; it is never replaced.
 *
 * Every method may throw {@linkcode SigError} `store_unavailable`.
 */
export interface PinStore {
  /** Where it is, for errors; without a password. */
  readonly place: string;
  /** What is kept of an issuer. */
  get(issuer: string): Promise<PinEntry | undefined>;
  /** What is kept of all issuers, by their DIDs. */
  list(): Promise<readonly PinEntry[]>;
  /**
   * Rows by their keys, in the order of the keys; undefined for one that is not
   * there.
   *
   * @throws {StateMoved}
   */
  rows(
    ref: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]>;
  /**
   * All rows whose keys begin so, in any order.
   *
   * @throws {StateMoved} also in the middle.
   */
  all(ref: StateRef, prefix: string): AsyncIterable<PinRow>;
  /**
   * Writes rows of a state that no entry names yet.
   *
   * @throws {StateMoved} where what was staged of it before was forgotten
   * meanwhile, with the issuer or for another state.
   */
  stage(ref: StateRef, rows: readonly PinRow[]): Promise<void>;
  /**
   * Rows that were staged, of a state that no entry names yet; undefined for one
   * that is not there, or no more. For who has staged them and goes on with
   * them: nothing may be answered from them.
   */
  staged(
    ref: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]>;
  /** Forgets what was staged; does nothing to a state that the entry names. */
  unstage(ref: StateRef): Promise<void>;
  /**
   * Writes an entry and rows of its state, if the entry that is there has the
   * revision before it (none before 1). Where it names another state than that
   * one, all other states of the issuer are forgotten.
   *
   * @param over The state that must be there. Revisions begin anew once an issuer
   * was forgotten, so that the one before may be of another life.
   * @returns Whether it was written: not when rows that were staged for it were
   * forgotten meanwhile, or when another process was faster. It may then be put
   * again as the next revision of what is there.
   * @throws {RowsTooLarge} for more rows than the store can write in one step:
   * they are then staged, as another state.
   */
  put(
    entry: PinEntry,
    rows?: readonly PinRow[],
    over?: string,
  ): Promise<boolean>;
  /** Forgets an issuer. Returns whether there was anything to forget. */
  remove(issuer: string): Promise<boolean>;
  /** Ends it; waits for nothing. */
  close(): Promise<void>;
}

/** The rows that were asked for are no longer those of the issuer: look anew. */
export class StateMoved extends Error {
  /** Always `StateMoved`. */
  override readonly name = "StateMoved";

  /** The entry names another state by now, or is gone. */
  constructor() {
    super("Cannot read rows: the issuer's state is another one by now");
  }
}

/** More rows than a store can write in one step with an entry. */
export class RowsTooLarge extends Error {
  /** Always `RowsTooLarge`. */
  override readonly name = "RowsTooLarge";

  /** Nothing was written. */
  constructor() {
    super("Cannot write rows: they are too many for one step");
  }
}

/** `store_unavailable` with the store's place; its own text is never shown. */
export function pinStoreUnavailable(
  place: string,
  why: string,
  { cause, reason, hint = "Try again in a moment." }: {
    readonly cause?: unknown;
    /** `permission`: the program was not given the right to use it. */
    readonly reason?: "permission";
    readonly hint?: string;
  } = {},
): SigError {
  return new SigError(
    "store_unavailable",
    `Cannot use the memory ${place}: ${why}`,
    {
      context: { place, ...(reason === undefined ? {} : { reason }), hint },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

/** Something was read that we did not write. */
export function damaged(place: string, what: string): SigError {
  return pinStoreUnavailable(place, `${what} is damaged`, {
    hint:
      "Forget that issuer with sig pin remove, or move the store away; the next look is then a first one.",
  });
}
