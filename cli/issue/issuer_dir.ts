/** The issuer's directory that a command works on. @module */

import {
  isObject,
  JsonError,
  type OpenObject,
  parseJson,
  SigError,
  type SigMetadata,
  validateMetadata,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import {
  createFileKeyStore,
  createFileStore,
  type Issuer,
  openIssuer,
} from "@sig/issuer";
import { importSigningKey } from "@sig/jose";
import type { Call } from "../command_line/command.ts";
import { keyStoreDir } from "./key_store_dir.ts";
import { warn } from "../command_line/output.ts";
import { usageError } from "@sig/api/flags";
import { readSigningKey, seedToJwk } from "./private_key.ts";

const MAX_DOCUMENT_BYTES = 256 * 1024;
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
  if (events === undefined) {
    throw usageError("--dir is required", { flag: "--dir" });
  }
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
  await checkIssuer(call, dir);
  const kid = call.text("kid");
  const file = call.text("key") ?? io.env("SIG_KEY_FILE");
  const seed = call.text("seed-hex");
  if (seed !== undefined && call.text("key") !== undefined) {
    throw usageError("--key and --seed-hex both name the key that signs", {
      flag: "--seed-hex",
    });
  }
  const allowWarnings = call.on("allow-warnings");
  const open = (keys: Parameters<typeof openIssuer>[0]["keys"]) =>
    openIssuer({
      store: createFileStore(dir),
      keys,
      now: io.now,
      allowWarnings,
      acceptRollback: call.on("accept-rollback"),
      onRecovery: (notice) => warn(call, notice.detail),
      ...(kid === undefined ? {} : { kid }),
    });
  if (seed !== undefined) {
    warn(
      call,
      "--seed-hex: a secret on a command line can be read by others; " +
        "use the key store or --key",
    );
    const jwk = await seedToJwk(seed);
    const named = kid ?? await publishedKid(call, dir, jwk);
    return await open(await importSigningKey({ ...jwk, kid: named }));
  }
  if (file === undefined) return await open(fileKeys(call));
  return await open(
    await readSigningKey(call, file, {
      kid,
      kidOf: (jwk) => publishedKid(call, dir, jwk),
    }),
  );
}

/** The DID of the issuer of `--dir`. */
export async function localIssuer(call: Call): Promise<string> {
  return (await readMetadata(call, issuerDir(call))).issuer;
}

/** The peer's `--issuer` must name the issuer of the directory. */
async function checkIssuer(call: Call, dir: string): Promise<void> {
  const issuer = call.text("issuer");
  if (issuer === undefined) return;
  const metadata = await readMetadata(call, dir);
  if (metadata.issuer === issuer) return;
  throw new SigError(
    "issuer_mismatch",
    "Cannot append: --issuer is not the issuer of the directory",
    { context: { flag: "--issuer", expected: metadata.issuer } },
  );
}

/**
 * The kid that a key is published under, which its file may not know; its own
 * where there are several.
 */
async function publishedKid(
  call: Call,
  dir: string,
  { kid, x }: OpenObject,
): Promise<string | undefined> {
  const { jwks_uri } = await readMetadata(call, dir);
  const path = dir + decodeURIComponent(new URL(jwks_uri).pathname);
  const { keys } = await readDocument(call, path);
  const kids: string[] = [];
  for (const key of Array.isArray(keys) ? keys : []) {
    if (!isObject(key) || typeof key.kid !== "string") continue;
    if (key.x !== undefined && key.x === x) kids.push(key.kid);
  }
  return kids.find((each) => each === kid) ?? kids.at(-1);
}

async function readMetadata(call: Call, dir: string): Promise<SigMetadata> {
  const path = dir + WELL_KNOWN_PATHS.metadata;
  return validateMetadata(await readDocument(call, path));
}

async function readDocument(call: Call, path: string): Promise<OpenObject> {
  try {
    const value = parseJson(await call.io.readFile(path, MAX_DOCUMENT_BYTES));
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new SigError(
    "invalid_metadata",
    `Cannot read ${JSON.stringify(path)}: it must be one strict JSON object`,
  );
}
