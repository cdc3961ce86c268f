/**
 * Resolves the subject of a flag: a DID, an OpenSSH public key
 * (docs/ssh-and-git.md), or a person of the people file.
 *
 * @module
 */

import { dumpState, isDid, isSigError, personOf, SigError } from "@sig/core";
import { quote, suggest, withContext } from "@sig/core/internal";
import type { FoundPerson, KnownKey, People } from "@sig/issuer/people";
import type { LoadedCommand, ParsedCall } from "../command_line/command.ts";
import { firstOf } from "../output/write.ts";
import type { Io } from "../terminal/io.ts";

/** More than any public key with its comment. */
const MAX_KEY_BYTES = 16 * 1024;

/**
 * Returns the call with keys, persons and names replaced by DIDs in its subject
 * flags. `found` has the person that a text names.
 */
export async function resolveSubjects(
  { flags, positionals, subjects: meaning = "key" }: Pick<
    LoadedCommand,
    "flags" | "positionals" | "subjects"
  >,
  call: ParsedCall,
): Promise<ParsedCall> {
  const subjects = new Map<string, string>();
  const people = new Map<string, FoundPerson>();
  for (const { name, kind } of flags) {
    const text = kind === "subject" ? call.text(name) : undefined;
    if (text === undefined) continue;
    try {
      const hasSource = positionals?.[0]?.name === "source";
      const [source] = [
        ...call.texts("sig"),
        ...hasSource ? call.positionals : [],
      ];
      const place = { dir: call.text("dir"), source };
      const key = await readKey(call.io, text);
      const found = key === undefined
        ? await findPerson(call.io, text, place)
        : undefined;
      if (found !== undefined) people.set(name, found);
      subjects.set(
        name,
        key ?? (found && await keyMeant(found, text, meaning)) ?? text,
      );
    } catch (error) {
      if (!isSigError(error)) throw error;
      throw withContext(error, { flag: `--${name}` });
    }
  }
  return {
    ...call,
    text: (flag) => subjects.get(flag) ?? call.text(flag),
    found: (flag) => people.get(flag),
  };
}

/** Returns the key that stands for a person, as the command needs it. */
async function keyMeant(
  found: FoundPerson,
  text: string,
  meaning: LoadedCommand["subjects"],
): Promise<string | undefined> {
  const { requireOneKey } = await import("@sig/issuer/people");
  if (meaning === "key") return requireOneKey(found, text);
  if (meaning === "person") return found.keys[0]?.subject;
  const effective = found.keys.filter(({ isEffective }) => isEffective);
  return (effective.at(-1) ?? found.keys.at(-1))?.subject;
}

/** Where to find the people file: a source may be a directory. */
interface Place {
  readonly dir: string | undefined;
  readonly source: string | undefined;
}

/**
 * Returns the DID of a DID, key or key file; undefined for another text. A DID
 * may end in `.pub`, such as `did:web:alice.pub`; it is not a file.
 */
async function readKey(io: Io, text: string): Promise<string | undefined> {
  // The fingerprint of an OpenSSH key, which sig log finds in the feed.
  if (isDid(text) || text.startsWith("SHA256:")) return text;
  const { isSshKey, jwkToDidKey, sshKeyToJwk } = await import("@sig/jose/keys");
  const isFile = text.endsWith(".pub");
  if (!isFile && !isSshKey(text)) return undefined;
  const line = isFile
    ? new TextDecoder().decode(await io.readFile(text, MAX_KEY_BYTES))
    : text;
  return jwkToDidKey(sshKeyToJwk(line));
}

/** The command itself reports an invalid source, with the flag that names it. */
function parsedIfValid<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!isSigError(error)) throw error;
    return undefined;
  }
}

/**
 * Finds the person with that id or name in the people file. Returns undefined
 * if there is no such file, or if the feed has a subject with that text.
 *
 * @throws {SigError} `invalid_identifier` for an unknown name,
 * `ambiguous_relationship` if several people have it.
 */
async function findPerson(
  io: Io,
  text: string,
  { dir, source }: Place,
): Promise<FoundPerson | undefined> {
  const { peopleFile, readPeopleFile } = await import("./people.ts");
  const { openSource, parseSource, verifyIssuer } = await import(
    "@sig/consumer"
  );
  const parsed = parsedIfValid(() =>
    source === undefined
      ? undefined
      : parseSource(source, { allowPrivate: true, exists: io.exists })
  );
  const path = dir ?? (parsed?.kind === "directory" ? parsed.path : undefined);
  if (path === undefined || !io.exists(peopleFile(path))) return undefined;
  /** Sequence of the first event of each subject. */
  const since = new Map<string, number>();
  const verified = await verifyIssuer(
    openSource({ kind: "directory", path }),
    {
      now: io.now(),
      unknownEvents: "ignore",
      onEvent: ({ event: { sequence, subject } }) => {
        if (!since.has(subject)) since.set(subject, sequence);
      },
    },
  ).catch((error) => {
    // The command itself reports errors of the feed later.
    if (!isSigError(error)) throw error;
  });
  if (since.has(text)) return undefined;
  const roles = new Map<string, Set<string>>();
  if (verified !== undefined) {
    const effective = dumpState(verified.state, {
      status: "active",
      now: io.now(),
    });
    for (const each of effective.by_relationship_id.values()) {
      const known = roles.get(each.subject) ?? new Set();
      roles.set(each.subject, known);
      for (const role of each.roles) known.add(role);
    }
  }
  const keys = Array.from(since, ([subject, sequence]): KnownKey => ({
    subject,
    roles: [...roles.get(subject) ?? []].sort(),
    isEffective: roles.has(subject),
    since: sequence,
  }));
  const people = await readPeopleFile(
    { flags: { dir: path }, io },
    path,
    verified ? (subject) => personOf(verified.state, subject) : undefined,
  );
  const { Directory } = await import("@sig/issuer/people");
  const found = new Directory(people, keys).find(text);
  if (found !== undefined) return found;
  throw new SigError("invalid_identifier", {
    action: "find a subject",
    reason: `${quote(text)} is not a DID, and nobody has that id or name`,
    context: {
      hint: `${didYouMean(people, text)}People are in ${peopleFile(path)}.`,
    },
  });
}

/** Suggests people with a similar name, such as one without its accents. */
function didYouMean(people: People, text: string): string {
  const folded = (name: string) =>
    name.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  const named = new Map<string, string>();
  for (const { name, person } of people.keys.values()) {
    if (name === undefined) continue;
    named.set(
      person === undefined ? name : `${name} (${person})`,
      folded(name),
    );
  }
  const wanted = folded(text);
  const close = suggest(wanted, [...named.values()]);
  const found = [...named].filter(([, name]) =>
    name === close || name.split(" ").includes(wanted)
  ).map(([shown]) => shown);
  return found.length === 0 ? "" : `Did you mean ${firstOf(found)}? `;
}
