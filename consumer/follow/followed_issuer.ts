/** One issuer that is asked again and again. @module */

import type { FeedAllowance } from "./feed_allowance.ts";
import {
  type IssuerRecord,
  type PinnedIssuer,
  recordOf,
} from "./issuer_record.ts";
import type { ProvenLocation } from "../read/source.ts";
import type { Refresh, RefreshOutcome } from "./refresh_issuer.ts";
import type { RefreshOptions } from "./refresh_options.ts";
import { RefreshQueue, type RefreshQueueOptions } from "./refresh_queue.ts";

/** What one turn of the queue adds to a refresh. */
export type RefreshTurn = Pick<RefreshOptions, "now" | "report" | "allowance">;

/** How issuers are asked. */
export interface FollowOptions {
  /** Asks one, given what is known of it. */
  readonly refresh: (
    location: ProvenLocation,
    record: IssuerRecord,
    turn: RefreshTurn,
  ) => Promise<Refresh>;
  /** The clock, and how many may wait. */
  readonly queue: Pick<RefreshQueueOptions<RefreshOutcome>, "now" | "limits">;
}

/** Owns the record of an issuer: the one place where it changes. */
export class FollowedIssuer {
  /** Where it publishes. */
  readonly location: ProvenLocation;
  /** Bounds what is read of one that is on no list. */
  readonly allowance: FeedAllowance | undefined;
  /** Asks it. */
  readonly refreshes: RefreshQueue<RefreshOutcome>;
  #record: IssuerRecord;

  constructor(
    location: ProvenLocation,
    pinned: PinnedIssuer | undefined,
    allowance: FeedAllowance | undefined,
    { refresh, queue }: FollowOptions,
  ) {
    this.location = location;
    this.allowance = allowance;
    this.#record = recordOf(pinned);
    this.refreshes = new RefreshQueue(
      async (now, report) => {
        try {
          const turn = { now, report, allowance };
          const { record, outcome } = await refresh(
            location,
            this.#record,
            turn,
          );
          this.keep(record);
          return outcome;
        } finally {
          allowance?.end();
        }
      },
      { ...queue, isFailure: isSharedFailure },
    );
  }

  /** What is known of it. */
  get record(): IssuerRecord {
    return this.#record;
  }

  /** Puts what a refresh came to in the place of what was known. */
  keep(record: IssuerRecord): void {
    this.#record = record;
  }
}

/**
 * A fault is told by its report, which may list more than one that nobody asked
 * for; every other failure is the same to all.
 */
function isSharedFailure(
  outcome: RefreshOutcome,
  isReported: boolean,
): boolean {
  if (outcome.observation !== undefined) return false;
  return outcome.report === undefined || isReported;
}
