/** Why somebody was closed out, by the issuer's public feed. @module */

import { createConsumer } from "@sig/consumer";
import { DEMO_REQUIRE } from "../demo_issuer.ts";

/** The end of a relationship. */
export interface Ending {
  /** Who ended it: a host. */
  readonly issuer: string;
  /** RFC 3339 UTC. */
  readonly at: string;
  /** The event that says so. */
  readonly sequence: number;
}

/** Reads the end of somebody's employment; undefined where there is none. */
export type ReadEnding = (subject: string) => Promise<Ending | undefined>;

/**
 * Makes the reader: nobody tells an application why, and it needs nobody to. The
 * feed is verified like any other.
 *
 * @throws {SigError} from the reader when the issuer can't be asked.
 */
export function createReadEnding(
  { issuer, now }: { readonly issuer: string; readonly now: () => Date },
): ReadEnding {
  const consumer = createConsumer({
    issuers: [issuer],
    allowPrivate: true,
    maxAge: 0,
    now,
  });
  return async (subject) => {
    const require = [...DEMO_REQUIRE];
    const { reasons } = await consumer.check(issuer, { subject, require });
    const revoked = reasons.find(({ code }) => code === "revoked");
    const { relationship_id: id, sequence } = revoked ?? {};
    if (id === undefined || sequence === undefined) return undefined;
    const state = await consumer.state(issuer, { maxAgeMs: 60_000 });
    const at = state.by_relationship_id.get(id)?.revoked_effective_at;
    if (at === undefined) return undefined;
    return { issuer: hostOf(issuer), at, sequence };
  };
}

/** A did:web as people call it. */
function hostOf(did: string): string {
  return decodeURIComponent(did.slice("did:web:".length));
}
