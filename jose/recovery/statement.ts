/** Reads and signs one statement of a recovery key (docs/protocol.md §14.1). @module */

import { type OpenObject, SigError } from "@sig/core";
import {
  decodeBase64UrlStrict,
  Fields,
  isKid,
  isObject,
} from "@sig/core/internal";
import { encodeBase64Url } from "../bytes/bytes.ts";
import { readCompactJws, signCompactJws } from "../event/jws.ts";
import { findPublicKeyFault } from "../keys/public_key.ts";
import { importVerificationKey } from "../keys/verification_key.ts";
import { sha256 } from "../bytes/sha256.ts";
import type { SigningKey } from "../keys/signing_key.ts";

/** The `typ` of a statement. */
export const STATEMENT_TYP = "sig-recovery+jwt";

/** Why a key ended. */
export const END_REASONS = ["compromised", "lost", "retired"] as const;

/** Why a key ended. */
export type EndReason = (typeof END_REASONS)[number];

/** A key whose later events are void. */
export interface EndedKey {
  /** The key's `kid`. */
  readonly kid: string;
  /** The public key in base64url. */
  readonly x: string;
  /** Sequence of its last event that counts; 0 if no event does. */
  readonly last_sequence: number;
  /** Why it ended. */
  readonly reason: EndReason;
}

/** The claims of a statement. */
export interface StatementClaims {
  /** The issuer's DID. */
  readonly iss: string;
  /** Time of creation in seconds since 1970. */
  readonly iat: number;
  /** The statement's number, from 1. */
  readonly n: number;
  /** The public recovery key that signed it, in base64url. */
  readonly key: string;
  /** The commitment to the next recovery key. */
  readonly next: string;
  /** The keys that end. */
  readonly ended: readonly EndedKey[];
  /** The keys that may sign events from now on: `x` by `kid`. */
  readonly keys: { readonly [kid: string]: string };
  /** A number of events that the issuer knew. */
  readonly size: number;
  /** The RFC 6962 root of that many feed lines, in base64url. */
  readonly root: string;
}

/** Creates the error of a fault in the statement with this number. */
export function statementFault(
  n: number,
  why: string,
  member?: string,
): SigError {
  const pointer = `/recovery/statements/${n - 1}`;
  return new SigError("invalid_recovery", {
    action: "use recovery",
    reason: `statement ${n}: ${why}`,
    context: {
      statement: n,
      pointer: member === undefined ? pointer : `${pointer}/${member}`,
      hint: "Only the issuer can publish the correct sig.json again.",
    },
  });
}

/** Decodes 32 bytes in canonical base64url; undefined for anything else. */
export function decodeHash(value: unknown): Uint8Array | undefined {
  if (typeof value !== "string") return undefined;
  const bytes = decodeBase64UrlStrict(value);
  return bytes?.length === 32 ? bytes : undefined;
}

/**
 * Returns the commitment to a public key: its SHA-256 in base64url.
 *
 * @param x The public Ed25519 key in base64url.
 */
export function commitmentTo(x: string): string {
  return encodeBase64Url(sha256(decodeHash(x) ?? new Uint8Array()));
}

/**
 * Reads one statement and verifies its signature. Its place in the chain is not
 * checked.
 *
 * @param n The expected number.
 * @throws {SigError} `invalid_recovery`.
 */
export async function readStatement(
  text: string,
  n: number,
): Promise<StatementClaims> {
  const fault = (why: string) => statementFault(n, why);
  const { header, claims, signature, signingInput } = readCompactJws(
    text,
    fault,
    { digitsOnly: true },
  );
  if (
    header.alg !== "EdDSA" || header.typ !== STATEMENT_TYP ||
    Object.keys(header).length !== 2
  ) {
    throw fault(
      `its header must be exactly alg EdDSA and typ ${STATEMENT_TYP}`,
    );
  }
  const read = readClaims(claims, n);
  const { key: x } = read;
  const key = await importVerificationKey({ kty: "OKP", crv: "Ed25519", x });
  if (await key.verify(signature, signingInput)) return read;
  throw fault("it is not signed by the recovery key that it names");
}

const HASH = "32 bytes in base64url without padding";
const KEY = "an Ed25519 public key in base64url without padding";
const NUMBER = "a number from 0 to 2^53-1";

function readClaims(claims: OpenObject, n: number): StatementClaims {
  const fields = new Fields(claims);
  const read: { readonly [C in keyof StatementClaims]: unknown } = {
    iss: fields.identifier("iss"),
    iat: fields.member("iat", isNumber, NUMBER),
    n: fields.member("n", isNumber, NUMBER),
    key: fields.member("key", isPublicKey, KEY),
    next: fields.member("next", isHash, HASH),
    ended: fields.member(
      "ended",
      isEnded,
      "a list of {kid, x, last_sequence, reason}, each kid once",
    ),
    keys: fields.member("keys", isKeys, "a public key by kid, at least one"),
    size: fields.member("size", isNumber, NUMBER),
    root: fields.member("root", isHash, HASH),
  };
  const extra = Object.keys(claims).find((name) => !Object.hasOwn(read, name));
  if (extra !== undefined) {
    fields.report(extra, "invalid_field", "is not a member of a statement");
  }
  const issue = fields.issues.at(extra === undefined ? 0 : -1);
  if (issue !== undefined) {
    const name = issue.pointer.slice(1);
    throw statementFault(n, `member ${name} ${issue.detail}`, name);
  }
  // No member has an issue, so all are there.
  return read as StatementClaims;
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isHash(value: unknown): value is string {
  return decodeHash(value) !== undefined;
}

function isPublicKey(value: unknown): value is string {
  const bytes = decodeHash(value);
  return bytes !== undefined && findPublicKeyFault(bytes) === undefined;
}

function isEnded(value: unknown): value is readonly EndedKey[] {
  if (!Array.isArray(value)) return false;
  const areKeys = value.every((each) =>
    isObject(each) && Object.keys(each).length === 4 && isKid(each.kid) &&
    isPublicKey(each.x) && isNumber(each.last_sequence) &&
    END_REASONS.includes(each.reason as EndReason)
  );
  return areKeys && new Set(value.map(({ kid }) => kid)).size === value.length;
}

function isKeys(value: unknown): value is StatementClaims["keys"] {
  if (!isObject(value)) return false;
  const keys = Object.entries(value);
  return keys.length > 0 &&
    keys.every(([kid, x]) => isKid(kid) && isPublicKey(x));
}

/**
 * Signs a statement with a recovery key, which `claims.key` names. Verify the
 * chain with `readRecovery` before publishing it.
 */
export async function signStatement(
  claims: StatementClaims,
  key: SigningKey,
): Promise<string> {
  const header = { alg: "EdDSA", typ: STATEMENT_TYP };
  return await signCompactJws(header, claims, key);
}
