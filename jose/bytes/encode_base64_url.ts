/** base64url, by the platform where it can. @module */

import { encodeBase64Url as encodeInScript } from "@std/encoding/base64url";

/** As much of newer platforms as is used here; older ones don't have it. */
interface NativeEncoder {
  toBase64?(options: { alphabet: "base64url"; omitPadding: true }): string;
}

const OPTIONS = { alphabet: "base64url", omitPadding: true } as const;

/**
 * The canonical spelling, without padding (RFC 4648 §5). By the platform's own
 * encoder where there is one, which is several times as fast.
 *
 * @example
 * ```ts
 * import { encodeBase64Url } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(encodeBase64Url(new Uint8Array([0xfb, 0xff])), "-_8");
 * ```
 */
export function encodeBase64Url(bytes: Uint8Array): string {
  return (bytes as NativeEncoder).toBase64?.(OPTIONS) ?? encodeInScript(bytes);
}
