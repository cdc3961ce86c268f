import { assert, assertEquals } from "@std/assert";
import {
  findPointFault,
  isOnCurve,
  isStrictSignature,
} from "./ed25519_bytes.ts";
import {
  encodeNumber,
  findX,
  L,
  P,
  smallOrderYs,
} from "../testdata/edwards.ts";

const SIGN_BIT = 1n << 255n;
/** A valid point encoding, as R of signatures. */
const GOOD_R = encodeNumber(
  46316835694926478169428394003475163141307993866256225615783033603165251855960n,
);

function signatureOf(r: Uint8Array, s: bigint): Uint8Array {
  return Uint8Array.of(...r, ...encodeNumber(s));
}

Deno.test("rejects the 14 encodings of points of small order", () => {
  const ys = smallOrderYs();
  assertEquals(ys.length, 5);
  // Two of them (0 and 1) have a second spelling in 255 bits.
  const spellings = ys.flatMap((y) => y + P < SIGN_BIT ? [y, y + P] : [y])
    .flatMap((y) => [y, y | SIGN_BIT]);
  assertEquals(spellings.length, 14);
  for (const encoding of spellings.map(encodeNumber)) {
    assert(findPointFault(encoding) !== undefined);
    assert(!isStrictSignature(Uint8Array.of(...encoding, ...encodeNumber(1n))));
  }
  for (const y of ys) {
    assertEquals(findPointFault(encodeNumber(y)), "small-order");
    assertEquals(findPointFault(encodeNumber(y | SIGN_BIT)), "small-order");
  }
});

Deno.test("rejects all 38 encodings with y >= p as non-canonical", () => {
  for (let y = P; y < SIGN_BIT; y++) {
    for (const encoding of [y, y | SIGN_BIT].map(encodeNumber)) {
      assertEquals(findPointFault(encoding), "non-canonical");
      assert(!isStrictSignature(signatureOf(encoding, 1n)));
    }
  }
  assertEquals(findPointFault(encodeNumber(P - 2n)), undefined);
});

Deno.test("S must be below L", () => {
  for (const s of [0n, 1n, 2n ** 252n - 1n, 2n ** 252n, L - 1n]) {
    assert(isStrictSignature(signatureOf(GOOD_R, s)), `${s}`);
  }
  const tooLarge = [L, L + 1n, 2n * L - 1n, 2n ** 253n, 2n ** 255n];
  for (const s of [...tooLarge, 2n ** 256n - 1n, L + 2n ** 252n]) {
    assert(!isStrictSignature(signatureOf(GOOD_R, s)), `${s}`);
  }
});

Deno.test("a signature has 64 bytes", () => {
  const good = signatureOf(GOOD_R, 1n);
  assert(isStrictSignature(good));
  for (const length of [0, 32, 63]) {
    assert(!isStrictSignature(good.slice(0, length)));
  }
  assert(!isStrictSignature(Uint8Array.of(...good, 0)));
});

Deno.test("a y is on the curve if and only if it has an x", () => {
  let on = 0;
  for (let i = 0n; i < 120n; i++) {
    for (const y of [i, P - 1n - i, (i * 7919n) ** 9n % P]) {
      const expected = findX(y) !== undefined;
      assertEquals(isOnCurve(encodeNumber(y)), expected, `${y}`);
      assertEquals(isOnCurve(encodeNumber(y | SIGN_BIT)), expected, `${y}`);
      if (expected) on++;
    }
  }
  assert(on > 120 && on < 240);
});
