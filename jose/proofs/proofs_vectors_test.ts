/** Test vectors of proofs, made by an independent implementation. @module */

import { isSigError } from "@sig/core";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { encodeHex } from "@std/encoding/hex";
import { decodeBase64, encodeBase64 } from "../bytes/bytes.ts";
import { importVerificationKey } from "../keys/verification_key.ts";
import { calculateKid } from "../keys/public_key.ts";
import { generateSigningKey, importSigningKey } from "../keys/signing_key.ts";
import { buildGo, WITHOUT_GO } from "../../tests/kit/go.ts";
import { runWell, tempFolder } from "../../tests/kit/process.ts";
import {
  readJsonVectors,
  readVectors,
  vectorTest,
} from "../../tests/kit/others_vectors.ts";
import {
  digestKeys,
  findKeyNotIntroduced,
  formatCheckpoint,
  openCheckpoint,
  type OpenedCheckpoint,
} from "./checkpoint.ts";
import {
  cosignNote,
  formatNote,
  formatVerifierKey,
  parseNote,
  parseVerifierKey,
  signNote,
} from "./note.ts";
import { sha256 } from "../bytes/sha256.ts";
import { EMPTY_HASH } from "./state_tree.ts";
import {
  hashInTile,
  leafHash,
  proveConsistency,
  TileHashes,
  tileOfNode,
  tilePath,
  tilesSince,
  treeHash,
  TreeHasher,
  type TreeNode,
  verifyConsistency,
} from "./tree.ts";
const encoder = new TextEncoder();

interface Named {
  readonly kid: string;
  readonly x: string;
}

async function importKeys(keys: readonly Named[]) {
  return new Map(
    await Promise.all(keys.map(async ({ kid, x }) =>
      [
        kid,
        await importVerificationKey({ kty: "OKP", crv: "Ed25519", x, kid }),
      ] as const
    )),
  );
}

async function thumbprintsOf(keys: readonly Named[]) {
  return new Map(
    await Promise.all(
      keys.map(async ({ kid, x }) =>
        [kid, await calculateKid({ kty: "OKP", crv: "Ed25519", x })] as const
      ),
    ),
  );
}

/**
 * Returns the tree hash of the leaves "leaf 0" to "leaf <size - 1>", and the
 * hash of each node and tile.
 */
function hashLog(size: number) {
  const nodes = new Map<string, Uint8Array>();
  const tiles = new TileHashes();
  const tree = new TreeHasher();
  for (let i = 0; i < size; i++) {
    tree.add(leafHash(encoder.encode(`leaf ${i}`)), (node, hash) => {
      nodes.set(`${node.level}/${node.index}`, hash);
      tiles.collect(node, hash);
    });
  }
  return {
    tiles,
    root: tree.root(),
    hashOf: ({ level, index }: TreeNode) => nodes.get(`${level}/${index}`)!,
  };
}

interface LogVectors {
  readonly roots: Record<string, string>;
  readonly proofs: { old: number; size: number; proof: string[] }[];
  readonly tile_0_000_sha256: string;
}

vectorTest(
  "tree hashes, tiles and consistency proofs match RFC 6962",
  "proofs/log.json",
  async () => {
    const log = readJsonVectors<LogVectors>("proofs/log.json");
    const roots = new Map(
      Object.entries(log.roots).map(([size, root]) => [+size, root]),
    );
    for (const [size, root] of roots) {
      assertEquals(encodeBase64(hashLog(size).root), root);
    }
    const tile = tileOfNode({ level: 0, index: 0 }, 256);
    const bytes = hashLog(256).tiles.bytesOf(tile);
    assertEquals(encodeHex(sha256(bytes)), log.tile_0_000_sha256);
    for (const { old, size, proof } of log.proofs) {
      const { hashOf } = hashLog(size);
      const made = await proveConsistency(old, size, hashOf);
      assertEquals(made.map(encodeBase64), proof, `${old} to ${size}`);
      const claim = {
        ...{ old, oldRoot: decodeBase64(roots.get(old)!)! },
        ...{ size, root: decodeBase64(roots.get(size)!)!, proof: made },
      };
      assert(verifyConsistency(claim));
      for (let at = 0; at < made.length; at++) {
        const other = made.with(at, EMPTY_HASH);
        assert(!verifyConsistency({ ...claim, proof: other }));
      }
      assert(!verifyConsistency({ ...claim, root: EMPTY_HASH }));
      assert(!verifyConsistency({ ...claim, oldRoot: EMPTY_HASH }));
      const longer = [...made, EMPTY_HASH];
      assert(!verifyConsistency({ ...claim, proof: longer }));
    }
  },
);

vectorTest(
  "every node's hash can be calculated from its tile",
  "proofs/log.json",
  () => {
    const size = 513;
    const { hashOf } = hashLog(size);
    for (let level = 0; level <= 9; level++) {
      for (let index = 0; (index + 1) * 2 ** level <= size; index++) {
        const tile = tileOfNode({ level, index }, size);
        const hashes = Array.from({ length: tile.width }, (_, i) =>
          hashOf({
            level: 8 * tile.level,
            index: 256 * tile.index + i,
          }));
        const bytes = Uint8Array.from(hashes.flatMap((hash) => [...hash]));
        assertEquals(
          hashInTile({ level, index }, bytes),
          hashOf({ level, index }),
        );
      }
    }
  },
);

interface NoteVectors {
  readonly origin: string;
  readonly keys: Named[];
  readonly cases: {
    name: string;
    note: string;
    valid: boolean;
    code?: string;
  }[];
}

vectorTest(
  "accepts and rejects the checkpoints of the vectors",
  "proofs/checkpoints.json",
  async (t) => {
    const all = readJsonVectors<NoteVectors>("proofs/checkpoints.json");
    const keys = await importKeys(all.keys);
    for (const { name, note, valid, code } of all.cases) {
      await t.step(name, async () => {
        const open = () => openCheckpoint(note, { origin: all.origin, keys });
        if (valid) {
          assertEquals((await open()).kids, ["test-1"]);
        } else {
          const error = await assertRejects(open);
          assert(isSigError(error, code as "invalid_checkpoint"), `${error}`);
        }
      });
    }
  },
);

interface KeyVectors {
  readonly digests: {
    keys: (Named & { thumbprint: string })[];
    sha256: string;
  }[];
  readonly continuity: {
    origin: string;
    remembered: Record<string, string>;
    cases: {
      name: string;
      documents: Named[];
      note: string | null;
      outcome: "accepted" | "key_not_introduced" | "key_replaced";
    }[];
  };
}

vectorTest(
  "only a remembered key introduces a new one",
  "proofs/keys.json",
  async (t) => {
    const { digests, continuity } = readJsonVectors<KeyVectors>(
      "proofs/keys.json",
    );
    for (const { keys, sha256: digest } of digests) {
      const thumbprints = new Map(keys.map((key) => [key.kid, key.thumbprint]));
      assertEquals(await thumbprintsOf(keys), thumbprints);
      assertEquals(encodeBase64(digestKeys(thumbprints)), digest);
    }
    const remembered = new Map(Object.entries(continuity.remembered));
    for (const { name, documents, note, outcome } of continuity.cases) {
      await t.step(name, async () => {
        const keys = await importKeys(documents);
        const checkpoint: OpenedCheckpoint | undefined = note === null
          ? undefined
          : await openCheckpoint(note, {
            origin: continuity.origin,
            keys,
          });
        const found = findKeyNotIntroduced({
          ...{
            remembered,
            documents: await thumbprintsOf(documents),
            checkpoint,
          },
        });
        // A replaced key is rejected earlier, by the comparison of thumbprints.
        const isRefused = outcome === "key_not_introduced";
        assertEquals(found, isRefused ? "test-2" : undefined);
      });
    }
  },
);

vectorTest(
  "signed notes and cosignatures equal the vectors byte for byte",
  "proofs/small",
  async () => {
    const { private_jwk, vkey } = readJsonVectors<
      { private_jwk: unknown; vkey: string }
    >("proofs/TEST-KEY.json");
    const key = await importSigningKey(private_jwk);
    const note = readVectors("proofs/small/.well-known/sig/checkpoint");
    const { text, signatures } = parseNote(note);
    const { name } = signatures[0]!;
    const time = Number(
      new DataView(signatures[1]!.bytes.slice().buffer).getBigUint64(4),
    );
    const made = [
      await signNote(text, name, key),
      await cosignNote(text, name, key, time),
    ];
    assertEquals(formatNote({ text, signatures: made }), note);
    const verifier = await parseVerifierKey(vkey);
    assertEquals(formatVerifierKey(verifier), vkey);
  },
);

Deno.test("tilesSince returns the tiles that a tree of an earlier size lacks", () => {
  assertEquals(tilesSince(0, 3).map(tilePath), ["tile/0/000.p/3"]);
  assertEquals(tilesSince(3, 3), []);
  assertEquals(tilesSince(90, 260).map(tilePath), [
    ...["tile/0/000", "tile/0/001.p/4", "tile/1/000.p/1"],
  ]);
  assertEquals(treeHash([]), sha256());
});

Deno.test({
  name: "Go's sumdb agrees with notes, roots and consistency proofs",
  ignore: WITHOUT_GO,
  async fn() {
    const origin = "go.example/.well-known/sig";
    const key = await importSigningKey(await generateSigningKey());
    const verification = await importVerificationKey(key.publicJwk);
    const sizes = [1, 2, 3, 7, 8, 100, 256, 257, 300];
    const roots = sizes.map((size) => hashLog(size).root);
    const notes = await Promise.all(roots.map(async (root, i) => {
      const text = formatCheckpoint({
        ...{ origin, size: sizes[i]!, root, bytes: i },
        ...{ state: EMPTY_HASH, keys: EMPTY_HASH },
      });
      const signatures = [
        await signNote(text, origin, key),
        await cosignNote(text, origin, key, 1_800_000_000),
      ];
      return {
        Note: formatNote({ text, signatures }),
        Vkey: formatVerifierKey({
          ...{ name: origin, type: "note", key: verification },
        }),
      };
    }));
    const pairs = sizes.flatMap((old) =>
      sizes.filter((size) => size >= old).map((size) => ({ old, size }))
    );
    const proofs = await Promise.all(pairs.map(async ({ old, size }) => ({
      ...{ Old: old, Size: size },
      Proof: (await proveConsistency(old, size, hashLog(size).hashOf))
        .map(encodeBase64),
    })));
    const text = JSON.stringify({
      Notes: notes,
      Leaves: Array.from(
        { length: 300 },
        (_, i) => encodeBase64(encoder.encode(`leaf ${i}`)),
      ),
      Roots: Object.fromEntries(
        sizes.map((size, i) => [size, encodeBase64(roots[i]!)]),
      ),
      Proofs: proofs,
    });
    await using folder = await tempFolder();
    const source = new URL("../testdata/proofs.go", import.meta.url);
    const program = await buildGo(source, folder.path);
    const said = await runWell(program, [], { stdin: { text } });
    assertEquals(said, "ok\n");
  },
});
