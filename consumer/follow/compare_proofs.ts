/** Compares the proof in a pin with a new checkpoint (docs/protocol.md §13.4). @module */

import type { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { KeyResolver, VerificationKey } from "@sig/jose/keys";
import {
  encodeBase64,
  findKeyNotIntroduced,
  type OpenedCheckpoint,
  type Sha256,
} from "@sig/jose/proofs";
import {
  checkKeys,
  contradiction,
  fetchedKeys,
  maySign,
  rolledBack,
} from "./check_continuity.ts";
import {
  type IssuerPin,
  nameKids,
  type ProofMemory,
  type ProofPin,
  type SeenProof,
  shortenKids,
  type Thumbprints,
  thumbprintsOf,
} from "../memory/pin.ts";

/** What an issuer shows of itself beside its feed. */
export interface ShownProofs {
  /** Its keys. */
  readonly keys: KeyResolver;
  /** Its checkpoint, if there is one that opens. */
  readonly checkpoint?: OpenedCheckpoint | undefined;
}

/** The keys that may sign events, by kid. */
export function signingKeys(
  keys: KeyResolver,
): ReadonlyMap<string, VerificationKey> {
  return new Map([...keys.keys].filter(([kid]) => maySign(keys, kid)));
}

/** Their thumbprints. */
async function documentKeys(keys: KeyResolver): Promise<Thumbprints> {
  return await thumbprintsOf(keys, signingKeys(keys).keys());
}

/**
 * The contradiction between a pin and what is shown, if there is one. A larger
 * checkpoint, and a smaller feed, are not judged here.
 */
export async function contradictionOfProofs(
  sha256: Sha256,
  pin: IssuerPin & { readonly proof: ProofMemory },
  { keys, checkpoint }: ShownProofs,
): Promise<SigError | undefined> {
  const { proof } = pin;
  if (checkpoint !== undefined && checkpoint.size < proof.size) {
    return rolledBack(proof.size, checkpoint.size);
  }
  const documents = new Map(Object.entries(await documentKeys(keys)));
  const { published } = await fetchedKeys(keys, keys.keys.keys());
  const { authorized } = await fetchedKeys(keys, Object.keys(pin.keys));
  const all = { published, authorized: new Set(Object.keys(proof.keys)) };
  const changed = checkKeys({ keys: proof.keys, sequence: proof.seen }, all) ??
    checkKeys(pin, { published, authorized });
  if (changed !== undefined) return changed;
  const remembered = new Map(Object.entries(proof.keys));
  const kid = findKeyNotIntroduced(sha256, {
    remembered,
    documents,
    checkpoint,
  });
  if (kid !== undefined) return notIntroduced(kid);
  return checkpoint?.size === proof.size
    ? contradictionOfRoot(proof, checkpoint)
    : undefined;
}

/** The contradiction between two trees of one size. */
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
    `of ${proof.size} events that did not change, another state was signed`,
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

/** What an incident records. */
export async function seenProof(
  { keys, checkpoint }: ShownProofs,
): Promise<SeenProof> {
  return {
    size: checkpoint?.size ?? null,
    root: checkpoint ? encodeBase64(checkpoint.root) : null,
    state: checkpoint ? encodeBase64(checkpoint.state) : null,
    keys: await shortenKids(await documentKeys(keys)),
  };
}

/** Keys of an issuer that can be remembered: a stored record has a limit. */
export const MAX_REMEMBERED_KEYS = 100;

/** What to remember of a checkpoint, but how many events were seen, and when. */
export async function proofOf(
  { size, root, state }: OpenedCheckpoint | ProofPin,
  keys: KeyResolver,
): Promise<Omit<ProofPin, "seen">> {
  return {
    ...{ size, root: asText(root), state: asText(state) },
    keys: await documentKeys(keys),
  };
}

/** The pin with the kids of its keys by their names; undefined without proofs. */
export async function pinWithProofs(
  pin: IssuerPin | undefined,
  { keys }: KeyResolver,
): Promise<IssuerPin & { readonly proof: ProofMemory } | undefined> {
  if (pin?.proof === undefined) return undefined;
  const name = (of: Thumbprints) => nameKids(of, keys.keys());
  const proof = { ...pin.proof, keys: await name(pin.proof.keys) };
  return { ...pin, keys: await name(pin.keys), proof };
}

function asText(hash: Uint8Array | string): string {
  return typeof hash === "string" ? hash : encodeBase64(hash);
}
