/**
 * The report of an error. Whatever else can't be loaded, this is: it imports
 * core alone, and nothing when it is called.
 *
 * @module
 */

import {
  type ErrorCode,
  isSigError,
  type Issue,
  SigError,
  toProblem,
} from "@sig/core";
import type { Io } from "../terminal/io.ts";
import {
  colour,
  describeRanges,
  type Format,
  placeOf,
  safe,
  safeJson,
} from "./write.ts";

/** How a fault's detail begins that is in one row or line of a list. */
const LIST_PLACE = /^(row|line) (\d+)([,:] .+)$/s;

/** The `--format` among the words, if it is there and says what can be done. */
export function askedFormat(words: readonly string[]): Format | undefined {
  const at = words.findIndex((word) => /^--format(?:=|$)/.test(word));
  const value = words[at]?.split("=")[1] ?? words[at + 1];
  return at >= 0 && (value === "json" || value === "text") ? value : undefined;
}

/** Reports why a command could not do its work: exit code 2. */
export function reportError(io: Io, thrown: unknown, format: Format): number {
  const error = namedError(thrown);
  const problem = toProblem(error);
  const next = isSigError(error) ? nextStep(error) : undefined;
  if (format === "json") {
    io.stderr(`${safeJson(JSON.stringify({ ...problem, next }))}\n`);
    return 2;
  }
  const label = colour(io, "stderr", "red", "error");
  const place = isSigError(error) ? placeOf(error.context) : "";
  const at = place === "" ? "" : ` (at ${place})`;
  io.stderr(`${label}: ${problem.code}: ${safe(problem.detail)}${at}\n`);
  if (!isSigError(error)) return 2;
  const { context } = error;
  for (const line of describeIssues(context.errors ?? [])) {
    io.stderr(`  ${safe(line)}\n`);
  }
  if (context.hint !== undefined) io.stderr(`  hint: ${safe(context.hint)}\n`);
  if (next !== undefined) io.stderr(`  next: ${next}\n`);
  return 2;
}

/** Each fault, and once what many rows or lines of a list share. */
function describeIssues(issues: readonly Issue[]): readonly string[] {
  const placed = issues.map((issue) => {
    const [, word = "", number, rest] = LIST_PLACE.exec(issue.detail) ?? [];
    // A row's fault names its column itself.
    const field = word === "line" ? issue.pointer.replace(/^\/\d+/, "") : "";
    const what = rest && (field === "" ? rest : `, field ${field}${rest}`);
    return { ...issue, word, number: Number(number), what };
  });
  const groups = Map.groupBy(
    placed,
    (each) => each.what === undefined ? each : each.code + each.what,
  );
  return [...groups.values()].map((group) => {
    const { code, pointer, detail, word, what } = group[0]!;
    return what === undefined
      ? `${code} ${pointer || "/"}: ${detail}`
      : `${code} ${
        describeRanges(word, group.map((each) => each.number))
      }${what}`;
  });
}

/** An error of the runtime or of `writeAll`, as what it means to people. */
function namedError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const named = (code: ErrorCode, message: string, hint?: string) =>
    new SigError(code, message, {
      context: hint === undefined ? {} : { hint },
      cause: thrown,
    });
  if (thrown.name === "NotCapable") {
    const flag = /--allow-[a-z]+/.exec(thrown.message)?.[0];
    return named(
      "invalid_request",
      "Cannot go on: the program was not given a permission that it needs",
      flag && `Run it with ${flag}.`,
    );
  }
  if (thrown.name === "OutputFailed") {
    return named(
      "write_failed",
      "Cannot write the result: standard output takes no more",
      "What the command was to do may be done: look before you repeat.",
    );
  }
  if ("code" in thrown && thrown.code === "ERR_MODULE_NOT_FOUND") {
    // The first line names the module; more lines are of Deno's own.
    const what = /^[^\n]*/.exec(thrown.message)?.[0] ?? "";
    return named(
      "fetch_failed",
      `Cannot load the program: a part of it is not in Deno's cache: ${what}`,
      "Run it once with access to the network.",
    );
  }
  return thrown;
}

/** Adds to the hint which command accepts the new feed. */
const AFTER_ASKING =
  "sig pin ack <issuer> --reason TEXT accepts what is served now";

const BY_CODE: { readonly [code in ErrorCode]?: string } = {
  already_revoked: "add --amend to correct the revocation",
  duplicate_event_id: "leave out --event-id, or repeat the first append as is",
  feed_rewritten: AFTER_ASKING,
  feed_rolled_back: AFTER_ASKING,
  feed_stale: "try again, or accept older answers with --max-age",
  fetch_failed: "check the name and the network, and try again",
  fetch_status: "check that the issuer publishes its documents there",
  fetch_timeout: "try again later",
  issuer_exists: "sig upsert --help",
  key_not_authorized: "sig rotate-key --help",
  key_replaced: AFTER_ASKING,
  key_withdrawn: AFTER_ASKING,
  signing_key_not_found:
    "name the key with --key or SIG_KEY_FILE, or its folder with SIG_KEYS_DIR",
  source_not_found:
    "check the path: an issuer's directory holds .well-known; sig init makes one",
  unknown_relationship: "sig dump-state <dir> lists the relationships",
  write_failed: "check the path, its permissions and the space on the disk",
};

/** One line that quotes nothing; undefined where nothing is to be said. */
function nextStep(error: SigError): string | undefined {
  const { category, code, context } = error;
  if (code === "source_not_found" && !isMissingIssuer(context)) {
    return undefined;
  }
  // Where the hint knows why, the disk need not be looked at.
  if (code === "write_failed" && context.hint !== undefined) return undefined;
  const known = BY_CODE[code];
  // It is the memory that contradicts: no cursor, and no index of an operator.
  if (known === AFTER_ASKING && context.remembered_sequence === undefined) {
    return undefined;
  }
  if (known !== undefined) return known;
  // A line of drafts is not a line of the feed, whose faults can be listed.
  if (context.draft !== undefined) return undefined;
  if (category === "invalid" && context.line !== undefined) {
    return "sig verify <source> lists every fault";
  }
  return undefined;
}

/** Whether a second `sig init` may be what is wanted. */
function isMissingIssuer({ ref, path }: SigError["context"]): boolean {
  // A list or a key is not an issuer; only documents of one have its path.
  if (path === undefined) return false;
  // Where a document is missing beside the metadata, the path is right.
  const place = String(ref ?? path);
  return !place.includes("/.well-known/") || place.endsWith("/sig.json");
}
