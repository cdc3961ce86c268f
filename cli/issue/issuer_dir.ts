/** The issuer's directory that a command works on. @module */

import { isObject, type OpenObject } from "@sig/core";
import {
  createFileKeyStore,
  createFileStore,
  type Issuer,
  openIssuer,
  type PublishedDocuments,
} from "@sig/issuer";
import { importSigningKey } from "@sig/jose";
import type { Call } from "../command_line/command.ts";
import { keyStoreDir } from "./key_store_dir.ts";
import { warn } from "../command_line/output.ts";
import { readPrivateJwk } from "./private_key.ts";

/** A file store whose messages reach people. */
export function fileKeys(call: Call) {
  return createFileKeyStore(keyStoreDir(call.io), {
    onWarning: (text) => warn(call, text),
  });
}

/** Opens the issuer of `--dir` with the key that the flags name. */
export async function openIssuerDir(call: Call): Promise<Issuer> {
  const { io } = call;
  const kid = call.text("kid");
  const file = call.text("key") ?? io.env("SIG_KEY_FILE");
  const given = file === undefined
    ? undefined
    : await readPrivateJwk(call, file);
  return await openIssuer({
    store: createFileStore(call.text("dir")!),
    keys: given === undefined
      ? fileKeys(call)
      : (documents) => importSigningKey(withKid(given, kid, documents)),
    now: io.now,
    allowWarnings: call.on("allow-warnings"),
    acceptRollback: call.on("accept-rollback"),
    onRecovery: (notice) => warn(call, notice.detail),
    ...(kid === undefined ? {} : { kid }),
  });
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
