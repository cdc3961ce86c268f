/** SHA-256 of a feed while it streams by. @module */

import { encodeHex } from "@std/encoding/hex";
import { loadBuiltin } from "@sig/jose/internal";

/** A hash that is made piece by piece, as `node:crypto` has it. */
export interface PiecewiseHash {
  /** Takes the next bytes. */
  update(bytes: Uint8Array): unknown;
  /** Another one that has taken the same bytes. */
  copy(): PiecewiseHash;
  /** The digest; no bytes may follow. */
  digest(encoding: "hex"): string;
}

interface NodeCrypto {
  readonly createHash?: (name: string) => PiecewiseHash;
}

/**
 * Up to here the bytes are kept and digested by WebCrypto at the end: loading
 * `node:crypto` costs more than that. Beyond, memory must stay flat.
 */
const MAX_KEPT_BYTES = 1024 * 1024;

/**
 * Digests bytes as they come. Where there is no `node:crypto` all of them are
 * kept, since WebCrypto can't digest piece by piece.
 */
export class FeedDigest {
  readonly #maxKeptBytes: number;
  #kept: Uint8Array<ArrayBuffer>[] = [];
  #keptBytes = 0;
  #hash: PiecewiseHash | undefined;

  /**
   * With `maxKeptBytes` 0 no bytes are kept where that can be avoided; a hash
   * that is given goes on with what it has taken.
   */
  constructor(maxKeptBytes: number = MAX_KEPT_BYTES, hash?: PiecewiseHash) {
    this.#maxKeptBytes = maxKeptBytes;
    if (hash !== undefined) this.#hash = hash;
    else if (maxKeptBytes === 0) this.#hash = createNodeHash();
  }

  /** Takes the next bytes. */
  update(bytes: Uint8Array): void {
    if (this.#hash === undefined && this.#keptBytes > this.#maxKeptBytes) {
      this.#hash = createNodeHash();
      if (this.#hash !== undefined) {
        for (const each of this.#kept) this.#hash.update(each);
        this.#kept = [];
      }
    }
    if (this.#hash !== undefined) {
      this.#hash.update(bytes);
    } else {
      this.#kept.push(bytes.slice());
      this.#keptBytes += bytes.length;
    }
  }

  /** The same bytes, each taken when it passes. */
  async *follow(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      this.update(chunk);
      yield chunk;
    }
  }

  /** The digest of all bytes so far, in hexadecimal; more may follow. */
  async hex(): Promise<string> {
    if (this.#hash !== undefined) return this.#hash.copy().digest("hex");
    const all = await new Blob(this.#kept).arrayBuffer();
    return encodeHex(await crypto.subtle.digest("SHA-256", all));
  }

  /** What digests; undefined where the bytes are kept. */
  get hash(): PiecewiseHash | undefined {
    return this.#hash;
  }

  /** Whether the bytes themselves are kept. */
  get keepsBytes(): boolean {
    return this.#hash === undefined;
  }
}

function createNodeHash(): PiecewiseHash | undefined {
  const crypto = loadBuiltin("node:crypto") as NodeCrypto | undefined;
  return crypto?.createHash?.("sha256");
}
