/** What small bodies were read as that came before (SECURITY §5). @module */

/** Bytes of a body that is remembered, at most. */
const MAX_BYTES = 1024;
/** Bodies of a generation; two are kept, at most 1.4 MiB of text together. */
const GENERATION = 512;

/**
 * Spares a service the strict reading of a body that it has read before: most
 * clients ask the same few questions again and again. Equal bytes say equal
 * things; what is remembered is the question, and never its answer. Bodies that
 * were refused are not remembered, and whoever sends ever new ones only takes
 * the places of others.
 *
 * @example
 * ```ts
 * import { KnownBodies } from "./known_bodies.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const bytes = new TextEncoder().encode('{"a":1}');
 * const bodies = new KnownBodies<{ readonly a: number }>();
 * let times = 0;
 * const read = () => Promise.resolve({ a: ++times });
 * assertEquals(await bodies.read(bytes, read), { a: 1 });
 * assertEquals(await bodies.read(bytes, read), { a: 1 });
 * ```
 */
export class KnownBodies<T extends object> {
  #recent = new Map<string, T>();
  #older = new Map<string, T>();

  /**
   * What the bytes say: as they were read before, else as `read` reads them now.
   * From then on nobody may change it.
   */
  read(bytes: Uint8Array, read: () => Promise<T>): T | Promise<T> {
    if (bytes.length > MAX_BYTES) return read();
    // A text that only these bytes have, sooner made than decoded UTF-8.
    const text = bytes.toBase64();
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const older = this.#older.get(text);
    return older === undefined
      ? read().then((value) => this.#put(text, value))
      : this.#put(text, older);
  }

  #put(text: string, read: T): T {
    if (this.#recent.size >= GENERATION) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(text, read);
    return read;
  }
}
