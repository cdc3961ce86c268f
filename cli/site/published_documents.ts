/** The public files of an issuer's directory. @module */

import { parseJson, validateMetadata, WELL_KNOWN_PATHS } from "@sig/core";
import { isObject } from "@sig/core/internal";
import { isProofFile } from "@sig/jose/proofs";
import { type InsideFile, openInside } from "@sig/consumer/internal";
import { parseObject } from "../terminal/read_input.ts";
import {
  documentTypes,
  FIXED_TYPES,
  PROOF_TYPE,
  proofsPath,
} from "./site_headers.ts";

/** Maximum size of `sig.json` in bytes (docs/protocol.md §8). */
const MAX_METADATA_BYTES = 16 * 1024;
/** Maximum size of a key set in bytes (docs/protocol.md §8). */
const MAX_KEYS_BYTES = 256 * 1024;

/** The reason why an existing document can't be sent now. */
export type NotNow = "unsettled" | "unreadable";

/** A published file, open for reading. The caller closes it. */
export interface PublishedDocument {
  readonly file: InsideFile;
  readonly type: string;
}

/**
 * Opens the document of a URL path: DID document, metadata, the documents that
 * the metadata names, or a proof file. Returns undefined for everything else:
 * other files, symbolic links out of the directory or to its private folder,
 * and private keys of any name, since a hard link or a mistaken copy could have
 * the name of a document.
 *
 * @returns `unsettled` while folders are being renamed: the opened file may be
 * outside of the directory, so the caller must try again. `unreadable` if the
 * system can't open it, for example without free file descriptors: a reader
 * that gets "not found" for `did.json` would trust every key.
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
    // Proof files don't wait: every append changes a folder above them, and
    // private files never have names of digits only.
    if (type !== PROOF_TYPE && !isSettled(file, now)) return "unsettled";
    if (await holdsPrivateKey(file)) return undefined;
    kept = true;
    return { file, type };
  } finally {
    if (!kept) file.close();
  }
}

/**
 * Whether the folders have not changed for a while. Their times are whole
 * seconds, and the clock of the system may be a tick behind, so another rename
 * within the same second would not be visible.
 */
function isSettled({ foldersChangedMs }: InsideFile, now: Date): boolean {
  return now.getTime() >= foldersChangedMs + 1_000 + TICK_MS;
}

/** Maximum resolution of the clocks of file systems in milliseconds. */
const TICK_MS = 20;

/** Returns the media type of a document that the metadata names. */
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
    // Readers refuse such metadata too.
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

/** Errors of a path that does not exist. */
const ABSENT = [
  Deno.errors.NotFound,
  Deno.errors.NotADirectory,
  Deno.errors.FilesystemLoop,
  Deno.errors.InvalidData,
  URIError,
  TypeError,
];

/** Whether the file is a private JWK or a set that contains one. */
async function holdsPrivateKey(file: InsideFile): Promise<boolean> {
  if (file.size > MAX_KEYS_BYTES) return false;
  const value = parseObject(await readUpTo(file, MAX_KEYS_BYTES));
  if (value === undefined) return false;
  const keys: readonly unknown[] = Array.isArray(value.keys) ? value.keys : [];
  return [value, ...keys].some((key) =>
    isObject(key) && typeof key.kty === "string" &&
    PRIVATE_MEMBERS.some((name) => Object.hasOwn(key, name))
  );
}

/** Private members of a JWK (RFC 7518 §6, RFC 8037 §2). */
const PRIVATE_MEMBERS = ["d", "k", "p", "q", "dp", "dq", "qi", "oth"];

async function readUpTo(
  file: InsideFile,
  maxBytes: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.min(file.size, maxBytes));
  return bytes.subarray(0, await file.read(bytes, 0));
}
