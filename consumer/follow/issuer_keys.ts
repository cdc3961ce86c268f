/** The keys of one refresh, compared with the pin (docs/protocol.md §6.2). @module */

import type { SigError } from "@sig/core";
import type { KeyResolver } from "@sig/jose/keys";
import { calculateKidOf } from "@sig/jose/internal";
import type { IssuerPin } from "../memory/pin.ts";
import { checkKeys, type FetchedKeys } from "./check_continuity.ts";

/**
 * Whether less than `limitMs` have passed since `from`; never when `from` is not
 * known or in the future: a clock that was set back must not keep anything
 * valid without end.
 */
export function isWithin(
  limitMs: number,
  from: Date | undefined,
  now: Date,
): boolean {
  if (from === undefined) return false;
  const elapsedMs = now.getTime() - from.getTime();
  return elapsedMs >= 0 && elapsedMs < limitMs;
}

/** What a key set says of some kids. */
export async function fetchedKeys(
  keys: KeyResolver,
  kids: Iterable<string>,
): Promise<FetchedKeys> {
  const published = new Map<string, string>();
  const authorized = new Set<string>();
  for (const kid of kids) {
    const key = keys.keys.get(kid);
    if (key === undefined) continue;
    published.set(kid, await calculateKidOf(key));
    if (maySign(keys, kid)) authorized.add(kid);
  }
  return { published, authorized };
}

/** Whether a published key may sign events. */
export function maySign(keys: KeyResolver, kid: string): boolean {
  try {
    return keys.resolve(kid) !== undefined;
  } catch {
    return false;
  }
}

/** The contradiction between a pin and keys, if there is one. */
export async function contradictionOfKeys(
  keys: KeyResolver,
  pin: IssuerPin,
): Promise<SigError | undefined> {
  return checkKeys(pin, await fetchedKeys(keys, Object.keys(pin.keys)));
}
