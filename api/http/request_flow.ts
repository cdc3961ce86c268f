/** What one request takes of a service, from its body to its answer. @module */

import { overloaded } from "./overloaded.ts";
import { Shares } from "./shares.ts";

/** Bounds of a {@linkcode Load}. */
export interface LoadLimits {
  /** Requests that are worked on at a time: the places. */
  readonly places: number;
  /** Bytes of large bodies and answers held at a time. */
  readonly heldBytes: number;
}

/**
 * Bytes held for one client: a quarter of what is held unless told. With less
 * than that in all, one client may hold it all.
 */
const CLIENT_BYTES = 64 * 1024 * 1024;

/** Bodies of one client on their way at least, however few places there are. */
const MIN_CLIENT_BODIES = 16;

const TOO_MANY_BYTES = "too many large requests are being answered";

/**
 * What all requests of a service take together. Each thing that a request can
 * be held up by has bounds of its own, and each client its share of them, so
 * that who is slow uses up neither the places nor what others wait for:
 *
 * - a place only while the service itself works;
 * - bodies on their way: four times as many as places, a quarter of the places
 *   for one client, or 16 where that is more;
 * - waiting for others, such as an issuer or a store: eight times as many as
 *   places, twice the places for one client; for one other the places, and a
 *   quarter of them for one client;
 * - bytes of large bodies and of answers until they are sent.
 */
export class Load {
  /** Places that are taken. */
  working = 0;
  /** Places that there are. */
  readonly places: number;
  /** Bodies on their way, by client. */
  readonly bodies: Shares;
  /** Requests that wait for others, by client. */
  readonly waiting: Shares;
  /** The same, by the other. */
  readonly waitedFor: Shares;
  /** The same, by the other and the client. */
  readonly waitedForByClient: Shares;
  /** Bytes held, by client. */
  readonly bytes: Shares;

  /** Nothing is taken yet. */
  constructor({ places, heldBytes }: LoadLimits) {
    this.places = places;
    const each = Math.max(MIN_CLIENT_BODIES, Math.ceil(places / 4));
    this.bodies = new Shares({ total: 16 * each, each });
    this.waiting = new Shares({ total: 8 * places, each: 2 * places });
    this.waitedFor = new Shares({ total: Infinity, each: places });
    this.waitedForByClient = new Shares({
      total: Infinity,
      each: Math.ceil(places / 4),
    });
    this.bytes = new Shares({ total: heldBytes, each: CLIENT_BYTES });
  }
}

/** One request on its way through a service. */
export class RequestFlow {
  readonly #load: Load;
  readonly #clientOf: () => string;
  #client: string | undefined;
  #bytes = 0;
  #hasReservedAnswer = false;
  #hasPlace = false;
  /** What it waits for now; while there is any, it leaves its place. */
  #waits = 0;
  #hasEnded = false;

  /**
   * Begins it; nothing is taken yet.
   *
   * @param clientOf Whom to count it for; asked only when that matters.
   */
  constructor(load: Load, clientOf: () => string) {
    this.#load = load;
    this.#clientOf = clientOf;
  }

  /** Whom it is counted for. */
  get client(): string {
    return this.#client ??= this.#clientOf();
  }

  /**
   * Takes a place, if it has none.
   *
   * @throws {SigError} `overloaded`
   */
  enter(): void {
    if (this.#hasPlace) return;
    if (this.#load.working >= this.#load.places) {
      throw overloaded("too many requests are being answered");
    }
    this.#load.working++;
    this.#hasPlace = true;
  }

  /**
   * Tells that its body is on the way; the function that it returns, that it
   * has come or never will.
   *
   * @throws {SigError} `overloaded` when too many are.
   */
  awaitBody(): () => void {
    const { client } = this;
    if (this.#load.bodies.take(client)) {
      return () => this.#load.bodies.giveBack(client);
    }
    throw overloaded("too many requests are still on their way");
  }

  /**
   * Counts bytes that are held until the response is made.
   *
   * @throws {SigError} `overloaded` when too many are.
   */
  reserve(bytes: number): void {
    if (!this.#load.bytes.take(this.client, bytes)) {
      throw overloaded(TOO_MANY_BYTES);
    }
    this.#bytes += bytes;
  }

  /**
   * The same for what will be a part of the answer: it was counted while there
   * was room for it, and is sent as well when there is none any more.
   *
   * @throws {SigError} `overloaded` when too many are.
   */
  reserveAnswer(bytes: number): void {
    this.reserve(bytes);
    this.#hasReservedAnswer = true;
  }

  /**
   * Counts bytes that are held until they are released.
   *
   * @throws {SigError} `overloaded` when too many are.
   */
  hold(bytes: number): void {
    const { client } = this;
    const { bytes: shares } = this.#load;
    if (this.#hasReservedAnswer) return shares.add(client, bytes);
    if (shares.take(client, bytes)) return;
    throw overloaded(TOO_MANY_BYTES);
  }

  /** Tells of held bytes that are gone. */
  release(bytes: number): void {
    this.#load.bytes.giveBack(this.client, bytes);
  }

  /**
   * Waits for somebody else's answer, outside of its place: however long that
   * takes, the place is for those that can be answered.
   *
   * @param other Who is waited for: its name bounds those who do.
   * @param eachClient How many of one client may wait for it, where clients
   * choose what stands behind the name.
   * @throws {SigError} `overloaded` before the work begins, and what it throws.
   */
  async waitFor<T>(
    other: string,
    work: () => Promise<T>,
    eachClient?: number,
  ): Promise<T> {
    const { client } = this;
    const { waiting, waitedFor, waitedForByClient } = this.#load;
    const own = `${other} for ${client}`;
    // Without a bound of its own, what clients name is bounded for each of them.
    const all = eachClient === undefined ? other : own;
    if (!waitedForByClient.take(own, 1, eachClient)) {
      throw overloaded(
        "too many requests of this client wait for the same answer of others",
      );
    }
    if (!waitedFor.take(all)) {
      waitedForByClient.giveBack(own);
      throw overloaded("too many requests wait for the same answer of others");
    }
    if (!waiting.take(client)) {
      waitedForByClient.giveBack(own);
      waitedFor.giveBack(all);
      throw overloaded("too many requests wait for others");
    }
    if (this.#waits++ === 0) this.#leave();
    try {
      return await work();
    } finally {
      waiting.giveBack(client);
      waitedFor.giveBack(all);
      waitedForByClient.giveBack(own);
      // Whoever has waited is answered, also where others work meanwhile.
      if (--this.#waits === 0 && !this.#hasEnded) this.#comeBack();
    }
  }

  /** The response is made. */
  end(): void {
    this.#hasEnded = true;
    if (this.#waits === 0) this.#leave();
    if (this.#bytes > 0) this.release(this.#bytes);
  }

  #leave(): void {
    if (this.#hasPlace) this.#load.working--;
    this.#hasPlace = false;
  }

  #comeBack(): void {
    if (!this.#hasPlace) this.#load.working++;
    this.#hasPlace = true;
  }
}
