/**
 * Loads an issuer's documents with its checkpoint, and compares a whole feed
 * with it (docs/protocol.md §13.4).
 *
 * @module
 */

import { isSigError, type SigError, type SigMetadata } from "@sig/core";
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
import { FeedTree } from "../proofs/feed_tree.ts";
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
 * @throws {SigError} as {@linkcode IssuerProofs.load}.
 */
export async function openIssuer(
  location: IssuerLocation,
  stored: Pin,
  options: LoadProofsOptions,
): Promise<OpenedIssuer> {
  const proofs = new IssuerProofs(location);
  const loaded = await proofs.load(options);
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
 * as {@linkcode IssuerProofs.load}.
 */
export async function requireProofs(
  location: IssuerLocation,
  options: LoadProofsOptions,
) {
  const proofs = new IssuerProofs(location);
  const loaded = await proofs.load(options);
  const { checkpoint, fault, files, text } = proofs;
  if (fault !== undefined) throw fault;
  if (files === undefined || checkpoint === undefined || text === undefined) {
    throw proofInvalid("the issuer publishes no proofs");
  }
  return { loaded, checkpoint, files, text: await text };
}

/** The proofs of an issuer during one read. */
export class IssuerProofs {
  readonly #location: IssuerLocation;
  /** The checkpoint as published; undefined without proofs. */
  text: Promise<string> | undefined;
  /** The proof files; undefined if the issuer publishes none. */
  files: ProofFiles | undefined;
  /** The verified checkpoint; undefined if there is none or it is invalid. */
  checkpoint: OpenedCheckpoint | undefined;
  fault: SigError | undefined;

  constructor(location: IssuerLocation) {
    this.#location = location;
  }

  /**
   * Loads the issuer's documents. The checkpoint is requested together with the
   * keys, and verified with them.
   *
   * @throws {SigError} if the documents can't be read or are invalid, or the
   * checkpoint does not meet the policy.
   */
  async load(options: LoadProofsOptions): Promise<LoadedIssuer> {
    const { reader } = this.#location;
    const onMetadata = (metadata: SigMetadata) => {
      const { proofs_uri: uri } = metadata;
      if (uri !== undefined) {
        this.files = new ProofFiles(reader, uri);
        this.text = this.files.checkpoint();
        this.text.catch(() => {});
      }
      options.onMetadata?.(metadata);
    };
    try {
      const loaded = await loadIssuer(this.#location, {
        ...options,
        onMetadata,
      });
      await this.#open(loaded, options);
      return loaded;
    } finally {
      await this.text?.catch(() => {});
    }
  }

  async #open(
    loaded: LoadedIssuer,
    { checkpointPolicy: policy, now }: LoadProofsOptions,
  ): Promise<void> {
    try {
      const text = await this.text;
      if (text !== undefined && this.files !== undefined) {
        const { origin } = this.files;
        const cosigners = policy?.cosigners ?? [];
        const keys = signingKeys(loaded.keys);
        const of = { origin, keys, cosigners };
        const checkpoint = await openCheckpoint(text, of);
        requireFittingLines(checkpoint, loaded.recovery);
        this.checkpoint = checkpoint;
      }
    } catch (error) {
      if (!isSigError(error)) throw error;
      this.fault = error;
    }
    if (policy !== undefined) requirePolicy(this, policy, now);
  }

  /** Creates a tree for a feed from its start; undefined without proofs. */
  newTree(pin: KnownPin | undefined): FeedTree | undefined {
    const isWanted = this.files !== undefined || (pin?.proof ?? null) !== null;
    return isWanted ? new FeedTree() : undefined;
  }

  /**
   * Returns whether only a read from the start can compare the feed with
   * proofs.
   *
   * @param tree The tree of the feed that could be continued.
   */
  needStart(
    pin: KnownPin | undefined,
    tree: FeedTree | undefined,
    policy: ProofPolicy | undefined,
  ): boolean {
    const { checkpoint } = this;
    // Only a feed from its start confirms the state of a checkpoint.
    if (checkpoint !== undefined && policy !== undefined) return true;
    const { proof = null, feed } = pin ?? {};
    if (tree === undefined) return checkpoint !== undefined || proof !== null;
    // The feed was shorter than its checkpoint, so no keys are remembered yet.
    return proof === null && (checkpoint?.size ?? 0) > (feed?.sequence ?? 0);
  }

  /** Sets the sizes at which a tree keeps its hashes. */
  prepare(tree: FeedTree | undefined, pin: KnownPin | undefined): void {
    const { size = 0, seen } = pin?.proof ?? {};
    tree?.want([this.checkpoint?.size ?? 0, size, seen?.size ?? 0]);
  }

  /**
   * Returns the hashes of a feed that was read, for `findContradiction`. The
   * state is computed only for the remembered checkpoint.
   */
  async hashesOf(
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
  async toRemember(
    pin: KnownPin | undefined,
    { events, keys, tree }: {
      readonly events: number;
      readonly keys: FetchedKeys;
      readonly tree: FeedTree | undefined;
    },
    policy: ProofPolicy | undefined,
  ): Promise<PinnedProof | null> {
    const { checkpoint } = this;
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
}
