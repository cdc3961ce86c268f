/** Which of the platform's two verifiers is used. @module */

import { loadNodeCrypto, type NodeCrypto } from "./platform_crypto.ts";

/**
 * `web`: WebCrypto, asynchronous, there at once, on every platform. `node`:
 * `node:crypto`, synchronous and about 1.5 times as fast, but it takes 30 to
 * 60 ms to load in Deno. `auto`: WebCrypto first, `node:crypto` (where there
 * is one) once there turn out to be many signatures. All accept and refuse the
 * same signatures.
 */
export type VerificationBackend = "auto" | "node" | "web";

/**
 * Verifications by WebCrypto before `auto` loads `node:crypto`: so few that a
 * whole feed hardly notices, so many that a short question never pays for it.
 */
export const WEB_VERIFICATIONS = 256;

/** The choice for all keys of one set; it counts their verifications. */
export class BackendChoice {
  #node: NodeCrypto | undefined;
  #webLeft: number;

  /** @throws {TypeError} when `node` is wanted and the platform has none. */
  constructor(wanted: VerificationBackend = "auto") {
    this.#webLeft = wanted === "auto" ? WEB_VERIFICATIONS : Infinity;
    if (wanted !== "node") return;
    this.#node = loadNodeCrypto();
    if (this.#node === undefined) {
      throw new TypeError(
        'Cannot use backend "node": this platform has no node:crypto',
      );
    }
  }

  /** What is chosen now, without counting. */
  get node(): NodeCrypto | undefined {
    return this.#node;
  }

  /** What the next verification is done with; undefined means WebCrypto. */
  next(): NodeCrypto | undefined {
    if (this.#node !== undefined) return this.#node;
    if (this.#webLeft > 0) {
      this.#webLeft--;
      return undefined;
    }
    this.#webLeft = Infinity;
    this.#node = loadNodeCrypto();
    return this.#node;
  }
}
