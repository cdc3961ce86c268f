/** Checks whether a served feed continues the remembered history (docs/protocol.md §6). @module */

import { type ErrorCode, type ErrorContext, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { KeyResolver } from "@sig/jose/keys";
import { calculateKidOf } from "@sig/jose/internal";
import type { IssuerPin, Thumbprints } from "../memory/pin.ts";

/** The keys of an issuer that continuity depends on. */
export interface FetchedKeys {
  /** RFC 7638 thumbprints of its published keys, by kid. */
  readonly published: ReadonlyMap<string, string>;
  /** The kids that may sign: published and authorised by the DID document. */
  readonly authorized: ReadonlySet<string>;
}

/** A fetched feed and its keys. */
export interface FetchedHistory {
  readonly keys: FetchedKeys;
  /** Number of events in the feed. */
  readonly events: number;
  /**
   * SHA-256 of the bytes that the pin covers; undefined if the feed is shorter.
   */
  readonly prefixSha256: string | undefined;
  /** The sequence of the first event that differs, if known. */
  readonly firstDifference?: number | undefined;
}

const HINT = "Ask the issuer why. Nothing is answered until it serves the " +
  "remembered history again, or this reader's memory is reset.";

/**
 * Returns the contradiction between a pin and a fetched feed; undefined if the
 * feed is the same history with or without more events. If several apply,
 * returns the first of `feed_rolled_back`, `key_replaced`, `key_withdrawn`,
 * `feed_rewritten`.
 *
 * Events are counted, not bytes: a feed that lost its last events and gained
 * white space is still rolled back.
 */
export function checkContinuity(
  pin: IssuerPin,
  fetched: FetchedHistory,
): SigError | undefined {
  if (fetched.events < pin.sequence) {
    return rolledBack(pin.sequence, fetched.events);
  }
  return checkKeys(pin, fetched.keys) ?? checkPrefix(pin, fetched);
}

/** Checks the keys only, like {@linkcode checkContinuity}, without a feed. */
export function checkKeys(
  pin: Pick<IssuerPin, "keys" | "sequence">,
  keys: FetchedKeys,
): SigError | undefined {
  const known = Object.entries(pin.keys);
  const replaced = known.find(([kid, thumbprint]) =>
    (keys.published.get(kid) ?? thumbprint) !== thumbprint
  );
  if (replaced) {
    const [kid, thumbprint] = replaced;
    return contradiction(
      "key_replaced",
      `another key is published as ${quote(kid)} than the one that signed ` +
        "remembered events",
      {
        kid,
        remembered_thumbprint: thumbprint,
        published_thumbprint: keys.published.get(kid)!,
        remembered_sequence: pin.sequence,
      },
    );
  }
  const withdrawn = known.find(([kid]) => !keys.authorized.has(kid));
  if (withdrawn === undefined) return undefined;
  const [kid] = withdrawn;
  return contradiction(
    "key_withdrawn",
    `key ${quote(kid)}, which signed remembered events, ` +
      (keys.published.has(kid)
        ? "is no longer authorised by the DID document"
        : "is no longer published"),
    { kid, remembered_sequence: pin.sequence },
  );
}

export function rolledBack(remembered: number, found: number): SigError {
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

function checkPrefix(
  pin: IssuerPin,
  { events, prefixSha256, firstDifference }: FetchedHistory,
): SigError | undefined {
  if (prefixSha256 === pin.prefix_sha256) return undefined;
  const where = firstDifference === undefined
    ? `one of the first ${pin.sequence} events`
    : `event ${firstDifference}`;
  return contradiction(
    "feed_rewritten",
    `${where} is not the one that is remembered`,
    {
      ...(firstDifference === undefined ? {} : { sequence: firstDifference }),
      remembered_sequence: pin.sequence,
      fetched_sequence: events,
      remembered_sha256: pin.prefix_sha256,
      ...(prefixSha256 === undefined ? {} : { fetched_sha256: prefixSha256 }),
    },
  );
}

export function contradiction(
  code: ErrorCode,
  why: string,
  context: ErrorContext,
): SigError {
  return new SigError(code, `Cannot trust feed: ${why}`, {
    context: { ...context, hint: HINT },
  });
}

export async function fetchedKeys(keys: KeyResolver): Promise<FetchedKeys> {
  const published = new Map<string, string>();
  const authorized = new Set<string>();
  for (const [kid, key] of keys.keys) {
    published.set(kid, await calculateKidOf(key));
    if (maySign(keys, kid)) authorized.add(kid);
  }
  return { published, authorized };
}

/** Returns thumbprints of the keys that may sign events, by kid. */
export function usableKeys(
  { published, authorized }: FetchedKeys,
): Thumbprints {
  const usable = [...published].filter(([kid]) => authorized.has(kid));
  // Creates an own property even for the kid "__proto__".
  return Object.fromEntries(usable);
}

export function maySign(keys: KeyResolver, kid: string): boolean {
  try {
    return keys.resolve(kid) !== undefined;
  } catch {
    return false;
  }
}
