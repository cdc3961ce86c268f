/**
 * The report of an error. It must load even if other modules can't, so it
 * imports only what each start loads, and nothing dynamically.
 *
 * @module
 */

import { toUserError } from "@sig/api/program";
import {
  type ErrorCode,
  isSigError,
  type Issue,
  type SigError,
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

/** Matches the detail of an issue in one row or line of a list. */
const LIST_PLACE = /^(row|line) (\d+)([,:] .+)$/s;

/** Returns the value of `--format` among the words, if it is text or JSON. */
export function askedFormat(words: readonly string[]): Format | undefined {
  const at = words.findIndex((word) => /^--format(?:=|$)/.test(word));
  const value = words[at]?.split("=")[1] ?? words[at + 1];
  return at >= 0 && (value === "json" || value === "text") ? value : undefined;
}

/** Writes an error to stderr and returns exit code 2. */
export function reportError(io: Io, thrown: unknown, format: Format): number {
  const error = toUserError(thrown);
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

/** Returns a line for each issue, and one for those that many lines share. */
function describeIssues(issues: readonly Issue[]): readonly string[] {
  const placed = issues.map((issue) => {
    const [, word = "", number, rest] = LIST_PLACE.exec(issue.detail) ?? [];
    // The detail of a row names the column already.
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

/** The next step if the feed contradicts the pin. */
const AFTER_ASKING =
  "sig pin ack <issuer> --reason TEXT accepts what is served now";

const BY_CODE: { readonly [code in ErrorCode]?: string } = {
  already_revoked:
    "sig undo takes the revocation back; --amend corrects its reason or time",
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

/** Returns the next step, if there is one, as a line without quoted values. */
function nextStep({ category, code, context }: SigError): string | undefined {
  const isKnown = code === "source_not_found"
    ? isMissingIssuer(context)
    // The hint already names the reason, which is not the disk.
    : code !== "write_failed" || context.hint === undefined;
  if (!isKnown) return undefined;
  const known = BY_CODE[code];
  // `sig pin ack` applies to pins only, not to a cursor or an issuer's index.
  if (known === AFTER_ASKING && context.remembered_sequence === undefined) {
    return undefined;
  }
  // `sig verify` lists errors in lines of a feed, not in lines of drafts.
  const isInFeed = category === "invalid" && context.line !== undefined &&
    context.draft === undefined;
  return known ?? (isInFeed ? "sig verify <source> lists every fault" : known);
}

/** Whether the missing path is an issuer, which `sig init` could create. */
function isMissingIssuer({ ref, path }: SigError["context"]): boolean {
  // Only errors about an issuer have a path, errors about lists and keys do
  // not.
  if (path === undefined) return false;
  // If only another document than the metadata is missing, the path is correct.
  const place = String(ref ?? path);
  return !place.includes("/.well-known/") || place.endsWith("/sig.json");
}
