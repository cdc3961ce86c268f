/** OpenSSH public keys as subjects (docs/ssh-and-git.md). @module */

import { isDid, isSigError, SigError } from "@sig/core";
import type { LoadedCommand, ParsedCall } from "../command_line/command.ts";
import { did } from "../command_line/values.ts";
import type { Io } from "../terminal/io.ts";

/** More than any public key with its comment needs. */
const MAX_KEY_BYTES = 16 * 1024;

/** Text with the type of an OpenSSH key in it, and something behind that. */
export function isSshKey(text: string): boolean {
  return /(?:^|\s)(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+\s/.test(text);
}

/** The flags, with the did:key of each subject that is an OpenSSH public key. */
export async function resolveSubjects(
  { flags }: Pick<LoadedCommand, "flags">,
  call: ParsedCall,
): Promise<ParsedCall> {
  const subjects = new Map<string, string>();
  for (const { name, value } of flags) {
    const text = value === did.placeholder ? call.text(name) : undefined;
    if (text === undefined) continue;
    try {
      subjects.set(name, await readSubject(call.io, text));
    } catch (error) {
      if (!isSigError(error)) throw error;
      const context = { ...error.context, flag: `--${name}` };
      throw new SigError(error.code, error, { context, cause: error.cause });
    }
  }
  return { ...call, text: (flag) => subjects.get(flag) ?? call.text(flag) };
}

/** A DID may end in .pub, as `did:web:alice.pub` does: it is not a file. */
async function readSubject(io: Io, text: string): Promise<string> {
  if (isDid(text)) return text;
  const isFile = text.endsWith(".pub");
  if (!isFile && !isSshKey(text)) return text;
  const line = isFile
    ? new TextDecoder().decode(await io.readFile(text, MAX_KEY_BYTES))
    : text;
  const { jwkToDidKey, sshKeyToJwk } = await import("@sig/jose");
  return jwkToDidKey(sshKeyToJwk(line));
}
