import { assertEquals } from "@std/assert";
import { leafHash, treeHash } from "@sig/jose/proofs";
import { LineTree } from "./line_tree.ts";

Deno.test("the platform's hash of a line gives the same root as ours", () => {
  const lines = Array.from({ length: 300 }, (_, i) =>
    // Some are longer than the buffer of the platform's hash.
    new Uint8Array(i % 7 === 0 ? 40 * i : i).fill(i));
  const hashes = lines.map((line) => leafHash(line));
  const tree = new LineTree();
  for (const [i, line] of lines.entries()) {
    tree.add(line);
    assertEquals(tree.size, i + 1);
    if (i % 50 !== 49) continue;
    assertEquals(tree.root(), treeHash(hashes.slice(0, i + 1)));
  }
});
