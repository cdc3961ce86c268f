/** Decoding base58btc (draft-msporny-base58). @module */

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** The value of each ASCII character; -1 for others than the alphabet's. */
const DIGITS = Int8Array.from(
  { length: 128 },
  (_, code) => ALPHABET.indexOf(String.fromCharCode(code)),
);

/** As many digits as a double holds exactly: 58^9 < 2^53. */
const CHUNK = 9;

/**
 * The bytes of a text, or undefined for characters outside of the alphabet.
 * No two texts give the same bytes: each leading `1` is a zero byte, and the
 * rest, which begins with another digit, is a number. So whatever is decoded is
 * in the one spelling that encoding gives. The cost is the square of the length,
 * which is the caller's to limit.
 */
export function decodeBase58(
  text: string,
): Uint8Array<ArrayBuffer> | undefined {
  let number = 0n;
  for (let from = 0; from < text.length; from += CHUNK) {
    const to = Math.min(from + CHUNK, text.length);
    let chunk = 0;
    for (let i = from; i < to; i++) {
      const digit = DIGITS[text.charCodeAt(i)] ?? -1;
      if (digit < 0) return undefined;
      chunk = chunk * 58 + digit;
    }
    number = number * BigInt(58 ** (to - from)) + BigInt(chunk);
  }
  let zeroes = 0;
  while (text[zeroes] === "1") zeroes++;
  const hex = number === 0n ? "" : number.toString(16);
  const length = zeroes + Math.ceil(hex.length / 2);
  const bytes = new Uint8Array(length);
  for (let i = length - 1, end = hex.length; end > 0; i--, end -= 2) {
    bytes[i] = Number.parseInt(hex.slice(Math.max(end - 2, 0), end), 16);
  }
  return bytes;
}
