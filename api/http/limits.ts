/** Limits on the resources that requests of a service use. @module */

import { SigError } from "@sig/core";
import type { Context } from "hono";
import { clientNetwork } from "./client.ts";

/**
 * Counts units by owner, with a limit for each owner and one for all, so that
 * one owner can't take everything.
 *
 * @example
 * ```ts
 * import { Quota } from "@sig/api/internal/http";
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

  /** Creates a quota with nothing taken. */
  constructor(total: number, each: number) {
    this.#total = total;
    this.#each = each;
  }

  /**
   * Takes units; returns false and takes nothing if too few are left.
   *
   * @param each Another limit for this owner.
   */
  take(owner: string, amount = 1, each: number = this.#each): boolean {
    const own = (this.#taken.get(owner) ?? 0) + amount;
    if (own > each || this.#sum + amount > this.#total) return false;
    this.#taken.set(owner, own);
    this.#sum += amount;
    return true;
  }

  /** Returns units to the quota. */
  release(owner: string, amount = 1): void {
    const left = (this.#taken.get(owner) ?? 0) - amount;
    // Clients choose the owners' names, so owners without units are deleted.
    if (left > 0) this.#taken.set(owner, left);
    else this.#taken.delete(owner);
    this.#sum -= amount;
  }
}

/** Limits of a {@linkcode Capacity}. */
export interface CapacityOptions {
  /** Maximum number of requests processed concurrently (default: 512). */
  readonly maxConcurrent?: number | undefined;
  /**
   * Maximum bytes of large bodies and responses held in memory (default: 256
   * MiB).
   */
  readonly maxHeldBytes?: number | undefined;
  /** Timeout for receiving a body in milliseconds (default: 10,000). */
  readonly bodyTimeoutMs?: number | undefined;
  /**
   * Timeout in milliseconds within which a client must read some of a large
   * response; the whole response may take four times as long (default: 30,000).
   */
  readonly sendTimeoutMs?: number | undefined;
}

/** Maximum bytes held for one client. */
const CLIENT_BYTES = 64 * 1024 * 1024;
/**
 * Minimum number of bodies that one client may be sending, for services with
 * few slots.
 */
const MIN_CLIENT_BODIES = 16;

/**
 * The resources that all requests of a service share. Each thing that can delay
 * a request has separate limits, also per client, so that a slow client can't
 * exhaust the slots or what other requests wait for:
 *
 * - a slot, only while the service itself works;
 * - arriving bodies: four times the number of slots, a quarter of the slots for
 *   one client (at least 256 and 16);
 * - waiting for an issuer, a store and the like: eight times the number of
 *   slots, twice that number for one client; for one such dependency the number
 *   of slots, and a quarter of the slots for one client;
 * - bytes of large bodies, and of responses until they are sent.
 *
 * The limits per client don't apply to a client that the operator knows: see
 * {@linkcode RequestBudget.trust}.
 */
export class Capacity {
  /** The number of occupied slots. */
  working = 0;
  /** The total number of slots. */
  readonly slots: number;
  /** As in {@linkcode CapacityOptions}. */
  readonly bodyTimeoutMs: number;
  /** As in {@linkcode CapacityOptions}. */
  readonly sendTimeoutMs: number;
  /** Arriving bodies, by client. */
  readonly bodies: Quota;
  /** Requests that wait for a dependency, by client. */
  readonly waiting: Quota;
  /** Requests that wait for a dependency, by dependency. */
  readonly waitedFor: Quota;
  /** Requests that wait for a dependency, by dependency and client. */
  readonly waitedForByClient: Quota;
  /** Bytes held, by client. */
  readonly bytes: Quota;
  /**
   * Yields to the event loop; awaited before a large body is parsed. A body of
   * 4 MiB takes up to 50 ms, and a health check needs more than one turn, so
   * that it would wait for several bodies with one turn between two of them.
   */
  readonly yieldToEventLoop: () => Promise<void> = createTurns(2);

  /** Creates the capacity with nothing taken. */
  constructor({
    maxConcurrent: slots = 512,
    maxHeldBytes = 256 * 1024 * 1024,
    bodyTimeoutMs = 10_000,
    sendTimeoutMs = 30_000,
  }: CapacityOptions = {}) {
    const share = Math.ceil(slots / 4);
    const bodies = Math.max(MIN_CLIENT_BODIES, share);
    this.slots = slots;
    this.bodyTimeoutMs = bodyTimeoutMs;
    this.sendTimeoutMs = sendTimeoutMs;
    this.bodies = new Quota(16 * bodies, bodies);
    this.waiting = new Quota(8 * slots, 2 * slots);
    this.waitedFor = new Quota(Infinity, slots);
    this.waitedForByClient = new Quota(Infinity, share);
    this.bytes = new Quota(maxHeldBytes, CLIENT_BYTES);
  }
}

/** The share of a service's {@linkcode Capacity} that one request uses. */
export class RequestBudget {
  /** The resources shared with the other requests. */
  readonly capacity: Capacity;
  /** The client's address; empty if unknown. */
  readonly address: string;
  /** Whether {@linkcode enter} was called: the body has arrived. */
  hasEntered = false;
  #client: string | undefined;
  #reserved = 0;
  #hasSlot = false;
  /**
   * The number of waits in progress; the request has no slot while it is above
   * 0.
   */
  #waits = 0;
  #hasEnded = false;
  /** The limit of this client (default: that of the quota). */
  #each: number | undefined;
  /** What the request waits for instead of taking a slot. */
  #dependency: string | undefined;
  #stopWaiting: (() => void) | undefined;

  /**
   * Creates a budget with nothing taken.
   *
   * @param address The client's address; all clients without one count as one.
   */
  constructor(capacity: Capacity, address = "") {
    this.capacity = capacity;
    this.address = address;
  }

  /** The network that the request is counted for. */
  get client(): string {
    return this.#client ??= clientNetwork(this.address);
  }

  /**
   * Lets the client use all places of the service: it has sent a valid token,
   * or only this machine can reach the service. The only client of a service is
   * often a single backend.
   */
  trust(): void {
    this.#each = Infinity;
  }

  /**
   * Makes the request wait for a dependency from when it would take a slot
   * until its end, so that it never takes one. To be called before
   * {@linkcode enter}.
   *
   * @param other As in {@linkcode whileWaitingFor}.
   */
  waitUntilEnd(other: string): void {
    this.#dependency = other;
  }

  /**
   * Takes a slot, or begins to wait for its dependency, once.
   *
   * @throws {SigError} `overloaded`
   */
  enter(): void {
    if (this.hasEntered) return;
    if (this.#dependency !== undefined) {
      this.#stopWaiting = this.#waitIn(this.#dependency);
    } else if (this.capacity.working < this.capacity.slots) {
      this.#takeSlot();
    } else throw overloaded("too many requests are being answered");
    this.hasEntered = true;
  }

  /**
   * Counts an arriving body while `read` reads it.
   *
   * @throws {SigError} `overloaded`, and what `read` throws.
   */
  async receive<T>(read: () => Promise<T>): Promise<T> {
    const { bodies } = this.capacity;
    if (!bodies.take(this.client, 1, this.#each)) {
      throw overloaded("too many requests are still on their way");
    }
    try {
      return await read();
    } finally {
      bodies.release(this.client);
    }
  }

  /**
   * Counts bytes that are held until the response is created.
   *
   * @throws {SigError} `overloaded`
   */
  reserve(bytes: number): void {
    this.#take(bytes);
    this.#reserved += bytes;
  }

  /**
   * Counts bytes that are held until the returned function is called.
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
   * Does work that waits for a dependency, such as an issuer, without occupying
   * a slot, which is free for other requests meanwhile. It limits how many
   * requests wait, not how long. Bound, so that it can be passed on.
   *
   * @param other The name of the dependency, whose waiting requests are
   * limited.
   * @throws {SigError} `overloaded` before the work begins, and what `work`
   * throws.
   */
  readonly whileWaitingFor = async <T>(
    other: string,
    work: () => Promise<T>,
  ): Promise<T> => {
    const stopWaiting = this.#waitIn(other);
    if (this.#waits++ === 0) this.#releaseSlot();
    try {
      return await work();
    } finally {
      stopWaiting();
      // A request that has waited is always resumed, even if no slot is free.
      if (--this.#waits === 0 && !this.#hasEnded) this.#takeSlot();
    }
  };

  /** Releases everything when the response is created. */
  end(): void {
    this.#hasEnded = true;
    if (this.#waits === 0) this.#releaseSlot();
    this.#stopWaiting?.();
    if (this.#reserved > 0) {
      this.capacity.bytes.release(this.client, this.#reserved);
    }
  }

  /**
   * Counts the request as waiting until the returned function is called.
   *
   * @throws {SigError} `overloaded`
   */
  #waitIn(other: string): () => void {
    const { client } = this;
    const { waiting, waitedFor, waitedForByClient } = this.capacity;
    const own = `${other} for ${client}`;
    if (!waitedForByClient.take(own, 1, this.#each)) {
      throw overloaded(
        "too many requests of this client wait for the same answer of others",
      );
    }
    if (!waitedFor.take(other)) {
      waitedForByClient.release(own);
      throw overloaded("too many requests wait for the same answer of others");
    }
    if (!waiting.take(client, 1, this.#each)) {
      waitedForByClient.release(own);
      waitedFor.release(other);
      throw overloaded("too many requests wait for others");
    }
    return () => {
      waiting.release(client);
      waitedFor.release(other);
      waitedForByClient.release(own);
    };
  }

  #take(bytes: number): void {
    if (this.capacity.bytes.take(this.client, bytes, this.#each)) return;
    throw overloaded("too many large requests are being answered");
  }

  #releaseSlot(): void {
    if (this.#hasSlot) this.capacity.working--;
    this.#hasSlot = false;
  }

  #takeSlot(): void {
    if (!this.#hasSlot) this.capacity.working++;
    this.#hasSlot = true;
  }
}

/**
 * Returns the request's budget; outside a service, a new one with the default
 * limits.
 */
export function budgetOf(c: Context): RequestBudget {
  return c.get("budget") ?? new RequestBudget(new Capacity());
}

/**
 * Returns the error for a request beyond a limit (503 with `Retry-After`); no
 * part of the request was processed.
 *
 * @param why As in "Cannot answer: too many requests are being answered".
 */
export function overloaded(why: string): SigError {
  return new SigError("overloaded", {
    action: "answer",
    reason: why,
    context: { retry_after_seconds: 1, hint: "Ask again in a moment." },
  });
}

/**
 * Creates the function that long work awaits between slices. However many tasks
 * run, only one continues in a turn of the event loop: between two slices of a
 * few milliseconds everything else, such as a health check, is served.
 *
 * @param turns Turns from one slice to the next (default: 1). Each takes 2 ms.
 */
export function createTurns(turns: number = 1): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let scheduled = false;
  const next = () => {
    const go = waiting.shift()!;
    if (waiting.length > 0) afterTurns(turns, next);
    else scheduled = false;
    go();
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (scheduled) return;
      scheduled = true;
      afterTurns(turns, next);
    });
}

function afterTurns(turns: number, then: () => void): void {
  setTimeout(() => turns > 1 ? afterTurns(turns - 1, then) : then(), 0);
}
