/** The keys of an issuer, as far as continuity is about them. @module */

import { calculateKidOf, type KeyResolver } from "@sig/jose";
import type { FetchedKeys } from "./judge_continuity.ts";

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

function maySign(keys: KeyResolver, kid: string): boolean {
  try {
    return keys.resolve(kid) !== undefined;
  } catch {
    return false;
  }
}
