/** What the commands that read a feed share. @module */

import type {
  Consumer,
  IssuerLocation,
  VerifiedEvent,
  VerifiedIssuer,
  VerifyIssuerOptions,
  VerifyProgress,
} from "@sig/consumer";
import {
  type ErrorCode,
  isDid,
  isSigError,
  type ParsedTime,
  SigError,
  type Warning,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import {
  type Flags,
  oneOf,
  optional,
  toggle,
  usageError,
  type Values,
} from "@sig/api/flags";
import type { PinChoice, PinValues } from "./pin_flags.ts";
import {
  type Call,
  type CommandSpec,
  type LoadedCommand,
  typedCommand,
} from "../command_line/command.ts";
import { asOf, source, timestamp } from "../command_line/values.ts";
import type { Io } from "../terminal/io.ts";
import { createProgress, describeProgress } from "../output/write.ts";
import { type Output, warn, writeWarnings } from "../output/write.ts";
import type { Names, NamesValue } from "../people/names.ts";

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

/** Names that people give to `--sig` elsewhere. */
export const MISTAKEN_SIG = ["issuer", "source"];

/** The source as a flag, so that all commands can be given it in one way. */
export const SOURCE_FLAG = {
  sig: optional(source, "the source, instead of the argument", {
    mistaken: MISTAKEN_SIG,
  }),
};

/**
 * The source of a command with {@linkcode SOURCE_WORD} and
 * {@linkcode SOURCE_FLAG}.
 *
 * @throws {SigError} `invalid_request` where there is none, or two.
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

/** The flag that opens private networks. */
export const INSECURE_FLAG = {
  "allow-insecure": toggle("allow http: and private addresses, for tests"),
};

/** Flags of a reader's policy. */
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

/** The values of {@linkcode POLICY_FLAGS}; not every command has all of them. */
export type PolicyValues = Partial<Values<typeof POLICY_FLAGS>>;

type SourceCall<F extends Flags> = Call<
  Values<F> & Values<typeof POLICY_FLAGS>
>;

/** A command about one source, with the flags that each of them has. */
export function sourceCommand<const F extends Flags>(
  { flags, run, ...spec }: Omit<CommandSpec<F>, "positionals" | "run"> & {
    run(call: SourceCall<F>, source: string): Promise<number>;
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

/** How a source is understood, wherever one is given. */
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

/** The time of {@linkcode TIME_FLAGS}. */
export function timeOf(
  { at, "as-of": asOf }: Values<typeof TIME_FLAGS>,
): ParsedTime {
  return { at, asOf };
}

/**
 * The names of a source's people: those of `--names`, else those that lie
 * beside a directory.
 *
 * @throws {SigError} as `readNames`.
 */
export async function namesOf(
  call: Call<PolicyValues & NamesValue>,
  text: string,
): Promise<Names> {
  const { readNames } = await import("../people/names.ts");
  if (call.flags.names !== undefined) return await readNames(call);
  const { parseSource } = await import("@sig/consumer");
  const source = parseSource(text, sourceOptions(call));
  return await readNames(
    call,
    source.kind === "directory" ? source.path : undefined,
  );
}

/** What says what is odd about it. */
interface Warned {
  readonly warnings: readonly Warning[];
}

/** What a command does with a source, from memory or without. */
interface SourceWork<T> {
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
 * local one always from its beginning (docs/protocol.md §6). If there is no
 * memory, the first warning says why.
 */
export async function withMemory<T extends Warned>(
  call: Call<PolicyValues & PinValues>,
  text: string,
  work: SourceWork<T>,
): Promise<T> {
  const { parseSource } = await import("@sig/consumer");
  const { checkpointPolicy, openPins, pinChoice } = await import(
    "./pin_flags.ts"
  );
  const choice = pinChoice(call);
  const { flags } = call;
  const hasPolicy = flags["unknown-events"] ?? flags["unmatched-revoke"];
  const proofs = choice.proofs && hasPolicy === undefined;
  const policy = await checkpointPolicy(call);
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
        const chosen = { ...choice, proofs, checkpointPolicy: policy };
        return await work.plain(location, { ...options, onEvent }, chosen);
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
        proofs: proofs ? "always" : "never",
        checkpointPolicy: policy,
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
    return warning === undefined
      ? result
      : { ...result, warnings: [warning, ...result.warnings] };
  } finally {
    await pins?.close();
  }
}

/**
 * Reads a source by `work`. Where that fails and a folder has the name of the
 * host that was asked, or a URL does not look like that of a `sig.json`, the
 * error says so.
 */
export async function withSource<T>(
  call: Call<PolicyValues>,
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
      unknownEvents: call.flags["unknown-events"],
      unmatchedRevoke: call.flags["unmatched-revoke"],
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

/** Verifies a whole source, without the pin store, and writes its warnings. */
export async function verifySource(
  call: Call<PolicyValues>,
  text: string,
  more: Partial<VerifyIssuerOptions> = {},
): Promise<VerifiedIssuer> {
  const { verifyIssuer } = await import("@sig/consumer");
  const verified = await withSource(
    call,
    text,
    (location, options) => verifyIssuer(location, { ...options, ...more }),
  );
  writeWarnings(call, verified.warnings, verified.source);
  return verified;
}

/** The state of a source, and for a page which bytes it is about. */
export async function readState(
  call: Call<PolicyValues & PinValues>,
  source: string,
  time: Partial<ParsedTime>,
) {
  const { verifyIssuer } = await import("@sig/consumer");
  const digest = call.ownFormat === "html";
  const read = await withMemory(call, source, {
    remembered: async (consumer, name) => ({
      ...(await consumer.observe(name, time)).verified,
      report: digest ? await consumer.report(name) : undefined,
    }),
    plain: async (location, options) => ({
      ...await verifyIssuer(location, { ...options, digest }),
      report: undefined,
    }),
  });
  const { feed, report } = read;
  writeWarnings(call, read.warnings, read.source);
  return { ...read, sha256: report?.valid ? report.feed_sha256 : feed.sha256 };
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
export function tellStranger(call: Output, name: StrangeName): void {
  if (!call.io.isTerminal("stderr")) return;
  warn(
    call,
    "subject" in name
      ? neverHeardOf(name.subject)
      : `no event is about relationship ${quote(name.relationshipId)}`,
  );
}

/** What a list was to be about. */
type StrangeName =
  | { readonly subject: string }
  | { readonly relationshipId: string };
