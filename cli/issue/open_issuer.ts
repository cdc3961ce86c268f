/** The issuer's directory that a command works on. @module */

import type { OpenObject } from "@sig/core";
import { isObject } from "@sig/core/internal";
import {
  createFileKeyStore,
  createFileStore,
  type Issuer,
  openIssuer,
  type PublishedDocuments,
} from "@sig/issuer";
import { importSigningKey } from "@sig/jose";
import type { Call } from "../command_line/command.ts";
import { type Output, warn } from "../output/write.ts";
import type { IssuerValues } from "./flags.ts";
import { hasKeyStore, keyStoreDir, readPrivateJwk } from "./private_key.ts";

/** The private keys of this machine. */
export function fileKeys(call: Output) {
  return createFileKeyStore(keyStoreDir(call.io), {
    onWarning: (text) => warn(call, text),
  });
}

/** Opens the issuer of `--dir` with the key that the flags name. */
export async function openIssuerDir(
  call: Call<IssuerValues>,
): Promise<Issuer> {
  const { flags: { kid }, io } = call;
  const file = call.flags.key ?? io.env("SIG_KEY_FILE");
  const given = file === undefined
    ? undefined
    : await readPrivateJwk(call, file);
  return await openIssuer({
    store: createFileStore(call.flags.dir),
    keys: given === undefined
      ? fileKeys(call)
      : (documents) => importSigningKey(withKid(given, kid, documents)),
    now: io.now,
    allowWarnings: call.flags["allow-warnings"] ?? false,
    acceptRollback: call.flags["accept-rollback"] ?? false,
    otherKeys: given === undefined || !hasKeyStore(io) ? [] : [fileKeys(call)],
    onRecovery: (notice) => warn(call, notice.detail),
    ...(kid === undefined ? {} : { kid }),
  });
}

/**
 * {@linkcode openIssuerDir}, refused if the feed that `--against` names has
 * more events than the local one.
 */
export async function openIssuerForAppend(
  call: Call<IssuerValues>,
): Promise<Issuer> {
  const issuer = await openIssuerDir(call);
  const against = call.flags.against;
  if (against === undefined) return issuer;
  try {
    const { readPublishedFeed } = await import("./published_feed.ts");
    await issuer.requireNotBehind(await readPublishedFeed(call, against));
    return issuer;
  } catch (error) {
    await issuer.close();
    throw error;
  }
}

/**
 * The key under the given kid, else under the one that it is published as,
 * which its file may not know; its own if there are several.
 */
function withKid(
  jwk: OpenObject,
  given: string | undefined,
  { jwks }: PublishedDocuments,
): OpenObject {
  const kids: string[] = [];
  for (const key of Array.isArray(jwks.keys) ? jwks.keys : []) {
    if (!isObject(key) || typeof key.kid !== "string") continue;
    if (key.x !== undefined && key.x === jwk.x) kids.push(key.kid);
  }
  const kid = given ?? kids.find((each) => each === jwk.kid) ?? kids.at(-1);
  return kid === undefined ? jwk : { ...jwk, kid };
}
