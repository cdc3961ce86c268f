/** SHA-256 of a feed while it streams by. @module */

import { encodeHex } from "@std/encoding/hex";
import { loadBuiltin } from "./node_builtins.ts";

interface NodeHash {
  update(bytes: Uint8Array): unknown;
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

/** Digests bytes as they come. */
export class FeedDigest {
  #kept: Uint8Array<ArrayBuffer>[] = [];
  #keptBytes = 0;
  #hash: NodeHash | undefined;

  /** Takes the next bytes. */
  update(bytes: Uint8Array): void {
    if (this.#hash === undefined && this.#keptBytes > MAX_KEPT_BYTES) {
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

  /** The digest of all bytes, in hexadecimal. */
  async hex(): Promise<string> {
    if (this.#hash !== undefined) return this.#hash.digest("hex");
    const all = await new Blob(this.#kept).arrayBuffer();
    return encodeHex(await crypto.subtle.digest("SHA-256", all));
  }
}

function createNodeHash(): NodeHash | undefined {
  const crypto = loadBuiltin("node:crypto") as NodeCrypto | undefined;
  return crypto?.createHash?.("sha256");
}
