/** The keys of an issuer, as they are compared with its pin. @module */

import { calculateKidOf } from "@sig/jose/internal";
import { digestKeys, encodeBase64 } from "@sig/jose/proofs";
import type { Recovery } from "@sig/jose/recovery";
import { type LoadedIssuer, maySign } from "../verify/load_issuer.ts";
import { pinnedRecovery } from "./compare_recovery.ts";
import type { Served } from "./pin.ts";

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
