/** What small bodies were read as that came before (SECURITY §5). @module */

/** Bytes of a body that is remembered, at most. */
const MAX_BYTES = 1024;
/** Bodies of a generation; two are kept, at most 1 MiB of text together. */
const GENERATION = 512;

// As the strict reader has it: `ignoreBOM` keeps a BOM, where JSON refuses it.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

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
 * bodies.keep(bytes, { a: 1 });
 * assertEquals(bodies.find(bytes), { a: 1 });
 * ```
 */
export class KnownBodies<T extends object> {
  #recent = new Map<string, T>();
  #older = new Map<string, T>();

  /** What the same bytes were read as, if that is remembered. */
  find(bytes: Uint8Array): T | undefined {
    const text = textOf(bytes);
    if (text === undefined) return undefined;
    const recent = this.#recent.get(text);
    if (recent !== undefined) return recent;
    const older = this.#older.get(text);
    if (older !== undefined) this.#put(text, older);
    return older;
  }

  /** Remembers what a body was read as; from now on nobody may change it. */
  keep(bytes: Uint8Array, read: T): T {
    const text = textOf(bytes);
    if (text !== undefined) this.#put(text, read);
    return read;
  }

  #put(text: string, read: T): void {
    if (this.#recent.size >= GENERATION) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(text, read);
  }
}

/** What is no UTF-8 is left to the reader, which says so. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > MAX_BYTES) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
