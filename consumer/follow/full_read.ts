/** Compares a feed with its checkpoint and the remembered proof (docs/protocol.md §13.4). @module */

import {
  formatInstant,
  instantOf,
  isSigError,
  type SigError,
  type SigMetadata,
} from "@sig/core";
import {
  createSha256,
  encodeBase64,
  openCheckpoint,
  type OpenedCheckpoint,
  proofInvalid,
} from "@sig/jose/proofs";
import { requireFittingLines } from "@sig/jose/recovery";
import type { IssuerPin, ProofMemory } from "../memory/pin.ts";
import type { IssuerLocation } from "../read/reader.ts";
import {
  type LoadedIssuer,
  loadIssuer,
  type ReloadIssuerOptions,
} from "../verify/load_issuer.ts";
import {
  contradictionOfRoot,
  MAX_REMEMBERED_KEYS,
  proofOf,
  signingKeys,
} from "./compare_proofs.ts";
import { type FetchedKeys, rolledBack } from "./check_continuity.ts";
import { FeedTree } from "../proofs/feed_tree.ts";
import { type ProofPolicy, requirePolicy } from "../proofs/proof_policy.ts";
import { ProofFiles } from "../proofs/proof_files.ts";
import { yieldToEventLoop } from "../verify/feed_verification.ts";

/** A feed to compare with proofs. */
interface FeedRead {
  readonly events: number;
  readonly keys: FetchedKeys;
  readonly tree: FeedTree | undefined;
  readonly now: Date;
}

export interface LoadProofsOptions extends ReloadIssuerOptions {
  readonly now: Date;
  readonly checkpointPolicy?: ProofPolicy | undefined;
}

/** The proofs of an issuer, compared with its feed. */
export class ProofsOfFeed {
  readonly #sha256 = createSha256();
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
   * @throws {SigError} if the documents can't be read or are invalid.
   */
  async load(options: LoadProofsOptions): Promise<LoadedIssuer> {
    const { reader } = this.#location;
    const onMetadata = ({ proofs_uri: uri }: SigMetadata) => {
      if (uri === undefined) return;
      this.files = new ProofFiles(reader, uri, this.#sha256);
      this.text = this.files.checkpoint();
      this.text.catch(() => {});
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
      if (text !== undefined) {
        const { origin } = this.files!;
        const cosigners = policy?.cosigners ?? [];
        const keys = signingKeys(loaded.keys);
        const of = { origin, keys, cosigners };
        const checkpoint = await openCheckpoint(this.#sha256, text, of);
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
  newTree(pin: IssuerPin | undefined): FeedTree | undefined {
    const isWanted = this.files !== undefined || pin?.proof !== undefined;
    return isWanted ? new FeedTree(this.#sha256) : undefined;
  }

  /**
   * Returns whether only a read from the start can compare the feed with
   * proofs.
   */
  needStart(pin: IssuerPin, tree: FeedTree | undefined): boolean {
    const { checkpoint } = this;
    if (tree === undefined) {
      return checkpoint !== undefined || pin.proof !== undefined;
    }
    // The feed was shorter than its checkpoint, so no keys are remembered yet.
    return pin.proof === undefined && (checkpoint?.size ?? 0) > pin.sequence;
  }

  /** Sets the sizes at which a tree keeps its hashes. */
  prepare(tree: FeedTree | undefined, pin: IssuerPin | undefined): void {
    tree?.want([this.checkpoint?.size ?? 0, pin?.proof?.size ?? 0]);
  }

  /**
   * Returns the contradiction between a feed and the remembered proof, if any.
   */
  async findContradiction(
    pin: IssuerPin,
    { events, tree }: FeedRead,
  ): Promise<SigError | undefined> {
    const { proof } = pin;
    if (proof === undefined) return undefined;
    if (events < proof.seen) return rolledBack(proof.seen, events);
    const found = tree?.at(proof.size);
    return found && contradictionOfRoot(proof, {
      root: found.root,
      state: await found.state?.(yieldToEventLoop),
    });
  }

  /**
   * Returns the proof to remember. A new checkpoint is remembered only if the
   * feed confirms its root, bytes and state.
   */
  async remembered(
    pin: IssuerPin | undefined,
    { events, keys, tree, now }: FeedRead,
    policy?: ProofPolicy,
  ): Promise<ProofMemory | undefined> {
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
    const proof = isConfirmed ? checkpoint : pin?.proof;
    const isTooMuch = keys.authorized.size > MAX_REMEMBERED_KEYS;
    if (proof === undefined || isTooMuch) return undefined;
    return {
      ...proofOf(proof, keys),
      seen: events,
      last_seen: formatInstant(instantOf(now)),
    };
  }
}
