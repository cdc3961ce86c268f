/** AuthZEN Authorization API 1.0, as a view of `check` (INTERFACES §3). @module */

import {
  evaluate,
  evaluateInOrder,
  type EvaluationContext,
} from "../evaluate.ts";
import {
  CONFIGURATION_EXAMPLES,
  EVALUATION_EXAMPLES,
  EVALUATIONS_EXAMPLES,
} from "../openapi/examples.ts";
import { EVALUATIONS } from "../schema/authzen.ts";
import { readAs } from "../schema/faults.ts";
import { refTo } from "../schema/schema.ts";
import { MAX_BODY_BYTES, type Operation } from "./operation.ts";
import { FAULT_CODES, FETCH_CODES, SOURCE_CODES } from "./problem_codes.ts";

/** What these routes need. */
export interface AuthzenContext extends EvaluationContext {
  /** Where clients reach the service; the request's own origin unless told. */
  readonly publicUrl: string | undefined;
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
      const body = await exchange.readJson(MAX_BODY_BYTES, context.breathe);
      return exchange.json(await evaluate(body, context));
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
      const body = await exchange.readJson(MAX_BODY_BYTES, context.breathe);
      const request = readAs(EVALUATIONS, body);
      const { evaluations = [] } = request;
      if (evaluations.length === 0) {
        return exchange.json(await evaluate(body, context));
      }
      return exchange.json({
        evaluations: await evaluateInOrder(request, evaluations, context),
      });
    },
  };
}
