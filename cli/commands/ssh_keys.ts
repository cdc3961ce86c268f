import {
  type AskedRequirements,
  type FeedState,
  formatInstant,
  isSigError,
  parseQuestion,
  parseRequirements,
} from "@sig/core";
import {
  allowedSeconds,
  type EvaluationTime,
  resolveTime,
  type SecondsRange,
} from "@sig/core/internal";
import type { AnyAnswer } from "@sig/consumer";
import { didKeyToJwk, jwkToDidKey, jwkToSshKey, sshKeyToJwk } from "@sig/jose";
import {
  many,
  optional,
  toggle,
  usageError,
  type Values,
} from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import { checked, mainSource, person, textOf } from "../command_line/values.ts";
import {
  keysOf,
  peopleOf,
  POLICY_FLAGS,
  readState,
  SOURCE_WORD,
  sourceCommand,
  sourceOf,
  TIME_FLAGS,
  timeOf,
} from "../ask/source_flags.ts";
import { PIN_FLAGS, PROOF_FLAGS } from "../ask/pin_flags.ts";
import { PEOPLE_FLAG } from "../people/people.ts";
import { counted, type Output, warn, writeJson } from "../output/write.ts";
import {
  checkSources,
  describeReason,
  REQUIRE_FLAG,
  writeAside,
} from "./check.ts";

const KEY_TYPE = "ssh-ed25519";

const QUOTED = String.raw`"(?:\\"|\\(?!")|[^"\\\p{Cc}])*"`;
const OPTION = `[A-Za-z0-9-]+(?:=${QUOTED})?`;
/** sshd ends the options at a blank outside of quotes. */
const OPTIONS = new RegExp(`^${OPTION}(?:,${OPTION})*$`, "u");

/** `--options`, options of an authorized_keys file. */
const sshOptions = checked(
  textOf("TEXT"),
  (text) => {
    const names = text.replaceAll(new RegExp(QUOTED, "gu"), "");
    // With cert-authority, the key's owner could admit other people.
    const isAuthority = /(?:^|,)cert-authority(?:,|$)/i.test(names);
    return OPTIONS.test(text) && !isAuthority;
  },
  "be options of an authorized_keys file, separated by commas, without cert-authority",
  `For example: restrict,pty,from="192.0.2.0/24"`,
);

const SSH_KEYS_FLAGS = {
  sig: many(
    mainSource,
    "a source, instead of the argument; of several, one that allows is sufficient",
  ),
  ...REQUIRE_FLAG,
  subject: optional(person, "list only keys of this person"),
  "key-type": optional(textOf("TYPE"), "type of the offered key: sshd's %t"),
  key: optional(textOf("BASE64"), "the offered key: sshd's %k"),
  options: optional(sshOptions, "options of authorized_keys for each key"),
  ...TIME_FLAGS,
  explain: toggle("show on standard error how the offered key was judged"),
  ...PEOPLE_FLAG,
  ...PROOF_FLAGS,
  ...PIN_FLAGS,
  ...POLICY_FLAGS,
};

type SshKeysCall = Call<Values<typeof SSH_KEYS_FLAGS>>;

/** `sig ssh-keys` */
export const sshKeys = typedCommand({
  description: `
    With --key-type and --key, prints the key if its did:key meets the requirements,
    and nothing otherwise: for AuthorizedKeysCommand of sshd, with --key-type %t and
    --key %k. Standard error, which sshd logs, says why a key is denied, and, with a
    people file, whose key it is. Without an answer it prints nothing and exits with
    2.

    Without them, prints an authorized_keys file: the key of each did:key that meets
    the requirements now, and until when.`,
  subjects: "person",
  positionals: [SOURCE_WORD],
  flags: SSH_KEYS_FLAGS,
  examples: [
    "sig ssh-keys acme.example --require role=ssh:deploy > authorized_keys",
    "sig ssh-keys acme.example --sig partner.example --require role=ssh:deploy --options restrict,pty",
  ],
  async run(call) {
    const { key, "key-type": type } = call.flags;
    const sources = [...call.positionals, ...call.flags.sig];
    // `sourceOf` throws an error that explains how to give a source.
    if (sources.length === 0) sourceOf({ ...call, flags: { sig: undefined } });
    // Invalid requirements are refused before anything is read.
    parseRequirements(call.flags.require);
    if ((key === undefined) !== (type === undefined)) {
      throw usageError("--key-type and --key must be given together", {
        flag: key === undefined ? "--key" : "--key-type",
        hint: "In sshd_config: --key-type %t --key %k",
      });
    }
    if (key !== undefined && call.flags.subject !== undefined) {
      throw usageError("--subject lists keys, and --key asks about one", {
        flag: "--subject",
      });
    }
    const { cosigner, "max-checkpoint-age": maxCheckpointAge } = call.flags;
    if (key === undefined && (maxCheckpointAge ?? cosigner[0]) !== undefined) {
      throw usageError(
        "--max-checkpoint-age and --cosigner need --key: a list comes from the whole feed",
        { flag: "--key" },
      );
    }
    return key === undefined
      ? await listKeys(call, sources)
      : writeLines(call, await offeredKey(call, sources, type!, key), 0);
  },
});

/**
 * Prints the offered key if it is allowed. The output never repeats the input.
 */
async function offeredKey(
  call: SshKeysCall,
  sources: readonly string[],
  type: string,
  key: string,
): Promise<readonly string[]> {
  if (type !== KEY_TYPE) {
    warn(call, `denied a key of type ${type}: only ${KEY_TYPE} is accepted`);
    return [];
  }
  const jwk = sshKeyToJwk(`${KEY_TYPE} ${key}`);
  const line = jwkToSshKey(jwk);
  if (line !== `${KEY_TYPE} ${key}`) {
    throw usageError("--key must be the base64 of one key", { flag: "--key" });
  }
  const { explain, options } = call.flags;
  const require = parseRequirements(call.flags.require);
  const subject = jwkToDidKey(jwk);
  const question = { subject, require, ...timeOf(call.flags), explain };
  const { answers, decision } = await checkSources(call, sources, question);
  if (explain) writeAside(call, answers, sources);
  if (decision === "deny") {
    if (!explain) await sayWhyDenied(call, subject, sources, answers);
    return [];
  }
  return [options === undefined ? line : `${options} ${line}`];
}

/** Writes to standard error, which sshd logs, whose key is denied and why. */
async function sayWhyDenied(
  call: SshKeysCall,
  subject: string,
  [source = ""]: readonly string[],
  answers: AnyAnswer["answers"],
): Promise<void> {
  const reasons = answers.flatMap((each) =>
    "decision" in each ? each.reasons : []
  );
  // A people file is for display only: without it, the answer is the same.
  const people = await peopleOf(call, source).catch((error) => {
    if (!isSigError(error)) throw error;
  });
  const { name, person } = people?.named(subject) ?? {};
  const whose = [name, person].filter((each) => each).join(", ");
  warn(
    call,
    `denied ${subject}${whose === "" ? "" : ` (${whose})`}: ${
      reasons.map(describeReason).join("; ")
    }`,
  );
}

/** Prints a line for each key that is allowed now, with its last second. */
async function listKeys(
  call: SshKeysCall,
  sources: readonly string[],
): Promise<void> {
  const { options } = call.flags;
  const require = parseRequirements(call.flags.require);
  const time = timeOf(call.flags);
  const ends = new Map<string, number>();
  for (const source of sources) {
    const { asOf } = time;
    const { state } = await readState(call, source, { asOf });
    const at = resolveTime(state, time, call.io.now());
    const { seconds } = at.instant;
    for (const [subject, ranges] of allowedSubjects(state, require, at)) {
      const { last } = ranges.find(({ first, last }) =>
        first <= seconds && seconds <= last
      ) ?? {};
      if (last === undefined) continue;
      ends.set(subject, Math.max(last, ends.get(subject) ?? last));
    }
  }
  const asked = keysOf(call);
  const { keys, leftOut } = sshKeysOf(
    [...ends.keys()].filter((each) => asked?.includes(each) ?? true),
  );
  const lines = keys.map(({ key, subject }) => {
    const last = ends.get(subject)!;
    const all = [
      ...options === undefined ? [] : [options],
      ...last === Infinity ? [] : [`expiry-time="${sshTime(last)}"`],
    ];
    return [...all.length === 0 ? [] : [all.join()], key, subject].join(" ");
  });
  return writeLines(call, lines, leftOut);
}

/** A signature namespace; a pattern would match further namespaces. */
const namespace = checked(
  textOf("NAME"),
  (text) => /^[A-Za-z0-9._@/-]+$/.test(text),
  "be a namespace of ssh-keygen -Y, such as git or file",
);

/** `sig allowed-signers` */
export const allowedSigners = sourceCommand({
  description: `
    Prints an allowed_signers file for git and ssh-keygen -Y verify: each did:key
    with the times at which sig check --at allows it, to the second.`,
  flags: {
    ...REQUIRE_FLAG,
    namespace: many(
      namespace,
      "namespace of the signatures: git, file or another (default: git)",
    ),
    ...PIN_FLAGS,
  },
  examples: [
    "sig allowed-signers acme.example --require role=deploy > allowed_signers",
    "sig allowed-signers ./acme.example --require role=release --namespace git --namespace file",
  ],
  async run(call, source) {
    const { namespace } = call.flags;
    const require = parseRequirements(call.flags.require);
    const namespaces = namespace.length === 0 ? ["git"] : namespace;
    const { state } = await readState(call, source, {});
    const time = { tense: "then", events: state.last_sequence } as const;
    const all = new Map(allowedSubjects(state, require, time));
    const { keys, leftOut } = sshKeysOf(all.keys());
    let tooShort = 0;
    const lines = keys.flatMap(({ key, subject }) =>
      all.get(subject)!.flatMap(({ first, last }) => {
        // OpenSSH has no times before 1970, and reads 0 as unbounded.
        if (last <= 0) return [];
        if (first === last) {
          tooShort++;
          return [];
        }
        const options = [
          `namespaces="${namespaces.join()}"`,
          ...first <= 0 ? [] : [`valid-after="${sshTime(first)}"`],
          ...last === Infinity ? [] : [`valid-before="${sshTime(last)}"`],
        ];
        return [`${subject} ${options.join()} ${key}`];
      })
    );
    if (tooShort > 0) {
      warn(
        call,
        `left out ${
          counted(tooShort, "interval")
        } of a single second: OpenSSH refuses equal bounds`,
      );
    }
    return writeLines(call, lines, leftOut);
  },
});

/**
 * Yields each subject that is ever allowed, with the seconds of its intervals.
 */
function* allowedSubjects(
  state: FeedState,
  require: AskedRequirements,
  time: Pick<EvaluationTime, "events" | "tense">,
): Generator<readonly [string, readonly SecondsRange[]]> {
  const versions = [...state.history.versions.values()].flat();
  for (const subject of new Set(versions.map(({ state }) => state.subject))) {
    const question = parseQuestion({ subject, require });
    const ranges = allowedSeconds(state, question, time);
    if (ranges.length > 0) yield [subject, ranges];
  }
}

/** Returns the Ed25519 keys among subjects, sorted, and the others' number. */
function sshKeysOf(subjects: Iterable<string>) {
  const sorted = [...subjects].sort();
  const keys = sorted.flatMap((subject) => {
    try {
      return [{ key: jwkToSshKey(didKeyToJwk(subject)), subject }];
    } catch (error) {
      if (!isSigError(error)) throw error;
      return [];
    }
  });
  return { keys, leftOut: sorted.length - keys.length };
}

/** Formats a second for OpenSSH, in UTC. */
function sshTime(seconds: number): string {
  return formatInstant({ seconds, nanoseconds: 0 }).replaceAll(/[-:T]/g, "");
}

function writeLines(
  call: Output,
  lines: readonly string[],
  leftOut: number,
): void {
  if (call.format === "json") {
    return writeJson(call.io, { lines, left_out: leftOut });
  }
  if (lines.length > 0) call.io.stdout(`${lines.join("\n")}\n`);
  if (leftOut > 0) {
    warn(
      call,
      `left out ${
        counted(leftOut, "subject")
      } without an OpenSSH key: not a did:key of Ed25519`,
    );
  }
}
