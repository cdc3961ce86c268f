/** Cosigns a checkpoint after replaying its feed (docs/protocol.md §13.3). @module */

import { SigError } from "@sig/core";
import { importVerificationKey, type SigningKey } from "@sig/jose/keys";
import {
  cosignNote,
  formatSignature,
  formatVerifierKey,
  parseNote,
} from "@sig/jose/proofs";
import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { PinKeeper } from "../memory/keeper.ts";
import type { ProvenLocation } from "../read/source.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import type { FeedPolicy } from "../verify/verified_feed.ts";
import type { RecordStore } from "../store/record_store.ts";
import { refreshIssuer } from "../follow/refresh_issuer.ts";
import { FollowedIssuer } from "../follow/reading.ts";

/** Options of {@linkcode cosignCheckpoint}. */
export interface CosignOptions
  extends FeedPolicy, LoadIssuerOptions, FetchPolicy {
  /** The clock. */
  readonly now: Date;
  /** The key that cosigns. */
  readonly key: SigningKey;
  /** The key's name on signature lines. */
  readonly name: string;
}

/** A cosignature. */
export interface Cosignature {
  /** The signature line with its LF, for `sig checkpoint --add`. */
  readonly line: string;
  /** The verifier key, for readers that require this cosigner. */
  readonly vkey: string;
  /** Number of events in the checkpoint. */
  readonly size: number;
}

/**
 * Cosigns an issuer's checkpoint after verifying its feed from the first event.
 * The feed must match the checkpoint's root, bytes and state, and continue the
 * pin in the store.
 *
 * @throws {SigError} `proof_invalid`, `invalid_checkpoint`, contradictions to
 * the pin, and as `checkIssuer`; `invalid_request` for an invalid name.
 */
export async function cosignCheckpoint(
  store: RecordStore,
  location: ProvenLocation,
  { key, name, ...options }: CosignOptions,
): Promise<Cosignature> {
  if (!/^[^\s+]+$/u.test(name)) {
    throw new SigError("invalid_request", {
      action: "cosign",
      reason: "a key's name has no white space and no plus sign",
    });
  }
  let confirmed = "";
  let size = 0;
  const keeper = new PinKeeper(location.expectedIssuer, { store });
  await refreshIssuer(new FollowedIssuer(location, keeper), {
    ...options,
    full: true,
    checkpointPolicy: {},
    onConfirmed: (note, checkpoint) => {
      confirmed = note;
      size = checkpoint.size;
    },
  });
  const { text } = parseNote(confirmed);
  const seconds = Math.floor(options.now.getTime() / 1000);
  const line = await cosignNote(text, name, key, seconds);
  const vkey = formatVerifierKey({
    name,
    type: "cosignature",
    key: await importVerificationKey(key.publicJwk),
  });
  return { line: formatSignature(line), vkey, size };
}
