import {
  isSigError,
  type Issue,
  JsonError,
  parseJson,
  SigError,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { EventDraft } from "@sig/issuer";
import { typedCommand } from "../command_line/command.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { DIR_FLAG, SIGNING_FLAGS } from "../issue/flags.ts";
import { warn } from "../output/write.ts";
import { readInput } from "../terminal/read_input.ts";

/** Maximum size of the drafts in bytes; 100,000 drafts take about 30 MB. */
const MAX_DRAFT_BYTES = 256 * 1024 * 1024;
/** Maximum number of faults that an error lists. */
const MAX_FAULTS = 100;

/** `sig import` */
const importDrafts = typedCommand({
  description: `
    Reads drafts as JSON lines: objects with event_type and the members of an
    upsert or revoke, named as in the protocol. Everything not given is generated.
    Lines with an event_id may be imported again: an event that is already in the
    feed is not written twice. If one line is faulty, nothing is written.`,
  positionals: [{
    name: "file",
    help: "the drafts; - is standard input",
    kind: "file",
  }],
  flags: {
    ...DIR_FLAG,
    ...SIGNING_FLAGS,
  },
  examples: [
    "sig import --dir acme.example drafts.jsonl",
    "sig import --dir acme.example -",
  ],
  async run(call) {
    const { io } = call;
    const path = call.positionals[0]!;
    const bytes = await readInput(io, path, MAX_DRAFT_BYTES);
    const lines = readDraftLines(bytes);
    // An empty export is probably a mistake.
    if (lines.length === 0) warn(call, "the file contains no drafts");
    const drafts = lines.map(({ draft }) => draft);
    try {
      return await appendProposal(
        call,
        // Each line names its event: a missing line ends nothing.
        () =>
          Promise.resolve({ drafts, guards: "named", maxFaults: MAX_FAULTS }),
      );
    } catch (error) {
      throw withFileLines(error, lines.map(({ line }) => line));
    }
  },
});

export { importDrafts as import };

/** Replaces draft numbers in the error with line numbers of the file. */
function withFileLines(error: unknown, lines: readonly number[]): unknown {
  if (!isSigError(error)) return error;
  const { draft = 0, errors } = error.context;
  if (errors === undefined) return error;
  const line = lines[Number(draft)] ?? 0;
  const faults = errors.map((issue: Issue & { readonly draft?: unknown }) => {
    const { code, detail, draft, pointer } = issue;
    const line = lines[Number(draft)] ?? 0;
    const within = pointer.slice(`/${draft}`.length);
    const place = `/${line}${within}`;
    return { pointer: place, line, code, detail: `line ${line}: ${detail}` };
  });
  return new SigError(error.code, {
    reason: `line ${line}: ${error.message}`,
    context: {
      ...error.context,
      line,
      draft,
      errors: faults,
      hint: "Nothing was written. Fix the lines and rerun.",
    },
    cause: error.cause,
  });
}

/** A draft and its line. */
interface DraftLine {
  /** Line number, from 1. */
  readonly line: number;
  /** A JSON object. The issuer validates its members. */
  readonly draft: EventDraft;
}

const LF = 0x0a;

/**
 * Parses drafts, one per line. Blank lines are skipped.
 *
 * @throws {SigError} `invalid_json` with every line that is not one strict JSON
 * object, up to {@linkcode MAX_FAULTS}.
 */
function readDraftLines(bytes: Uint8Array): readonly DraftLine[] {
  const drafts: DraftLine[] = [];
  const faults: (Issue & { readonly line: number })[] = [];
  for (let at = 0, line = 1; at < bytes.length; line++) {
    const lf = bytes.indexOf(LF, at);
    const end = lf < 0 ? bytes.length : lf;
    const read = readLine(bytes.subarray(at, end));
    at = end + 1;
    if (read === undefined) continue;
    if (typeof read !== "string") drafts.push({ line, draft: read });
    else if (faults.length < MAX_FAULTS) {
      const detail = `line ${line}: ${read}`;
      faults.push({ pointer: `/${line}`, line, code: "invalid_json", detail });
    }
  }
  const [first] = faults;
  if (first === undefined) return drafts;
  throw new SigError("invalid_json", {
    action: "read drafts",
    reason: first.detail,
    context: {
      line: first.line,
      ...(faults.length === 1 ? {} : { errors: faults }),
      hint: "Nothing was written. Each line must be one strict JSON object.",
    },
  });
}

/** Returns a line's draft, or why it is faulty; undefined if it is blank. */
function readLine(bytes: Uint8Array): EventDraft | string | undefined {
  if (bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)) {
    return undefined;
  }
  try {
    const value = parseJson(bytes);
    // The issuer validates every member.
    if (isObject(value)) return value as unknown as EventDraft;
    return "it must be one object";
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return `it must be strict JSON: ${error.message}`;
  }
}
