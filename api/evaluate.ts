/** AuthZEN evaluations, answered by `check` (INTERFACES §3). @module */

import type { Consumer, IssuerQuestion } from "@sig/consumer";
import {
  type CheckAnswer,
  isObject,
  isSigError,
  SigError,
  withContext,
} from "@sig/core";
import { createPause } from "./pause.ts";
import {
  EVALUATION,
  type Evaluation,
  type EvaluationsRequest,
} from "./schema/authzen.ts";
import { readAs } from "./schema/faults.ts";
import type { Schema } from "./schema/schema.ts";

/** What evaluations need. */
export interface EvaluationContext {
  /** Issuers on the network. */
  readonly consumer: Consumer;
  /** Awaited between slices of long work. */
  readonly breathe: () => Promise<void>;
  /** The service's list. */
  readonly listed: readonly string[];
  /** How an issuer must be written. */
  readonly issuerText: Schema<string>;
}

/** A decision as AuthZEN says it. */
export interface Decision {
  /** Yes or no. */
  readonly decision: boolean;
  /** What it rests upon. */
  readonly context: Pick<
    CheckAnswer,
    | "reasons"
    | "issuer"
    | "matched_relationship_id"
    | "last_sequence"
    | "evaluated_at"
    | "not_after"
    | "freshness"
    | "continuity"
    | "warnings"
  >;
}

/**
 * Answers one evaluation.
 *
 * @throws {SigError} `invalid_request`, as `parseSource` for the issuer, and as
 * `Consumer.check`: what can't be answered is never a decision.
 */
export async function evaluate(
  body: unknown,
  context: EvaluationContext,
): Promise<Decision> {
  return await answer(plan(body, context, ""), context);
}

/**
 * Answers the evaluations of a batch in order, up to where its semantic stops.
 *
 * @throws {SigError} as {@linkcode evaluate}, with `context.evaluation`.
 */
export async function evaluateInOrder(
  request: EvaluationsRequest,
  evaluations: readonly unknown[],
  context: EvaluationContext,
): Promise<readonly Decision[]> {
  // All are read before the first is answered: a request is right or wrong.
  const plans = evaluations.map((item, i) =>
    plan(withDefaults(request, item), context, `/evaluations/${i}`)
  );
  const { evaluations_semantic = "execute_all" } = request.options ?? {};
  const decisions: Decision[] = [];
  const pause = createPause(context.breathe);
  for (const [i, each] of plans.entries()) {
    await pause();
    const decision = await answer(each, context, i);
    decisions.push(decision);
    if (decision.decision === STOP_AT[evaluations_semantic]) break;
  }
  return decisions;
}

const STOP_AT = Object.freeze({
  execute_all: undefined,
  deny_on_first_deny: false,
  permit_on_first_permit: true,
});

/** A member of an item replaces the default as a whole (AuthZEN §7.1.1). */
function withDefaults(request: EvaluationsRequest, item: unknown): unknown {
  if (!isObject(item)) return item;
  const { subject, action, resource, context } = request;
  const defaults = { subject, action, resource, context };
  const given = Object.entries(defaults).filter(([, each]) =>
    each !== undefined
  );
  return { ...Object.fromEntries(given), ...item };
}

/** An evaluation in SIG's words. */
interface Plan {
  readonly issuer: string;
  readonly question: IssuerQuestion;
}

/** Reads an evaluation; nothing is asked yet. */
function plan(
  body: unknown,
  context: EvaluationContext,
  pointer: string,
): Plan {
  const { subject, action, resource, ...rest } = readAs(
    EVALUATION,
    body,
    pointer,
  );
  return {
    issuer: issuerOf(resource, context, pointer),
    question: {
      subject: subject.id,
      require: [{ role: action.name }],
      at: rest.context?.time,
    },
  };
}

/** Answers, or throws, in a batch with the index of the evaluation. */
async function answer(
  { issuer, question }: Plan,
  { consumer }: EvaluationContext,
  index?: number,
): Promise<Decision> {
  try {
    return toDecision(await consumer.check(issuer, question));
  } catch (error) {
    if (!isSigError(error) || index === undefined) throw error;
    throw withContext(error, { evaluation: index });
  }
}

function toDecision(answer: CheckAnswer): Decision {
  return {
    decision: answer.decision === "allow",
    context: {
      reasons: answer.reasons,
      issuer: answer.issuer,
      matched_relationship_id: answer.matched_relationship_id,
      last_sequence: answer.last_sequence,
      evaluated_at: answer.evaluated_at,
      not_after: answer.not_after,
      freshness: answer.freshness,
      continuity: answer.continuity,
      warnings: answer.warnings,
    },
  };
}

/** Which issuer an evaluation is about. */
function issuerOf(
  resource: Evaluation["resource"],
  { listed, issuerText }: EvaluationContext,
  pointer: string,
): string {
  if (resource.type === "issuer") {
    return readAs(issuerText, resource.id, `${pointer}/resource/id`);
  }
  const [only] = listed;
  if (only !== undefined && listed.length === 1) return only;
  throw new SigError(
    "invalid_request",
    `Cannot evaluate: the service knows ${
      listed.length === 0 ? "no issuer" : "several issuers"
    }, so the resource must name one`,
    {
      context: {
        pointer: `${pointer}/resource/type`,
        hint: "Use resource.type issuer, with the issuer as resource.id.",
      },
    },
  );
}
