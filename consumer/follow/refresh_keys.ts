/** The keys of one refresh, which may be fetched a second time (PROTOCOL §6). @module */

import type { SigError } from "@sig/core";
import type { KeyResolver } from "@sig/jose";
import { fetchedKeys } from "./fetched_keys.ts";
import { isWithin } from "./is_within.ts";
import type { IssuerPin } from "../pins/issuer_pin.ts";
import { judgeKeys } from "./judge_continuity.ts";

/** Keys are fetched a second time within one refresh at most this often. */
const REFETCH_AFTER_MS = 30 * 1000;

/** Whether keys may be fetched again: not where that was a moment ago. */
export function mayRefetch(refetchedAt: Date | undefined, now: Date): boolean {
  return !isWithin(REFETCH_AFTER_MS, refetchedAt, now);
}

/** Newer keys contradict the pin no less than those that came first. */
export async function contradictionOf(
  keys: KeyResolver,
  pin: IssuerPin,
): Promise<SigError | undefined> {
  return judgeKeys(pin, await fetchedKeys(keys, Object.keys(pin.keys)));
}

/**
 * What the first keys verified must hold by the newer ones too.
 *
 * @param kids Those that signed.
 * @param events How many events they signed.
 * @throws {SigError} `key_replaced`, `key_withdrawn`.
 */
export async function requireAgreement(
  first: KeyResolver,
  newer: KeyResolver,
  kids: Iterable<string>,
  events: number,
): Promise<void> {
  if (newer === first) return;
  const { published, authorized } = await fetchedKeys(first, kids);
  const used = [...published].filter(([kid]) => authorized.has(kid));
  const contradiction = judgeKeys(
    { keys: Object.fromEntries(used), sequence: events },
    await fetchedKeys(newer, authorized),
  );
  if (contradiction !== undefined) throw contradiction;
}
