/** SHA-256 of a feed while it streams by. @module */

import { encodeHex } from "@std/encoding/hex";
import { loadBuiltin } from "@sig/jose";

interface NodeHash {
  update(bytes: Uint8Array): unknown;
  copy(): NodeHash;
  digest(encoding: "hex"): string;
}

interface NodeCrypto {
  readonly createHash?: (name: string) => NodeHash;
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
  #hash: NodeHash | undefined;

  /** With `maxKeptBytes` 0 no bytes are kept where that can be avoided. */
  constructor(maxKeptBytes: number = MAX_KEPT_BYTES) {
    this.#maxKeptBytes = maxKeptBytes;
    if (maxKeptBytes === 0) this.#hash = createNodeHash();
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

  /** Whether the bytes themselves are kept. */
  get keepsBytes(): boolean {
    return this.#hash === undefined;
  }
}

function createNodeHash(): NodeHash | undefined {
  const crypto = loadBuiltin("node:crypto") as NodeCrypto | undefined;
  return crypto?.createHash?.("sha256");
}
