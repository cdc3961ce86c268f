/** The files of an issuer's directory that anyone may read. @module */

import { parseJson, validateMetadata, WELL_KNOWN_PATHS } from "@sig/core";
import { isObject } from "@sig/core/internal";
import { isProofFile } from "@sig/jose/proofs";
import { type InsideFile, openInside } from "@sig/consumer/internal";
import {
  documentTypes,
  FIXED_TYPES,
  PROOF_TYPE,
  proofsPath,
} from "./site_headers.ts";

/** Longest `sig.json` that is read (docs/protocol.md §8). */
const MAX_METADATA_BYTES = 16 * 1024;
/** Longest file that can be a set of private keys (docs/protocol.md §8). */
const MAX_KEYS_BYTES = 256 * 1024;

/** Why an existing document can't be sent now. */
export type NotNow = "unsettled" | "unreadable";

/** A published file, open for reading. The caller closes it. */
export interface PublishedDocument {
  /** The open file. */
  readonly file: InsideFile;
  /** Its media type. */
  readonly type: string;
}

/**
 * What a URL path names: DID document, metadata, the two documents that the
 * metadata names, and the files of proofs. Undefined is everything else: what is not a regular file,
 * what a symbolic link takes out of the directory or to our private folder, and
 * a private key, whatever its name: a hard link or a careless copy looks like a
 * document otherwise.
 *
 * @returns `unsettled` while folders are being renamed: then nothing proves
 * that what was opened lies in the directory. Ask again. `unreadable` when the
 * system refuses to open it, such as without file descriptors: a reader that
 * gets "not found" for `did.json` would trust every key.
 */
export async function openPublished(
  dir: string,
  pathname: string,
  now: Date,
): Promise<PublishedDocument | NotNow | undefined> {
  const type = FIXED_TYPES.get(pathname) ?? await namedType(dir, pathname);
  if (type === undefined || type === "unreadable") return type;
  const file = openFile(dir, pathname);
  if (file === undefined || typeof file === "string") return file;
  let kept = false;
  try {
    // Every append changes a folder above the files of proofs, and nothing that
    // is private has names of digits alone: they don't wait.
    if (type !== PROOF_TYPE && !isSettled(file, now)) return "unsettled";
    if (await holdsPrivateKey(file)) return undefined;
    kept = true;
    return { file, type };
  } finally {
    if (!kept) file.close();
  }
}

/**
 * Folder times are whole seconds, and the system's own clock may be a tick
 * behind: only when that second is over would a further renaming show.
 */
function isSettled({ foldersChangedMs }: InsideFile, now: Date): boolean {
  return now.getTime() >= foldersChangedMs + 1_000 + TICK_MS;
}

/** Longest tick of the clocks that file systems take their times from. */
const TICK_MS = 20;

/** The type of what the metadata calls its key set or its feed. */
async function namedType(
  dir: string,
  pathname: string,
): Promise<string | undefined> {
  const file = openFile(dir, WELL_KNOWN_PATHS.metadata);
  if (file === undefined || typeof file === "string") {
    return file && "unreadable";
  }
  try {
    const bytes = await readUpTo(file, MAX_METADATA_BYTES);
    const metadata = validateMetadata(parseJson(bytes));
    const proofs = proofsPath(metadata);
    const isProof = proofs !== undefined && pathname.startsWith(proofs) &&
      isProofFile(pathname.slice(proofs.length));
    return isProof ? PROOF_TYPE : documentTypes(metadata).get(pathname);
  } catch {
    // Readers can't get past such metadata either.
  } finally {
    file.close();
  }
  return undefined;
}

function openFile(
  dir: string,
  pathname: string,
): InsideFile | NotNow | undefined {
  try {
    const root = Deno.realPathSync(dir);
    const top = root.endsWith("/") ? root : `${root}/`;
    const file = openInside(top, root + decodeURIComponent(pathname));
    if (file === "exchanged") return "unsettled";
    if (typeof file === "string") return undefined;
    if (!file.place.startsWith(".sig/")) return file;
    file.close();
    return undefined;
  } catch (error) {
    return ABSENT.some((kind) => error instanceof kind)
      ? undefined
      : "unreadable";
  }
}

/** Errors of a path that names nothing. */
const ABSENT = [
  Deno.errors.NotFound,
  Deno.errors.NotADirectory,
  Deno.errors.FilesystemLoop,
  Deno.errors.InvalidData,
  URIError,
  TypeError,
];

/** Whether the file is a private JWK, or a set with one. */
async function holdsPrivateKey(file: InsideFile): Promise<boolean> {
  if (file.size > MAX_KEYS_BYTES) return false;
  let value: unknown;
  try {
    value = parseJson(await readUpTo(file, MAX_KEYS_BYTES));
  } catch {
    return false;
  }
  if (!isObject(value)) return false;
  const keys: readonly unknown[] = Array.isArray(value.keys) ? value.keys : [];
  return [value, ...keys].some((key) =>
    isObject(key) && typeof key.kty === "string" &&
    PRIVATE_MEMBERS.some((name) => Object.hasOwn(key, name))
  );
}

/** RFC 7518 §6, RFC 8037 §2. */
const PRIVATE_MEMBERS = ["d", "k", "p", "q", "dp", "dq", "qi", "oth"];

async function readUpTo(
  file: InsideFile,
  maxBytes: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.min(file.size, maxBytes));
  return bytes.subarray(0, await file.read(bytes, 0));
}
