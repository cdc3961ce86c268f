/** AuthZEN evaluations, answered by `check` (docs/reference/http.md). @module */

import { type CheckAnswer, SigError, toProblem } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { IssuerName } from "@sig/consumer";
import { answerBatch } from "./answer_batch.ts";
import { type AnswerContext, answerOn, groundsOf } from "./answer_check.ts";
import {
  EVALUATION,
  type EvaluationsRequest,
  findForeignSubject,
} from "../schemas/authzen.ts";
import type { CheckRequest } from "../schemas/question.ts";
import { readAs } from "../schemas/strict.ts";

/**
 * Answers one evaluation.
 *
 * @throws {SigError} `invalid_request`, as `parseSource` for the issuer, and as
 * `Consumer.check`: a failure is never a decision.
 */
export async function evaluate(body: unknown, context: AnswerContext) {
  const planned = plan(body, context, "");
  const grounds = await groundsOf([planned.request], context);
  const answer = await answerOn(grounds, planned.request, context);
  return toDecision(answer, planned, context);
}

/**
 * Answers the evaluations of a batch as JSON texts, in their order, up to the
 * one at which its semantic stops. Evaluations are independent (AuthZEN §7.1),
 * so all are answered concurrently and each issuer is queried once. For the
 * semantic, an error counts as a deny (§7.1.3); its answer says that it is an
 * error.
 */
export async function evaluateBatch(
  request: EvaluationsRequest,
  evaluations: readonly unknown[],
  context: AnswerContext,
  noteThrown: (error: unknown) => void,
): Promise<readonly string[]> {
  const plans: Plan[] = [];
  const decisions: boolean[] = [];
  const texts = await answerBatch(evaluations, {
    ...context,
    read(item, i) {
      const planned = plan(
        withDefaults(request, item),
        context,
        `/evaluations/${i}`,
      );
      plans[i] = planned;
      return planned.request;
    },
    toResult(answer, i) {
      const decision = toDecision(answer, plans[i]!, context);
      decisions[i] = decision.decision;
      return decision;
    },
    toFailure(error, i) {
      decisions[i] = false;
      const { status, code, detail } = toProblem(error);
      if (code === "internal") noteThrown(error);
      // AuthZEN §7.2.1
      const failed = { status, code, message: detail };
      return { decision: false, context: { error: failed } };
    },
  });
  const { evaluations_semantic = "execute_all" } = request.options ?? {};
  const stop = STOP_AT[evaluations_semantic];
  const last = stop === undefined ? -1 : decisions.indexOf(stop);
  return last < 0 ? texts : texts.slice(0, last + 1);
}

const STOP_AT = Object.freeze({
  execute_all: undefined,
  deny_on_first_deny: false,
  permit_on_first_permit: true,
});

/**
 * Adds the defaults of the batch. A member of an item replaces the whole
 * default (AuthZEN §7.1.1).
 */
function withDefaults(request: EvaluationsRequest, item: unknown): unknown {
  if (!isObject(item)) return item;
  const { subject, action, resource, context } = request;
  const given = Object.entries({ subject, action, resource, context })
    .filter(([, each]) => each !== undefined);
  return { ...Object.fromEntries(given), ...item };
}

/** An evaluation as a SIG question. */
interface Plan {
  readonly request: CheckRequest;
  /** Why no feed can list this subject; undefined if a feed can. */
  readonly foreign: string | undefined;
  /** The members of the evaluation that had no part in the decision, if any. */
  readonly ignored: readonly ["resource"] | undefined;
}

/** Parses an evaluation, without I/O. */
function plan(
  body: unknown,
  context: AnswerContext,
  pointer: string,
): Plan {
  const { subject, action, resource, ...rest } = readAs(
    EVALUATION,
    body,
    pointer,
  );
  return {
    request: {
      ...rest.context?.sig,
      issuer: issuerOf(resource, context, pointer),
      subject: subject.id,
      require: [{ key: "role", value: action.name }],
    },
    foreign: findForeignSubject(subject),
    ignored: resource.type === "issuer" ? undefined : ["resource"],
  };
}

function toDecision(
  found: CheckAnswer,
  { foreign, ignored }: Plan,
  { decided }: AnswerContext,
) {
  const answer = foreign === undefined ? found : denyForeign(found, foreign);
  decided?.(answer);
  return {
    decision: answer.decision === "allow",
    context: {
      reasons: answer.reasons,
      reasons_left_out: answer.reasons_left_out,
      issuer: answer.issuer,
      matched_relationship_id: answer.matched_relationship_id,
      last_sequence: answer.last_sequence,
      evaluated_at: answer.evaluated_at,
      not_after: answer.not_after,
      freshness: answer.freshness,
      continuity: answer.continuity,
      warnings: answer.warnings,
      ignored,
      explain: answer.explain,
    },
  };
}

/** The feed's relationships belong to another subject with the same id. */
function denyForeign(answer: CheckAnswer, detail: string): CheckAnswer {
  const { reasons_left_out: _, explain, ...others } = answer;
  const reason = { code: "no_relationship", detail } as const;
  return {
    ...others,
    decision: "deny",
    reasons: [reason],
    matched_relationship_id: null,
    not_after: null,
    ...(explain && { explain: { ...explain, relationships: [] } }),
  };
}

/** Returns the issuer that an evaluation is about. */
function issuerOf(
  resource: { readonly type: string; readonly id: string },
  { listed, schemas }: AnswerContext,
  pointer: string,
): IssuerName {
  if (resource.type === "issuer") {
    return readAs(schemas.issuer, resource.id, `${pointer}/resource/id`);
  }
  const [only] = listed;
  if (only !== undefined && listed.length === 1) return only;
  throw new SigError("invalid_request", {
    action: "evaluate",
    reason: `the service knows ${
      listed.length === 0 ? "no issuer" : "several issuers"
    }, so the resource must name one`,
    context: {
      pointer: `${pointer}/resource/type`,
      hint: "Use resource.type issuer, with the issuer as resource.id.",
    },
  });
}
