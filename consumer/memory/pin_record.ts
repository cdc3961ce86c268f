/** Pins and cursors as the texts of a store's records. @module */

import { isObject } from "@sig/core/internal";
import { type RecordKind, storeUnavailable } from "../store/record_store.ts";
import {
  type KnownPin,
  type PinIncident,
  type PinnedFeed,
  type PinnedProof,
  sha256Hex,
  type Thumbprints,
} from "./pin.ts";

/** The kind of pin records: one per issuer, by its DID. */
export const PINS: RecordKind = { name: "pin" };

/** The kind of cursor records: one per watcher. */
export const CURSORS: RecordKind = { name: "cursor" };

interface RecordName {
  readonly kind: RecordKind;
  readonly id: string;
}

/** Number of characters of the SHA-256 and the space after it. */
const CHECKSUM_LENGTH = 65;

/** Returns the text of a record: a SHA-256, then the value as JSON. */
export async function encodeRecord(
  name: RecordName,
  value: unknown,
): Promise<string> {
  const json = JSON.stringify(value);
  return `${await checksumOf(name, json)} ${json}`;
}

/**
 * Returns the value of a record; undefined for a text that
 * {@linkcode encodeRecord} did not write, or wrote for another record.
 */
export async function decodeRecord(
  name: RecordName,
  text: string,
): Promise<unknown> {
  const json = text.slice(CHECKSUM_LENGTH);
  return text === `${await checksumOf(name, json)} ${json}`
    ? JSON.parse(json)
    : undefined;
}

/** The checksum includes the record's name: another record's text is rejected. */
function checksumOf({ kind, id }: RecordName, json: string): Promise<string> {
  return sha256Hex(`${kind.name} ${id} ${json}`);
}

/** Returns the text of an issuer's pin. */
export function encodePin(pin: KnownPin): Promise<string> {
  return encodeRecord({ kind: PINS, id: pin.issuer }, pin);
}

/**
 * Returns the pin of an issuer's record.
 *
 * @throws {SigError} `store_unavailable` for an altered record: without it, a
 * feed can't be compared with anything.
 */
export async function decodePin(
  place: string,
  issuer: string,
  text: string,
): Promise<KnownPin> {
  const value = await decodeRecord({ kind: PINS, id: issuer }, text);
  if (isObject(value)) return upgradedPin(value);
  throw storeUnavailable(
    place,
    `the pin of ${issuer} is damaged`,
    undefined,
    "Forget the issuer with sig pin remove: it is then seen for the first time.",
  );
}

/** Returns a stored pin, also if an earlier version of this program wrote it. */
export function upgradedPin(stored: object): KnownPin {
  if ("status" in stored) return stored as KnownPin;
  if ("pin" in stored) return fromVersion2(stored as Version2);
  // The pin in a cursor.
  const pin = stored as Version2["pin"];
  return fromVersion2({
    pin,
    compared_at: pin.last_seen,
    unusable: false,
    last_contradiction: null,
    incident: null,
    acknowledged: [],
    rewritten_from: [],
  });
}

/** A pin as a development version stored it, beside the lines of its feed. */
interface Version2 {
  readonly pin:
    & Omit<PinnedFeed, "compared_at" | "read_at">
    & Pick<KnownPin, "issuer" | "first_seen" | "last_seen">
    & {
      readonly proof?: Omit<PinnedProof, "seen"> & {
        readonly seen: number;
        readonly last_seen: string;
      };
    };
  readonly compared_at: string;
  readonly unusable: boolean;
  readonly unread?: true;
  readonly last_contradiction: string | null;
  readonly incident:
    | Omit<PinIncident, "seen"> & {
      readonly seen: { readonly keys: Thumbprints } | null;
    }
    | null;
  readonly key_added?: KnownPin["key_added"];
  readonly acknowledged: KnownPin["acknowledged"];
  readonly rewritten_from: readonly number[];
}

function fromVersion2(
  { pin: { issuer, first_seen, last_seen, proof, ...feed }, ...old }: Version2,
): KnownPin {
  const { compared_at, incident } = old;
  const base = {
    issuer,
    first_seen,
    last_seen: proof && proof.last_seen > last_seen
      ? proof.last_seen
      : last_seen,
    feed: old.unread ? null : { ...feed, compared_at, read_at: last_seen },
    proof: proof === undefined ? null : proofOfVersion2(proof),
    recovery: null,
    key_added: old.key_added ?? [],
    inconsistency: old.last_contradiction,
    acknowledged: old.acknowledged,
    rewrites: old.rewritten_from.length,
    rewritten_from: old.rewritten_from,
  };
  return incident === null
    ? { ...base, status: old.unusable ? "faulty" : "remembered" }
    // What was seen had no digest of the keys: `--expect` must name the feed.
    : {
      ...base,
      status: "contradicted",
      incident: { ...incident, seen: null },
    };
}

/** Events after the checkpoint were counted only. */
function proofOfVersion2(
  { size, root, state, seen, keys }: NonNullable<Version2["pin"]["proof"]>,
): PinnedProof {
  const same = seen === size ? root : null;
  return { size, root, state, keys, seen: { size: seen, root: same } };
}
