import { assertEquals } from "@std/assert";
import { encodeHex } from "@std/encoding/hex";
import { MAX_STATE_BYTES, Sha256State } from "./sha256.ts";

/** Returns pseudo-random bytes, the same in each run. */
function bytesOf(length: number): Uint8Array<ArrayBuffer> {
  let x = 1;
  return Uint8Array.from({ length }, () => {
    x = Math.imul(x, 1_103_515_245) + 12_345 | 0;
    return x >>> 16;
  });
}

async function expected(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return encodeHex(await crypto.subtle.digest("SHA-256", bytes));
}

Deno.test("every length has the digest of the platform", async () => {
  for (let length = 0; length <= 260; length++) {
    const bytes = bytesOf(length);
    assertEquals(new Sha256State().update(bytes).hex(), await expected(bytes));
  }
});

Deno.test("a state saved at any position leads to the same digest", async () => {
  const bytes = bytesOf(300);
  const whole = await expected(bytes);
  for (let at = 0; at <= bytes.length; at++) {
    const first = new Sha256State().update(bytes.subarray(0, at));
    assertEquals(first.hex(), await expected(bytes.slice(0, at)));
    const saved = new Uint8Array(MAX_STATE_BYTES);
    first.saveTo(saved, 0);
    const second = new Sha256State().loadFrom(saved, 0);
    for (const byte of bytes.subarray(at)) second.update(Uint8Array.of(byte));
    assertEquals(second.hex(), whole);
  }
});
