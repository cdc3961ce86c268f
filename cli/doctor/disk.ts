/** Permissions on the machine that signs. @module */

import { isString } from "@sig/core/internal";
import type { Recovery } from "@sig/jose/recovery";
import type { Io } from "../terminal/io.ts";
import { parseObject } from "../terminal/read_input.ts";
import { hasKeyStore, keyStoreDir } from "../issue/private_key.ts";
import { error, type FindingTable, info, warning } from "./finding.ts";

/** Permission bits of group and others. */
const OTHERS = 0o077;

type ExaminedDisk = Awaited<ReturnType<typeof readDisk>>;

/** Reads the permission bits of an issuer's files and keys. */
export async function readDisk(
  io: Io,
  dir: string,
  issuer: string,
  kids: readonly string[],
  recovery: Recovery | undefined,
) {
  const folders = [dir, `${dir}/.sig`, `${dir}/.well-known`];
  const file = io.env("SIG_KEY_FILE");
  /** Paths in the key store, and the key file of `SIG_KEY_FILE`. */
  const keys = file === undefined ? [] : [file];
  if (hasKeyStore(io)) {
    // The feed was verified, so the issuer is a valid did:web without a path.
    const host = decodeURIComponent(issuer.slice("did:web:".length));
    const folder = `${keyStoreDir(io)}/${host}`;
    folders.push(keyStoreDir(io), folder);
    const names = kids.filter((kid) => /^[\w-][\w.-]*$/.test(kid));
    keys.push(folder, ...names.map((kid) => `${folder}/${kid}.jwk`));
  }
  /** The modes of existing files and folders, by path. */
  const modes = new Map<string, number>();
  for (const path of [`${dir}/.sig`, ...keys]) {
    const mode = await io.fileMode(path);
    if (mode !== null) modes.set(path, mode);
  }
  return {
    dir,
    modes,
    keys,
    /** Whether the issuer has published a commitment to a recovery key. */
    hasRecovery: recovery !== undefined,
    /** The files beside them that have a recovery key of the issuer. */
    recoveryKeys: recovery === undefined
      ? []
      : await findRecoveryKeys(io, folders, recovery),
  };
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
      const bytes = await io.readFile(path, MAX_KEY_BYTES).catch(() => "");
      const { d, x } = parseObject(bytes) ?? {};
      const isPrivate = isString(d) && isString(x);
      if (isPrivate && known.has(commitmentTo(x))) found.push(path);
    }
  }
  return found;
}

const isOpen = ({ modes }: ExaminedDisk, path: string) =>
  ((modes.get(path) ?? 0) & OTHERS) !== 0;

/** Findings about a directory. */
export const DISK_FINDINGS = {
  folder_open_to_others: warning(
    "Other users of the machine can read `.sig`",
    "It contains names of people, and write access to it can block appends",
    "chmod 700 the folder",
    (disk) => {
      const path = `${disk.dir}/.sig`;
      if (!isOpen(disk, path)) return [];
      return [[
        "other users of this machine can read the issuer's private folder",
        path,
        `chmod 700 ${path}`,
      ]];
    },
  ),
  no_recovery_key: info(
    "The issuer has no recovery key",
    "A stolen signing key can't be ended, and a lost one stops readers",
    "sig recovery create, and keep the key offline",
    ({ dir, hasRecovery }) =>
      hasRecovery ? [] : [["there is no recovery key", dir]],
  ),
  recovery_key_stored_here: error(
    "A recovery key is in the issuer's directory or in the key store",
    "A thief of the signing key gets it too, and ends your keys",
    "Move it to a medium that is kept offline",
    ({ recoveryKeys }) =>
      recoveryKeys.map((path) => ["a recovery key is kept here", path]),
  ),
  key_open_to_others: error(
    "Other users of the machine can read a private key or its folder",
    "With the key, anything can be signed in your name",
    "chmod go-rwx it; if it may have been read: sig rotate-key",
    (disk) =>
      disk.keys.filter((path) => isOpen(disk, path)).map((path) => [
        "other users of this machine can read a private key or its folder",
        path,
        `chmod go-rwx ${path}; if it may have been read: sig rotate-key`,
      ]),
  ),
} as const satisfies FindingTable<ExaminedDisk>;
