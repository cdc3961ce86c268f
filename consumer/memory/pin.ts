/**
 * What is remembered of an issuer: the pin that later fetches are compared with,
 * and what happened to it (docs/protocol.md §6.1).
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
/** One record for each issuer, by its DID. */
export const PINS: RecordKind = { name: "pin" };

/** One record for each watcher. */
export const CURSORS: RecordKind = { name: "cursor" };

/**
 * Enough to tell whether a feed that comes later continues the one that was
 * verified. JSON-safe, since a pin may be kept in a store.
 */
export interface IssuerPin {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event. */
  readonly sequence: number;
  /** Bytes of the feed. */
  readonly bytes: number;
  /** SHA-256 of these bytes, hexadecimal. */
  readonly prefix_sha256: string;
  /** The last event's `event_id`; null for an empty feed, or a very long one. */
  readonly last_event_id: string | null;
  /** RFC 7638 thumbprints of the keys that signed, by kid. */
  readonly keys: { readonly [kid: string]: string };
  /** The feed's entity tag, if it has one. */
  readonly etag: string | null;
  /** When the issuer was first verified. */
  readonly first_seen: string;
  /** When it was last verified. */
  readonly last_seen: string;
  /** What its proofs said; undefined where none was used. */
  readonly proof?: ProofMemory | undefined;
}

/** What is remembered of an issuer's proofs (docs/protocol.md §13.4). */
export interface ProofPin {
  /** Events of the checkpoint. */
  readonly size: number;
  /** Its tree hash, base64. */
  readonly root: string;
  /** The hash of its state tree, base64. */
  readonly state: string;
  /** The largest number of events that was seen. */
  readonly seen: number;
  /** RFC 7638 thumbprints of the keys that may sign events, by kid. */
  readonly keys: { readonly [kid: string]: string };
}

/** {@linkcode ProofPin}, with when it was last confirmed. */
export interface ProofMemory extends ProofPin {
  /** When an answer by proof was last given. */
  readonly last_seen: string;
}

/** The kids that have signed for the first time, where no proofs tell. */
export function addedKeys(
  before: IssuerPin | undefined,
  { keys }: IssuerPin,
): readonly string[] {
  const isKnown = before !== undefined && before.proof === undefined &&
    before.sequence > 0;
  if (!isKnown) return [];
  return Object.keys(keys).filter((kid) => !Object.hasOwn(before.keys, kid));
}

/** Longest `event_id` and entity tag of a pin; longer ones are left out. */
const MAX_TEXT = 512;

/** A text of an issuer's choice, if it is short enough for a pin. */
export function shortOrNull(text: string | null): string | null {
  return text === null || text.length > MAX_TEXT ? null : text;
}

/** What an issuer served that contradicts its pin. */
export interface SeenFeed {
  /** Lines of the feed. */
  readonly sequence: number;
  /** SHA-256 of the feed. */
  readonly sha256: string;
  /** Thumbprints of the keys that may sign, by kid. */
  readonly keys: { readonly [kid: string]: string };
}

/** A contradiction that lasts. */
export interface PinIncident {
  /** One of docs/protocol.md §6.2. */
  readonly code: string;
  /** When it was first seen. */
  readonly since: string;
  /** What was seen, with old and new value. */
  readonly detail: string;
  /** What was served then; null where that was not read to its end. */
  readonly seen: SeenFeed | SeenProof | null;
}

/** What a checkpoint said that contradicts a pin. */
export interface SeenProof {
  /** Its size; null where there is no checkpoint, as with the next two. */
  readonly size: number | null;
  /** Its tree hash. */
  readonly root: string | null;
  /** The hash of its state tree. */
  readonly state: string | null;
  /** Thumbprints of the keys that may sign, by kid. */
  readonly keys: { readonly [kid: string]: string };
}

/** Another history was accepted. */
export interface PinAcknowledgement {
  /** When. */
  readonly at: string;
  /** Why, as the person who accepted it wrote. */
  readonly reason: string;
  /** What had contradicted the history before; null when nothing had. */
  readonly code: string | null;
}

/** Everything that a store keeps of an issuer in one record. */
export interface StoredPin {
  /** What later fetches are compared with; long kids as digests. */
  readonly pin: IssuerPin;
  /** The URL of the `sig.json` that was read: a host may have others. */
  readonly place: string;
  /** Whether all documents came with TLS (docs/protocol.md §1.3). */
  readonly source: "https" | "http";
  /** The metadata's rule for events. */
  readonly public_only: boolean;
  /** The reader's own rules for events. */
  readonly policy: string;
  /** When the feed was last compared from its first byte on. */
  readonly compared_at: string;
  /** A fault or contradiction was seen since: nothing may be answered. */
  readonly unusable: boolean;
  /** The last contradiction that nobody has acknowledged. */
  readonly last_contradiction: string | null;
  /** The contradiction that lasts. */
  readonly incident: PinIncident | null;
  /** Only proofs were read: the pin is that of an empty feed. */
  readonly unread?: true;
  /** Keys that were new while no proof was remembered; the last 20. */
  readonly key_added?: readonly { readonly kid: string; readonly at: string }[];
  /** Which histories were accepted, and why; the last 20. */
  readonly acknowledged: readonly PinAcknowledgement[];
  /** For each accepted history the first event that it changed. */
  readonly rewritten_from: readonly number[];
  /** Where the verified lines are, in a store that has them. */
  readonly lines: {
    /** The number of their table. */
    readonly table: number;
    /** SHA-256 of what belongs to them (documents, warnings). */
    readonly sha256: string;
  } | null;
}

/** How an issuer was read. */
export type PinRules = Pick<
  StoredPin,
  "place" | "source" | "public_only" | "policy" | "compared_at"
>;

/** What is stored of an issuer to which nothing has happened yet. */
export function newPin(pin: IssuerPin, rules: PinRules): StoredPin {
  return {
    pin,
    ...rules,
    ...{ unusable: false, last_contradiction: null, incident: null },
    ...{ acknowledged: [], rewritten_from: [], lines: null },
  };
}

/** New keys that are kept. */
const MAX_KEYS_ADDED = 20;

/** What is stored after a feed was read that continues what was stored. */
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
    ...{ unusable: false, incident: null, lines: null },
  };
}

/** Codes of what contradicts a pin (docs/protocol.md §6.2). */
export const CONTRADICTIONS: ReadonlySet<string> = new Set([
  "feed_rolled_back",
  "key_replaced",
  "key_withdrawn",
  "feed_rewritten",
  "state_contradicted",
  "key_not_introduced",
]);

/** Another process has stored another history meanwhile: recall it again. */
export class HistoryMoved extends Error {
  /** Always `HistoryMoved`. */
  override readonly name = "HistoryMoved";
}

/** How often another process may be faster before we give up. */
const MAX_ATTEMPTS = 8;

/**
 * Repeats work while other processes are faster: it then throws
 * {@linkcode HistoryMoved}.
 *
 * @param onMoved Called before the work is repeated.
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

/**
 * Whether two pins say the same, but for when and how the issuer was last read:
 * then the later one may be written over the other.
 */
export function sameHistory(a: StoredPin, b: StoredPin): boolean {
  return historyOf(a) === historyOf(b);
}

function historyOf({ pin, compared_at: _, lines, ...rest }: StoredPin): string {
  const { etag: _etag, last_seen: _lastSeen, proof, ...history } = pin;
  const proven = proof && { ...proof, last_seen: null };
  const table = lines?.table ?? null;
  return canonical({ ...rest, ...history, proven, lines: table });
}

/** A value as JSON with sorted members, however it was made. */
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

/** Which record a text belongs to. */
export interface RecordName {
  /** What it is about. */
  readonly kind: RecordKind;
  /** Its id among those of the kind. */
  readonly id: string;
}

/** The text of a record: a value as JSON, after a SHA-256. */
export async function encodeChecked(
  name: RecordName,
  value: unknown,
): Promise<string> {
  const json = JSON.stringify(value);
  return `${await sha256Hex(checkedBytes(name, json))} ${json}`;
}

/**
 * The value of a record; undefined for one that {@linkcode encodeChecked} did
 * not make, or made for another record.
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

/** What the checksum of a record is about: also whose text it is. */
function checkedBytes(
  { kind, id }: RecordName,
  json: string,
): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${kind.name} ${id} ${json}`);
}

/** Characters before the JSON of a record. */
export const CHECKSUM_LENGTH = 65;

/**
 * The pin of an issuer's record.
 *
 * @throws {SigError} `store_unavailable` for one that was altered.
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
 * `store_unavailable` for a pin that is not what we wrote: nothing is left that a
 * feed could be compared with.
 */
export function damagedPin(unavailable: Unavailable, what: string): Error {
  return unavailable(
    `${what} is damaged`,
    undefined,
    "Forget the issuer with sig pin remove: it is then seen for the first time.",
  );
}

/** SHA-256 of a text or of bytes, in hexadecimal. */
export async function sha256Hex(
  data: string | Uint8Array<ArrayBuffer>,
): Promise<string> {
  const bytes = typeof data === "string"
    ? new TextEncoder().encode(data)
    : data;
  return encodeHex(await crypto.subtle.digest("SHA-256", bytes));
}

const DIGEST_PREFIX = "sha256:";

/** Longer kids are stored as their digest, so that any pin fits a record. */
const MAX_STORED_KID = 64 + DIGEST_PREFIX.length;

/** Thumbprints by kid. */
export type Thumbprints = { readonly [kid: string]: string };

/** Keys as they are stored. */
export async function shortenKids(keys: Thumbprints): Promise<Thumbprints> {
  const stored: [string, string][] = [];
  for (const [kid, key] of Object.entries(keys)) {
    stored.push([await storedKid(kid), key]);
  }
  return Object.fromEntries(stored);
}

/** A stored pin, with the kids that are published by their names. */
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
    ...{ ...pin, keys: await change(pin.keys) },
    ...(proof && { proof: { ...proof, keys: await change(proof.keys) } }),
  };
}

/** Stored keys with the kids that are published, by their names. */
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
