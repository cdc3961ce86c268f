import { assertEquals } from "@std/assert";
import { encodeHex } from "@std/encoding/hex";
import { FeedDigest, Sha256 } from "./digest.ts";

const MIB = 1024 * 1024;

function makeBytes(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, i) => (i * 31) & 0xff);
}

async function digest(bytes: Uint8Array, chunkBytes: number): Promise<string> {
  const feed = new FeedDigest();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.slice(at, at + chunkBytes);
    feed.update(chunk);
    chunk.fill(0); // the memory is its owner's again
  }
  return await feed.hex();
}

Deno.test("the digest is SHA-256, whichever of the two ways it goes", async () => {
  // Around 1 MiB the bytes stop being kept and are digested as they come.
  for (const length of [0, 1, MIB - 1, MIB, MIB + 1, MIB + 65_537, 3 * MIB]) {
    const bytes = makeBytes(length);
    const hash = await crypto.subtle.digest("SHA-256", bytes);
    for (const chunkBytes of [65_536, 100_003, 4 * MIB]) {
      assertEquals(
        await digest(bytes, chunkBytes),
        encodeHex(hash),
        `${length} bytes in chunks of ${chunkBytes}`,
      );
    }
  }
});

/** Bytes without a pattern, the same each time. */
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

Deno.test("every length is digested as the platform does", async () => {
  for (let length = 0; length <= 260; length++) {
    const bytes = bytesOf(length);
    assertEquals(new Sha256().update(bytes).digest(), await expected(bytes));
  }
});

Deno.test("put aside at any place, it goes on to the same digest", async () => {
  const bytes = bytesOf(300);
  const whole = await expected(bytes);
  for (let at = 0; at <= bytes.length; at++) {
    const first = new Sha256().update(bytes.subarray(0, at));
    assertEquals(first.digest(), await expected(bytes.slice(0, at)));
    const second = Sha256.load(first.save())!;
    for (const byte of bytes.subarray(at)) second.update(Uint8Array.of(byte));
    assertEquals(second.digest(), whole);
  }
});

Deno.test("a text that is no state is told from one", () => {
  const saved = new Sha256().update(bytesOf(10)).save();
  for (const text of ["", "!", "AAAA", saved.slice(4), `AAAA${saved}`]) {
    assertEquals(Sha256.load(text), undefined, text);
  }
});
