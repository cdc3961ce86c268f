import { assertEquals } from "@std/assert";
import { describeProgress } from "./write.ts";

const MIB = 1024 * 1024;

Deno.test("progress shows events, their rate and the time left", () => {
  const half = { bytes: 40 * MIB, events: 50_000, elapsedMs: 2_000 };
  assertEquals(
    describeProgress({ ...half, totalBytes: 80 * MIB }),
    "verified 50000 events, 25000/s, 2 s left",
  );
  assertEquals(
    describeProgress({ ...half, totalBytes: 4_000 * MIB }),
    "verified 50000 events, 25000/s, 4 min left",
  );
});

Deno.test("progress shows the bytes read if the length is unknown", () => {
  const reading = { bytes: 9 * MIB, events: 0, elapsedMs: 0 };
  assertEquals(
    describeProgress({ ...reading, totalBytes: undefined }),
    "verified 0 events, 0/s, 9 MiB read",
  );
  // A length that is too short results in no time left.
  assertEquals(
    describeProgress({ ...reading, totalBytes: MIB }),
    "verified 0 events, 0/s, 0 s left",
  );
});
