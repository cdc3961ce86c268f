/**
 * Loads an issuer's documents with its checkpoint, and compares a whole feed
 * with it (docs/protocol.md §13.4).
 *
 * @module
 */

import { isSigError, type SigError } from "@sig/core";
import {
  encodeBase64,
  openCheckpoint,
  type OpenedCheckpoint,
  proofInvalid,
} from "@sig/jose/proofs";
import { requireFittingLines } from "@sig/jose/recovery";
import {
  type FetchedKeys,
  fetchedKeys,
  findContradiction,
  type ShownHashes,
} from "../memory/compare.ts";
import {
  type KnownPin,
  nameKids,
  type Pin,
  type PinnedProof,
  shortenKids,
} from "../memory/pin.ts";
import type { FeedTree } from "../proofs/feed_tree.ts";
import { ProofFiles } from "../proofs/proof_files.ts";
import { type ProofPolicy, requirePolicy } from "../proofs/proof_policy.ts";
import type { IssuerLocation } from "../read/reader.ts";
import { yieldToEventLoop } from "../verify/feed_verification.ts";
import {
  type LoadedIssuer,
  loadIssuer,
  type ReloadIssuerOptions,
  signingKeys,
} from "../verify/load_issuer.ts";

/** Maximum number of keys in {@linkcode PinnedProof}, to limit its size. */
export const MAX_PROOF_KEYS = 100;

/** Returns the hashes of a checkpoint as they are remembered. */
export function pinnedHashes(
  { size, root, state }: OpenedCheckpoint,
): Pick<PinnedProof, "size" | "root" | "state"> {
  return { size, root: encodeBase64(root), state: encodeBase64(state) };
}

export interface LoadProofsOptions extends ReloadIssuerOptions {
  readonly now: Date;
  readonly checkpointPolicy?: ProofPolicy | undefined;
}

/** The verified documents of an issuer, compared with its pin. */
export interface OpenedIssuer {
  /** The pin, with digests of published kids replaced by the kids. */
  readonly pin: KnownPin | undefined;
  readonly loaded: LoadedIssuer;
  readonly keys: FetchedKeys;
  readonly proofs: IssuerProofs;
  /** The contradiction of the documents to the pin. */
  readonly error: SigError | undefined;
}

/**
 * Loads the documents of an issuer and its checkpoint, and compares them with
 * its pin.
 *
 * @throws {SigError} as {@linkcode loadProofs}.
 */
export async function openIssuer(
  location: IssuerLocation,
  stored: Pin,
  options: LoadProofsOptions,
): Promise<OpenedIssuer> {
  const { loaded, proofs } = await loadProofs(location, options);
  const keys = fetchedKeys(loaded);
  const { checkpoint } = proofs;
  const pin = stored.status === "unknown"
    ? undefined
    : await nameKids(stored, keys.published.keys());
  const error = pin && findContradiction(pin, { keys, checkpoint });
  return { pin, loaded, keys, proofs, error };
}

/**
 * Loads an issuer and its proofs, which it must have.
 *
 * @throws {SigError} `proof_invalid` without proofs, `invalid_checkpoint`, and
 * as {@linkcode loadProofs}.
 */
export async function requireProofs(
  location: IssuerLocation,
  options: LoadProofsOptions,
) {
  const { loaded, proofs } = await loadProofs(location, options);
  const { checkpoint, fault, files, text } = proofs;
  if (fault !== undefined) throw fault;
  if (files === undefined || checkpoint === undefined || text === undefined) {
    throw proofInvalid("the issuer publishes no proofs");
  }
  return { loaded, checkpoint, files, text };
}

/** The proofs of an issuer, as one read has found them. */
export interface IssuerProofs {
  /** The proof files; undefined if the issuer publishes none. */
  readonly files?: ProofFiles | undefined;
  /** The checkpoint as published; undefined if it is not valid. */
  readonly text?: string | undefined;
  /** The verified checkpoint; undefined if there is none or it is invalid. */
  readonly checkpoint?: OpenedCheckpoint | undefined;
  readonly fault?: SigError | undefined;
}

/**
 * Loads the issuer's documents. The checkpoint is requested together with the
 * keys, and verified with them.
 *
 * @throws {SigError} if the documents can't be read or are invalid, or the
 * checkpoint does not meet the policy.
 */
async function loadProofs(
  location: IssuerLocation,
  options: LoadProofsOptions,
): Promise<{ readonly loaded: LoadedIssuer; readonly proofs: IssuerProofs }> {
  const { checkpointPolicy: policy, now } = options;
  let sent = undefined as SentCheckpoint | undefined;
  const loaded = await loadIssuer(location, {
    ...options,
    onMetadata(metadata) {
      const { proofs_uri: uri } = metadata;
      if (uri !== undefined) {
        const files = new ProofFiles(location.reader, uri);
        sent = { files, text: files.checkpoint() };
        sent.text.catch(() => {});
      }
      options.onMetadata?.(metadata);
    },
  }).finally(() => sent?.text.catch(() => {}));
  const proofs = sent === undefined
    ? {}
    : await openSent(sent, loaded, policy?.cosigners);
  if (policy !== undefined) requirePolicy(proofs, policy, now);
  return { loaded, proofs };
}

/** A checkpoint that was requested. */
interface SentCheckpoint {
  readonly files: ProofFiles;
  readonly text: Promise<string>;
}

async function openSent(
  { files, ...sent }: SentCheckpoint,
  { keys, recovery }: LoadedIssuer,
  cosigners: ProofPolicy["cosigners"] = [],
): Promise<IssuerProofs> {
  try {
    const text = await sent.text;
    const of = { origin: files.origin, keys: signingKeys(keys), cosigners };
    const checkpoint = await openCheckpoint(text, of);
    requireFittingLines(checkpoint, recovery);
    return { files, text, checkpoint };
  } catch (error) {
    if (!isSigError(error)) throw error;
    return { files, fault: error };
  }
}

/**
 * Returns whether only a read from the start can compare the feed with
 * proofs.
 *
 * @param tree The tree of the feed that could be continued.
 */
export function needStart(
  { checkpoint }: IssuerProofs,
  pin: KnownPin | undefined,
  tree: FeedTree | undefined,
  policy: ProofPolicy | undefined,
): boolean {
  // Only a feed from its start confirms the state of a checkpoint.
  if (checkpoint !== undefined && policy !== undefined) return true;
  const { proof = null, feed } = pin ?? {};
  if (tree === undefined) return checkpoint !== undefined || proof !== null;
  // The feed was shorter than its checkpoint, so no keys are remembered yet.
  return proof === null && (checkpoint?.size ?? 0) > (feed?.sequence ?? 0);
}

/**
 * Returns the hashes of a feed that was read, for `findContradiction`. The
 * state is computed only for the remembered checkpoint.
 */
export async function hashesOf(
  tree: FeedTree | undefined,
  pin: KnownPin,
): Promise<(events: number) => ShownHashes | undefined> {
  const size = pin.proof?.size;
  const found = size === undefined ? undefined : tree?.at(size);
  const isSame = found !== undefined &&
    encodeBase64(found.root) === pin.proof?.root;
  const state = isSame ? await found.state?.(yieldToEventLoop) : undefined;
  return (events) => {
    const hashes = tree?.at(events);
    return hashes && { root: hashes.root, ...(events === size && { state }) };
  };
}

/**
 * Returns the proof to remember after a full read; null for none. A new
 * checkpoint is remembered only if the feed confirms its root, bytes and
 * state.
 *
 * @throws {SigError} `proof_invalid` if a policy requires a checkpoint, and
 * the feed does not confirm it.
 */
export async function toRemember(
  { checkpoint }: IssuerProofs,
  pin: KnownPin | undefined,
  { events, keys, tree }: {
    readonly events: number;
    readonly keys: FetchedKeys;
    readonly tree: FeedTree | undefined;
  },
  policy: ProofPolicy | undefined,
): Promise<PinnedProof | null> {
  const found = checkpoint && tree?.at(checkpoint.size);
  const isConfirmed = checkpoint !== undefined && checkpoint.size > 0 &&
    found?.state !== undefined && found.bytes === checkpoint.bytes &&
    encodeBase64(found.root) === encodeBase64(checkpoint.root) &&
    encodeBase64(await found.state(yieldToEventLoop)) ===
      encodeBase64(checkpoint.state);
  if (policy !== undefined && !isConfirmed) {
    throw proofInvalid(
      checkpoint === undefined
        ? "the issuer publishes no checkpoint"
        : "the feed is not what the checkpoint says",
    );
  }
  const before = pin?.proof ?? null;
  const hashes = isConfirmed ? pinnedHashes(checkpoint) : before;
  const isTooMuch = keys.usable.size > MAX_PROOF_KEYS;
  if (hashes === null || isTooMuch || tree === undefined) return null;
  const { size, root, state } = hashes;
  return {
    size,
    root,
    state,
    seen: { size: events, root: encodeBase64(tree.lines.root()) },
    keys: await shortenKids(keys.usable),
  };
}
