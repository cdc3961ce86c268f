import { assert, assertEquals } from "@std/assert";
import {
  groupBySubject,
  leafHash,
  leafOf,
  stateHash,
  treeHash,
} from "@sig/jose/proofs";
import { upsert } from "../../tests/kit/events.ts";
import { FeedTree, LineTree } from "./feed_tree.ts";

/** Returns one upsert per subject, except that every 50th subject has two. */
function makeLines(count: number) {
  return Array.from({ length: count }, (_, i) => {
    const event = upsert(i + 1, {
      subject: `did:web:s${i - (i % 50 === 1 ? 1 : 0)}.example`,
      relationship_id: `r${i}`,
    });
    return { event, bytes: new TextEncoder().encode(`line ${i}`) };
  });
}

Deno.test("the state hash of many subjects is computed in slices", async () => {
  const lines = makeLines(3_000);
  const tree = new FeedTree();
  tree.want([2_000, 3_000]);
  for (const { bytes, event } of lines) tree.add(bytes, event);
  for (const size of [2_000, 3_000]) {
    let turns = 0;
    const make = () =>
      tree.at(size)!.state!(() => Promise.resolve(void turns++));
    const groups = groupBySubject(lines.slice(0, size));
    const leaves = groups.map((each) => leafOf(each));
    assertEquals(await make(), stateHash(leaves));
    assert(turns > size / 500, `${turns} turns`);
    const before = turns;
    await make();
    assertEquals(turns, before);
  }
});

Deno.test("there is no state hash after an upsert that changes a subject", () => {
  const [first, second, third] = makeLines(3);
  assert(first && second && third);
  const { relationship_id } = first.event;
  const tree = new FeedTree();
  tree.want([1, 2, 3]);
  tree.add(first.bytes, first.event);
  tree.add(second.bytes, {
    ...second.event,
    ...{ relationship_id, subject: "did:web:bob.example" },
  });
  tree.add(third.bytes, third.event);
  const have = [1, 2, 3].map((size) => tree.at(size)?.state !== undefined);
  assertEquals(have, [true, false, false]);
});

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
