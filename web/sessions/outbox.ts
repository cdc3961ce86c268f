/** Notifies applications of the end of a session, with retries. @module */

import { recordsOf, type RecordStore } from "@sig/consumer/store";
import { LOGOUT } from "../store/kinds.ts";
import type { LogoutNotification } from "./session.ts";

/**
 * Result of one delivery: the application has received it; it must be sent
 * again; or the application has no address for it.
 */
export type Delivery = "delivered" | "failed" | "no_recipient";

/** Options of {@linkcode createOutbox}. */
interface OutboxOptions {
  /** The store of notifications. */
  readonly store: RecordStore;
  /** The audience of this login, since several logins may share the store. */
  readonly audience: string;
  /** Sends a notification; must have a short timeout. */
  readonly send: (notification: LogoutNotification) => Promise<Delivery>;
  readonly now: () => Date;
}

interface Note extends LogoutNotification {
  readonly audience: string;
  readonly attempts: number;
  /**
   * Earliest time of the next attempt; during an attempt, the end of its lease.
   */
  readonly next_ms: number;
}

/** Milliseconds for which a delivery is retried. */
const KEEP_MS = 24 * 3_600_000;
/**
 * Milliseconds for which a process may send; after a crash another process
 * retries.
 */
const LEASE_MS = 20_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5 * 60_000;

/**
 * Creates the outbox. A notification is delivered at least once, even if
 * processes crash, and by one process at a time. Notifications of other logins
 * are ignored, since an application accepts them from its login only.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function createOutbox({ store, audience, send, now }: OutboxOptions) {
  const notes = recordsOf<Note>(store, LOGOUT);

  async function deliverNote(id: string): Promise<Delivery> {
    const { after: mine } = await notes.change(id, now(), (note) => {
      const atMs = now().getTime();
      if (note.next_ms > atMs) return undefined;
      const attempts = note.attempts + 1;
      return { ...note, attempts, next_ms: atMs + LEASE_MS };
    });
    // Another process is sending it.
    if (mine === undefined) return "failed";
    const delivery = await send(mine).catch((): Delivery => "failed");
    if (delivery === "failed") {
      const pause = FIRST_PAUSE_MS * 2 ** Math.min(mine.attempts - 1, 20);
      const next_ms = now().getTime() + Math.min(pause, MAX_PAUSE_MS);
      await notes.change(id, now(), (note) => ({ ...note, next_ms }));
    } else await notes.take(id, now());
    return delivery;
  }

  return {
    /** Stores a notification until it is delivered; a duplicate is ignored. */
    async add(notification: LogoutNotification): Promise<void> {
      const at = now();
      const { sid, client_id, joined } = notification;
      const next_ms = at.getTime();
      await notes.create(
        `${sid}.${joined}.${client_id}`,
        { ...notification, audience, attempts: 0, next_ms },
        new Date(next_ms + KEEP_MS),
        at,
      );
    },
    /**
     * Sends the notifications that are due, those with the fewest attempts
     * first. After a failure, no more are sent to that application; other
     * applications are not delayed.
     *
     * @returns The number of delivered notifications.
     */
    async deliver(): Promise<number> {
      const due = new Map<string, { id: string; attempts: number }[]>();
      for await (const [id, note] of notes.list(now())) {
        if (note.audience !== audience || note.next_ms > now().getTime()) {
          continue;
        }
        const ofClient = due.get(note.client_id) ?? [];
        due.set(note.client_id, ofClient);
        ofClient.push({ id, attempts: note.attempts });
      }
      let delivered = 0;
      await Promise.all(Array.from(due.values(), async (ofClient) => {
        ofClient.sort((a, b) => a.attempts - b.attempts);
        for (const { id } of ofClient) {
          const delivery = await deliverNote(id);
          if (delivery === "failed") break;
          if (delivery === "delivered") delivered++;
        }
      }));
      return delivered;
    },
  };
}
