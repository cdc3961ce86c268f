/** From an observation to the state that a question rests upon. @module */

import {
  type PinStore,
  pinStoreUnavailable,
  StateMoved,
} from "../pins/pin_store.ts";
import { readAbout, readWhole } from "../pins/stored_state.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import type { FollowedIssuer } from "./followed_issuer.ts";
import { type Observation, recordOf } from "./issuer_record.ts";
import type { ObserveOptions } from "./observe_issuer.ts";
import type { RememberOptions } from "./remembered_issuer.ts";

/** Which part of a state is needed. */
export type StatePartNeeded = Pick<ObserveOptions, "asOf" | "subjects">;

/** How often rows may move away under our eyes before we give up. */
const MAX_LOOKS = 5;

/**
 * Observes an issuer by `observe`, and reads the part of its state that is
 * needed. Where a store has the state, and another process has put another one
 * in its place meanwhile, both begin anew.
 *
 * @throws {SigError} as `observe`, and `store_unavailable`.
 */
export async function observeState(
  issuer: FollowedIssuer,
  needed: StatePartNeeded,
  memory: RememberOptions & { readonly pins?: PinStore | undefined },
  observe: () => Observation | Promise<Observation>,
): Promise<{
  readonly observation: Observation;
  readonly verified: VerifiedIssuer;
}> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    try {
      await recall(issuer, memory);
      const observation = await observe();
      return { observation, verified: await partOf(observation, needed) };
    } catch (error) {
      if (!(error instanceof StateMoved)) throw error;
      issuer.keep(recordOf());
    }
  }
  throw pinStoreUnavailable(
    memory.pins!.place,
    "other processes keep changing it",
  );
}

/**
 * What others remember of an issuer that this process knows nothing of, or
 * less: what one of them has seen, a contradiction too, counts for all.
 */
async function recall(
  issuer: FollowedIssuer,
  { pins, ...options }: RememberOptions & {
    readonly pins?: PinStore | undefined;
  },
): Promise<void> {
  const isRemembered = pins !== undefined && issuer.allowance === undefined;
  if (!isRemembered || options.full) return;
  const did = issuer.location.expectedIssuer;
  const { held } = issuer.record;
  if (held !== undefined) {
    const { ref, revision } = held.observation.stored ?? {};
    if (ref === undefined) return;
    const entry = await pins.get(did);
    if (entry?.state === ref.state && entry.revision === revision) return;
    // Unless this process has learnt of it itself meanwhile.
    if (issuer.record.held === held) issuer.keep(recordOf());
  }
  const { recallIssuer } = await import("./remembered_issuer.ts");
  const record = await recallIssuer(pins, issuer.location, options);
  // Somebody may have asked meanwhile.
  if (record && issuer.record.held === undefined) issuer.keep(record);
}

async function partOf(
  { verified, stored }: Observation,
  { subjects, asOf }: StatePartNeeded,
): Promise<VerifiedIssuer> {
  if (stored === undefined) return verified;
  const state = subjects === undefined
    ? await readWhole(stored, { asOf })
    : await readAbout(stored, subjects, { asOf });
  return { ...verified, state, feed: { ...verified.feed, state } };
}
