import { assertEquals } from "@std/assert";
import { encodeHex } from "@std/encoding/hex";
import { FeedDigest } from "./feed_digest.ts";

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
