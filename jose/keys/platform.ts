/** Access to `node:crypto` where the platform has it. @module */

import type * as nodeCrypto from "node:crypto";

/** The module `node:crypto`. */
export type NodeCrypto = typeof nodeCrypto;

/**
 * Loads `node:crypto`; returns undefined in browsers and most workers. A static
 * import would fail there, and add 30 to 60 ms to each start.
 */
export function loadNodeCrypto(): NodeCrypto | undefined {
  return loadBuiltin("node:crypto") as NodeCrypto | undefined;
}

/**
 * The verifier of signatures. `web`: WebCrypto, asynchronous, available
 * immediately on every platform. `node`: `node:crypto`, synchronous and about
 * 1.5 times as fast, but takes 30 to 60 ms to load in Deno. `auto`: WebCrypto
 * first, then `node:crypto` (if available) after 256 signatures. All accept the
 * same signatures.
 */
export type VerificationBackend = "auto" | "node" | "web";

/**
 * The number of verifications by WebCrypto before `auto` loads `node:crypto`:
 * small compared to a whole feed, and large enough for a short question.
 */
export const WEB_VERIFICATIONS = 256;

/** The backend for all keys of a set; counts their verifications. */
export class BackendChoice {
  #node: NodeCrypto | undefined;
  #webLeft: number;

  /** @throws {TypeError} if `node` is requested but not available. */
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

  /** The current backend, without counting; undefined means WebCrypto. */
  get node(): NodeCrypto | undefined {
    return this.#node;
  }

  /** Returns the next verification's backend; undefined means WebCrypto. */
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

type Load = (name: string) => unknown;

function loader(): Load | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: Load };
  };
  return process?.getBuiltinModule;
}

/**
 * Loads a built-in module of Deno or Node.js; returns undefined where it is
 * missing, as in browsers and most workers. Unlike an import, this call can be
 * bundled for browsers, and modules are loaded only when needed (30 to 60 ms
 * for `node:crypto` in Deno).
 *
 * @example
 * ```ts
 * import { loadBuiltin } from "@sig/jose/internal";
 * import { assert } from "@std/assert";
 *
 * const net = loadBuiltin("node:net") as { isIP(text: string): number };
 * assert(net.isIP("::1") === 6);
 * ```
 */
export function loadBuiltin(name: `node:${string}`): unknown {
  try {
    return loader()?.(name);
  } catch {
    // Some workers have the function but reject the name.
    return undefined;
  }
}
