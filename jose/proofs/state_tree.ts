/** The tree of a feed's subjects, and its files. @module */

import {
  createFeedLineParser,
  parseEventPayload,
  SigError,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import { joinBytes, sameBytes } from "@sig/core/internal";
import { decodeHex, encodeHex } from "@std/encoding/hex";
import { sha256 } from "../bytes/sha256.ts";
import {
  HASH_BYTES,
  leafHash,
  nodeHash,
  TileHashes,
  tilePath,
  tilesSince,
  TreeHasher,
} from "./tree.ts";

/** Maximum size of a subject's lines; above it, the leaf has no digest. */
export const MAX_SUBJECT_BYTES = 1_048_576;
/** Maximum size in bytes of a file with the lines of several subjects. */
const MAX_LINES_FILE_BYTES = 32_768;
/** Size of a page in bytes: 16 rows of 64 digits and LF. */
const PAGE_BYTES = 1_040;
/** Maximum number of pages from the root to a file of lines. */
export const MAX_PAGES = 16;

const UPSERT = "relationship.upsert";
/** The number of children of a node. */
const BRANCHES = 16;
/** The hash of an empty subtree, and the digest of too many lines. */
export const EMPTY_HASH: Uint8Array = new Uint8Array(HASH_BYTES);

/** Creates the error of an invalid file of the state tree. */
export function proofInvalid(why: string): SigError {
  return new SigError("proof_invalid", { action: "use proof", reason: why });
}

/** Returns the key of a subject, which is its position in the tree. */
export function subjectKey(subject: string): Uint8Array {
  return sha256(new TextEncoder().encode(subject));
}

/** Returns a digit of a key, from 0 to 15; digit 0 is the first one. */
export function digitOf(key: Uint8Array, depth: number): number {
  const byte = key[depth >> 1] ?? 0;
  return depth % 2 === 0 ? byte >> 4 : byte & 15;
}

/** The leaf of a subject. */
export interface StateLeaf {
  /** The subject's key. */
  readonly key: Uint8Array;
  /** The leaf's hash. */
  readonly hash: Uint8Array;
}

/**
 * Creates the leaf of a subject.
 *
 * @param digest SHA-256 of its lines; {@linkcode EMPTY_HASH} if they exceed
 * {@linkcode MAX_SUBJECT_BYTES}.
 */
export function stateLeaf(key: Uint8Array, digest: Uint8Array): StateLeaf {
  return { key, hash: sha256(Uint8Array.of(0), key, digest) };
}

/** Returns the hash of the node of subjects that share `depth` digits. */
export function stateHash(leaves: readonly StateLeaf[], depth = 0): Uint8Array {
  if (leaves.length === 0) return EMPTY_HASH;
  if (leaves.length === 1) return leaves[0]!.hash;
  return statePageHash(
    childrenOf(leaves, depth).map((each) => stateHash(each, depth + 1)),
  );
}

/** The hashes of perfect subtrees of empty children, from 1 to 8 children. */
const EMPTY_NODES: readonly Uint8Array[] = (() => {
  const nodes = [EMPTY_HASH];
  for (const hash of nodes) {
    if (nodes.length < 4) nodes.push(nodeHash(hash, hash));
  }
  return nodes;
})();

/**
 * Returns the hash of a node with 16 children. Nodes of few subjects have
 * mostly {@linkcode EMPTY_HASH}, whose subtrees are not hashed again.
 */
export function statePageHash(children: readonly Uint8Array[]): Uint8Array {
  let row = children;
  for (const [level, empty] of EMPTY_NODES.entries()) {
    const above: Uint8Array[] = [];
    for (let i = 0; i < row.length; i += 2) {
      const [left, right] = [row[i]!, row[i + 1]!];
      const isEmpty = left === empty && right === empty;
      above.push(
        isEmpty && EMPTY_NODES[level + 1] || nodeHash(left, right),
      );
    }
    row = above;
  }
  return row[0]!;
}

/** Groups leaves (or other values with a key) by the digit at a depth. */
export function childrenOf<T extends { readonly key: Uint8Array }>(
  leaves: readonly T[],
  depth: number,
): T[][] {
  const children = Array.from({ length: BRANCHES }, (): T[] => []);
  for (const leaf of leaves) children[digitOf(leaf.key, depth)]!.push(leaf);
  return children;
}

/** The members of an event that decide to which subject its line belongs. */
export type PlacedEvent = Pick<
  SigEvent | UnknownEvent,
  "event_type" | "relationship_id" | "sequence" | "subject"
>;

/** A feed line with the members that decide to which subject it belongs. */
export interface PlacedLine {
  /** The members of the line's event. */
  readonly event: PlacedEvent;
  /** The line without its LF. */
  readonly bytes: Uint8Array;
}

/** The lines of one subject: of each relationship that began with it. */
export interface SubjectLines {
  /** The subject. */
  readonly subject: string;
  /** The subject's key. */
  readonly key: Uint8Array;
  /** The lines, in feed order. */
  readonly lines: PlacedLine[];
}

/**
 * Groups lines by subject. A relationship belongs to the subject of its first
 * upsert; a revoke without an earlier upsert is left out.
 *
 * @param lines The lines in feed order.
 */
export function groupBySubject(lines: Iterable<PlacedLine>): SubjectLines[] {
  const bySubject = new Map<string, SubjectLines>();
  const byRelationship = new Map<string, SubjectLines>();
  for (const line of lines) {
    const { event } = line;
    let group = byRelationship.get(event.relationship_id);
    if (group === undefined) {
      if (event.event_type !== UPSERT) continue;
      const { subject } = event;
      group = bySubject.get(subject) ??
        { subject, key: subjectKey(subject), lines: [] };
      bySubject.set(subject, group);
      byRelationship.set(event.relationship_id, group);
    }
    group.lines.push(line);
  }
  return [...bySubject.values()];
}

/** Returns the size of lines in bytes, including their LFs. */
function bytesOfLines(lines: readonly PlacedLine[]): number {
  return lines.reduce((sum, { bytes }) => sum + bytes.length + 1, 0);
}

/** Creates the leaf of a subject from its lines. */
export function leafOf({ key, lines }: SubjectLines): StateLeaf {
  return stateLeaf(key, digestLines(lines.map(({ bytes }) => bytes)));
}

/**
 * Returns the digest of a subject's lines; {@linkcode EMPTY_HASH} if they
 * exceed {@linkcode MAX_SUBJECT_BYTES}.
 *
 * @param lines The lines without their LFs.
 */
export function digestLines(lines: readonly Uint8Array[]): Uint8Array {
  const bytes = lines.reduce((sum, { length }) => sum + length + 1, 0);
  return bytes > MAX_SUBJECT_BYTES ? EMPTY_HASH : sha256(joinLines(lines));
}

function joinLines(lines: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const LF = Uint8Array.of(10);
  return joinBytes(lines.flatMap((line) => [line, LF]));
}

/** A file of the state tree, and the hash in its name. */
export interface StateFile {
  /** The hash of the node. */
  readonly hash: Uint8Array;
  /** The content. */
  readonly bytes: Uint8Array;
}

/** Returns the path of a state file below `proofs_uri`. */
export function statePath(hash: Uint8Array): string {
  const hex = encodeHex(hash);
  return `state/${hex.slice(0, 2)}/${hex.slice(2)}`;
}

/**
 * Returns whether a path below `proofs_uri` is that of a tile or a state file,
 * whose content never changes.
 */
export function isProofFile(path: string): boolean {
  return /^state\/[0-9a-f]{2}\/[0-9a-f]{62}$/.test(path) ||
    /^tile\/\d{1,2}\/(?:x\d{3}\/)*\d{3}(?:\.p\/\d{1,3})?$/.test(path);
}

/**
 * Yields the files of the node of some subjects, the node's own file last.
 * Returns the node's hash.
 *
 * @param depth The number of first digits that the keys have in common.
 */
export function* stateFiles(
  groups: readonly SubjectLines[],
  depth = 0,
): Generator<StateFile, Uint8Array> {
  if (groups.length === 0) return EMPTY_HASH;
  const lines = groups.flatMap((each) => each.lines);
  if (groups.length === 1 || bytesOfLines(lines) <= MAX_LINES_FILE_BYTES) {
    const leaves = groups.map((each) => leafOf(each));
    const hash = stateHash(leaves, depth);
    yield { hash, bytes: linesFile(groups, lines) };
    return hash;
  }
  const children: Uint8Array[] = [];
  for (const child of childrenOf(groups, depth)) {
    children.push(yield* stateFiles(child, depth + 1));
  }
  const page = pageFile(children);
  yield page;
  return page.hash;
}

/** The hashes for a checkpoint of some lines, and the files of their proofs. */
export interface ProofsOfLines {
  /** The tree hash of the lines. */
  readonly root: Uint8Array;
  /** The hash of the state tree. */
  readonly state: Uint8Array;
  /** Tiles and state files, by path below `proofs_uri`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Creates the proofs of a whole feed. */
export function proveLines(lines: readonly PlacedLine[]): ProofsOfLines {
  const tree = new TreeHasher();
  const tiles = new TileHashes();
  for (const { bytes } of lines) {
    tree.add(leafHash(bytes), tiles.collect);
  }
  const files = new Map<string, Uint8Array>();
  for (const tile of tilesSince(0, lines.length)) {
    files.set(tilePath(tile), tiles.bytesOf(tile));
  }
  const made = stateFiles(groupBySubject(lines));
  for (let next = made.next();; next = made.next()) {
    if (next.done) return { root: tree.root(), state: next.value, files };
    files.set(statePath(next.value.hash), next.value.bytes);
  }
}

function linesFile(
  groups: readonly SubjectLines[],
  lines: PlacedLine[],
): Uint8Array {
  if (bytesOfLines(lines) > MAX_SUBJECT_BYTES) {
    return new TextEncoder().encode(`too-large ${encodeHex(groups[0]!.key)}\n`);
  }
  lines.sort((a, b) => a.event.sequence - b.event.sequence);
  return joinLines(lines.map(({ bytes }) => bytes));
}

/** Creates the page with the hashes of 16 children. */
export function pageFile(children: readonly Uint8Array[]): StateFile {
  const rows = children.map((hash) =>
    isEmpty(hash) ? "-\n" : `${encodeHex(hash)}\n`
  );
  return {
    hash: statePageHash(children),
    bytes: new TextEncoder().encode(rows.join("")),
  };
}

function isEmpty(hash: Uint8Array): boolean {
  return hash.every((byte) => byte === 0);
}

/** The parsed content of a state file. */
export type StateNode =
  | { readonly kind: "page"; readonly children: readonly Uint8Array[] }
  | { readonly kind: "lines"; readonly subjects: readonly SubjectLines[] }
  | { readonly kind: "too_large"; readonly key: Uint8Array };

/**
 * Parses a state file and verifies the hash in its name.
 *
 * @param key The key whose path is followed.
 * @param depth The number of its digits that lead to the file.
 * @throws {SigError} `proof_invalid`.
 */
export function readStateFile(
  { hash, bytes }: StateFile,
  key: Uint8Array,
  depth: number,
): StateNode {
  const node = parseStateFile(bytes);
  if (!sameBytes(hashOfNode(node, depth), hash)) {
    throw proofInvalid(`${statePath(hash)} is not what its name says`);
  }
  const keys = node.kind === "page"
    ? []
    : node.kind === "lines"
    ? node.subjects.map((each) => each.key)
    : [node.key];
  if (!keys.every((each) => sharesDigits(each, key, depth))) {
    throw proofInvalid(`${statePath(hash)} has a subject of another place`);
  }
  return node;
}

function parseStateFile(bytes: Uint8Array): StateNode {
  const first = bytes[0];
  if (first === 0x7b || first === 0x20 || first === 0x09) {
    return { kind: "lines", subjects: readLines(bytes) };
  }
  const text = bytes.length > PAGE_BYTES ? "" : new TextDecoder().decode(bytes);
  const [, key] = /^too-large ([0-9a-f]{64})\n$/.exec(text) ?? [];
  if (key !== undefined) return { kind: "too_large", key: decodeHex(key) };
  if (!/^(?:(?:[0-9a-f]{64}|-)\n){16}$/.test(text)) {
    throw proofInvalid("a state file is neither lines nor a page");
  }
  const rows = text.slice(0, -1).split("\n");
  const children = rows.map((row) => row === "-" ? EMPTY_HASH : decodeHex(row));
  if (rows.some((row, i) => row !== "-" && isEmpty(children[i]!))) {
    throw proofInvalid("a page spells an empty row as zeros");
  }
  return { kind: "page", children };
}

function readLines(bytes: Uint8Array): SubjectLines[] {
  if (bytes.length > MAX_SUBJECT_BYTES) {
    throw proofInvalid(`a file of lines is over ${MAX_SUBJECT_BYTES} bytes`);
  }
  const parse = createFeedLineParser();
  const lines: PlacedLine[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = bytes.indexOf(10, from);
    if (to < 0) {
      throw proofInvalid("a file of lines has no line feed at its end");
    }
    const line = bytes.slice(from, to);
    lines.push({ event: parseEventPayload(parse(line).payload), bytes: line });
    from = to + 1;
  }
  const subjects = groupBySubject(lines);
  const placed = subjects.reduce((sum, each) => sum + each.lines.length, 0);
  if (placed !== lines.length) {
    throw proofInvalid("a relationship does not begin with an upsert");
  }
  return subjects;
}

function hashOfNode(node: StateNode, depth: number): Uint8Array {
  switch (node.kind) {
    case "page":
      return statePageHash(node.children);
    case "too_large":
      return stateLeaf(node.key, EMPTY_HASH).hash;
    case "lines": {
      const leaves = node.subjects.map((each) => leafOf(each));
      return stateHash(leaves, depth);
    }
  }
}

/** Returns whether the first digits of two keys are equal. */
export function sharesDigits(
  a: Uint8Array,
  b: Uint8Array,
  depth: number,
): boolean {
  for (let at = 0; at < depth; at++) {
    if (digitOf(a, at) !== digitOf(b, at)) return false;
  }
  return true;
}

/** Returns the four siblings of a child of a node, from the child up. */
export function siblingsOf(
  children: readonly Uint8Array[],
  digit: number,
): Uint8Array[] {
  const siblings: Uint8Array[] = [];
  let row = [...children];
  for (let at = digit; row.length > 1; at >>= 1) {
    siblings.push(row[at ^ 1]!);
    const above: Uint8Array[] = [];
    for (let i = 0; i < row.length; i += 2) {
      above.push(nodeHash(row[i]!, row[i + 1]!));
    }
    row = above;
  }
  return siblings;
}

/** Returns the path of a key up to the node of some leaves. */
export function pathAmong(
  leaves: readonly StateLeaf[],
  key: Uint8Array,
  depth: number,
): Uint8Array[] {
  if (leaves.length <= 1) return [];
  const children = childrenOf(leaves, depth);
  const digit = digitOf(key, depth);
  const hashes = children.map((each) => stateHash(each, depth + 1));
  return [
    ...pathAmong(children[digit]!, key, depth + 1),
    ...siblingsOf(hashes, digit),
  ];
}

/**
 * Calculates the hash of the whole tree from a path.
 *
 * @param path Four siblings for each digit of the key.
 */
export function stateHashOfPath(
  key: Uint8Array,
  end: Uint8Array,
  path: readonly Uint8Array[],
): Uint8Array {
  let hash = end;
  path.forEach((sibling, i) => {
    const depth = (path.length >> 2) - 1 - (i >> 2);
    const isRight = digitOf(key, depth) >> (i & 3) & 1;
    hash = isRight ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
  });
  return hash;
}
