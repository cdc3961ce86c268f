/** What the commands that read a feed share. @module */

import type {
  Consumer,
  IssuerLocation,
  VerifiedEvent,
  VerifyIssuerOptions,
  VerifyProgress,
} from "@sig/consumer";
import {
  type ErrorCode,
  type FeedState,
  isDid,
  isSigError,
  type ParsedTime,
  SigError,
  type SourceKind,
  type Warning,
} from "@sig/core";
import { parseTime, quote } from "@sig/core/internal";
import type { PinChoice } from "./pin_flags.ts";
import type { FlagSpec } from "@sig/api/flags";
import type { Call } from "../command_line/command.ts";
import type { Io } from "../terminal/io.ts";
import { createProgress, describeProgress } from "../output/progress.ts";
import { warn } from "../output/write.ts";
import { usageError } from "@sig/api/flags";
import type { Names } from "../people/names.ts";

/**
 * A first look at a million events takes minutes, and what was begun ends with
 * this process. Waiting for the network has a limit of its own.
 */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** What a source may be, for help. */
export const SOURCE_HELP =
  "did:web:host, a host, an https URL of a sig.json, a sig.json file, or a directory";

/** The source as the only word of a command, or by `--sig`. */
export const SOURCE_WORD = Object.freeze(
  { name: "source", help: SOURCE_HELP, optional: true } as const,
);

/** The source as a flag, so that all commands can be given it in one way. */
export const SOURCE_FLAG: FlagSpec = {
  name: "sig",
  value: "SOURCE",
  help: "the source, instead of the argument",
  mistaken: ["issuer", "source"],
};

/**
 * The source of a command with {@linkcode SOURCE_WORD} and
 * {@linkcode SOURCE_FLAG}.
 *
 * @throws {SigError} `invalid_request` where there is none, or two.
 */
export function sourceOf(call: Call): string {
  const [word] = call.positionals;
  const flag = call.text("sig");
  if (word !== undefined && flag !== undefined) {
    throw usageError("the source is given twice, as an argument and by --sig", {
      flag: "--sig",
    });
  }
  const source = word ?? flag;
  if (source !== undefined) return source;
  throw usageError(`<source> is missing: ${SOURCE_HELP}`, {
    hint: `See: sig ${call.name} --help`,
  });
}

/** The flag that opens private networks. */
export const INSECURE_FLAG: FlagSpec = {
  name: "allow-insecure",
  help: "allow http: and private addresses, for tests",
};

/** How a source is understood, wherever one is given. */
export function sourceOptions(call: Call): {
  readonly allowPrivate: boolean;
  readonly exists: Io["exists"];
} {
  return { allowPrivate: call.on("allow-insecure"), exists: call.io.exists };
}

/** Flags of a reader's policy. */
export const POLICY_FLAGS: readonly FlagSpec[] = [
  INSECURE_FLAG,
  {
    name: "unknown-events",
    value: "ignore|reject",
    help: "events of unknown types (default: reject)",
    choices: ["ignore", "reject"],
  },
  {
    name: "unmatched-revoke",
    value: "ignore|reject",
    help: "revokes without an upsert (default: ignore)",
    choices: ["ignore", "reject"],
  },
];

/** Flags of a question about the past. */
export const TIME_FLAGS: readonly FlagSpec[] = [
  { name: "at", value: "TIME", help: "as it was true at that time" },
  { name: "as-of", value: "SEQ|TIME", help: "as it was known then" },
];

/** The values of {@linkcode TIME_FLAGS}, judged before anything is fetched. */
export function parseTimeFlags(call: Call): ParsedTime {
  const at = call.text("at");
  return {
    at: parseTimeFlag(
      () => parseTime({ at }).at,
      () => notATime("--at", "an RFC 3339 UTC timestamp"),
    ),
    asOf: parseAsOf(call, "as-of"),
  };
}

/** A flag that says up to which event, or to which time, a feed is known. */
export function parseAsOf(call: Call, flag: string): ParsedTime["asOf"] {
  const asOf = call.text(flag);
  return parseTimeFlag(
    () => parseTime({ asOf }).asOf,
    () => notATime(`--${flag}`, "a sequence or an RFC 3339 UTC timestamp"),
  );
}

/** Core's refusal names the member of a request: here it is a flag. */
function parseTimeFlag<T>(parse: () => T, refuse: () => SigError): T {
  try {
    return parse();
  } catch (error) {
    throw isSigError(error, "invalid_request") ? refuse() : error;
  }
}

/**
 * The names of a source's people: those of `--names`, else those that lie
 * beside a directory.
 *
 * @throws {SigError} as `readNames`.
 */
export async function namesOf(call: Call, text: string): Promise<Names> {
  const { readNames } = await import("../people/names.ts");
  if (call.text("names") !== undefined) return await readNames(call);
  const { parseSource } = await import("@sig/consumer");
  const source = parseSource(text, sourceOptions(call));
  return await readNames(
    call,
    source.kind === "directory" ? source.path : undefined,
  );
}

function notATime(flag: string, what: string): SigError {
  return usageError(`${flag} must be ${what}`, {
    flag,
    hint: "For example: 2026-01-31T09:00:00Z.",
  });
}

/** What a command does with a source, from memory or without. */
export interface SourceWork<T> {
  /** With a consumer that remembers; `name` is the source as it was given. */
  remembered(
    consumer: Consumer,
    name: string,
    choice: PinChoice,
  ): Promise<T>;
  /** From the first byte, and without keeping anything. */
  plain(
    location: IssuerLocation,
    options: VerifyIssuerOptions,
    choice: PinChoice,
  ): Promise<T>;
  /** Told of every event: then all of them are verified again. */
  onEvent?(verified: VerifiedEvent): void;
}

/**
 * Reads a source by `work`: a fetched one from memory unless there is none, a
 * local one always from its beginning (docs/protocol.md §6). The warning says why there is no memory.
 */
export async function withMemory<T>(
  call: Call,
  text: string,
  work: SourceWork<T>,
): Promise<{ readonly result: T; readonly warnings: readonly Warning[] }> {
  const { parseSource } = await import("@sig/consumer");
  const { openPins, pinChoice } = await import("./pin_flags.ts");
  const choice = pinChoice(call);
  const given = sourceOptions(call);
  const { kind } = parseSource(text, given);
  const isFetched = kind === "did" || kind === "url";
  const { pins, warning } = isFetched
    ? await openPins(call)
    : { warning: undefined };
  try {
    const result = await withSource(call, text, async (location, options) => {
      if (pins === undefined) {
        const { onEvent } = work;
        return await work.plain(location, { ...options, onEvent }, choice);
      }
      const { createConsumer } = await import("@sig/consumer");
      const { onEvent } = work;
      const { onProgress, ...rest } = options;
      let events = 0;
      const consumer = createConsumer({
        ...rest,
        onProgress: (bytes, totalBytes) =>
          onProgress?.(bytes, { events, totalBytes }),
        issuers: [text],
        allowPrivate: given.allowPrivate,
        maxWaitMs: MAX_WAIT_MS,
        now: call.io.now,
        maxAgeMs: choice.maxAgeMs,
        full: choice.full || onEvent !== undefined,
        requirePin: choice.requirePin,
        pins,
        onEvent: (verified) => {
          events++;
          onEvent?.(verified);
        },
      });
      return await work.remembered(consumer, text, choice);
    });
    return { result, warnings: warning === undefined ? [] : [warning] };
  } finally {
    await pins?.close();
  }
}

/** A source's state, and what is odd about it, by {@linkcode withMemory}. */
export async function stateOf(
  call: Call,
  text: string,
  { asOf }: Pick<ParsedTime, "asOf">,
): Promise<{
  readonly state: FeedState;
  readonly warnings: readonly Warning[];
  readonly source: SourceKind;
}> {
  const { verifyIssuer } = await import("@sig/consumer");
  const { result, warnings } = await withMemory(call, text, {
    remembered: async (consumer, name) =>
      (await consumer.observe(name, { asOf })).verified,
    plain: verifyIssuer,
  });
  const { source, state } = result;
  return { source, state, warnings: [...warnings, ...result.warnings] };
}

/**
 * Reads a source by `work`. Where that fails and a folder has the name of the
 * host that was asked, or a URL does not look like that of a `sig.json`, the
 * error says so.
 */
export async function withSource<T>(
  call: Call,
  text: string,
  work: (location: IssuerLocation, options: VerifyIssuerOptions) => Promise<T>,
): Promise<T> {
  const { openSource, parseSource } = await import("@sig/consumer");
  const given = sourceOptions(call);
  const { allowPrivate } = given;
  const source = parseSource(text, given);
  const startedAt = call.io.now().getTime();
  let news: VerifyProgress = { events: 0, totalBytes: undefined };
  const progress = createProgress(call, NEWS_EVERY_BYTES, (bytes) => {
    const elapsedMs = call.io.now().getTime() - startedAt;
    return describeProgress({ ...news, bytes, elapsedMs });
  });
  try {
    return await work(openSource(source, { allowPrivate }), {
      now: call.io.now(),
      unknownEvents: policy(call, "unknown-events"),
      unmatchedRevoke: policy(call, "unmatched-revoke"),
      onProgress: progress && ((bytes, more) => {
        news = more;
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
    throw new SigError(code, error, { context: { ...context, hint }, cause });
  } finally {
    progress?.wipe();
  }
}

/** What there is where no `sig.json` is: nothing, a redirect, or a page. */
const NO_METADATA: ReadonlySet<ErrorCode> = new Set([
  "fetch_status",
  "fetch_redirected",
  "fetch_media_type",
  "invalid_json",
]);

/** A copied address of a site most likely means its host. */
function hintOfUrl(url: string, code: ErrorCode): string | undefined {
  const { host, pathname } = new URL(url);
  if (pathname.endsWith(".json") || !NO_METADATA.has(code)) return undefined;
  return `A URL names a sig.json; to ask the host write ${host}.`;
}

/** The value of one of {@linkcode POLICY_FLAGS}. */
export function policy(
  call: Call,
  flag: string,
): "ignore" | "reject" | undefined {
  return call.text(flag) as "ignore" | "reject" | undefined;
}

/** Shorter work needs no news. */
const NEWS_EVERY_BYTES = 4 * 1024 * 1024;

/** Says that no event is about a subject, and what a word may have meant. */
export function neverHeardOf(subject: string): string {
  const said = `the feed has no event about ${quote(subject)}`;
  return isDid(subject)
    ? said
    : `${said}, which is not a DID: did you mean did:web:${subject}?`;
}

/**
 * {@linkcode neverHeardOf} for a person who looks at an empty list; a program
 * sees that it is empty, and expects nothing on stderr.
 */
export function tellStranger(call: Call, name: StrangeName): void {
  if (!call.io.isTerminal("stderr")) return;
  warn(
    call,
    "subject" in name
      ? neverHeardOf(name.subject)
      : `no event is about relationship ${quote(name.relationshipId)}`,
  );
}

/** What a list was to be about. */
export type StrangeName =
  | { readonly subject: string }
  | { readonly relationshipId: string };
