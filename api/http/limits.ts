/** How much the requests of a service may take. @module */

import { SigError } from "@sig/core";
import { clientNetwork } from "./client.ts";

/**
 * Counts units by owner, with a bound for each owner and one for all, so that
 * one owner can't take everything.
 *
 * @example
 * ```ts
 * import { Quota } from "@sig/api/http";
 * import { assert } from "@std/assert";
 *
 * const quota = new Quota(3, 2);
 * assert(quota.take("192.0.2.1", 2));
 * assert(!quota.take("192.0.2.1"));
 * assert(quota.take("192.0.2.2"));
 * quota.release("192.0.2.1", 2);
 * ```
 */
export class Quota {
  readonly #total: number;
  readonly #each: number;
  readonly #taken = new Map<string, number>();
  #sum = 0;

  /** Nothing is taken yet. */
  constructor(total: number, each: number) {
    this.#total = total;
    this.#each = each;
  }

  /**
   * Takes units; false, and nothing taken, when so many aren't left.
   *
   * @param each Another bound for this owner.
   */
  take(owner: string, amount = 1, each: number = this.#each): boolean {
    const own = (this.#taken.get(owner) ?? 0) + amount;
    if (own > each || this.#sum + amount > this.#total) return false;
    this.#taken.set(owner, own);
    this.#sum += amount;
    return true;
  }

  /** Gives units back. */
  release(owner: string, amount = 1): void {
    const left = (this.#taken.get(owner) ?? 0) - amount;
    // Owners are named by strangers: those who hold nothing are forgotten.
    if (left > 0) this.#taken.set(owner, left);
    else this.#taken.delete(owner);
    this.#sum -= amount;
  }
}

/** Bounds of {@linkcode Capacity}. */
export interface CapacityOptions {
  /** Requests that are worked on at a time (default: 512). */
  readonly maxConcurrent?: number | undefined;
  /** Bytes of large bodies and answers held at a time (default: 256 MiB). */
  readonly maxHeldBytes?: number | undefined;
  /** Milliseconds until a body must have arrived (default: 10,000). */
  readonly bodyTimeoutMs?: number | undefined;
  /**
   * Milliseconds in which a client must read something of a large answer, and
   * all of it in four times as many (default: 30,000).
   */
  readonly sendTimeoutMs?: number | undefined;
}

const DEFAULT_MAX_CONCURRENT = 512;
const DEFAULT_MAX_HELD_BYTES = 256 * 1024 * 1024;
const DEFAULT_BODY_TIMEOUT_MS = 10_000;
const DEFAULT_SEND_TIMEOUT_MS = 30_000;
/** Bytes held for one client, or all of them where there are fewer. */
const CLIENT_BYTES = 64 * 1024 * 1024;
/** Bodies of one client that may be arriving, however few places there are. */
const MIN_CLIENT_BODIES = 16;

/**
 * What all requests of a service share. Each thing that can hold up a request
 * has bounds of its own, also for each client, so that a slow client uses up
 * neither the places nor what others wait for:
 *
 * - a place only while the service itself works;
 * - arriving bodies: four times as many as places, a quarter of the places for
 *   one client, or 16 where that is more;
 * - waiting for others, such as an issuer or a store: eight times as many as
 *   places, twice the places for one client; for one other the places, and a
 *   quarter of them for one client;
 * - bytes of large bodies, and of answers until they are sent.
 */
export class Capacity {
  /** How many places are taken. */
  working = 0;
  /** How many places there are. */
  readonly places: number;
  /** As in the options. */
  readonly bodyTimeoutMs: number;
  /** As in the options. */
  readonly sendTimeoutMs: number;
  /** Arriving bodies, by client. */
  readonly bodies: Quota;
  /** Requests that wait for others, by client. */
  readonly waiting: Quota;
  /** The same, by the other. */
  readonly waitedFor: Quota;
  /** The same, by the other and the client. */
  readonly waitedForByClient: Quota;
  /** Bytes held, by client. */
  readonly bytes: Quota;
  /** Awaited before each slice of long work. */
  readonly yieldToEventLoop: () => Promise<void> = createTurns();

  /** Nothing is taken yet. */
  constructor(options: CapacityOptions = {}) {
    const places = options.maxConcurrent ?? DEFAULT_MAX_CONCURRENT;
    const share = Math.ceil(places / 4);
    const bodies = Math.max(MIN_CLIENT_BODIES, share);
    this.places = places;
    this.bodyTimeoutMs = options.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT_MS;
    this.sendTimeoutMs = options.sendTimeoutMs ?? DEFAULT_SEND_TIMEOUT_MS;
    this.bodies = new Quota(16 * bodies, bodies);
    this.waiting = new Quota(8 * places, 2 * places);
    this.waitedFor = new Quota(Infinity, places);
    this.waitedForByClient = new Quota(Infinity, share);
    this.bytes = new Quota(
      options.maxHeldBytes ?? DEFAULT_MAX_HELD_BYTES,
      CLIENT_BYTES,
    );
  }
}

/** What one request takes of a service's {@linkcode Capacity}. */
export class RequestBudget {
  /** What is shared with the other requests. */
  readonly capacity: Capacity;
  /** The client's address; empty where it isn't known. */
  readonly address: string;
  #client: string | undefined;
  #reserved = 0;
  #hasPlace = false;
  #hasEntered = false;
  /** What it waits for now; while there is any, it leaves its place. */
  #waits = 0;
  #hasEnded = false;

  /**
   * Begins it; nothing is taken yet.
   *
   * @param address The client's address; all without one are one client.
   */
  constructor(capacity: Capacity, address = "") {
    this.capacity = capacity;
    this.address = address;
  }

  /** The client that it is counted for. */
  get client(): string {
    return this.#client ??= clientNetwork(this.address);
  }

  /** Whether it had a place: its body, if any, has arrived then. */
  get hasEntered(): boolean {
    return this.#hasEntered;
  }

  /**
   * Takes a place, if it has none.
   *
   * @throws {SigError} `overloaded`
   */
  enter(): void {
    if (this.#hasPlace) return;
    if (this.capacity.working >= this.capacity.places) {
      throw overloaded("too many requests are being answered");
    }
    this.#hasEntered = true;
    this.#comeBack();
  }

  /**
   * Reads a body that has yet to arrive.
   *
   * @throws {SigError} `overloaded`, and what `read` throws.
   */
  async receive<T>(read: () => Promise<T>): Promise<T> {
    const { bodies } = this.capacity;
    if (!bodies.take(this.client)) {
      throw overloaded("too many requests are still on their way");
    }
    try {
      return await read();
    } finally {
      bodies.release(this.client);
    }
  }

  /**
   * Counts bytes that are held until the response is made.
   *
   * @throws {SigError} `overloaded`
   */
  reserve(bytes: number): void {
    this.#take(bytes);
    this.#reserved += bytes;
  }

  /**
   * Counts bytes that are held until the function that it returns is called.
   *
   * @throws {SigError} `overloaded`
   */
  hold(bytes: number): () => void {
    this.#take(bytes);
    let isHeld = true;
    return () => {
      if (isHeld) this.capacity.bytes.release(this.client, bytes);
      isHeld = false;
    };
  }

  /**
   * Waits for somebody else's answer without a place: however long it takes, the
   * place is for requests that can be answered.
   *
   * @param other Whom it waits for: this name bounds how many do.
   * @param eachClient How many of one client may wait for it, where clients
   * choose who is asked under the name. Then there is no bound for all.
   * @throws {SigError} `overloaded` before the work begins, and what it throws.
   */
  async waitFor<T>(
    other: string,
    work: () => Promise<T>,
    eachClient?: number,
  ): Promise<T> {
    const { client } = this;
    const { waiting, waitedFor, waitedForByClient } = this.capacity;
    const own = `${other} for ${client}`;
    const all = eachClient === undefined ? other : own;
    if (!waitedForByClient.take(own, 1, eachClient)) {
      throw overloaded(
        "too many requests of this client wait for the same answer of others",
      );
    }
    if (!waitedFor.take(all)) {
      waitedForByClient.release(own);
      throw overloaded("too many requests wait for the same answer of others");
    }
    if (!waiting.take(client)) {
      waitedForByClient.release(own);
      waitedFor.release(all);
      throw overloaded("too many requests wait for others");
    }
    if (this.#waits++ === 0) this.#leave();
    try {
      return await work();
    } finally {
      waiting.release(client);
      waitedFor.release(all);
      waitedForByClient.release(own);
      // A request that has waited is answered, also where others work meanwhile.
      if (--this.#waits === 0 && !this.#hasEnded) this.#comeBack();
    }
  }

  /** The response is made. */
  end(): void {
    this.#hasEnded = true;
    if (this.#waits === 0) this.#leave();
    if (this.#reserved > 0) {
      this.capacity.bytes.release(this.client, this.#reserved);
    }
  }

  #take(bytes: number): void {
    if (this.capacity.bytes.take(this.client, bytes)) return;
    throw overloaded("too many large requests are being answered");
  }

  #leave(): void {
    if (this.#hasPlace) this.capacity.working--;
    this.#hasPlace = false;
  }

  #comeBack(): void {
    if (!this.#hasPlace) this.capacity.working++;
    this.#hasPlace = true;
  }
}

/**
 * The refusal of a request for which there is no room (503 with `Retry-After`);
 * nothing of the request was done.
 *
 * @param why As in "Cannot answer: too many requests are being answered".
 */
export function overloaded(why: string): SigError {
  return new SigError("overloaded", `Cannot answer: ${why}`, {
    context: { retry_after_seconds: 1, hint: "Ask again in a moment." },
  });
}

/**
 * Makes the function that long work awaits between slices. However many run,
 * only one continues in a turn of the event loop: between two slices of a few
 * milliseconds everything else, such as a health check, is served.
 *
 * @example
 * ```ts
 * import { createTurns } from "./limits.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const yieldToEventLoop = createTurns();
 * const order: string[] = [];
 * const work = async (name: string) => {
 *   for (let i = 0; i < 2; i++) {
 *     await yieldToEventLoop();
 *     order.push(name);
 *   }
 * };
 * await Promise.all([work("a"), work("b")]);
 * assertEquals(order, ["a", "b", "a", "b"]);
 * ```
 */
export function createTurns(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let scheduled = false;
  const next = () => {
    const go = waiting.shift()!;
    if (waiting.length > 0) setTimeout(next, 0);
    else scheduled = false;
    go();
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (scheduled) return;
      scheduled = true;
      setTimeout(next, 0);
    });
}
