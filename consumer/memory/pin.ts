/**
 * The pin that later fetches of an issuer are compared with, and its stored
 * record (docs/protocol.md §6.1).
 *
 * @module
 */

import { encodeHex } from "@std/encoding/hex";
import { isObject } from "@sig/core/internal";
import {
  type RecordKind,
  storeUnavailable,
  type Unavailable,
} from "../store/record_store.ts";
/** The kind of pin records: one per issuer, by its DID. */
export const PINS: RecordKind = { name: "pin" };

/** The kind of cursor records: one per watcher. */
export const CURSORS: RecordKind = { name: "cursor" };

/**
 * The data to check whether a later feed continues the verified one. JSON-safe,
 * since a pin may be kept in a store.
 */
export interface IssuerPin {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event. */
  readonly sequence: number;
  /** Size of the feed in bytes. */
  readonly bytes: number;
  /** SHA-256 of the feed, hexadecimal. */
  readonly prefix_sha256: string;
  /**
   * The last event's `event_id`; null for an empty feed, or an `event_id` of
   * more than 512 characters.
   */
  readonly last_event_id: string | null;
  /** RFC 7638 thumbprints of the keys that signed, by kid. */
  readonly keys: { readonly [kid: string]: string };
  /** The feed's entity tag; null if it has none. */
  readonly etag: string | null;
  /** When the issuer was first verified (RFC 3339). */
  readonly first_seen: string;
  /** When the issuer was last verified (RFC 3339). */
  readonly last_seen: string;
  /** The remembered proof; undefined if none was used. */
  readonly proof?: ProofMemory | undefined;
}

/** A remembered checkpoint (docs/protocol.md §13.4). */
export interface ProofPin {
  /** Number of events in the checkpoint. */
  readonly size: number;
  /** The root hash of its event tree, base64. */
  readonly root: string;
  /** The root hash of its state tree, base64. */
  readonly state: string;
  /** The largest number of events seen so far. */
  readonly seen: number;
  /** RFC 7638 thumbprints of the keys that may sign events, by kid. */
  readonly keys: { readonly [kid: string]: string };
}

/** A {@linkcode ProofPin} with the time of its last confirmation. */
export interface ProofMemory extends ProofPin {
  /** When the proof was last confirmed (RFC 3339). */
  readonly last_seen: string;
}

/**
 * Returns the kids that signed for the first time; empty if proofs are
 * remembered, which introduce new keys.
 */
export function addedKeys(
  before: IssuerPin | undefined,
  { keys }: IssuerPin,
): readonly string[] {
  const isKnown = before !== undefined && before.proof === undefined &&
    before.sequence > 0;
  if (!isKnown) return [];
  return Object.keys(keys).filter((kid) => !Object.hasOwn(before.keys, kid));
}

/** Maximum length of `event_id` and entity tag in a pin, in characters. */
const MAX_TEXT = 512;

/** Returns an issuer's text, or null if it is too long for a pin. */
export function shortOrNull(text: string | null): string | null {
  return text === null || text.length > MAX_TEXT ? null : text;
}

/** A served feed that contradicts the pin. */
export interface SeenFeed {
  /** Number of lines of the feed. */
  readonly sequence: number;
  /** SHA-256 of the feed, hexadecimal. */
  readonly sha256: string;
  /** Thumbprints of the keys that may sign, by kid. */
  readonly keys: { readonly [kid: string]: string };
}

/** An unresolved contradiction. */
export interface PinIncident {
  /** The error code, see docs/protocol.md §6.2. */
  readonly code: string;
  /** When it was first seen (RFC 3339). */
  readonly since: string;
  /** A description with old and new value. */
  readonly detail: string;
  /** What was served; null if it was not read to its end. */
  readonly seen: SeenFeed | SeenProof | null;
}

/** A served checkpoint that contradicts the pin. */
export interface SeenProof {
  /**
   * Number of events in the checkpoint; null without a checkpoint, like `root`
   * and `state`.
   */
  readonly size: number | null;
  /** The root hash of its event tree, base64. */
  readonly root: string | null;
  /** The root hash of its state tree, base64. */
  readonly state: string | null;
  /** Thumbprints of the keys that may sign, by kid. */
  readonly keys: { readonly [kid: string]: string };
}

/** The acceptance of a different history. */
export interface PinAcknowledgement {
  /** When it was accepted (RFC 3339). */
  readonly at: string;
  /** The reason, as written by the operator. */
  readonly reason: string;
  /** The code of the contradiction before; null if there was none. */
  readonly code: string | null;
}

/** The stored record of an issuer. */
export interface StoredPin {
  /** Long kids are stored as digests. */
  readonly pin: IssuerPin;
  /** The URL of the `sig.json` that was read: a host may have several. */
  readonly place: string;
  /** Whether all documents were fetched over TLS (docs/protocol.md §1.3). */
  readonly source: "https" | "http";
  readonly public_only: boolean;
  readonly policy: string;
  readonly compared_at: string;
  /**
   * Whether a fault or contradiction was seen since; if so, nothing is
   * answered.
   */
  readonly unusable: boolean;
  /**
   * The code of the last unacknowledged contradiction; null if there is none.
   */
  readonly last_contradiction: string | null;
  readonly incident: PinIncident | null;
  /** Set if only proofs were read; the pin is then that of an empty feed. */
  readonly unread?: true;
  /** Keys that first signed while no proof was remembered; the last 20. */
  readonly key_added?: readonly { readonly kid: string; readonly at: string }[];
  /** Acceptances of different histories; the last 20. */
  readonly acknowledged: readonly PinAcknowledgement[];
  /** For each accepted history, the first event that it changed. */
  readonly rewritten_from: readonly number[];
  /** Where the verified lines are; null if the store has none. */
  readonly lines: {
    readonly table: number;
    /** SHA-256 of the lines' attachment (documents, warnings). */
    readonly sha256: string;
  } | null;
}

/** How an issuer was read. */
export type PinRules = Pick<
  StoredPin,
  "place" | "source" | "public_only" | "policy" | "compared_at"
>;

export function newPin(pin: IssuerPin, rules: PinRules): StoredPin {
  return {
    pin,
    ...rules,
    unusable: false,
    last_contradiction: null,
    incident: null,
    acknowledged: [],
    rewritten_from: [],
    lines: null,
  };
}

const MAX_KEYS_ADDED = 20;

/** Returns the record after reading a feed that continues the pin. */
export async function continuePin(
  before: StoredPin | undefined,
  read: IssuerPin,
  rules: PinRules,
): Promise<StoredPin> {
  const pin = await withKeys(read, shortenKids);
  const { unread: _, key_added = [], ...past } = before ?? newPin(pin, rules);
  const added = addedKeys(before?.pin, pin)
    .map((kid) => ({ kid, at: pin.last_seen }));
  return {
    ...past,
    ...rules,
    pin,
    key_added: [...key_added, ...added].slice(-MAX_KEYS_ADDED),
    unusable: false,
    incident: null,
    lines: null,
  };
}

/** The error codes of contradictions to a pin (docs/protocol.md §6.2). */
export const CONTRADICTIONS: ReadonlySet<string> = new Set([
  "feed_rolled_back",
  "key_replaced",
  "key_withdrawn",
  "feed_rewritten",
  "state_contradicted",
  "key_not_introduced",
]);

/**
 * Thrown if another process has stored a different history; the caller reads
 * the store again.
 */
export class HistoryMoved extends Error {
  override readonly name = "HistoryMoved";
}

const MAX_ATTEMPTS = 8;

/**
 * Repeats work while it throws {@linkcode HistoryMoved} because other processes
 * write, at most 8 times.
 *
 * @param onMoved Called before each repetition.
 * @throws {SigError} `store_unavailable`, and what the work throws.
 */
export async function whileOthersWrite<T>(
  store: { readonly place: string } | undefined,
  work: () => Promise<T>,
  onMoved: () => void = () => {},
): Promise<T> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HistoryMoved)) throw error;
    }
    onMoved();
  }
  throw storeUnavailable(store!.place, "other processes keep changing it");
}

/** Whether two pins differ only in when and how the issuer was last read. */
export function sameHistory(a: StoredPin, b: StoredPin): boolean {
  return historyOf(a) === historyOf(b);
}

function historyOf({ pin, compared_at: _, lines, ...rest }: StoredPin): string {
  const { etag: _etag, last_seen: _lastSeen, proof, ...history } = pin;
  const proven = proof && { ...proof, last_seen: null };
  const table = lines?.table ?? null;
  return canonical({ ...rest, ...history, proven, lines: table });
}

export function canonical(value: unknown): string {
  return JSON.stringify(
    value,
    (_name, each) =>
      isObject(each)
        ? Object.fromEntries(
          Object.entries(each).sort(([a], [b]) => a < b ? -1 : 1),
        )
        : each,
  );
}

interface RecordName {
  readonly kind: RecordKind;
  readonly id: string;
}

/** Returns the text of a record: a SHA-256, then the value as JSON. */
export async function encodeChecked(
  name: RecordName,
  value: unknown,
): Promise<string> {
  const json = JSON.stringify(value);
  return `${await sha256Hex(checkedBytes(name, json))} ${json}`;
}

/**
 * Returns the value of a record; undefined for a text that
 * {@linkcode encodeChecked} did not write, or wrote for another record.
 */
export async function decodeChecked(
  name: RecordName,
  text: string,
): Promise<unknown> {
  const json = text.slice(CHECKSUM_LENGTH);
  return text === `${await sha256Hex(checkedBytes(name, json))} ${json}`
    ? JSON.parse(json)
    : undefined;
}

/**
 * Returns the bytes under the checksum. They include the record's name, so that
 * the text of another record is rejected.
 */
function checkedBytes(
  { kind, id }: RecordName,
  json: string,
): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${kind.name} ${id} ${json}`);
}

export const CHECKSUM_LENGTH = 65;

/**
 * Decodes the pin of an issuer's record.
 *
 * @throws {SigError} `store_unavailable` for an altered record.
 */
export async function decodePin(
  place: string,
  issuer: string,
  text: string,
): Promise<StoredPin> {
  const stored = await decodeChecked({ kind: PINS, id: issuer }, text);
  if (stored !== undefined) return stored as StoredPin;
  const unavailable = storeUnavailable.bind(undefined, place);
  throw damagedPin(unavailable, `the pin of ${issuer}`);
}

/**
 * Returns `store_unavailable` for an altered pin: without it, a feed can't be
 * compared with anything.
 */
export function damagedPin(unavailable: Unavailable, what: string): Error {
  return unavailable(
    `${what} is damaged`,
    undefined,
    "Forget the issuer with sig pin remove: it is then seen for the first time.",
  );
}

/** Returns the SHA-256 of a text or of bytes, hexadecimal. */
export async function sha256Hex(
  data: string | Uint8Array<ArrayBuffer>,
): Promise<string> {
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data;
  return encodeHex(await crypto.subtle.digest("SHA-256", bytes));
}

const DIGEST_PREFIX = "sha256:";

/** Longer kids are stored as digests, so that any pin fits into a record. */
const MAX_STORED_KID = 64 + DIGEST_PREFIX.length;

export type Thumbprints = { readonly [kid: string]: string };

/** Returns keys for storage, with long kids as digests. */
export async function shortenKids(keys: Thumbprints): Promise<Thumbprints> {
  const stored: [string, string][] = [];
  for (const [kid, key] of Object.entries(keys)) {
    stored.push([await storedKid(kid), key]);
  }
  return Object.fromEntries(stored);
}

/**
 * Returns a stored pin, with digests of published kids replaced by the kids.
 */
export async function namePin(
  pin: IssuerPin,
  published: ReadonlyMap<string, unknown>,
): Promise<IssuerPin> {
  return await withKeys(pin, (keys) => nameKids(keys, published.keys()));
}

async function withKeys(
  { proof, ...pin }: IssuerPin,
  change: (keys: Thumbprints) => Promise<Thumbprints>,
): Promise<IssuerPin> {
  return {
    ...pin,
    keys: await change(pin.keys),
    ...(proof && { proof: { ...proof, keys: await change(proof.keys) } }),
  };
}

/** Returns stored keys, with digests of published kids replaced by the kids. */
export async function nameKids(
  keys: Thumbprints,
  published: Iterable<string>,
): Promise<Thumbprints> {
  const isStored = (kid: string) => kid.startsWith(DIGEST_PREFIX);
  if (!Object.keys(keys).some(isStored)) return keys;
  const names = new Map<string, string>();
  for (const kid of published) names.set(await storedKid(kid), kid);
  const named = Object.entries(keys)
    .map(([kid, key]) => [names.get(kid) ?? kid, key] as const);
  return Object.fromEntries(named);
}

async function storedKid(kid: string): Promise<string> {
  return kid.length <= MAX_STORED_KID
    ? kid
    : DIGEST_PREFIX + await sha256Hex(kid);
}
