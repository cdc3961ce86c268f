/**
 * Compares what an issuer serves with its pin (docs/protocol.md §6.2, §13.4).
 * Every way of reading uses this one function.
 *
 * @module
 */

import { type ErrorCode, type ErrorContext, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { calculateKidOf } from "@sig/jose/internal";
import {
  digestKeys,
  encodeBase64,
  findKeyNotIntroduced,
  type OpenedCheckpoint,
} from "@sig/jose/proofs";
import type { Recovery } from "@sig/jose/recovery";
import { type LoadedIssuer, maySign } from "../verify/load_issuer.ts";
import {
  findOtherRecovery,
  introducedKeys,
  isRecoveryIntroduced,
  pinnedRecovery,
} from "./compare_recovery.ts";
import { eventsSeen, type KnownPin, type Served } from "./pin.ts";

/**
 * The error codes of contradictions to a pin, in their order of precedence
 * (docs/protocol.md §6.2).
 */
export const CONTRADICTIONS = [
  "recovery_contradicted",
  "feed_rolled_back",
  "key_replaced",
  "key_withdrawn",
  "key_not_introduced",
  "feed_rewritten",
  "state_contradicted",
] as const satisfies readonly ErrorCode[];

/** The keys of an issuer, by kid. */
export interface FetchedKeys {
  /** RFC 7638 thumbprints of its published keys. */
  readonly published: ReadonlyMap<string, string>;
  /**
   * Thumbprints of the keys that may sign events: published, and authorised by
   * the DID document.
   */
  readonly usable: ReadonlyMap<string, string>;
  /** The kids of keys that a statement has ended. */
  readonly ended: ReadonlySet<string>;
  /** The recovery key and its statements, if the issuer has one. */
  readonly recovery: Recovery | undefined;
}

/** Returns the keys of an issuer, with their thumbprints. */
export function fetchedKeys(
  { keys, recovery }: Pick<LoadedIssuer, "keys" | "recovery">,
): FetchedKeys {
  const published = new Map<string, string>();
  const usable = new Map<string, string>();
  for (const [kid, key] of keys.keys) {
    const thumbprint = calculateKidOf(key);
    published.set(kid, thumbprint);
    if (maySign(keys, kid)) usable.set(kid, thumbprint);
  }
  const ended = [...published.keys()].filter((kid) =>
    keys.endOf(kid) !== undefined
  );
  return { published, usable, ended: new Set(ended), recovery };
}

/** Returns the digests of the keys and the statements, for an incident. */
export function servedKeys(
  { recovery, usable }: FetchedKeys,
): Pick<Served, "keys" | "statements"> {
  return {
    keys: encodeBase64(digestKeys(usable)),
    statements: pinnedRecovery(recovery)?.sha256 ?? null,
  };
}

/** The hashes after some events; `state` only if it was computed. */
export interface ShownHashes {
  readonly root: Uint8Array;
  readonly state?: Uint8Array | undefined;
}

/** What an issuer has shown so far. Every member is compared if it is there. */
export interface Shown {
  readonly keys: FetchedKeys;
  /** The verified checkpoint. */
  readonly checkpoint?: OpenedCheckpoint | undefined;
  /** Number of events, once the feed or its tail was read. */
  readonly events?: number | undefined;
  /** The whole feed. */
  readonly feed?: undefined | {
    /**
     * SHA-256 of the bytes that the pin covers; undefined if the feed is
     * shorter.
     */
    readonly prefixSha256: string | undefined;
    /** The sequence of the first event that differs, if known. */
    readonly firstDifference?: number | undefined;
  };
  /** Returns the hashes after a number of events, if they were computed. */
  readonly hashesAt?: ((events: number) => ShownHashes | undefined) | undefined;
}

/**
 * Returns the first contradiction between a pin and what the issuer shows, in
 * the order of {@linkcode CONTRADICTIONS}; undefined if the pin is continued.
 *
 * Events are counted, not bytes: a feed that lost its last events and gained
 * white space is still rolled back.
 *
 * @param pin The pin, with digests of published kids replaced by the kids.
 */
export function findContradiction(
  pin: KnownPin,
  shown: Shown,
): SigError | undefined {
  return findRecovery(pin, shown) ?? findRollback(pin, shown) ??
    findChangedKey(pin, shown) ??
    findNewKey(pin, shown) ?? findRewrite(pin, shown) ??
    findOtherState(pin, shown);
}

function findRecovery(
  pin: KnownPin,
  { keys: { recovery } }: Shown,
): SigError | undefined {
  const why = findOtherRecovery(pin, recovery);
  return why === undefined
    ? undefined
    : contradiction("recovery_contradicted", why, {});
}

function findRollback(
  pin: KnownPin,
  { events, checkpoint }: Shown,
): SigError | undefined {
  const seen = eventsSeen(pin);
  if (events !== undefined && events < seen) return rolledBack(seen, events);
  const { size = 0 } = pin.proof ?? {};
  return checkpoint !== undefined && checkpoint.size < size
    ? rolledBack(size, checkpoint.size)
    : undefined;
}

function rolledBack(remembered: number, found: number): SigError {
  return contradiction(
    "feed_rolled_back",
    `the feed ends at sequence ${found}, but ${remembered} events are ` +
      "remembered",
    {
      sequence: found + 1,
      remembered_sequence: remembered,
      fetched_sequence: found,
    },
  );
}

function findChangedKey(
  pin: KnownPin,
  { keys: { published, usable } }: Shown,
): SigError | undefined {
  const context = { remembered_sequence: eventsSeen(pin) };
  const signed = Object.entries(pin.feed?.keys ?? {});
  const known = [...Object.entries(pin.proof?.keys ?? {}), ...signed];
  for (const [kid, remembered_thumbprint] of known) {
    const published_thumbprint = published.get(kid);
    if (
      (published_thumbprint ?? remembered_thumbprint) ===
        remembered_thumbprint
    ) continue;
    return contradiction(
      "key_replaced",
      `another key is published as ${quote(kid)} than the one that signed ` +
        "remembered events",
      { kid, remembered_thumbprint, published_thumbprint, ...context },
    );
  }
  // A key that only proofs remember may be withdrawn.
  const withdrawn = signed.find(([kid]) => !usable.has(kid));
  if (withdrawn === undefined) return undefined;
  const [kid] = withdrawn;
  return contradiction(
    "key_withdrawn",
    `key ${quote(kid)}, which signed remembered events, ` +
      (published.has(kid)
        ? "is no longer authorised by the DID document"
        : "is no longer published"),
    { kid, ...context },
  );
}

/** An attacker on the web server can publish a key, but not introduce it. */
function findNewKey(
  pin: KnownPin,
  { keys, checkpoint }: Shown,
): SigError | undefined {
  const { ended, recovery, usable } = keys;
  if (!isRecoveryIntroduced(pin, recovery, checkpoint, usable)) {
    return contradiction(
      "key_not_introduced",
      "the issuer's recovery key is new, and no remembered key has signed a " +
        "checkpoint that names it",
      {},
    );
  }
  const { known, isRequired } = introducedKeys(pin, recovery);
  if (!isRequired) return undefined;
  const kid = findKeyNotIntroduced({
    remembered: known,
    documents: usable,
    ended,
    checkpoint,
  });
  return kid === undefined ? undefined : contradiction(
    "key_not_introduced",
    `key ${quote(kid)} is new, and no remembered key has signed a checkpoint ` +
      "that names it",
    { kid },
  );
}

function findRewrite(
  { feed: pinned, proof }: KnownPin,
  { feed, events, checkpoint, hashesAt }: Shown,
): SigError | undefined {
  if (pinned && feed && feed.prefixSha256 !== pinned.prefix_sha256) {
    const { firstDifference: sequence, prefixSha256 } = feed;
    return rewritten(sequence, pinned.sequence, {
      fetched_sequence: events,
      remembered_sha256: pinned.prefix_sha256,
      fetched_sha256: prefixSha256,
    });
  }
  if (proof === null) return undefined;
  for (const { size, root } of [proof, proof.seen]) {
    const shown = hashesAt?.(size)?.root ??
      (checkpoint?.size === size ? checkpoint.root : undefined);
    if (shown === undefined || root === null) continue;
    if (encodeBase64(shown) !== root) {
      return rewritten(feed?.firstDifference, size, {});
    }
  }
  return undefined;
}

function rewritten(
  sequence: number | undefined,
  remembered: number,
  context: { readonly [member: string]: string | number | undefined },
): SigError {
  const where = sequence === undefined
    ? `one of the first ${remembered} events`
    : `event ${sequence}`;
  const all = { sequence, remembered_sequence: remembered, ...context };
  const known = Object.entries(all).filter(([, value]) => value !== undefined);
  return contradiction(
    "feed_rewritten",
    `${where} is not the one that is remembered`,
    Object.fromEntries(known) as ErrorContext,
  );
}

function findOtherState(
  { proof }: KnownPin,
  { checkpoint, hashesAt }: Shown,
): SigError | undefined {
  if (proof === null) return undefined;
  const { size } = proof;
  const shown = [
    hashesAt?.(size)?.state,
    checkpoint?.size === size ? checkpoint.state : undefined,
  ];
  const isOther = shown.some((state) =>
    state !== undefined && encodeBase64(state) !== proof.state
  );
  return isOther
    ? contradiction(
      "state_contradicted",
      `a different state was signed for the same ${size} events`,
      { remembered_sequence: size },
    )
    : undefined;
}

const HINT = "Ask the issuer why. Nothing is answered until it serves the " +
  "remembered history again, or this reader's memory is reset.";

function contradiction(
  code: typeof CONTRADICTIONS[number],
  why: string,
  context: ErrorContext,
): SigError {
  return new SigError(code, {
    action: "trust feed",
    reason: why,
    context: { ...context, hint: HINT },
  });
}
