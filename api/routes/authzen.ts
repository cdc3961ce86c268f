/** AuthZEN Authorization API 1.0 on top of `check` (docs/reference/http.md). @module */

import { isSigError, SigError } from "@sig/core";
import {
  evaluate,
  evaluateBatch,
  type EvaluationSources,
} from "../ask/evaluate.ts";
import type { Context } from "hono";
import { MAX_BODY_BYTES, readJson, send, sendJson } from "../http/mod.ts";
import {
  CONFIGURATION_EXAMPLES,
  EVALUATION_EXAMPLES,
  EVALUATIONS_EXAMPLES,
} from "../openapi/examples.ts";
import { listOfTexts } from "../ask/answer_batch.ts";
import {
  AUTHZEN_CONFIGURATION,
  DECISION,
  DECISIONS,
  EVALUATION,
  EVALUATIONS,
  EVALUATIONS_UNREAD,
} from "../schemas/authzen.ts";
import { readAs } from "../schemas/read_as.ts";
import { z } from "zod";
import { ANSWER_CODES, type Operation } from "../openapi/operation.ts";

/** What these routes need. */
interface AuthzenContext extends EvaluationSources {
  /**
   * The origin at which clients reach the service (default: that of the
   * request).
   */
  readonly publicUrl: string | undefined;
}

const EVALUATION_PATH = "/access/v1/evaluation";
const EVALUATIONS_PATH = "/access/v1/evaluations";

/** Creates the three routes. */
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
    open: true,
    id: "authzenConfiguration",
    tag: "authzen",
    summary: "URLs of the AuthZEN endpoints",
    description:
      "Metadata of the policy decision point (AuthZEN 1.0 §9). The URLs begin with the service's public URL (default: the origin of the request). Needs no token.",
    answer: {
      description: "The URLs.",
      schema: AUTHZEN_CONFIGURATION,
    },
    examples: CONFIGURATION_EXAMPLES,
    codes: [],
    handle(c) {
      // The host in the URL has passed the Host list.
      const base = publicUrl ?? new URL(c.req.url).origin;
      return sendJson(c, {
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
    tag: "authzen",
    summary: "May this subject act in this role? (AuthZEN)",
    description:
      "`subject.id` is the SIG subject if `subject.type` is `user`, `agent` or `did`; `action.name` is the role. With `resource.type` `issuer`, `resource.id` is the issuer; any other type means the only listed issuer. `context.sig` takes further members of `/v1/check` and is parsed strictly; all other members of `context`, including `time`, have no effect, and unknown members are ignored. A failure is a problem, never `false`.",
    body: {
      schema: EVALUATION,
      maxBytes: MAX_BODY_BYTES,
      otherTypeIsInvalid: true,
    },
    answer: {
      description: "The decision.",
      schema: DECISION,
    },
    examples: EVALUATION_EXAMPLES,
    codes: ANSWER_CODES,
    async handle(c) {
      const body = await readBody(c);
      const asked = { ...context, budget: c.get("budget") };
      return sendJson(c, await evaluate(body, asked));
    },
  };
}

function evaluationsRoute(context: AuthzenContext): Operation {
  return {
    method: "POST",
    path: EVALUATIONS_PATH,
    id: "accessEvaluations",
    tag: "authzen",
    summary: "Several AuthZEN evaluations",
    description:
      'The members other than `evaluations` are defaults, each of which an item replaces as a whole; `options.evaluations_semantic` says whether to stop at the first deny or permit. The result of an item that is invalid or can\'t be answered is `{"decision": false, "context": {"error": {…}}}`, as AuthZEN requires: only `error` distinguishes it from a deny. Each issuer is queried once for all its items. Results beyond 4,194,304 characters are such errors too.',
    body: {
      schema: EVALUATIONS,
      maxBytes: MAX_BODY_BYTES,
      otherTypeIsInvalid: true,
    },
    answer: {
      description:
        "The decisions in the order of the evaluations, up to where it stopped; a single decision if the request has no `evaluations`.",
      schema: z.union([DECISIONS, DECISION]),
    },
    examples: EVALUATIONS_EXAMPLES,
    codes: ANSWER_CODES,
    async handle(c) {
      const body = await readBody(c);
      const request = readAs(EVALUATIONS_UNREAD, body);
      const { evaluations = [] } = request;
      const asked = { ...context, budget: c.get("budget") };
      if (evaluations.length === 0) {
        return sendJson(c, await evaluate(body, asked));
      }
      const texts = await evaluateBatch(
        request,
        evaluations,
        asked,
        (error) => c.set("thrown", error),
      );
      return send(c, listOfTexts("evaluations", texts), "application/json");
    },
  };
}

/**
 * Reads the body; a content type other than JSON is 400 here (AuthZEN §10.1.2).
 */
async function readBody(c: Context): Promise<unknown> {
  try {
    return await readJson(c, MAX_BODY_BYTES);
  } catch (error) {
    if (!isSigError(error, "unsupported_media_type")) throw error;
    throw new SigError("invalid_request", { ...error, cause: error });
  }
}
