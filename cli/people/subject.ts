/**
 * Resolves the subject of a flag: an OpenSSH public key (docs/ssh-and-git.md),
 * or a name in the issuer's names file.
 *
 * @module
 */

import { isDid, isSigError, personOf, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { LoadedCommand, ParsedCall } from "../command_line/command.ts";
import { did } from "../command_line/values.ts";
import type { Io } from "../terminal/io.ts";

/** More than any public key with its comment. */
const MAX_KEY_BYTES = 16 * 1024;

/** Maximum number of people with the same name that a message lists. */
const MAX_NAMED = 5;

/**
 * Returns whether a text contains the type of an OpenSSH key, followed by more.
 */
export function isSshKey(text: string): boolean {
  return /(?:^|\s)(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+\s/.test(text);
}

/**
 * Returns the call with keys and names replaced by DIDs in its subject flags.
 */
export async function resolveSubjects(
  { flags, positionals }: Pick<LoadedCommand, "flags" | "positionals">,
  call: ParsedCall,
): Promise<ParsedCall> {
  const subjects = new Map<string, string>();
  for (const { name, value } of flags) {
    const text = value === did.placeholder ? call.text(name) : undefined;
    if (text === undefined) continue;
    try {
      const hasSource = positionals?.[0]?.name === "source";
      const [source] = [
        ...call.texts("sig"),
        ...hasSource ? call.positionals : [],
      ];
      const place = { dir: call.text("dir"), source };
      subjects.set(name, await readSubject(call.io, text, place));
    } catch (error) {
      if (!isSigError(error)) throw error;
      const context = { ...error.context, flag: `--${name}` };
      throw new SigError(error.code, error, { context, cause: error.cause });
    }
  }
  return { ...call, text: (flag) => subjects.get(flag) ?? call.text(flag) };
}

/** Where to find the names file: a source may be a directory. */
interface Place {
  readonly dir: string | undefined;
  readonly source: string | undefined;
}

/**
 * Returns the DID of a DID, key, key file or name. A DID may end in `.pub`,
 * such as `did:web:alice.pub`; it is not a file.
 */
async function readSubject(
  io: Io,
  text: string,
  place: Place,
): Promise<string> {
  if (isDid(text)) return text;
  const isFile = text.endsWith(".pub");
  if (!isFile && !isSshKey(text)) return await subjectCalled(io, text, place);
  const line = isFile
    ? new TextDecoder().decode(await io.readFile(text, MAX_KEY_BYTES))
    : text;
  const { jwkToDidKey, sshKeyToJwk } = await import("@sig/jose/keys");
  return jwkToDidKey(sshKeyToJwk(line));
}

/**
 * Finds the person with that name in the names file. Returns the text unchanged
 * if there is no such file, or if the feed has a subject with that text.
 *
 * @throws {SigError} `invalid_identifier` for an unknown name,
 * `ambiguous_relationship` if several people have it.
 */
async function subjectCalled(
  io: Io,
  text: string,
  { dir, source }: Place,
): Promise<string> {
  const { namesFile, readNames } = await import("./names.ts");
  const { openSource, parseSource, verifyIssuer } = await import(
    "@sig/consumer"
  );
  const parsed = source === undefined
    ? undefined
    : parseSource(source, { allowPrivate: true, exists: io.exists });
  const path = dir ?? (parsed?.kind === "directory" ? parsed.path : undefined);
  if (path === undefined || !io.exists(namesFile(path))) return text;
  const verified = await verifyIssuer(
    openSource({ kind: "directory", path }),
    { now: io.now(), unknownEvents: "ignore" },
  ).catch((error) => {
    // The command itself reports errors of the feed later.
    if (!isSigError(error)) throw error;
  });
  if (verified && verified.state.history.relationshipsOf(text).size > 0) {
    return text;
  }
  const names = await readNames({ flags: { dir: path }, io });
  // Several keys of one person may have the same name.
  const [found, ...more] = new Set(
    [...names].filter(([, name]) => name === text).map(([subject]) =>
      verified ? personOf(verified.state, subject) : subject
    ),
  );
  if (found !== undefined && more.length === 0) return found;
  const shown = [found, ...more].slice(0, MAX_NAMED).join(", ");
  throw found === undefined
    ? new SigError(
      "invalid_identifier",
      `Cannot find a subject: ${
        quote(text)
      } is not a DID, and nobody has that name`,
      { context: { hint: `Names are in ${namesFile(path)}.` } },
    )
    : new SigError(
      "ambiguous_relationship",
      `Cannot choose a subject: ${more.length + 1} people have the name ${
        quote(text)
      }: ${shown}`,
      { context: { hint: "Give the DID of the person." } },
    );
}
