/** Telling applications that a session is over, until they have heard. @module */

import { recordsOf, type RecordStore } from "@sig/consumer/store";
import { LOGOUT } from "../store/kinds.ts";
import type { LogoutNotification } from "./session.ts";

/**
 * Result of one delivery: the application has received it; it must be sent
 * again; it was refused, and must be sent again; or the application has no
 * address for it.
 */
export type Delivery = "delivered" | "unreachable" | "refused" | "no_recipient";

/** What {@linkcode createOutbox} works with. */
interface OutboxOptions {
  /** Where farewells are kept. */
  readonly store: RecordStore;
  /** Where people log in: others may share the store. */
  readonly audience: string;
  /** Tells an application; must end by itself, and soon. */
  readonly send: (farewell: LogoutNotification) => Promise<Delivery>;
  /** The clock. */
  readonly now: () => Date;
}

/** Farewells on their way. */
interface Outbox {
  /** Keeps one; the same one twice is one. */
  add(farewell: LogoutNotification): Promise<void>;
  /**
   * Tells what is due, each application in the order in which its sessions
   * ended, and nothing more to one that does not answer. What one refuses keeps
   * it from nothing else.
   *
   * @returns how many have heard.
   */
  deliver(): Promise<number>;
}

interface Note extends LogoutNotification {
  readonly audience: string;
  readonly created_ms: number;
  readonly attempts: number;
  /** Not before; while somebody is telling, when others may try. */
  readonly next_ms: number;
  /** It was answered that it can't be taken: others need not wait for it. */
  readonly refused?: boolean;
  /** It was told. It stays a while, so that nobody adds it again. */
  readonly done?: true;
}

/** Milliseconds for which a delivery is tried again. */
const KEEP_MS = 24 * 3_600_000;
const REMEMBER_DONE_MS = 10 * 60_000;
/** Who tells has so long; after a crash another one does. */
const LEASE_MS = 20_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5 * 60_000;

/**
 * Makes the outbox. A notification is delivered at least once: also when processes
 * end in between, and by one of any number of them at a time. Those of another login it
 * leaves alone: an application takes them from that login only.
 *
 * @throws {SigError} from its methods `store_unavailable`, `rate_limited`.
 */
export function createOutbox(
  { store, audience, send, now }: OutboxOptions,
): Outbox {
  const notes = recordsOf<Note>(store, LOGOUT);

  /** Whether the application has been told, or nobody needs to. */
  async function tell(id: string): Promise<Delivery> {
    const { after: mine } = await notes.change(id, now(), (note) => {
      const at = now().getTime();
      if (note.done || note.next_ms > at) return undefined;
      const attempts = note.attempts + 1;
      return { ...note, attempts, next_ms: at + LEASE_MS };
    });
    // Somebody else is telling.
    if (mine === undefined) return "unreachable";
    const told = await send(mine).catch((): Delivery => "unreachable");
    const at = now().getTime();
    if (told === "unreachable" || told === "refused") {
      const pause = FIRST_PAUSE_MS * 2 ** Math.min(mine.attempts - 1, 20);
      const next_ms = at + Math.min(pause, MAX_PAUSE_MS);
      const refused = told === "refused";
      await notes.change(id, now(), (note) => ({ ...note, next_ms, refused }));
    } else {
      await notes.change(
        id,
        now(),
        (note) => ({ ...note, done: true }),
        { expiresAt: new Date(at + REMEMBER_DONE_MS) },
      );
    }
    return told;
  }

  return {
    async add(farewell) {
      const at = now();
      const { sid, client_id, since_ms } = farewell;
      const note: Note = {
        ...farewell,
        audience,
        created_ms: at.getTime(),
        attempts: 0,
        next_ms: at.getTime(),
      };
      const expiresAt = new Date(at.getTime() + KEEP_MS);
      const id = `${sid}.${since_ms}.${client_id}`;
      await notes.create(id, note, expiresAt, at);
    },
    async deliver() {
      const queues = new Map<string, (Note & { readonly id: string })[]>();
      for await (const [id, note] of notes.list(now())) {
        const isResting = note.refused && note.next_ms > now().getTime();
        const isOurs = note.audience === audience;
        if (!isOurs || note.done || isResting) continue;
        const queue = queues.get(note.client_id) ?? [];
        queues.set(note.client_id, queue);
        queue.push({ id, ...note });
      }
      const heard = await Promise.all(
        Array.from(queues.values(), async (queue) => {
          queue.sort((a, b) => a.created_ms - b.created_ms);
          let count = 0;
          for (const { id } of queue) {
            const told = await tell(id);
            if (told === "unreachable") break;
            if (told === "delivered") count++;
          }
          return count;
        }),
      );
      return heard.reduce((sum, each) => sum + each, 0);
    },
  };
}
