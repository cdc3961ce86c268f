/** Permissions on the machine that signs. @module */

import { parseJson } from "@sig/core";
import { isObject, isString } from "@sig/core/internal";
import type { Recovery } from "@sig/jose/recovery";
import type { Io } from "../terminal/io.ts";
import { hasKeyStore, keyStoreDir } from "../issue/private_key.ts";
import type { FindingTable } from "./finding.ts";

/** Permission bits of group and others. */
const OTHERS = 0o077;
/** Read permission bits of group and others. */
const READABLE = 0o044;

/** The published paths, each folder before its content. */
const PUBLISHED = [
  "",
  "/sig.json",
  "/jwks.json",
  "/did.json",
  "/sig",
  "/sig/events.jsonl",
  "/sig/checkpoint",
  "/sig/state",
  "/sig/tile",
].map((place) => `.well-known${place}`);

/** Permission bits of private and published files. */
interface ExaminedDisk {
  readonly dir: string;
  /** The modes of existing files and folders, by path. */
  readonly modes: ReadonlyMap<string, number>;
  /** Paths in the key store, and the key file of `SIG_KEY_FILE`. */
  readonly keys: readonly string[];
  /** The files beside them that have a recovery key of the issuer. */
  readonly recoveryKeys: readonly string[];
  /** Whether the issuer has published a commitment to a recovery key. */
  readonly hasRecovery: boolean;
}

/** Reads the permission bits of an issuer's files and keys. */
export async function readDisk(
  io: Io,
  dir: string,
  issuer: string,
  kids: readonly string[],
  recovery: Recovery | undefined,
): Promise<ExaminedDisk> {
  const keys = keyPaths(io, issuer, kids);
  const store = hasKeyStore(io) ? keyStoreDir(io) : undefined;
  const folders = [dir, `${dir}/.sig`, `${dir}/.well-known`];
  if (store !== undefined) {
    const host = decodeURIComponent(issuer.slice("did:web:".length));
    folders.push(store, `${store}/${host}`);
  }
  const recoveryKeys = recovery === undefined
    ? []
    : await findRecoveryKeys(io, folders, recovery);
  const published = PUBLISHED.map((place) => `${dir}/${place}`);
  const modes = new Map<string, number>();
  for (const path of [`${dir}/.sig`, ...published, ...keys]) {
    const mode = await io.fileMode(path);
    if (mode !== null) modes.set(path, mode);
  }
  const hasRecovery = recovery !== undefined;
  return { dir, modes, keys, recoveryKeys, hasRecovery };
}

/** Maximum size of a file that may be a key. */
const MAX_KEY_BYTES = 16 * 1024;

/** Finds private recovery keys that are not encrypted. */
async function findRecoveryKeys(
  io: Io,
  folders: readonly string[],
  { member, statements }: Recovery,
): Promise<readonly string[]> {
  const { commitmentTo } = await import("@sig/jose/recovery");
  const known = new Set([
    member.commitment,
    ...statements.map(({ next }) => next),
  ]);
  const found: string[] = [];
  for (const folder of folders) {
    for (const name of await io.listFolder(folder) ?? []) {
      const path = `${folder}/${name}`;
      const bytes = await io.readFile(path, MAX_KEY_BYTES).catch(() => null);
      const x = bytes === null ? undefined : privateX(bytes);
      if (x !== undefined && known.has(commitmentTo(x))) found.push(path);
    }
  }
  return found;
}

/** Returns `x` of a private JWK; undefined for any other file. */
function privateX(bytes: Uint8Array): string | undefined {
  try {
    const value = parseJson(bytes);
    return isObject(value) && isString(value.d) && isString(value.x)
      ? value.x
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the key file of `SIG_KEY_FILE`, and those of the key store. */
function keyPaths(
  io: Io,
  issuer: string,
  kids: readonly string[],
): readonly string[] {
  const file = io.env("SIG_KEY_FILE");
  const named = file === undefined ? [] : [file];
  if (!hasKeyStore(io)) return named;
  // The feed was verified, so the issuer is a valid did:web without a path.
  const host = decodeURIComponent(issuer.slice("did:web:".length));
  const folder = `${keyStoreDir(io)}/${host}`;
  const files = kids.filter((kid) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(kid))
    .map((kid) => `${folder}/${kid}.jwk`);
  return [...named, folder, ...files];
}

const isOpen = ({ modes }: ExaminedDisk, path: string) =>
  ((modes.get(path) ?? 0) & OTHERS) !== 0;

/** Findings about a directory. */
export const DISK_FINDINGS = {
  folder_open_to_others: {
    severity: "warning",
    when: "Other users of the machine can read `.sig`",
    why:
      "It contains names of people, and write access to it can block appends",
    mend: "chmod 700 the folder",
    find(disk) {
      const path = `${disk.dir}/.sig`;
      if (!isOpen(disk, path)) return [];
      return [[
        "other users of this machine can read the issuer's private folder",
        path,
        `chmod 700 ${path}`,
      ]];
    },
  },
  document_closed_to_others: {
    severity: "info",
    when: "Only the owner can read what is published",
    why: "A web server that runs as another user answers 403 or 404",
    mend: "chmod -R a+rX the folder .well-known, unless the owner serves it",
    find({ dir, modes }) {
      const closed = PUBLISHED.map((place) => `${dir}/${place}`)
        .find((path) => ((modes.get(path) ?? READABLE) & READABLE) === 0);
      if (closed === undefined) return [];
      return [[
        "other users of this machine, such as a web server's, can't read it",
        closed,
        `chmod -R a+rX ${dir}/.well-known`,
      ]];
    },
  },
  no_recovery_key: {
    severity: "info",
    when: "The issuer has no recovery key",
    why: "A stolen signing key can't be ended, and a lost one stops readers",
    mend: "sig recovery create, and keep the key offline",
    find: ({ dir, hasRecovery }) =>
      hasRecovery ? [] : [["there is no recovery key", dir]],
  },
  recovery_key_stored_here: {
    severity: "error",
    when: "A recovery key is in the issuer's directory or in the key store",
    why: "A thief of the signing key gets it too, and ends your keys",
    mend: "Move it to a medium that is kept offline",
    find: ({ recoveryKeys }) =>
      recoveryKeys.map((path) => ["a recovery key is kept here", path]),
  },
  key_open_to_others: {
    severity: "error",
    when: "Other users of the machine can read a private key or its folder",
    why: "With the key, anything can be signed in your name",
    mend: "chmod go-rwx it; if it may have been read: sig rotate-key",
    find: (disk) =>
      disk.keys.filter((path) => isOpen(disk, path)).map((path) => [
        "other users of this machine can read a private key or its folder",
        path,
        `chmod go-rwx ${path}; if it may have been read: sig rotate-key`,
      ]),
  },
} as const satisfies FindingTable<ExaminedDisk>;
