/**
 * Plans what a recovery publishes (docs/protocol.md §14.5): which keys end, and
 * what follows. Writes nothing.
 *
 * @module
 */

import { type FeedState, Replay, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { encodeBase64Url } from "@sig/jose/internal";
import { isVoidEvent, type KeyResolver, type SigningKey } from "@sig/jose/keys";
import { leafHash, TreeHasher } from "@sig/jose/proofs";
import {
  commitmentTo,
  type EndedKey,
  endKeysOf,
  MAX_STATEMENTS,
  type Recovery,
  type StatementClaims,
} from "@sig/jose/recovery";
import { verifyEvent } from "../append/verify_feed.ts";
import type { IssuerDocuments } from "../documents/documents.ts";
import {
  authorizedKeys,
  isAuthorized,
  kidsNewestFirst,
} from "../documents/signing_key.ts";
import { kidExists, requireKid } from "../keys/key_store.ts";
import { linesIn } from "../store/feed_lines.ts";
import {
  correctiveDrafts,
  draftOf,
  type NamedDraft,
  type SignedEvent,
} from "./corrective_drafts.ts";

/** What the operator wants to recover from. */
export interface RecoveryRequest {
  /** The recovery key that the published commitment names. */
  readonly recoveryKey: SigningKey;
  /** The public part of the next recovery key, base64url. */
  readonly next: string;
  /** The stolen keys: the sequence of the last good event by kid. */
  readonly stolen?: ReadonlyMap<string, number> | undefined;
  /** The kids of lost keys. */
  readonly lost?: readonly string[] | undefined;
  /** The kid of the new signing key (default: the next `orgsign-<n>`). */
  readonly kid?: string | undefined;
  /** Sequences of void events that are appended again. */
  readonly again?: readonly number[] | undefined;
}

/** A key that a recovery from a theft does not end. */
export interface RemainingKey {
  /** The kid. */
  readonly kid: string;
  /** The number of events that it has signed, all after the theft. */
  readonly events: number;
}

/** What a recovery would publish. */
export interface RecoveryPlan {
  /** The claims of the statement. */
  readonly claims: StatementClaims;
  /** Whether this statement is published already, by an earlier call. */
  readonly isPublished: boolean;
  /** The kid of the new signing key. */
  readonly kid: string;
  /** The events that have no effect from then on. */
  readonly voids: readonly SignedEvent[];
  /**
   * The keys that do not end although another one was stolen, and that neither
   * a statement has named nor an event before the theft has used: the thief may
   * have added them on this machine.
   */
  readonly kept: readonly RemainingKey[];
  /** The state that readers have now. */
  readonly before: FeedState;
  /** The state without the void events. */
  readonly after: FeedState;
  /** The events that bring readers of v0.1 to that state. */
  readonly drafts: readonly NamedDraft[];
}

/** Creates the error of a recovery that is refused before it writes. */
function refused(why: string, hint = "Nothing was changed."): SigError {
  return new SigError("invalid_request", {
    action: "recover",
    reason: why,
    context: { hint },
  });
}

/** Creates the error of a recovery key that can't be used. */
function refusedKey(reason: string): SigError {
  const context = { hint: "Nothing was changed. Name another file." };
  return new SigError("invalid_key", { action: "recover", reason, context });
}

/**
 * Plans a recovery. If the recovery key has signed the last statement, that
 * statement is used: an earlier call was interrupted.
 *
 * @param feed The complete lines of the feed.
 * @param held The kids whose private part is available.
 * @throws {SigError} `invalid_request`, `invalid_key`, and the faults of the
 * feed.
 */
export async function planRecovery(
  documents: IssuerDocuments,
  feed: Uint8Array,
  request: RecoveryRequest,
  { now, held }: { readonly now: Date; readonly held: readonly string[] },
): Promise<RecoveryPlan> {
  const { recovery } = documents;
  if (recovery === undefined) {
    throw refused(
      "this issuer has no recovery key",
      "It can only be made beforehand: sig recovery create.",
    );
  }
  const events: SignedEvent[] = [];
  const tree = new TreeHasher();
  const before = newReplay(documents);
  for (const line of linesIn(feed)) {
    const verified = await verifyEvent(line, documents);
    before.apply(verified.event, events.length + 1, verified.isVoid);
    events.push(verified);
    tree.add(leafHash(line));
  }
  const { x } = request.recoveryKey.publicJwk;
  const last = recovery.statements.at(-1);
  const isPublished = last?.key === x;
  if (!isPublished && commitmentTo(x) !== recovery.next) {
    throw refusedKey("the recovery key does not fit the published commitment");
  }
  const claims: StatementClaims = isPublished ? last : {
    iss: documents.issuer,
    iat: Math.floor(now.getTime() / 1000),
    n: recovery.statements.length + 1,
    key: x,
    next: commitmentTo(request.next),
    ended: [],
    keys: {},
    size: events.length,
    root: encodeBase64Url(tree.root()),
  };
  const kid = isPublished
    ? addedKid(documents, last)
    : request.kid ?? nextKid(documents);
  const ended = isPublished
    ? [...recovery.ended.values()]
    : endedKeys(documents, events, request, held);
  if (!isPublished) {
    requireNext(recovery, documents, request, claims.n);
    requireKid(kid);
    if (documents.keys.keys.has(kid)) {
      throw kidExists(kid, "a key of this kid is published already");
    }
  }
  const keys = endKeysOf(documents.keys, {
    ...recovery,
    ended: new Map([
      ...recovery.ended,
      ...ended.map((each) => [each.kid, each] as const),
    ]),
  });
  const isVoid = ({ event, kid }: SignedEvent) =>
    isVoidEvent(keys, kid, event.sequence);
  const after = newReplay(documents);
  for (const each of events) after.apply(each.event, undefined, isVoid(each));
  const voids = events.filter(isVoid);
  const { stolen = new Map() } = request;
  const theft = isPublished ? Infinity : Math.min(...stolen.values());
  const known = new Set(events.slice(0, theft).map(({ kid }) => kid));
  const kept = theft === Infinity
    ? []
    : unnamedKeys(keys, recovery).filter((kid) => !known.has(kid))
      .map((kid) => ({
        kid,
        events: events.filter((each) => each.kid === kid).length,
      }));
  return {
    claims: isPublished ? claims : { ...claims, ended },
    isPublished,
    kid,
    voids,
    kept,
    before: before.state(),
    after: after.state(),
    drafts: [
      ...correctiveDrafts(newReplay(documents), events, isVoid),
      ...repeatedDrafts(voids, request.again ?? []),
    ],
  };
}

/** Returns the void events that the owner wants again. */
function repeatedDrafts(
  voids: readonly SignedEvent[],
  again: readonly number[],
): readonly NamedDraft[] {
  const owned = voids.filter(({ event }) => again.includes(event.sequence));
  if (owned.length < again.length) {
    throw refused("only void events can be appended again");
  }
  return owned.map(({ event }) => ({
    draft: draftOf(event),
    name: `again\n${event.sequence}`,
  }));
}

/** Returns the keys that do not end, and that no statement has named. */
function unnamedKeys(keys: KeyResolver, { statements }: Recovery) {
  return [...keys.keys].filter(([kid, { jwk }]) =>
    keys.endOf(kid) === undefined &&
    statements.every((each) => each.keys[kid] !== jwk.x)
  ).map(([kid]) => kid);
}

function newReplay({ issuer, limits }: IssuerDocuments): Replay {
  return new Replay({ issuer, limits });
}

/** Returns the first `orgsign-<n>` after all that were ever published. */
function nextKid({ keys }: IssuerDocuments): string {
  const numbers = [...keys.keys.keys()].map((kid) =>
    Number(/^orgsign-(\d+)$/.exec(kid)?.[1] ?? 0)
  );
  return `orgsign-${Math.max(0, ...numbers) + 1}`;
}

/** Returns the kid that a published statement adds, or has added. */
function addedKid(documents: IssuerDocuments, { keys }: StatementClaims) {
  return Object.keys(keys).find((kid) => !isAuthorized(documents, kid)) ??
    kidsNewestFirst(documents).find((kid) => Object.hasOwn(keys, kid))!;
}

function requireNext(
  { statements, next }: Recovery,
  { keys }: IssuerDocuments,
  request: RecoveryRequest,
  n: number,
): void {
  if (n > MAX_STATEMENTS) {
    throw refused(`it has ${MAX_STATEMENTS} statements already`);
  }
  const commitment = commitmentTo(request.next);
  const signer = [...keys.keys].find(([, { jwk }]) => jwk.x === request.next);
  if (signer !== undefined) {
    throw refusedKey(
      `the next recovery key is the signing key ${quote(signer[0])}`,
    );
  }
  const isUsed = commitment === next ||
    commitmentTo(request.recoveryKey.publicJwk.x) === commitment ||
    statements.some(({ key }) => commitmentTo(key) === commitment);
  if (isUsed) throw refusedKey("the next recovery key was used before");
}

/**
 * Returns the keys that end. A key that the operator names no end for, and
 * whose private part is not here, ends after its last event: an attacker may
 * have added it, and the statement must name every key of the documents. If it
 * signed an event after the theft, the operator must name it.
 */
function endedKeys(
  documents: IssuerDocuments,
  events: readonly SignedEvent[],
  { lost = [], stolen = new Map() }: RecoveryRequest,
  held: readonly string[],
): readonly EndedKey[] {
  const { keys } = documents;
  const named = [...stolen.keys(), ...lost];
  if (named.length === 0) {
    throw refused(
      "no key is named as stolen or lost",
      "Nothing was changed. Name it with --stolen KID[=SEQUENCE] or --lost KID.",
    );
  }
  const byKey = new Map<string, EndedKey>();
  for (const kid of named) {
    const x = keys.keys.get(kid)?.jwk.x;
    if (x === undefined) throw refused(`there is no key ${quote(kid)}`);
    if (stolen.has(kid) && lost.includes(kid)) {
      throw refused(`key ${quote(kid)} is named twice`);
    }
    const end = keys.endOf(kid);
    const last_sequence = stolen.get(kid) ?? events.length;
    if (last_sequence > events.length) {
      throw refused(
        `the feed ends at sequence ${events.length}, before ${last_sequence}`,
      );
    }
    if (end !== undefined && end < last_sequence) {
      throw refused(`key ${quote(kid)} ended at sequence ${end} already`);
    }
    const reason = stolen.has(kid) ? "compromised" : "lost";
    const other = byKey.get(x) ?? { kid, last_sequence, reason };
    if (other.last_sequence !== last_sequence || other.reason !== reason) {
      throw refused(
        `${quote(other.kid)} and ${
          quote(kid)
        } are one key, and must have one end`,
        "Nothing was changed. Name only one of the two.",
      );
    }
    byKey.set(x, { kid, x, last_sequence, reason });
  }
  const theft = Math.min(...stolen.values());
  return [...keys.keys].flatMap(([kid, { jwk: { x } }]): EndedKey[] => {
    const ended = byKey.get(x);
    if (ended !== undefined) return [{ ...ended, kid }];
    if (keys.endOf(kid) !== undefined || held.includes(kid)) return [];
    const last = events.findLast((each) => each.kid === kid);
    const last_sequence = last?.event.sequence ?? 0;
    if (last_sequence <= theft) {
      return [{ kid, x, last_sequence, reason: "retired" }];
    }
    throw refused(
      `key ${
        quote(kid)
      } signed event ${last_sequence}, after the theft, and its private part is not here`,
      "Nothing was changed. If the thief added it: --stolen with sequence 0. If it is yours: --lost.",
    );
  });
}

/**
 * Requires that a published statement ends the keys as the request does: a
 * recovery key signs one statement only.
 *
 * @throws {SigError} `invalid_request`.
 */
export function requireSameEnds(
  { claims, isPublished }: RecoveryPlan,
  { lost = [], stolen = new Map() }: RecoveryRequest,
): void {
  if (!isPublished) return;
  for (const kid of [...stolen.keys(), ...lost]) {
    const end = claims.ended.find((each) => each.kid === kid);
    const isSame = stolen.has(kid)
      ? end?.last_sequence === stolen.get(kid)
      : end?.reason === "lost";
    if (isSame) continue;
    const found = end === undefined
      ? "does not end it"
      : `ends it after event ${end.last_sequence} (${end.reason})`;
    throw refused(
      `key ${quote(kid)}: statement ${claims.n}, which is published, ${found}`,
      "Nothing was changed. Repeat the former command, or use the next recovery key.",
    );
  }
}

/**
 * Requires that the new signing key is the one that the statement names.
 *
 * @throws {SigError} `signing_key_not_found`.
 */
export function requireSameKey({ claims, kid }: RecoveryPlan, x: string): void {
  if (claims.keys[kid] === x) return;
  throw new SigError("signing_key_not_found", {
    action: "recover",
    reason: `the key store does not have key ${
      quote(kid)
    }, which the published statement names`,
    context: { kid, hint: "Put it back, or recover with the next key." },
  });
}

/** Returns the keys that may sign after a statement, the new one last. */
export function keysAfter(
  documents: IssuerDocuments,
  ended: readonly EndedKey[],
  added: { readonly kid: string; readonly x: string },
): StatementClaims["keys"] {
  const left = [...authorizedKeys(documents)].filter(([kid]) =>
    documents.keys.endOf(kid) === undefined && kid !== added.kid &&
    ended.every((each) => each.kid !== kid)
  ).map(([kid, { jwk }]) => [kid, jwk.x]);
  return Object.fromEntries([...left, [added.kid, added.x]]);
}
