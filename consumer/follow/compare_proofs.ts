/** Compares the proof in a pin with a new checkpoint (docs/protocol.md §13.4). @module */

import type { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { KeyResolver, VerificationKey } from "@sig/jose/keys";
import {
  createSha256,
  encodeBase64,
  findKeyNotIntroduced,
  type OpenedCheckpoint,
} from "@sig/jose/proofs";
import {
  checkKeys,
  contradiction,
  type FetchedKeys,
  maySign,
  rolledBack,
  usableKeys,
} from "./check_continuity.ts";
import {
  type IssuerPin,
  type ProofMemory,
  type ProofPin,
  type SeenProof,
  shortenKids,
} from "../memory/pin.ts";

/** An issuer's keys and checkpoint, without its feed. */
interface ShownProofs {
  readonly keys: FetchedKeys;
  /** Undefined if there is none or it is invalid. */
  readonly checkpoint?: OpenedCheckpoint | undefined;
}

/** Returns the keys that may sign events and have not ended, by kid. */
export function signingKeys(
  keys: KeyResolver,
): ReadonlyMap<string, VerificationKey> {
  return new Map(
    [...keys.keys].filter(([kid]) =>
      maySign(keys, kid) && keys.endOf(kid) === undefined
    ),
  );
}

/**
 * Returns the contradiction between a pin and an issuer's keys and checkpoint,
 * if any. Does not check a larger checkpoint, or a shorter feed.
 */
export function contradictionOfProofs(
  pin: IssuerPin,
  { keys, checkpoint }: ShownProofs,
): SigError | undefined {
  const { proof } = pin;
  if (proof === undefined) return undefined;
  if (checkpoint !== undefined && checkpoint.size < proof.size) {
    return rolledBack(proof.size, checkpoint.size);
  }
  const remembered = new Map(Object.entries(proof.keys));
  // A key that only proofs remember may be withdrawn, but not replaced.
  const all = { ...keys, authorized: new Set(remembered.keys()) };
  const changed = checkKeys({ keys: proof.keys, sequence: proof.seen }, all) ??
    checkKeys(pin, keys);
  if (changed !== undefined) return changed;
  const documents = new Map(Object.entries(usableKeys(keys)));
  const shown = { remembered, documents, checkpoint };
  const kid = findKeyNotIntroduced(createSha256(), shown);
  if (kid !== undefined) return notIntroduced(kid);
  return checkpoint?.size === proof.size
    ? contradictionOfRoot(proof, checkpoint)
    : undefined;
}

/** Returns the contradiction between two trees of the same size, if any. */
export function contradictionOfRoot(
  proof: Pick<ProofMemory, "size" | "root" | "state">,
  { root, state }: {
    readonly root: Uint8Array;
    readonly state: Uint8Array | undefined;
  },
): SigError | undefined {
  const context = { remembered_sequence: proof.size };
  if (encodeBase64(root) !== proof.root) {
    return contradiction(
      "feed_rewritten",
      `one of the first ${proof.size} events is not the one that is remembered`,
      context,
    );
  }
  if (state === undefined || encodeBase64(state) === proof.state) {
    return undefined;
  }
  return contradiction(
    "state_contradicted",
    `a different state was signed for the same ${proof.size} events`,
    context,
  );
}

function notIntroduced(kid: string): SigError {
  return contradiction(
    "key_not_introduced",
    `key ${quote(kid)} is new, and no remembered key has signed a checkpoint ` +
      "that names it",
    { kid },
  );
}

export async function seenProof(
  { keys, checkpoint }: ShownProofs,
): Promise<SeenProof> {
  return {
    size: checkpoint?.size ?? null,
    root: checkpoint ? encodeBase64(checkpoint.root) : null,
    state: checkpoint ? encodeBase64(checkpoint.state) : null,
    keys: await shortenKids(usableKeys(keys)),
  };
}

/**
 * Maximum number of remembered keys, because the size of a record is limited.
 */
export const MAX_REMEMBERED_KEYS = 100;

/** Returns what to remember of a checkpoint. */
export function proofOf(
  { size, root, state }: OpenedCheckpoint | ProofPin,
  keys: FetchedKeys,
): Omit<ProofPin, "seen"> {
  return {
    size,
    root: asText(root),
    state: asText(state),
    keys: usableKeys(keys),
  };
}

function asText(hash: Uint8Array | string): string {
  return typeof hash === "string" ? hash : encodeBase64(hash);
}
