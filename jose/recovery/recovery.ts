/**
 * The member `recovery` of an issuer's metadata: a commitment to a recovery
 * key, and the chain of statements of such keys (docs/protocol.md §14.1).
 *
 * @module
 */

import { SigError } from "@sig/core";
import { isObject, isString, quote } from "@sig/core/internal";
import type { KeyResolver } from "../keys/key_resolver.ts";
import {
  commitmentTo,
  decodeHash,
  type EndedKey,
  readStatement,
  type StatementClaims,
  statementFault,
} from "./statement.ts";
import { sha256 } from "../bytes/sha256.ts";

/** Maximum number of statements of an issuer. */
export const MAX_STATEMENTS = 16;

/** The member `recovery` as published. */
export interface RecoveryMember {
  /** The commitment to recovery key 1. */
  readonly commitment: string;
  /** The statements, each a compact JWS. */
  readonly statements: readonly string[];
}

/** A verified member `recovery`. */
export interface Recovery {
  /** The member as published. */
  readonly member: RecoveryMember;
  /** The claims of each statement. */
  readonly statements: readonly StatementClaims[];
  /** The keys that ended, by kid, with the last sequence that holds now. */
  readonly ended: ReadonlyMap<string, EndedKey>;
  /** `keys` of the last statement; null without a statement. */
  readonly keys: StatementClaims["keys"] | null;
  /** The commitment that the next statement must fit. */
  readonly next: string;
}

/**
 * Reads and verifies the member `recovery` of `sig.json`.
 *
 * @param value The parsed member.
 * @param issuer The issuer's DID.
 * @throws {SigError} `invalid_recovery`, with `context.statement` and
 * `context.pointer`.
 */
export async function readRecovery(
  value: unknown,
  issuer: string,
): Promise<Recovery> {
  const member = readMember(value);
  const statements: StatementClaims[] = [];
  const ended = new Map<string, EndedKey>();
  const commitments = [member.commitment];
  const signers = new Set<string>();
  for (const [i, text] of member.statements.entries()) {
    const n = i + 1;
    const fault = (why: string, name: string) => statementFault(n, why, name);
    const claims = await readStatement(text, n);
    if (claims.iss !== issuer) {
      throw fault(`it is of ${quote(claims.iss)}`, "iss");
    }
    if (claims.n !== n) throw fault(`it has the number ${claims.n}`, "n");
    if (commitmentTo(claims.key) !== commitments.at(-1)) {
      throw fault("its key does not fit the commitment", "key");
    }
    if (commitments.includes(claims.next)) {
      throw fault("next repeats a commitment of the chain", "next");
    }
    commitments.push(claims.next);
    endKeys(ended, claims, fault);
    for (const x of Object.values(claims.keys)) signers.add(x);
    const isReused = [...signers].some((x) =>
      commitments.includes(commitmentTo(x))
    );
    if (isReused) throw fault("a signing key is also a recovery key", "keys");
    statements.push(claims);
  }
  return {
    member,
    statements,
    ended,
    keys: statements.at(-1)?.keys ?? null,
    next: commitments.at(-1)!,
  };
}

function readMember(value: unknown): RecoveryMember {
  const fault = (why: string, name = "") =>
    new SigError("invalid_recovery", {
      action: "use recovery",
      reason: why,
      context: { pointer: `/recovery${name}` },
    });
  if (
    !isObject(value) || Object.keys(value).length !== 2 ||
    !Object.hasOwn(value, "commitment") || !Object.hasOwn(value, "statements")
  ) throw fault("it must have exactly commitment and statements");
  const { commitment, statements } = value;
  if (!isString(commitment) || decodeHash(commitment) === undefined) {
    throw fault("commitment must be 32 bytes in base64url", "/commitment");
  }
  if (!Array.isArray(statements) || statements.length > MAX_STATEMENTS) {
    throw fault(
      `statements must be a list of at most ${MAX_STATEMENTS}`,
      "/statements",
    );
  }
  const other = statements.findIndex((each) => !isString(each));
  if (other >= 0) throw statementFault(other + 1, "it must be a compact JWS");
  return { commitment, statements };
}

/** Adds the keys that a statement ends; a key that ended never comes back. */
function endKeys(
  ended: Map<string, EndedKey>,
  claims: StatementClaims,
  fault: (why: string, name: string) => SigError,
): void {
  const before = [...ended.values()];
  for (const each of claims.ended) {
    const { kid, x, last_sequence } = each;
    if (last_sequence > claims.size) {
      throw fault(`key ${quote(kid)} ends after size`, "ended");
    }
    if (before.some((known) => known.kid === kid && known.x !== x)) {
      throw fault(`key ${quote(kid)} ended with another x`, "ended");
    }
    const isRaised = before.some((known) =>
      known.x === x && known.last_sequence < last_sequence
    );
    if (isRaised) {
      throw fault(`last_sequence of key ${quote(kid)} is raised`, "ended");
    }
    ended.set(kid, each);
  }
  for (const [kid, x] of Object.entries(claims.keys)) {
    if (ended.has(kid) || [...ended.values()].some((key) => key.x === x)) {
      throw fault(`key ${quote(kid)} has ended`, "keys");
    }
  }
}

/**
 * Returns why a key can't become a signing key of an issuer: its recovery key
 * ended it, or it is a recovery key itself. Undefined if it can.
 *
 * @param x The public key in base64url.
 */
export function findSignerFault(
  { ended, member, statements }: Recovery,
  x: string,
): string | undefined {
  const commitments = [member.commitment, ...statements.map((s) => s.next)];
  if (commitments.includes(commitmentTo(x))) {
    return "it is a recovery key of the issuer";
  }
  const isEnded = [...ended.values()].some((key) => key.x === x);
  return isEnded ? "the issuer's recovery key ended it" : undefined;
}

/**
 * Returns the digest of statements: SHA-256 of their texts, joined by LF.
 *
 * @param statements The statements as published.
 */
export function digestStatements(statements: readonly string[]): Uint8Array {
  return sha256(new TextEncoder().encode(statements.join("\n")));
}

/**
 * Returns the key set with `endOf` set for the keys that a statement ended. A key
 * ends by its kid and by its `x`: the same key under another kid ended too.
 *
 * @throws {SigError} `recovery_contradicted` if the set has another key under a
 * kid that ended, or that the last statement names.
 */
export function endKeysOf(keys: KeyResolver, recovery: Recovery): KeyResolver {
  const { ended } = recovery;
  const named = new Map(Object.entries(recovery.keys ?? {}));
  for (const { kid, x } of ended.values()) named.set(kid, x);
  const lastByKey = new Map<string, number>();
  for (const { x, last_sequence } of ended.values()) {
    lastByKey.set(x, Math.min(last_sequence, lastByKey.get(x) ?? Infinity));
  }
  for (const [kid, { jwk }] of keys.keys) {
    const x = named.get(kid);
    if (x === undefined || x === jwk.x) continue;
    throw new SigError("recovery_contradicted", {
      action: "use keys",
      reason: `key ${quote(kid)} is not the one of the statements`,
      context: { kid },
    });
  }
  return {
    ...keys,
    endOf(kid) {
      const x = keys.keys.get(kid)?.jwk.x;
      return x === undefined ? ended.get(kid)?.last_sequence : lastByKey.get(x);
    },
  };
}
