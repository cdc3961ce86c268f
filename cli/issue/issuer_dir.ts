/** The issuer's directory that a command works on. @module */

import {
  isObject,
  type OpenObject,
  SigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import {
  createFileKeyStore,
  createFileStore,
  type Issuer,
  openIssuer,
  type PublishedDocuments,
} from "@sig/issuer";
import { importSigningKey } from "@sig/jose";
import type { Call } from "../command_line/command.ts";
import { dirRequired } from "./dir_required.ts";
import { keyStoreDir } from "./key_store_dir.ts";
import { warn } from "../command_line/output.ts";
import { usageError } from "@sig/api/flags";
import { readPrivateJwk, seedToJwk } from "./private_key.ts";

const FEED_PATH = WELL_KNOWN_PATHS.feed;

/** `--dir`, or the directory that `--events-path` lies in. */
export function issuerDir(call: Call): string {
  const dir = call.text("dir");
  const events = call.text("events-path");
  if (dir !== undefined && events !== undefined) {
    throw usageError("--dir and --events-path mean the same", {
      flag: "--events-path",
    });
  }
  if (dir !== undefined) return dir;
  if (events === undefined) throw dirRequired();
  if (!`/${events}`.endsWith(FEED_PATH)) {
    throw usageError(`--events-path must end in ${FEED_PATH.slice(1)}`, {
      flag: "--events-path",
    });
  }
  return events.slice(0, events.length - FEED_PATH.length) || ".";
}

/** A file store whose messages reach people. */
export function fileKeys(call: Call) {
  return createFileKeyStore(keyStoreDir(call.io), {
    onWarning: (text) => warn(call, text),
  });
}

/** Opens the issuer of `--dir` with the key that the flags name. */
export async function openIssuerDir(call: Call): Promise<Issuer> {
  const { io } = call;
  const dir = issuerDir(call);
  const kid = call.text("kid");
  const given = await givenKey(call);
  return await openIssuer({
    store: createFileStore(dir),
    keys: (documents) => {
      requireIssuer(call, documents);
      return given === undefined
        ? fileKeys(call)
        : importSigningKey(withKid(given, kid, documents));
    },
    now: io.now,
    allowWarnings: call.on("allow-warnings"),
    acceptRollback: call.on("accept-rollback"),
    onRecovery: (notice) => warn(call, notice.detail),
    ...(kid === undefined ? {} : { kid }),
  });
}

/** The private key that stands on the command line or in a file that it names. */
async function givenKey(call: Call): Promise<OpenObject | undefined> {
  const seed = call.text("seed-hex");
  const file = call.text("key") ?? call.io.env("SIG_KEY_FILE");
  if (seed === undefined) {
    return file === undefined ? undefined : await readPrivateJwk(call, file);
  }
  if (call.text("key") !== undefined) {
    throw usageError("--key and --seed-hex both name the key that signs", {
      flag: "--seed-hex",
    });
  }
  warn(
    call,
    "--seed-hex: a secret on a command line can be read by others; " +
      "use the key store or --key",
  );
  return await seedToJwk(seed);
}

/** The peer's `--issuer` must name the issuer of the directory. */
function requireIssuer(call: Call, { metadata }: PublishedDocuments): void {
  const issuer = call.text("issuer");
  if (issuer === undefined || metadata.issuer === issuer) return;
  throw new SigError(
    "issuer_mismatch",
    "Cannot append: --issuer is not the issuer of the directory",
    { context: { flag: "--issuer", expected: metadata.issuer } },
  );
}

/**
 * The key under the kid that is told, else under the one that it is published
 * as, which its file may not know; its own where there are several.
 */
function withKid(
  jwk: OpenObject,
  told: string | undefined,
  { jwks }: PublishedDocuments,
): OpenObject {
  const kids: string[] = [];
  for (const key of Array.isArray(jwks.keys) ? jwks.keys : []) {
    if (!isObject(key) || typeof key.kid !== "string") continue;
    if (key.x !== undefined && key.x === jwk.x) kids.push(key.kid);
  }
  const kid = told ?? kids.find((each) => each === jwk.kid) ?? kids.at(-1);
  return kid === undefined ? jwk : { ...jwk, kid };
}
