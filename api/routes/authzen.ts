/** AuthZEN Authorization API 1.0, as a view of `check` (INTERFACES §3). @module */

import type { Consumer, IssuerQuestion } from "@sig/consumer";
import {
  type CheckAnswer,
  isObject,
  isSigError,
  SigError,
  withContext,
} from "@sig/core";
import {
  CONFIGURATION_EXAMPLES,
  EVALUATION_EXAMPLES,
  EVALUATIONS_EXAMPLES,
} from "../openapi/examples.ts";
import {
  EVALUATION,
  type Evaluation,
  EVALUATIONS,
  type EvaluationsRequest,
} from "../schema/authzen.ts";
import { readAs } from "../schema/faults.ts";
import { refTo, type Schema } from "../schema/schema.ts";
import { MAX_BODY_BYTES, type Operation } from "./operation.ts";
import { FAULT_CODES, FETCH_CODES, SOURCE_CODES } from "./problem_codes.ts";

/** What these routes need. */
export interface AuthzenContext {
  /** Issuers on the network. */
  readonly consumer: Consumer;
  /** The service's list. */
  readonly listed: readonly string[];
  /** How an issuer must be written. */
  readonly issuerText: Schema<string>;
  /** Where clients reach the service; the request's own origin unless told. */
  readonly publicUrl: string | undefined;
}

interface Decision {
  readonly decision: boolean;
  readonly context: {
    readonly reasons: CheckAnswer["reasons"];
    readonly issuer: string;
    readonly matched_relationship_id: string | null;
    readonly last_sequence: number;
    readonly evaluated_at: string;
    readonly not_after: string | null;
    readonly freshness: CheckAnswer["freshness"];
    readonly continuity: CheckAnswer["continuity"];
    readonly warnings: CheckAnswer["warnings"];
  };
}

const EVALUATION_PATH = "/access/v1/evaluation";
const EVALUATIONS_PATH = "/access/v1/evaluations";

const CODES: Operation["codes"] = [
  "feed_stale",
  ...SOURCE_CODES,
  ...FAULT_CODES,
  ...FETCH_CODES,
];

/** Makes the three routes. */
export function createAuthzenRoutes(
  context: AuthzenContext,
): readonly Operation[] {
  return [
    configurationRoute(context.publicUrl),
    evaluationRoute(context),
    evaluationsRoute(context),
  ];
}

function configurationRoute(publicUrl: string | undefined): Operation {
  return {
    method: "GET",
    path: "/.well-known/authzen-configuration",
    id: "authzenConfiguration",
    summary: "Where the AuthZEN endpoints are",
    description:
      "Metadata of the policy decision point (AuthZEN 1.0 §9). The addresses begin with the service's public URL, or with the one that it is asked by.",
    answer: {
      type: "application/json",
      description: "The addresses.",
      schema: refTo("AuthzenConfiguration"),
    },
    examples: CONFIGURATION_EXAMPLES,
    codes: [],
    handle(exchange) {
      // The host in it is on the Host list, or every host is.
      const base = publicUrl ?? new URL(exchange.request.url).origin;
      return exchange.json({
        policy_decision_point: base,
        access_evaluation_endpoint: base + EVALUATION_PATH,
        access_evaluations_endpoint: base + EVALUATIONS_PATH,
      });
    },
  };
}

function evaluationRoute(context: AuthzenContext): Operation {
  return {
    method: "POST",
    path: EVALUATION_PATH,
    id: "accessEvaluation",
    summary: "May this subject act in this role? (AuthZEN)",
    description:
      "`subject.id` is SIG's subject, `action.name` a role, `context.time` is `at`. With `resource.type` `issuer`, `resource.id` is the issuer; with any other type the only issuer on the service's list is asked. Unknown members are ignored. What can't be answered is a problem, never `false`.",
    body: { schema: refTo("EvaluationRequest"), maxBytes: MAX_BODY_BYTES },
    answer: {
      type: "application/json",
      description: "The decision.",
      schema: refTo("Decision"),
    },
    examples: EVALUATION_EXAMPLES,
    codes: CODES,
    async handle(exchange) {
      const body = await exchange.readJson(MAX_BODY_BYTES);
      return exchange.json(await evaluate(plan(body, context, ""), context));
    },
  };
}

function evaluationsRoute(context: AuthzenContext): Operation {
  return {
    method: "POST",
    path: EVALUATIONS_PATH,
    id: "accessEvaluations",
    summary: "Several AuthZEN evaluations",
    description:
      "Gone through in order, with the members beside `evaluations` as defaults; `options.evaluations_semantic` says whether to stop at the first deny or permit. Every item of an answer has its `decision`. When one that is due can't be answered, the whole request is a problem, whose `evaluation` is its index: AuthZEN knows no item without a decision, and a `false` that stands for an error could not be told from a deny.",
    body: { schema: refTo("EvaluationsRequest"), maxBytes: MAX_BODY_BYTES },
    answer: {
      type: "application/json",
      description:
        "The decisions in the order of the evaluations, up to where it stopped; a single decision where the request has no evaluations.",
      schema: { anyOf: [refTo("Decisions"), refTo("Decision")] },
    },
    examples: EVALUATIONS_EXAMPLES,
    codes: CODES,
    async handle(exchange) {
      const body = await exchange.readJson(MAX_BODY_BYTES);
      const request = readAs(EVALUATIONS, body);
      const { evaluations = [] } = request;
      if (evaluations.length === 0) {
        return exchange.json(await evaluate(plan(body, context, ""), context));
      }
      return exchange.json({
        evaluations: await evaluateInOrder(request, evaluations, context),
      });
    },
  };
}

async function evaluateInOrder(
  request: EvaluationsRequest,
  evaluations: readonly unknown[],
  context: AuthzenContext,
): Promise<readonly Decision[]> {
  // All are read before the first is answered: a request is right or wrong.
  const plans = evaluations.map((item, i) =>
    plan(withDefaults(request, item), context, `/evaluations/${i}`)
  );
  const { evaluations_semantic = "execute_all" } = request.options ?? {};
  const decisions: Decision[] = [];
  for (const [i, each] of plans.entries()) {
    const decision = await evaluate(each, context, i);
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
function plan(body: unknown, context: AuthzenContext, pointer: string): Plan {
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
async function evaluate(
  { issuer, question }: Plan,
  { consumer }: AuthzenContext,
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
  { listed, issuerText }: AuthzenContext,
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
