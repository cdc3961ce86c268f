import type { Issue } from "@sig/core";
import { isSigError, SigError } from "@sig/core";
import { openForAppend } from "../ask/open_for_append.ts";
import type { Command } from "../command_line/command.ts";
import { warn } from "../command_line/output.ts";
import { createProgress } from "../command_line/progress.ts";
import { REQUIRED_DIR_FLAG } from "../issue/relationship_flags.ts";
import { SIGNING_FLAGS } from "../issue/append.ts";
import { reportBatch } from "../issue/batch.ts";
import { readInput } from "../terminal/read_input.ts";

/** Bytes of drafts; 100,000 take about 30 MB. */
const MAX_DRAFT_BYTES = 256 * 1024 * 1024;
/** Faults that are told of at the most. */
const MAX_FAULTS = 100;
const NEWS_EVERY = 1_000;

/** `sig import`, under a name that is no keyword. */
export const importDrafts: Command = {
  name: "import",
  summary: "append many events, all or nothing",
  description:
    "Reads drafts as JSON lines: objects with event_type and what sig upsert or\nsig revoke would be told, in the names of the protocol. Everything not given\nis generated. Lines with an event_id may be imported again: what is there\nalready is not written twice. One fault, and nothing is written.",
  positionals: [{ name: "file", help: "the drafts; - is standard input" }],
  flags: [
    REQUIRED_DIR_FLAG,
    ...SIGNING_FLAGS,
  ],
  examples: [
    "sig import --dir acme.example drafts.jsonl",
    "sig import --dir acme.example -",
  ],
  async run(call) {
    const { io } = call;
    const path = call.positionals[0]!;
    const bytes = await readInput(io, path, MAX_DRAFT_BYTES);
    const { readDraftLines } = await import("../issue/read_draft_lines.ts");
    const lines = readDraftLines(bytes, MAX_FAULTS);
    // Hardly what an export of people was to be.
    if (lines.length === 0) warn(call, "there is no draft in it");
    await using issuer = await openForAppend(call);
    const progress = createProgress(
      call,
      NEWS_EVERY,
      (done) => `signed ${done} of ${lines.length} events`,
    );
    try {
      const appended = await issuer.appendAll(
        lines.map(({ draft }) => draft),
        { maxFaults: MAX_FAULTS, onProgress: progress?.show },
      );
      return reportBatch(call, appended);
    } catch (error) {
      throw atLine(error, lines.map(({ line }) => line));
    } finally {
      progress?.wipe();
    }
  },
};

/** The same error, told of lines instead of drafts. */
function atLine(error: unknown, lines: readonly number[]): unknown {
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
  return new SigError(error.code, `line ${line}: ${error.message}`, {
    context: {
      ...error.context,
      line,
      draft,
      errors: faults,
      hint: "Nothing was written. Mend the lines and repeat the command.",
    },
    cause: error.cause,
  });
}
