/** What a doctor finds on the disk of whoever signs. @module */

import { dataFolder } from "@sig/api/flags";
import type { Io } from "../terminal/io.ts";
import { keyStoreDir } from "../issue/key_store_dir.ts";
import type { Finding } from "./finding.ts";
import { found } from "./found.ts";

/** Bits that let anybody but the owner in. */
const OTHERS = 0o077;

/** Bits that let the group or everybody read. */
const READABLE = 0o044;

/** What is published, each folder before what it holds. */
const PUBLISHED = [
  ...["", "/sig.json", "/jwks.json", "/did.json"],
  ...["/sig", "/sig/events.jsonl"],
].map((place) => `.well-known${place}`);

/**
 * Permissions of what is private, the local folder and keys at hand; and of what
 * is published, which a web server reads as another user.
 */
export async function examineDisk(
  io: Io,
  dir: string,
  issuer: string,
  kids: readonly string[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const own = `${dir}/.sig`;
  if (isOpen(await io.fileMode(own))) {
    findings.push(found(
      "folder_open_to_others",
      "others on this machine can look into the issuer's own folder",
      own,
      `chmod 700 ${own}`,
    ));
  }
  const closed = await closedDocument(io, dir);
  if (closed !== undefined) {
    findings.push(found(
      "document_closed_to_others",
      "no other user of this machine can read it, nor a web server that runs as one",
      closed,
      `chmod -R a+rX ${dir}/.well-known`,
    ));
  }
  for (const path of keyPaths(io, issuer, kids)) {
    if (!isOpen(await io.fileMode(path))) continue;
    findings.push(found(
      "key_open_to_others",
      "others on this machine can read where a private key lies",
      path,
      `chmod go-rwx ${path}; if somebody may have read it: sig rotate-key`,
    ));
  }
  return findings;
}

/** The first of what is published that only its owner can read. */
async function closedDocument(
  io: Io,
  dir: string,
): Promise<string | undefined> {
  for (const place of PUBLISHED) {
    const path = `${dir}/${place}`;
    const mode = await io.fileMode(path);
    if (mode !== null && (mode & READABLE) === 0) return path;
  }
  return undefined;
}

function isOpen(mode: number | null): boolean {
  return mode !== null && (mode & OTHERS) !== 0;
}

/** Where private keys may lie: the one that is named, and the key store. */
function keyPaths(
  io: Io,
  issuer: string,
  kids: readonly string[],
): readonly string[] {
  const file = io.env("SIG_KEY_FILE");
  const named = file === undefined ? [] : [file];
  const isKnown = io.env("SIG_KEYS_DIR") !== undefined ||
    dataFolder(io.env).folder !== undefined;
  if (!isKnown) return named;
  // The feed was verified: the issuer is a proper did:web without a path.
  const host = decodeURIComponent(issuer.slice("did:web:".length));
  const folder = `${keyStoreDir(io)}/${host}`;
  const files = kids.filter((kid) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(kid))
    .map((kid) => `${folder}/${kid}.jwk`);
  return [...named, folder, ...files];
}
