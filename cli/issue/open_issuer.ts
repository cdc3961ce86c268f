/** Opens the issuer's directory that a command works on. @module */

import { isObject } from "@sig/core/internal";
import {
  createFileKeyStore,
  createFileStore,
  type Issuer,
  openIssuer,
  type PublishedDocuments,
  type PublishedState,
} from "@sig/issuer";
import { AGENT_LOCK_TIMEOUT_MS } from "@sig/issuer/internal";
import type { SigningKey } from "@sig/jose";
import type { Call } from "../command_line/command.ts";
import { type Output, warn } from "../output/write.ts";
import { type PeopleValue, tryReadPeopleFile } from "../people/people.ts";
import type { IssuerValues } from "./flags.ts";
import { findAgentKey, isAgentKey } from "./agent_key.ts";
import {
  hasKeyStore,
  keyStoreDir,
  type NamedKey,
  readNamedKey,
} from "./private_key.ts";

/** Opens the key store of this machine. */
export function fileKeys(call: Output) {
  return createFileKeyStore(keyStoreDir(call.io), {
    onWarning: (text) => warn(call, text),
    findReferenced: async (reference, kid) =>
      await (await findAgentKey(call, `agent:${reference}`)).open(kid),
  });
}

/** Opens the issuer of `--dir` with the key that the flags name. */
export async function openIssuerDir(
  call: Call<IssuerValues>,
): Promise<Issuer> {
  const { flags: { kid }, io } = call;
  const file = call.flags.key ?? io.env("SIG_KEY_FILE");
  const given = file === undefined ? undefined : await readNamedKey(call, file);
  return await openIssuer({
    store: createFileStore(call.flags.dir),
    keys: given === undefined ? fileKeys(call) : openPublished(given, kid),
    now: io.now,
    lockTimeoutMs: isAgentKey(file ?? "") ? AGENT_LOCK_TIMEOUT_MS : undefined,
    allowWarnings: call.flags["allow-warnings"] ?? false,
    acceptRollback: call.flags["accept-rollback"] ?? false,
    otherKeys: given === undefined || !hasKeyStore(io) ? [] : [fileKeys(call)],
    onRecovery: (notice) => warn(call, notice.detail),
    ...(kid === undefined ? {} : { kid }),
  });
}

/**
 * Opens the issuer of `--dir` with the key store, for work on its keys. A key
 * of `SIG_KEY_FILE`, the result's `own`, may sign as well.
 */
export async function openWithKeyStore(call: Call<{ readonly dir: string }>) {
  const file = call.io.env("SIG_KEY_FILE");
  const own = file === undefined ? undefined : await readNamedKey(call, file);
  const issuer = await openIssuer({
    store: createFileStore(call.flags.dir),
    keys: fileKeys(call),
    otherKeys: own === undefined ? [] : [openPublished(own)],
    now: call.io.now,
    onRecovery: (notice) => warn(call, notice.detail),
  });
  return { issuer, own };
}

/**
 * Opens the issuer as {@linkcode openIssuerDir}. Refuses if the feed at
 * `--against` has more events than the local feed.
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
 * Returns the state of an issuer, joined with the people file, whose faults are
 * warnings.
 */
export async function publishedState(
  call: Call<PeopleValue>,
  issuer: Issuer,
): Promise<PublishedState> {
  // Not with `@sig/issuer/internal`, which display names need not load.
  const people = await tryReadPeopleFile(call);
  const state = await issuer.published();
  return { ...state, people: people.linked(state.personOf) };
}

/** Opens a key under the kid that the issuer's documents publish it with. */
export function openPublished(
  key: NamedKey,
  kid?: string,
): (documents: PublishedDocuments) => Promise<SigningKey> {
  return (documents) => key.open(kid ?? findKid(key, documents));
}

/**
 * Finds the kid that a key is published under. The key's file may lack it; if
 * there are several, the kid in the file is preferred, then the last.
 */
function findKid(
  { x, kid }: NamedKey,
  { jwks }: PublishedDocuments,
): string | undefined {
  const keys: readonly unknown[] = Array.isArray(jwks.keys) ? jwks.keys : [];
  const kids = keys.flatMap((key) =>
    isObject(key) && typeof key.kid === "string" && key.x !== undefined &&
      key.x === x
      ? [key.kid]
      : []
  );
  return kids.find((each) => each === kid) ?? kids.at(-1);
}
