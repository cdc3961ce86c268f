/** What a worker does: bare Ed25519 verification, and nothing else. @module */

/** Signed texts of one issuer, packed for a worker. */
export interface SignedTexts {
  /** Signing inputs, each with its 64 bytes of signature behind it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Of each: the key's place in `keys`, where its input starts, and ends. */
  readonly places: Uint32Array<ArrayBuffer>;
  /** The `x` of each key, as base64url. */
  readonly keys: readonly string[];
}

/** What a worker is sent. */
export interface SignedBatch extends SignedTexts {
  /** Names the batch in the answer. */
  readonly id: number;
}

/** A worker's answer. */
export interface SignatureVerdicts {
  /** Of the batch. */
  readonly id: number;
  /** For each place 1 if the signature is the key's, else 0. */
  readonly verdicts: Uint8Array;
}

/** What a worker says when it is ready for batches. */
export const READY = "ready";

/** As much of `node:crypto` as a worker uses. */
interface WorkerCrypto {
  createPublicKey(input: {
    readonly key: { readonly kty: string; crv: string; readonly x: string };
    readonly format: "jwk";
  }): unknown;
  verify(
    algorithm: null,
    message: Uint8Array,
    key: unknown,
    signature: Uint8Array,
  ): boolean;
}

/** The worker's side of its channel. */
interface WorkerPort {
  onmessage: ((message: { readonly data: SignedBatch }) => void) | null;
  postMessage(message: unknown, transfer?: Transferable[]): void;
}

/**
 * Answers batches, one after the other. Runs as text in the worker: it must
 * not name anything from outside of itself.
 *
 * Whatever goes wrong with a signature, the verdict is 0: then the reader
 * verifies that line itself, and finds the fault in its own words.
 */
export function answerBatches(
  { createPublicKey, verify }: WorkerCrypto,
  port: WorkerPort,
): void {
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
  port.onmessage = ({ data: { id, bytes, places, keys } }) => {
    const verdicts = new Uint8Array(places.length / 3);
    for (let i = 0; i < verdicts.length; i++) {
      const end = places[3 * i + 2]!;
      try {
        const isValid = verify(
          null,
          bytes.subarray(places[3 * i + 1]!, end),
          keyOf(keys[places[3 * i]!]!),
          bytes.subarray(end, end + 64),
        );
        verdicts[i] = isValid === true ? 1 : 0;
      } catch {
        verdicts[i] = 0;
      }
    }
    port.postMessage({ id, verdicts }, [verdicts.buffer]);
  };
}

/**
 * The worker's module as a `data:` URL. It needs no permission, no file beside
 * an executable and no place in a package's graph, and starts without the rest
 * of the library.
 */
export function signatureWorkerUrl(): string {
  const code = `import * as crypto from "node:crypto";
(${answerBatches})(crypto, globalThis);
globalThis.postMessage(${JSON.stringify(READY)});`;
  return `data:text/javascript,${encodeURIComponent(code)}`;
}
