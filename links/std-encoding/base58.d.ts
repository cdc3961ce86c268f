/** Bytes or text as base58 (the alphabet of Bitcoin). */
export declare function encodeBase58(
  data: ArrayBuffer | Uint8Array | string,
): string;
/** Base58 as bytes. */
export declare function decodeBase58(b58: string): Uint8Array<ArrayBuffer>;
