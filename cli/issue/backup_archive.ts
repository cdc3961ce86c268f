/**
 * A backup as one file: a tar archive, encrypted with age if there is a
 * passphrase. `age -d`, `tar x` and `sha256sum -c` read it without sig.
 *
 * @module
 */

import { DEFAULT_LIMITS, SigError } from "@sig/core";
import type { IssuerBackup, StoredKey } from "@sig/issuer";
import type { Io } from "../terminal/io.ts";
import { parseObject } from "../terminal/read_input.ts";
import { decryptWith, encryptWith, isEncrypted } from "./passphrase.ts";

/** Maximum size of a backup in bytes: the largest feed, plus 64 MiB. */
export const MAX_BACKUP_BYTES: number = DEFAULT_LIMITS.maxFeedBytes +
  64 * 1024 * 1024;

/** The first entry, named by the format's version: the SHA-256 of each file. */
const SUMS = "SIG-BACKUP-1.sha256";
const KEY_NAME = /^keys\/([^/]+)\.(jwk|agent)$/;

/** Returns the bytes of a backup, encrypted if there is a passphrase. */
export async function packBackup(
  io: Io,
  { files, keys }: IssuerBackup,
  passphrase: string | undefined,
): Promise<Uint8Array> {
  const { packTar } = await import("modern-tar");
  const mtime = io.now();
  const entries = new Map<string, Uint8Array>();
  for (const [path, bytes] of files) entries.set(path.slice(1), bytes);
  for (const [kid, key] of keys) {
    const [ending, text] = "reference" in key
      ? ["agent", key.reference]
      : ["jwk", JSON.stringify(key)];
    entries.set(`keys/${kid}.${ending}`, new TextEncoder().encode(`${text}\n`));
  }
  const all = [[SUMS, await sumsOf(entries)] as const, ...entries];
  const archive = await packTar(all.map(([name, body]) => ({
    header: {
      name,
      size: body.length,
      mtime,
      type: "file",
      mode: name.startsWith(".well-known/") ? 0o644 : 0o600,
    },
    body,
  })));
  return await encryptWith(io, passphrase, archive);
}

/** Returns one line per file, in the format of `sha256sum`. */
async function sumsOf(
  entries: ReadonlyMap<string, Uint8Array>,
): Promise<Uint8Array> {
  const lines = [...entries].map(async ([name, bytes]) => {
    const digest = await crypto.subtle.digest("SHA-256", bytes.slice());
    return `${new Uint8Array(digest).toHex()}  ${name}\n`;
  });
  return new TextEncoder().encode((await Promise.all(lines)).join(""));
}

/**
 * Reads a backup. With a passphrase, an unencrypted backup is refused, since an
 * attacker could have substituted it.
 *
 * @returns the files and keys, and the time when the backup was made.
 * @throws {SigError} `invalid_request`
 */
export async function unpackBackup(
  bytes: Uint8Array,
  passphrase: string | undefined,
): Promise<IssuerBackup & { readonly madeAt: Date }> {
  const { unpackTar } = await import("modern-tar");
  const archive = await decrypted(bytes, passphrase);
  const found = await unpackTar(archive, { strict: true }).catch(() => {
    throw refused("it is damaged, or not a backup made by sig");
  });
  const [first, ...rest] = found;
  if (first?.header.name !== SUMS) {
    throw refused("it is not a backup made by this version of sig");
  }
  const entries = new Map(
    rest.map(({ header, data }) => [header.name, data ?? new Uint8Array()]),
  );
  const sums = new TextDecoder().decode(await sumsOf(entries));
  const isWhole = entries.size === rest.length &&
    rest.every(({ header }) => header.type === "file") &&
    new TextDecoder().decode(first.data) === sums;
  if (!isWhole) {
    throw refused("it is damaged: its files do not match its digests");
  }
  const files = new Map<string, Uint8Array>();
  const keys = new Map<string, StoredKey>();
  for (const [name, data] of entries) {
    const [, kid, ending] = KEY_NAME.exec(name) ?? [];
    if (kid === undefined) files.set(`/${name}`, data);
    else if (keys.has(kid)) throw refused("it has a key twice");
    else keys.set(kid, readKey(data, ending === "agent"));
  }
  return { files, keys, madeAt: first.header.mtime ?? new Date(0) };
}

/**
 * Returns the kids of keys in an agent. A backup has only references to them.
 */
export function agentKeys({ keys }: IssuerBackup): readonly string[] {
  return [...keys].filter(([, key]) => "reference" in key).map(([kid]) => kid);
}

/** Reads a key file. A private key is validated later, when it is imported. */
function readKey(bytes: Uint8Array, isReference: boolean): StoredKey {
  if (isReference) {
    return { reference: new TextDecoder().decode(bytes).trimEnd() };
  }
  const key = parseObject(bytes);
  if (key === undefined) throw refused("one of its keys is not a JWK");
  return key as unknown as StoredKey;
}

async function decrypted(
  bytes: Uint8Array,
  passphrase: string | undefined,
): Promise<Uint8Array> {
  if (passphrase === undefined) {
    if (!isEncrypted(bytes)) return bytes;
    throw refused("it is encrypted", "Add --passphrase-file.");
  }
  if (!isEncrypted(bytes)) {
    throw refused(
      "it is not encrypted",
      "If you made it without a passphrase, leave out --passphrase-file.",
    );
  }
  const archive = await decryptWith(passphrase, bytes);
  if (archive !== undefined) return archive;
  throw refused("the passphrase is wrong, or the file is damaged");
}

function refused(
  why: string,
  hint = "Nothing was written.",
): SigError {
  return new SigError("invalid_request", {
    action: "use the backup",
    reason: why,
    context: { hint },
  });
}
