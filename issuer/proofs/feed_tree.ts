/** The Merkle tree of the feed's lines, continued from its tiles. @module */

import {
  type ErrorCode,
  type ErrorContext,
  isUpsert,
  parseEventPayload,
  SigError,
} from "@sig/core";
import { joinBytes, sameBytes } from "@sig/core/internal";
import { isVoidEvent } from "@sig/jose/keys";
import {
  type Checkpoint,
  HASH_BYTES,
  hashInTile,
  leafHash,
  peaksOf,
  proofInvalid,
  subjectKey,
  TILE_WIDTH,
  TileHashes,
  tileOfNode,
  tilePath,
  tilesSince,
  TreeHasher,
  type TreeNode,
} from "@sig/jose/proofs";
import type { IssuerDocuments } from "../documents/documents.ts";
import type { EventIndex } from "../index/feed_index.ts";
import { readLines } from "../store/feed_lines.ts";
import type { OpenFeed } from "../store/feed_store.ts";
import type { NewLine, ReadProofFile } from "./state_update.ts";

/** A feed whose lines are verified. */
export interface ReadFeed {
  readonly documents: IssuerDocuments;
  /** The feed, recovered. */
  readonly feed: OpenFeed;
  /** The index of the feed's relationships. */
  readonly known: EventIndex;
}

const LF = 0x0a;

/** The tree of a feed, and its new tiles. */
export class FeedTree {
  readonly #read: ReadProofFile;
  readonly #old: number;
  readonly #tree: TreeHasher;
  readonly #made = new TileHashes();

  /** @param tree the tree of the last checkpoint (default: no leaves). */
  constructor(read: ReadProofFile, tree: TreeHasher = new TreeHasher()) {
    this.#read = read;
    this.#old = tree.size;
    this.#tree = tree;
  }

  /**
   * Reads the tree of a checkpoint, to be continued.
   *
   * @param lastLine the feed's line of that size, without its LF.
   * @returns undefined if the signed tree has another last line.
   * @throws {SigError} `proof_invalid` if the tiles do not match the tree.
   */
  static async continued(
    read: ReadProofFile,
    { root, size }: Pick<Checkpoint, "root" | "size">,
    lastLine: Uint8Array,
  ): Promise<FeedTree | undefined> {
    if (size === 0) return new FeedTree(read);
    const hashOf = async (node: TreeNode) => {
      const path = tilePath(tileOfNode(node, size));
      return hashInTile(node, await read(path));
    };
    const peaks = await Promise.all(peaksOf(size - 1).map(hashOf));
    const tree = new TreeHasher(size - 1, peaks);
    const last = await hashOf({ level: 0, index: size - 1 });
    tree.add(last);
    if (!sameBytes(tree.root(), root)) {
      throw proofInvalid("the tiles are not those of the checkpoint");
    }
    return sameBytes(last, leafHash(lastLine))
      ? new FeedTree(read, tree)
      : undefined;
  }

  get size(): number {
    return this.#tree.size;
  }

  root(): Uint8Array {
    return this.#tree.root();
  }

  /** Adds a line, without its LF. */
  add(line: Uint8Array): void {
    this.#tree.add(leafHash(line), this.#made.collect);
  }

  /** Returns the new tiles by path, and the partial tiles that they replace. */
  async newTiles(): Promise<{
    readonly made: ReadonlyMap<string, Uint8Array>;
    readonly left: readonly string[];
  }> {
    const made = new Map<string, Uint8Array>();
    const left: string[] = [];
    for (const tile of tilesSince(this.#old, this.size)) {
      const first = tile.index * TILE_WIDTH;
      const known = Math.floor(this.#old / TILE_WIDTH ** tile.level) - first;
      const parts: Uint8Array[] = [];
      if (known > 0) {
        const path = tilePath({ ...tile, width: known });
        parts.push((await this.#read(path)).slice(0, known * HASH_BYTES));
        left.push(path);
      }
      parts.push(this.#made.bytesOf(tile, Math.max(0, known)));
      made.set(tilePath(tile), joinBytes(parts));
    }
    return { made, left };
  }
}

/** Returns the tree of the checkpoint, if the feed still begins with it. */
export async function continueTree(
  read: ReadProofFile,
  { documents, feed }: ReadFeed,
  before: Checkpoint,
): Promise<FeedTree> {
  const { bytes, size } = before;
  if (feed.size < bytes) throw rolledBack(before, feed.size);
  const start = Math.max(0, bytes - documents.limits.maxLineBytes - 2);
  const end = await feed.read(start, bytes - start);
  const line = end.subarray(end.lastIndexOf(LF, -2) + 1, -1);
  const tree = size > 0 && end.at(-1) !== LF
    ? undefined
    : await FeedTree.continued(read, before, line);
  if (tree === undefined) throw rewritten(size);
  return tree;
}

/** Adds lines to the tree, and finds the subject of each. */
export async function readNewLines(
  tree: FeedTree,
  { documents, feed, known }: ReadFeed,
  from: number,
  before: Checkpoint | undefined,
): Promise<{ readonly lines: readonly NewLine[]; readonly bytes: number }> {
  const lines: NewLine[] = [];
  let bytes = from;
  const requireSame = () => {
    if (tree.size !== before?.size) return;
    const isSame = bytes === before.bytes &&
      sameBytes(tree.root(), before.root);
    if (!isSame) throw rewritten(before.size);
  };
  requireSame();
  for await (const { bytes: line } of readLines(feed, from)) {
    tree.add(line);
    bytes += line.length + 1;
    requireSame();
    const { header, payload } = documents.parseLine(line);
    const event = parseEventPayload(payload);
    const home = known.relationship(event.relationship_id)?.home;
    if (home === undefined) continue;
    const isMoved = isUpsert(event) && event.subject !== home;
    if (isMoved && !isVoidEvent(documents.keys, header.kid, event.sequence)) {
      throw refused(
        "subject_changed",
        "an upsert gives its relationship another subject, and no proof can show that",
        {
          sequence: event.sequence,
          hint:
            "Nothing was signed. Readers go on with the feed; take proofs_uri out of sig.json.",
        },
      );
    }
    const { event_type, relationship_id, sequence, subject } = event;
    lines.push({
      event: { event_type, relationship_id, sequence, subject },
      bytes: line,
      key: subjectKey(home),
    });
  }
  if (tree.size < (before?.size ?? 0)) throw rolledBack(before!, bytes);
  return { lines, bytes };
}

const PUT_BACK =
  "Nothing was signed. Put the feed back as it was published last (sig restore --dir <dir> --from <host>).";

function rolledBack({ bytes, size }: Checkpoint, held: number): SigError {
  const why = `the feed has ${held} bytes, the last checkpoint ${bytes}`;
  return lost("feed_rolled_back", why, size);
}

function rewritten(size: number): SigError {
  const why =
    `up to sequence ${size} the feed is not the one of the last checkpoint`;
  return lost("feed_rewritten", why, size);
}

function lost(code: ErrorCode, why: string, known_sequence: number): SigError {
  return refused(code, why, { known_sequence, hint: PUT_BACK });
}

/** Creates the error of proofs that are not updated. */
export function refused(
  code: ErrorCode,
  why: string,
  context: ErrorContext,
): SigError {
  return new SigError(code, { action: "update proofs", reason: why, context });
}
