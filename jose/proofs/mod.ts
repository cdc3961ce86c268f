/**
 * Proofs of a feed: the Merkle tree of its lines (RFC 6962), signed checkpoints
 * (C2SP signed-note, tlog-checkpoint, tlog-cosignature), and the tree of its
 * subjects. All functions are pure: they use no file, socket or clock.
 *
 * @example Prove that a feed has only been appended to
 * ```ts
 * import {
 *   leafHash,
 *   proveConsistency,
 *   TreeHasher,
 *   verifyConsistency,
 * } from "@sig/jose/proofs";
 * import { assert } from "@std/assert";
 *
 * const nodes = new Map<string, Uint8Array>();
 * const tree = new TreeHasher();
 * const add = (line: string) =>
 *   tree.add(
 *     leafHash(new TextEncoder().encode(line)),
 *     ({ level, index }, hash) => nodes.set(`${level}/${index}`, hash),
 *   );
 * for (const line of ["one", "two", "three"]) add(line);
 * const oldRoot = tree.root();
 * for (const line of ["four", "five"]) add(line);
 *
 * const proof = await proveConsistency(
 *   3,
 *   5,
 *   ({ level, index }) => nodes.get(`${level}/${index}`)!,
 * );
 * const claim = { old: 3, oldRoot, size: 5, root: tree.root(), proof };
 * assert(verifyConsistency(claim));
 * ```
 *
 * @module
 */
export { decodeBase64, encodeBase64 } from "../bytes/bytes.ts";
export * from "./checkpoint.ts";
export * from "./note.ts";
export { sha256 } from "../bytes/sha256.ts";
export * from "./state_tree.ts";
export * from "./tree.ts";
