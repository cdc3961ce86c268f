/**
 * Reads the feed of an issuer, and writes its pin. Every pin is judged and
 * written here; the rules are in `memory/transitions.ts`.
 *
 * @module
 */

import type { KeptPin } from "../memory/keeper.ts";
import { JUDGE_AGAIN, next } from "../memory/transitions.ts";
import { observationOf } from "./known_state.ts";
import type {
  Copy,
  FeedOutcome,
  FollowedIssuer,
  Observation,
  ReadOutcome,
  RefreshOptions,
} from "./reading.ts";

/**
 * Reads the feed of an issuer, and keeps what was found. Repeats the read if
 * the pin has changed meanwhile, in another process or in this one.
 *
 * @returns The new observation.
 * @throws {SigError} the error of the read, and `store_unavailable`.
 */
export async function refreshIssuer(
  issuer: FollowedIssuer,
  options: RefreshOptions,
): Promise<{ readonly observation: Observation; readonly copy: Copy }> {
  const { keeper, location } = issuer;
  const { now, requirePin, keepOnly } = options;
  // Loaded with the first read, since not every program reads feeds.
  const { readFeed } = await import("./refresh.ts");
  return await keeper.repeat(async () => {
    options.onAttempt?.();
    const before = await keeper.read(now);
    const { pin } = before;
    if (requirePin && pin.status === "unknown") throw keeper.missing();
    const { repeatedAt } = issuer;
    // Reads that keep one subject are not in turn, and could continue it twice.
    const copy = keepOnly === undefined ? issuer.copy : undefined;
    const start = { pin, copy, repeatedAt };
    const { reader, fault } = issuer.takeReadAhead();
    const read = await readFeed({ ...location, reader }, start, options);
    // Not `using`, which Node 22 lacks.
    try {
      issuer.repeatedAt = read.repeatedAt;
      // A connection that breaks must not hide the fault of a proof.
      const found: FeedOutcome =
        read.found.kind === "unreachable" && fault !== undefined
          ? { ...read.found, kind: "fault" }
          : read.found;
      if (found.kind === "feed" && keepOnly === undefined) {
        issuer.copy = found.copy;
      }
      const after = await writePin(issuer, before, found, now);
      if (after === undefined) return undefined;
      if (found.kind !== "feed") throw found.error;
      const state = found.copy;
      await read.mirror?.keep(state.documents);
      return {
        observation: observationOf(keeper, after.pin, state),
        copy: state,
      };
    } finally {
      read.mirror?.close();
    }
  });
}

/**
 * Writes the pin after a read. Returns undefined if the read must be repeated:
 * the pin has changed, or was forgotten.
 */
export async function writePin(
  { keeper }: FollowedIssuer,
  before: KeptPin,
  found: ReadOutcome,
  now: Date,
): Promise<KeptPin | undefined> {
  if (found.kind === "contradiction" && keeper.forgets) {
    keeper.forget();
    return undefined;
  }
  const after = next(before.pin, found);
  if (after === JUDGE_AGAIN) return undefined;
  if (after === before.pin || after.status === "unknown") return before;
  return await keeper.write(before, after, now);
}
