/** What a worker does: bare Ed25519 verification of lines, and nothing else. @module */

/** Lines of one feed, packed for a worker. */
export interface SignedLines {
  /**
   * The lines, one behind the other, without their LFs. Workers read shared
   * memory where it is, and get a copy of any other.
   */
  readonly bytes: Uint8Array;
  /** Where each ends, and the next one begins. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The headers that are known, and the key that each asks for. */
  readonly headers: readonly KnownHeader[];
}

/** A protected header that was read before. */
export interface KnownHeader {
  /** As it stands in a line: base64url. */
  readonly text: string;
  /** The `x` of its key, as base64url. */
  readonly x: string;
}

/**
 * What a worker is sent. It answers by the `id`, once the answer stands in the
 * shared memory.
 */
export interface SignedBatch extends SignedLines {
  /** Names the batch. */
  readonly id: number;
  /** For 1 when it is complete, then the verdict of each line. */
  readonly answer: Uint8Array<SharedArrayBuffer>;
}

/** What a worker says when it is ready for batches. */
export const READY = "ready";

/** As much of `node:crypto` as a worker uses. */
export interface WorkerCrypto {
  /** Imports a public key. */
  createPublicKey(input: {
    readonly key: { readonly kty: string; crv: string; readonly x: string };
    readonly format: "jwk";
  }): unknown;
  /** Verifies synchronously. */
  verify(
    algorithm: null,
    message: Uint8Array,
    key: unknown,
    signature: Uint8Array,
  ): boolean;
}

/**
 * For each line 1 if it has the plain spelling (`ParsedEnvelope.isPlain`), a
 * known header, and a signature that the header's key verifies; else 0: then
 * the reader judges that line all by itself, and finds the fault in its own
 * words.
 */
export type LineVerifier = (lines: SignedLines) => Uint8Array<ArrayBuffer>;

/**
 * Makes a {@linkcode LineVerifier}. Runs as text in a worker: it must not name
 * anything from outside of itself.
 */
export function createLineVerifier(
  { createPublicKey, verify }: WorkerCrypto,
): LineVerifier {
  const ascii = (text: string) =>
    Uint8Array.from(text, (character) => character.charCodeAt(0));
  const HEAD = '{"protected":"';
  const PAYLOAD = '","payload":"';
  const BEFORE_SIGNATURE = ascii('","signature":"');
  const SIGNATURE_LENGTH = 86;
  const TAIL = ascii('"}');
  const alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const sixBits = new Uint8Array(256).fill(255);
  for (let i = 0; i < 64; i++) sixBits[alphabet.charCodeAt(i)] = i;
  // The last 86 characters are 64 bytes, and two more that don't count.
  const decoded = new Uint8Array(66);
  const signature = decoded.subarray(0, 64);

  // The lines are written over: in memory that is used again.
  let bytes = new Uint8Array(0);

  const imported = new Map<string, unknown>();
  const keyOf = (x: string) => {
    let key = imported.get(x);
    if (key === undefined) {
      const jwk = { kty: "OKP", crv: "Ed25519", x };
      key = createPublicKey({ key: jwk, format: "jwk" });
      if (imported.size >= 1_024) imported.clear();
      imported.set(x, key);
    }
    return key;
  };

  const standsAt = (bytes: Uint8Array, at: number, part: Uint8Array) => {
    for (let i = 0; i < part.length; i++) {
      if (bytes[at + i] !== part[i]) return false;
    }
    return true;
  };
  const decodeSignature = (bytes: Uint8Array, from: number) => {
    let seen = 0;
    for (let i = 0, to = 0; i < SIGNATURE_LENGTH; i += 4) {
      const isLast = i + 4 > SIGNATURE_LENGTH;
      const a = sixBits[bytes[from + i]!]!;
      const b = sixBits[bytes[from + i + 1]!]!;
      const c = isLast ? 0 : sixBits[bytes[from + i + 2]!]!;
      const d = isLast ? 0 : sixBits[bytes[from + i + 3]!]!;
      seen |= a | b | c | d;
      decoded[to++] = (a << 2) | (b >> 4);
      decoded[to++] = (b << 4) | (c >> 2);
      decoded[to++] = (c << 6) | d;
    }
    return seen <= 63;
  };

  return ({ bytes: lines, ends, headers }) => {
    if (bytes.length < lines.length) bytes = new Uint8Array(lines.length);
    bytes.set(lines);
    const known = headers.map(({ text, x }) => ({
      beginning: ascii(HEAD + text + PAYLOAD),
      length: text.length,
      x,
    }));
    let last = known[0];
    const isGood = (start: number, end: number) => {
      if (last === undefined || !standsAt(bytes, start, last.beginning)) {
        last = known.find((each) => standsAt(bytes, start, each.beginning));
        if (last === undefined) {
          last = known[0];
          return false;
        }
      }
      const payload = start + last.beginning.length;
      const tail = end - TAIL.length;
      const from = tail - SIGNATURE_LENGTH;
      const payloadEnd = from - BEFORE_SIGNATURE.length;
      if (
        payloadEnd < payload || bytes.indexOf(0x22, payload) !== payloadEnd ||
        !standsAt(bytes, payloadEnd, BEFORE_SIGNATURE) ||
        !standsAt(bytes, tail, TAIL) || !decodeSignature(bytes, from)
      ) return false;
      // The header moves to the payload, so that what was signed stands there.
      const input = payload - 1 - last.length;
      const header = start + HEAD.length;
      bytes.copyWithin(input, header, header + last.length);
      bytes[payload - 1] = 0x2e;
      const message = bytes.subarray(input, payloadEnd);
      return verify(null, message, keyOf(last.x), signature) === true;
    };
    const verdicts = new Uint8Array(ends.length);
    for (let i = 0, start = 0; i < ends.length; i++) {
      const end = ends[i]!;
      try {
        verdicts[i] = isGood(start, end) ? 1 : 0;
      } catch {
        verdicts[i] = 0;
      }
      start = end;
    }
    return verdicts;
  };
}

/**
 * The worker's module as a `data:` URL. It needs no permission, no file beside
 * an executable and no place in a package's graph, and starts without the rest
 * of the library.
 */
export function signatureWorkerUrl(): string {
  const code = `import * as crypto from "node:crypto";
const verifyLines = (${createLineVerifier})(crypto);
globalThis.onmessage = ({ data: { id, answer, ...lines } }) => {
  answer.set(verifyLines(lines), 1);
  Atomics.store(answer, 0, 1);
  globalThis.postMessage(id);
};
globalThis.postMessage(${JSON.stringify(READY)});`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
