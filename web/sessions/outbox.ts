/** Notifies applications of the end of a session, with retries. @module */

import { recordsOf, type RecordStore } from "@sig/consumer/store";
import { isSigError } from "@sig/core";
import { logoutKind } from "../store/kinds.ts";
import { OwnerQuota } from "../store/owner_quota.ts";
import type { LogoutNotification } from "./session.ts";

/** Options of {@linkcode createOutbox}. */
interface OutboxOptions {
  /** The store of notifications. */
  readonly store: RecordStore;
  /** The audience of this login, since several logins may share the store. */
  readonly audience: string;
  /** Returns the client ids of the applications to notify. */
  readonly recipients: () => Iterable<string>;
  /**
   * Sends a notification, and returns whether it has arrived; must have a short
   * timeout.
   */
  readonly send: (notification: LogoutNotification) => Promise<boolean>;
  readonly now: () => Date;
}

interface Note extends LogoutNotification {
  readonly audience: string;
  readonly attempts: number;
  /** Until when only the process that is sending it may send it. */
  readonly leased_until_ms: number;
}

/** Milliseconds for which a delivery is retried. */
const KEEP_MS = 24 * 3_600_000;
/**
 * Milliseconds for which a process may send; after a crash another process
 * retries.
 */
const LEASE_MS = 20_000;
/**
 * Milliseconds without attempts at an application that failed once; doubled by
 * each further failure.
 */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5 * 60_000;
/**
 * Maximum number of notifications of one person for one application; the
 * oldest is discarded. A person has at most as many sessions.
 */
const MAX_NOTES = 50;
/** Number of notifications after which it yields to the event loop. */
const SLICE = 200;

/**
 * Creates the outbox. A notification is delivered at least once, even if
 * processes crash, and by one process at a time. Notifications of other logins
 * are ignored, since an application accepts them from its login only.
 *
 * Each application has its own kind of records, and each person a quota in it:
 * an application that does not respond, or a person who ends many sessions,
 * affects no other notification.
 *
 * @throws {SigError} from its methods `store_unavailable`.
 */
export function createOutbox(
  { store, audience, recipients, send, now }: OutboxOptions,
) {
  const quota = new OwnerQuota({ maxRecords: MAX_NOTES });
  /** Applications that failed, and when they are tried again. */
  const paused = new Map<string, { failures: number; untilMs: number }>();
  const notesOf = (clientId: string) =>
    recordsOf<Note>(store, logoutKind(clientId));
  const ownerOf = ({ client_id, subject }: LogoutNotification) =>
    `${client_id} ${subject}`;

  /** Returns false if it has not arrived, or another process is sending it. */
  async function deliverNote(id: string, clientId: string): Promise<boolean> {
    const notes = notesOf(clientId);
    const { after: mine } = await notes.change(id, now(), (note) => {
      const atMs = now().getTime();
      if (note.leased_until_ms > atMs) return undefined;
      const attempts = note.attempts + 1;
      return { ...note, attempts, leased_until_ms: atMs + LEASE_MS };
    });
    if (mine === undefined) return false;
    const isDelivered = await send(mine).catch(() => false);
    if (!isDelivered) {
      const failures = (paused.get(clientId)?.failures ?? 0) + 1;
      const pauseMs = Math.min(
        FIRST_PAUSE_MS * 2 ** (failures - 1),
        MAX_PAUSE_MS,
      );
      paused.set(clientId, { failures, untilMs: now().getTime() + pauseMs });
      await notes.change(
        id,
        now(),
        (note) => ({ ...note, leased_until_ms: 0 }),
      );
    } else {
      paused.delete(clientId);
      await notes.take(id, now());
      quota.remove(ownerOf(mine), id);
    }
    return isDelivered;
  }

  /** Returns the ids of the due notifications, the least tried ones first. */
  async function dueOf(clientId: string): Promise<readonly string[]> {
    const due: { id: string; attempts: number }[] = [];
    let listed = 0;
    for await (const [id, note] of notesOf(clientId).list(now())) {
      if (++listed % SLICE === 0) await new Promise((go) => setTimeout(go, 0));
      const isFree = note.leased_until_ms <= now().getTime();
      if (note.audience === audience && isFree) {
        due.push({ id, attempts: note.attempts });
      }
    }
    return due.sort((a, b) => a.attempts - b.attempts).map(({ id }) => id);
  }

  /** Whether an application failed a moment ago. */
  function isPaused(clientId: string): boolean {
    const { untilMs } = paused.get(clientId) ?? { untilMs: -Infinity };
    const atMs = now().getTime();
    // Ignored if the clock was set back, which would extend the pause.
    return atMs < untilMs && untilMs <= atMs + MAX_PAUSE_MS;
  }

  return {
    /**
     * Stores a notification until it is delivered; a duplicate is ignored. If
     * the application has too many, it is sent once instead.
     */
    async add(notification: LogoutNotification): Promise<void> {
      const at = now();
      const { sid, client_id, joined } = notification;
      const id = `${sid}.${joined}`;
      const until = new Date(at.getTime() + KEEP_MS);
      const note = {
        ...{ ...notification, audience },
        ...{ attempts: 0, leased_until_ms: 0 },
      };
      const notes = notesOf(client_id);
      try {
        await notes.create(id, note, until, at);
      } catch (error) {
        if (!isSigError(error, "rate_limited")) throw error;
        // Not awaited: the end of a session does not wait for an application.
        send(notification).catch(() => {});
        return;
      }
      for (const old of quota.add(ownerOf(note), { id, until }, at)) {
        await notes.take(old, at);
      }
    },
    /**
     * Sends the notifications that are due, those with the fewest attempts
     * first. After a failure, no more are sent to that application for a while;
     * other applications are not delayed.
     *
     * @returns The number of delivered notifications.
     */
    async deliver(): Promise<number> {
      let delivered = 0;
      await Promise.all(Array.from(recipients(), async (clientId) => {
        if (isPaused(clientId)) return;
        for (const id of await dueOf(clientId)) {
          if (!await deliverNote(id, clientId)) break;
          delivered++;
        }
      }));
      return delivered;
    },
  };
}
