/** Flags and functions of the commands that read a feed. @module */

import {
  checkIssuer,
  createConsumer,
  type IssuerLocation,
  type ObserveOptions,
  openSource,
  parseSource,
  reportIssuer,
  type VerifiedEvent,
  type VerifiedIssuer,
  verifyIssuer,
  type VerifyIssuerOptions,
  type VerifyProgress,
  type VerifyReport,
} from "@sig/consumer";
import {
  type AskedQuestion,
  type CheckAnswer,
  type ErrorCode,
  isSigError,
  type ParsedTime,
  SigError,
  type Warning,
} from "@sig/core";
import {
  type Flags,
  oneOf,
  optional,
  toggle,
  usageError,
  type Values,
} from "@sig/api/program";
import {
  checkpointPolicy,
  mirrorFolder,
  openPins,
  pinChoice,
  type PinValues,
} from "./pin_flags.ts";
import {
  type Call,
  type CommandSpec,
  type LoadedCommand,
  typedCommand,
} from "../command_line/command.ts";
import { asOf, mainSource, timestamp } from "../command_line/values.ts";
import type { Io } from "../terminal/io.ts";
import {
  createProgress,
  describeProgress,
  writeWarnings,
} from "../output/write.ts";
import type { People } from "@sig/issuer/people";
import type { PeopleValue } from "../people/people.ts";

/**
 * Maximum time of a verification: none in practice. The first verification of a
 * million events takes minutes, and the work ends with this process. Requests
 * have separate timeouts.
 */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** The kinds of sources, for the help. */
export const SOURCE_HELP =
  "did:web:host, a host, an https URL of a sig.json, a sig.json file, or a directory";

/** The source as the only argument of a command; `--sig` can replace it. */
export const SOURCE_WORD = Object.freeze(
  { name: "source", help: SOURCE_HELP, kind: "file", optional: true } as const,
);

/** The source as a flag, which every command accepts. */
export const SOURCE_FLAG = {
  sig: optional(mainSource, "the source, instead of the argument"),
};

/**
 * Returns the source of a command with {@linkcode SOURCE_WORD} and {@linkcode
 * SOURCE_FLAG}.
 *
 * @throws {SigError} `invalid_request` if there is none, or if there are two.
 */
export function sourceOf(
  { flags: { sig }, name, positionals: [word] }: Call<
    Values<typeof SOURCE_FLAG>
  >,
): string {
  if (word !== undefined && sig !== undefined) {
    throw usageError("the source is given twice, as an argument and by --sig", {
      flag: "--sig",
    });
  }
  const source = word ?? sig;
  if (source !== undefined) return source;
  throw usageError(`<source> is missing: ${SOURCE_HELP}`, {
    hint: `See: sig ${name} --help`,
  });
}

/** The flag that allows http and private addresses. */
export const INSECURE_FLAG = {
  "allow-insecure": toggle("allow http: and private addresses, for tests"),
};

/** Flags of the policy for unusual events. */
export const POLICY_FLAGS = {
  ...INSECURE_FLAG,
  "unknown-events": optional(
    oneOf("ignore", "reject"),
    "events of unknown types (default: reject)",
  ),
  "unmatched-revoke": optional(
    oneOf("ignore", "reject"),
    "revokes without an upsert (default: ignore)",
  ),
};

/** The values of {@linkcode POLICY_FLAGS}, of which each command has some. */
export type PolicyValues = Partial<Values<typeof POLICY_FLAGS>>;

type SourceCall<F extends Flags> = Call<
  Values<F> & Values<typeof POLICY_FLAGS>
>;

/**
 * Returns a command about one source, with the flags that all of these share.
 */
export function sourceCommand<const F extends Flags>(
  { flags, run, ...spec }: Omit<CommandSpec<F>, "positionals" | "run"> & {
    run(call: SourceCall<F>, source: string): Promise<number | void>;
  },
): LoadedCommand {
  return typedCommand({
    ...spec,
    positionals: [SOURCE_WORD],
    flags: { ...SOURCE_FLAG, ...flags, ...POLICY_FLAGS } as Flags,
    run: (call) => {
      const source = sourceOf(call as Call<Values<typeof SOURCE_FLAG>>);
      return run(call as unknown as SourceCall<F>, source);
    },
  });
}

/** Returns the options of `parseSource` for a call. */
export function sourceOptions({ flags, io }: Call<PolicyValues>): {
  readonly allowPrivate: boolean;
  readonly exists: Io["exists"];
} {
  return {
    allowPrivate: flags["allow-insecure"] ?? false,
    exists: io.exists,
  };
}

/** Flags of a question about the past. */
export const TIME_FLAGS = {
  at: optional(timestamp, "as it was true at that time"),
  "as-of": optional(asOf, "as it was known then"),
};

/** Returns the times of {@linkcode TIME_FLAGS}. */
export function timeOf(
  { at, "as-of": asOf }: Values<typeof TIME_FLAGS>,
): ParsedTime {
  return { at, asOf };
}

/** Returns the times of a question as a report repeats them. */
export function askedTime({ at, asOf }: ParsedTime): {
  readonly at: string | null;
  readonly as_of: number | string | null;
} {
  const as_of = typeof asOf === "object" ? asOf.text : asOf;
  return { at: at?.text ?? null, as_of: as_of ?? null };
}

/**
 * Returns the keys that `--subject` means: all of a person's, or the one key;
 * undefined without the flag.
 */
export function keysOf(
  call: Call<{ readonly subject: string | undefined }>,
): readonly string[] | undefined {
  const { subject } = call.flags;
  if (subject === undefined) return undefined;
  const keys = call.found?.("subject")?.keys.map((key) => key.subject);
  return keys ?? [subject];
}

/**
 * Asks about each key of the person that `--subject` names, the oldest first.
 * Returns the first answer that allows, else that of the newest key in the
 * feed.
 */
export async function askEachKey<T>(
  call: Call<{ readonly subject: string | undefined }>,
  ask: (subject: string) => Promise<T>,
  isAllowed: (answer: T) => boolean,
): Promise<T> {
  const { subject = "" } = call.flags;
  const keys = call.found?.("subject")?.keys ?? [];
  const newest = keys.findLast(({ since }) => since > 0) ?? keys.at(-1);
  let last: T | undefined;
  for (const key of keys) {
    const answer = await ask(key.subject);
    if (isAllowed(answer)) return answer;
    if (key === newest) last = answer;
  }
  return last ?? await ask(subject);
}

/**
 * Reads the people of a source from the file of `--people`, else from the
 * source's directory.
 *
 * @throws {SigError} as `readPeopleFile`.
 */
export async function peopleOf(
  call: Call<PolicyValues & PeopleValue>,
  text: string,
): Promise<People> {
  const { readPeopleFile } = await import("../people/people.ts");
  if (call.flags.people !== undefined) return await readPeopleFile(call);
  const source = parseSource(text, sourceOptions(call));
  return await readPeopleFile(
    call,
    source.kind === "directory" ? source.path : undefined,
  );
}

/** What a command asks of a source, with or without the pin store. */
interface SourceReader {
  check(question: AskedQuestion): Promise<CheckAnswer>;
  /**
   * Returns a state in which a time can be evaluated.
   *
   * @param digest Whether `feed.sha256` is needed.
   */
  state(asked: ObserveOptions, digest?: boolean): Promise<VerifiedIssuer>;
  report(): Promise<VerifyReport>;
}

/**
 * Runs `work` on a source: with the pin store for a fetched source; without it,
 * from the first byte of the feed, for a local source or if the store can't be
 * opened (docs/protocol.md §6). In the last case the first warning gives the
 * reason.
 *
 * @param onEvent Called with every event, which verifies all of them again.
 */
export async function withMemory<
  T extends { readonly warnings: readonly Warning[] },
>(
  call: Call<PolicyValues & PinValues>,
  text: string,
  work: (reader: SourceReader) => Promise<T>,
  onEvent?: (verified: VerifiedEvent) => void,
): Promise<T> {
  const { full, maxAgeMs, requirePin, ...choice } = pinChoice(call);
  const { flags } = call;
  const hasPolicy = flags["unknown-events"] ?? flags["unmatched-revoke"];
  const proofs = choice.proofs && hasPolicy === undefined;
  const asked = { maxAgeMs, checkpointPolicy: await checkpointPolicy(call) };
  const given = sourceOptions(call);
  const { kind } = parseSource(text, given);
  const isFetched = kind === "did" || kind === "url";
  const { pins, warning } = isFetched
    ? await openPins(call)
    : { warning: undefined };
  try {
    const result = await withSource(call, text, async (location, options) => {
      if (pins === undefined) {
        const all = { ...options, ...asked, onEvent, proofs };
        return await work({
          check: (question) => checkIssuer(location, question, all),
          state: (_, digest) => verifyIssuer(location, { ...all, digest }),
          report: () => reportIssuer(location, all),
        });
      }
      const { onProgress, ...rest } = options;
      let events = 0;
      const consumer = createConsumer({
        ...rest,
        ...asked,
        requirePin,
        pins,
        mirrorFolder: mirrorFolder(call),
        oneAnswer: true,
        onProgress: (bytes, totalBytes) =>
          onProgress?.(bytes, { events, totalBytes }),
        issuers: [text],
        allowPrivate: given.allowPrivate,
        maxWaitMs: MAX_WAIT_MS,
        now: call.io.now,
        proofs: proofs ? "always" : "never",
        full: full || onEvent !== undefined,
        onEvent: (verified) => {
          events++;
          onEvent?.(verified);
        },
      });
      return await work({
        check: (question) => consumer.check(text, question),
        async state(asked, digest) {
          const { verified } = await consumer.observe(text, asked);
          const report = digest ? await consumer.report(text) : undefined;
          if (!report?.valid) return verified;
          const feed = { ...verified.feed, sha256: report.feed_sha256 };
          return { ...verified, feed };
        },
        report: () => consumer.report(text),
      });
    });
    return warning === undefined
      ? result
      : { ...result, warnings: [warning, ...result.warnings] };
  } finally {
    await pins?.close();
  }
}

/**
 * Runs `work` on a source. If it fails, and a folder has the name of the host
 * or the URL does not look like that of a `sig.json`, the error has a hint.
 */
export async function withSource<T>(
  call: Call<PolicyValues>,
  text: string,
  work: (location: IssuerLocation, options: VerifyIssuerOptions) => Promise<T>,
): Promise<T> {
  const given = sourceOptions(call);
  const { allowPrivate } = given;
  const source = parseSource(text, given);
  const startedAt = call.io.now().getTime();
  let latest: VerifyProgress = { events: 0, totalBytes: undefined };
  const progress = createProgress(call, PROGRESS_EVERY_BYTES, (bytes) => {
    const elapsedMs = call.io.now().getTime() - startedAt;
    return describeProgress({ ...latest, bytes, elapsedMs });
  });
  try {
    return await work(openSource(source, { allowPrivate }), {
      now: call.io.now(),
      unknownEvents: call.flags["unknown-events"],
      unmatchedRevoke: call.flags["unmatched-revoke"],
      onProgress: progress && ((bytes, more) => {
        latest = more;
        progress.show(bytes);
      }),
    });
  } catch (error) {
    if (!isSigError(error)) throw error;
    const { code, context, cause } = error;
    const hint = source.kind === "did"
      ? source.hint
      : source.kind === "url"
      ? context.hint ?? hintOfUrl(source.url, code)
      : undefined;
    if (hint === undefined) throw error;
    throw new SigError(code, {
      action: error.action,
      reason: error.reason,
      context: { ...context, hint },
      cause,
    });
  } finally {
    progress?.wipe();
  }
}

/** Verifies a whole source, without the pin store, and writes its warnings. */
export async function verifySource(
  call: Call<PolicyValues>,
  text: string,
  more: Partial<VerifyIssuerOptions> = {},
): Promise<VerifiedIssuer> {
  const verified = await withSource(
    call,
    text,
    (location, options) => verifyIssuer(location, { ...options, ...more }),
  );
  writeWarnings(call, verified.warnings, verified.source);
  return verified;
}

/**
 * Reads the state of a source and, for an HTML page, the digest of its feed.
 */
export async function readState(
  call: Call<PolicyValues & PinValues>,
  source: string,
  time: Partial<ParsedTime>,
): Promise<VerifiedIssuer> {
  const digest = call.ownFormat === "html";
  const verified = await withMemory(
    call,
    source,
    (reader) => reader.state(time, digest),
  );
  writeWarnings(call, verified.warnings, verified.source);
  return verified;
}

/** Errors of a URL that is not a `sig.json` but, for example, a web page. */
const NO_METADATA: ReadonlySet<ErrorCode> = new Set([
  "fetch_status",
  "fetch_redirected",
  "fetch_media_type",
  "invalid_json",
]);

/** Returns a hint to use the host, for the copied address of a web page. */
function hintOfUrl(url: string, code: ErrorCode): string | undefined {
  const { host, pathname } = new URL(url);
  if (pathname.endsWith(".json") || !NO_METADATA.has(code)) return undefined;
  return `A URL names a sig.json; to ask the host write ${host}.`;
}

/** Bytes between two progress messages; smaller feeds show none. */
const PROGRESS_EVERY_BYTES = 4 * 1024 * 1024;
