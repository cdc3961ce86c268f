/** What a store keeps of an issuer beside its rows, as text (INTERFACES §2c). @module */

import type { Warning } from "@sig/core";
import type { IssuerPin } from "../pins/issuer_pin.ts";
import type { StoredInstant } from "../pins/feed_rows.ts";
import type { ListedRows } from "../pins/row_directory.ts";
import { damaged, type PinEntry, type PinStore } from "../pins/pin_store.ts";
import type { KeyUse } from "../verify/verified_feed.ts";

/** A contradiction that lasts. */
export interface PinIncident {
  /** One of PROTOCOL §6. */
  readonly code: string;
  /** When it was first seen. */
  readonly since: string;
  /** What was seen last, with old and new value. */
  readonly detail: string;
}

/** Somebody accepted another history. */
export interface PinAcknowledgement {
  /** When. */
  readonly at: string;
  /** Why, in their words. */
  readonly reason: string;
  /** What contradicted the history before; null when nothing did. */
  readonly code: string | null;
}

/** What is needed to go on with a feed. */
export interface RememberedFeed {
  /** State of the SHA-256 over its bytes. */
  readonly hash: string;
  /** Its last bytes, base64url. */
  readonly overlap: string;
  /** Where it was got from. */
  readonly ref: string;
  /** The rule that its events were judged by. */
  readonly public_only: boolean;
  /** The reader's own rules, likewise. */
  readonly policy: string;
  /** When it was last compared from its first byte on. */
  readonly compared_at: string;
  /** The latest `issued_at`. */
  readonly latest: StoredInstant | null;
  /** The keys that signed. */
  readonly keys: readonly KeyUse[];
  /** How many warnings its rows hold. */
  readonly warnings: number;
  /** How many more there were. */
  readonly warnings_left_out: number;
  /** How many rows are listed; absent in what was kept before listings. */
  readonly rows?: ListedRows | undefined;
  /** What was odd about how it is served. */
  readonly served_warnings: readonly Warning[];
}

/** Everything of an issuer that is no row. */
export interface RememberedBody {
  /** What later fetches are compared with. */
  readonly pin: IssuerPin;
  /** What contradicts it. */
  readonly incident: PinIncident | null;
  /** Who accepted what. */
  readonly acknowledged: readonly PinAcknowledgement[];
  /** The last contradiction that nobody has acknowledged. */
  readonly inconsistency: string | null;
  /** Something worse than silence was seen since. */
  readonly suspended: boolean;
  /** What was odd about the documents. */
  readonly notices: readonly Warning[];
  /**
   * The URL of the `sig.json` that was asked. A host may have others: what one
   * of them served is compared with, but answers no question about another.
   */
  readonly place?: string | undefined;
  /** Where its documents came from; absent in what was kept before it was. */
  readonly source?: "https" | "http" | undefined;
  /** To go on with. */
  readonly feed: RememberedFeed;
}

/**
 * The body of an entry.
 *
 * @throws {SigError} `store_unavailable` for one that we did not write.
 */
export function readBody(store: PinStore, entry: PinEntry): RememberedBody {
  let body: RememberedBody | undefined;
  try {
    body = JSON.parse(entry.body) as RememberedBody;
  } catch {
    // Told below.
  }
  const isWhole = body?.pin?.issuer === entry.issuer &&
    Number.isSafeInteger(body.pin.sequence) &&
    /^[0-9a-f]{64}$/.test(body.pin.prefix_sha256) &&
    typeof body.pin.first_seen === "string" &&
    typeof body.pin.last_seen === "string" &&
    Array.isArray(body.acknowledged) && typeof body.feed?.hash === "string";
  if (isWhole) return body!;
  throw damaged(store.place, `the pin of ${entry.issuer}`);
}
