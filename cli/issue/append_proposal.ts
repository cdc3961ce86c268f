/**
 * Previews, confirms, appends and reports the events that a command proposes.
 *
 * @module
 */

import {
  type ErrorContext,
  isSigError,
  type OpenObject,
  type Sentence,
  SigError,
  type Warning,
} from "@sig/core";
import {
  type AppendedEvent,
  type EventDraft,
  type GuardOptions,
  type Issuer,
  type PlannedChange,
  type PublishedState,
  requireGuards,
} from "@sig/issuer";
import type { Call } from "../command_line/command.ts";
import type { IssuerValues } from "./flags.ts";
import { openIssuerForAppend } from "./open_issuer.ts";
import {
  counted,
  createProgress,
  givenWarnings,
  type Output,
  safe,
  warn,
  writeJson,
  writeWarnings,
} from "../output/write.ts";

/** The events that a command proposes to append. */
interface Proposal {
  /** The issuer validates every member; flags are only text. */
  readonly drafts: readonly EventDraft[];
  /**
   * The guards that all drafts must pass, with what the operator confirmed.
   * They count what a list changes without naming it: rows that are missing,
   * and people who come back. `named` if each change was named by the operator,
   * so that none is hidden in a list; the command says why.
   */
  readonly guards: "named" | GuardOptions & { readonly state: PublishedState };
  /** Append only while the feed ends with this sequence (default: any). */
  readonly ifLastSequence?: number | undefined;
  /** Possible mistakes: confirmed one by one, or warnings before `question`. */
  readonly doubts?: readonly string[];
  /**
   * Confirmation, on a terminal; elsewhere `--yes` is required, unless there is
   * no `refusal`.
   */
  readonly question?: {
    readonly text: string;
    readonly refusal?: Sentence;
    readonly hint?: string;
    /** Asks further questions, after the yes and before the append. */
    askMore?(): Promise<void>;
  };
  /** Shows the proposed events to people. */
  readonly preview?: {
    write(): void | Promise<void>;
    /**
     * `asked`: before a question. `confirmed`: also with `--yes`, and after the
     * append if there is no question. `always`: also if the proposal is then
     * refused.
     */
    readonly when: "asked" | "confirmed" | "always";
  };
  /** Maximum number of faulty drafts that one error reports (default: 1). */
  readonly maxFaults?: number;
  /** The planned change of each draft (default: unknown). */
  readonly changes?: readonly PlannedChange[];
  /**
   * Returns notices and more JSON members, for a single draft. Reads nothing:
   * the event is published already.
   */
  readonly about?: (appended: AppendedEvent) => {
    readonly notices: readonly string[];
    readonly members?: OpenObject;
  };
  /** Lines before the acknowledgement of a batch, and more JSON members. */
  readonly remarks?: { readonly text: string; readonly members: OpenObject };
  /** Local work after the append; its failure is a warning. */
  readonly afterwards?: () => Promise<void>;
}

/** The call of a command that appends. Not every command has `--yes`. */
export type AppendCall = Call<IssuerValues & { readonly yes?: boolean }>;

/** Maximum number of attempts while other writers append. */
const ATTEMPTS = 5;

const NOTHING_WRITTEN = Object.freeze({ hint: "Nothing was written." });

/** Number of events between two progress reports. */
const PROGRESS_EVERY = 1_000;

/**
 * Opens the issuer of `--dir`, makes the proposal, requires its guards, confirms
 * it, appends it, and reports it. If another writer has appended meanwhile, the proposal is made
 * again, and the operator confirms only what is new.
 *
 * Every question is asked before the append. After it, nothing can fail: an
 * interrupt does not end the command, and what fails is a warning.
 *
 * @param propose Throws if the proposal must be refused, before any question.
 * @param once The proposal fits only one state of the feed: do not make it
 * again.
 * @throws {SigError} `confirmation_required`, and as `appendAll` of an issuer.
 */
export async function appendProposal(
  call: AppendCall,
  propose: (issuer: Issuer) => Promise<Proposal>,
  { once = false }: { readonly once?: boolean } = {},
): Promise<void> {
  await using issuer = await openIssuerForAppend(call);
  const agreed = new Set<string>();
  for (let attempt = 1;; attempt++) {
    try {
      const proposal = await propose(issuer);
      const { drafts, guards } = proposal;
      if (guards !== "named") requireGuards(guards.state, drafts, guards);
      await confirmProposal(call, proposal, agreed);
      const appended = await append(call, issuer, proposal);
      call.outcome.isPublished = true;
      await report(call, issuer, proposal, appended);
      return;
    } catch (error) {
      const isLast = once || attempt === ATTEMPTS;
      if (isLast || !isSigError(error, "plan_outdated")) throw error;
    }
  }
}

async function append(
  call: AppendCall,
  issuer: Issuer,
  { drafts, ifLastSequence, maxFaults }: Proposal,
): Promise<readonly AppendedEvent[]> {
  const progress = createProgress(
    call,
    PROGRESS_EVERY,
    (done) => `signed ${done} of ${drafts.length} events`,
  );
  try {
    const onProgress = progress?.show;
    const options = { ifLastSequence, maxFaults, onProgress };
    return await issuer.appendAll(drafts, options);
  } finally {
    progress?.wipe();
  }
}

async function confirmProposal(
  call: AppendCall,
  { changes, doubts = [], drafts, preview, question }: Proposal,
  agreed: Set<string>,
): Promise<void> {
  const fresh = doubts.filter((doubt) => !agreed.has(doubt));
  if (drafts.length === 0) {
    for (const doubt of fresh) warn(call, doubt);
    return;
  }
  if (question === undefined) await confirmDoubts(call, fresh);
  else {
    const key = JSON.stringify([drafts, changes]);
    if (fresh.length === 0 && agreed.has(key)) return;
    await confirmQuestion(call, { preview, question }, fresh);
    await question.askMore?.();
    agreed.add(key);
  }
  for (const doubt of doubts) agreed.add(doubt);
}

/**
 * Shows a preview and doubts, and asks for confirmation.
 *
 * @throws {SigError} `confirmation_required`
 */
export async function confirmQuestion(
  call: AppendCall,
  { preview, question }: {
    readonly preview: Proposal["preview"];
    readonly question: NonNullable<Proposal["question"]>;
  },
  doubts: readonly string[] = [],
): Promise<void> {
  const when = preview?.when;
  const isShown = canAsk(call) ||
    call.format === "text" &&
      (when === "always" || when === "confirmed" && call.flags.yes);
  if (isShown) await preview?.write();
  // After a long preview, the warnings would otherwise scroll out of sight.
  for (const doubt of doubts) warn(call, doubt);
  const { hint = NOTHING_WRITTEN.hint, refusal, text } = question;
  const isConfirmed = canAsk(call)
    ? await call.io.ask(text)
    : refusal === undefined || call.flags.yes;
  if (isConfirmed) return;
  throw refusal === undefined
    ? notConfirmed(NOT_CONFIRMED, { hint })
    : notConfirmed(refusal, { flag: "--yes", hint });
}

/** Confirms each doubt on a terminal; warns elsewhere. */
async function confirmDoubts(
  call: AppendCall,
  doubts: readonly string[],
): Promise<void> {
  const isAsked = canAsk(call);
  for (const doubt of doubts) {
    if (!isAsked) warn(call, doubt);
    else if (!await call.io.ask(safe(`${doubt}. Append anyway?`))) {
      const reason = `not confirmed: ${doubt}`;
      throw notConfirmed({ action: "append", reason }, NOTHING_WRITTEN);
    }
  }
}

/** Returns whether a terminal can answer questions and `--yes` is not given. */
export function canAsk({ flags, format, io }: AppendCall): boolean {
  return !flags.yes && format === "text" && io.isTerminal("stdin") &&
    io.isTerminal("stdout");
}

const NOT_CONFIRMED: Sentence = { action: "append", reason: "not confirmed" };

function notConfirmed(
  { action, reason }: Sentence,
  context: ErrorContext,
): SigError {
  return new SigError("confirmation_required", { action, reason, context });
}

/** The report of an append: text for people, JSON for programs. */
interface Acknowledgement {
  readonly text: string;
  readonly value: OpenObject;
  /** What readers will warn about (`--allow-warnings`). */
  readonly warnings: readonly Warning[];
}

/**
 * Reports what was appended, and updates the proofs once for the whole batch.
 * JSON is written last, since it includes the warnings.
 */
async function report(
  call: Output,
  issuer: Issuer,
  proposal: Proposal,
  appended: readonly AppendedEvent[],
): Promise<void> {
  const { about, afterwards, doubts = [], preview, question } = proposal;
  const [only] = appended;
  const isText = call.format === "text";
  let shown: Acknowledgement | undefined;
  await warnIfFailed(call, async () => {
    if (about === undefined || only === undefined) {
      shown = describeBatch(call, appended, proposal);
    } else {
      const { members, notices } = about(only);
      shown = describeOne(call, only, [...doubts, ...notices], members);
      for (const each of notices) warn(call, each);
    }
    const isUnseen = question === undefined && preview?.when === "confirmed";
    if (isUnseen && isText && only !== undefined) await preview.write();
    for (const each of shown.warnings) writeWarnings(call, [each]);
    if (isText) call.io.stdout(shown.text);
  });
  await warnIfFailed(call, async () => {
    const found = only === undefined ? [] : await issuer.refreshProofs();
    if (isText) return writeWarnings(call, found);
    const warnings = givenWarnings([...shown?.warnings ?? [], ...found]);
    writeJson(call.io, { ...shown?.value, ...warnings });
  });
  if (afterwards !== undefined) await warnIfFailed(call, afterwards);
}

/**
 * Runs work after the append. A failure is a warning, also with JSON, whose
 * stdout may be what failed.
 */
async function warnIfFailed(
  { io }: Output,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    try {
      warn(
        { io, format: "text" },
        `the events are published, but a later step failed: ${why}`,
      );
    } catch {
      // stderr fails as well. The exit code still says what is published.
    }
  }
}

function describeOne(
  call: Output,
  appended: AppendedEvent,
  notices: readonly string[],
  members: OpenObject | undefined,
): Acknowledgement {
  const { sequence, event_id, relationship_id, repeated, event } = appended;
  const { event_type } = event;
  if (repeated) {
    warn(
      call,
      `event ${event_id} is already in the feed (seq=${sequence}); nothing was written`,
    );
  }
  return {
    text: `Appended ${event_type} ${safe(relationship_id)} (seq=${sequence})\n`,
    value: {
      event_type,
      event_id,
      relationship_id,
      sequence,
      repeated,
      ...members,
      ...(notices.length === 0 ? {} : { notices }),
    },
    warnings: appended.warnings,
  };
}

function describeBatch(
  call: Output,
  appended: readonly AppendedEvent[],
  { changes, remarks }: Proposal,
): Acknowledgement {
  const written = appended.filter(({ repeated }) => !repeated);
  const first = written.at(0)?.sequence ?? null;
  const last = written.at(-1)?.sequence ?? null;
  const repeats = appended.length - written.length;
  if (repeats > 0) {
    warn(call, `${counted(repeats, "event")} already in the feed`);
  }
  return {
    text: (remarks?.text ?? "") +
      (written.length === 0
        ? "Nothing to do: the feed already says all of this.\n"
        : `Appended ${counted(written.length, "event")} (seq=${
          first === last ? first : `${first} to ${last}`
        })\n`),
    value: {
      applied: written.length,
      first_sequence: first,
      last_sequence: last,
      events: appended.map(({ sequence, event_id, relationship_id }, at) => ({
        sequence,
        event_id,
        relationship_id,
        ...(changes === undefined ? {} : { action: changes[at]?.action }),
      })),
      ...remarks?.members,
    },
    warnings: written.flatMap(({ warnings }) => warnings),
  };
}
