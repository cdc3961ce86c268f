/** AuthZEN Authorization API 1.0 on top of `check` (docs/reference/http.md). @module */

import { z } from "zod";
import { listOfTexts } from "../ask/answer_batch.ts";
import type { Sources } from "../ask/answer_check.ts";
import { evaluate, evaluateBatch } from "../ask/evaluate.ts";
import { MAX_BODY_BYTES, parseJsonBody, send, sendJson } from "../http/mod.ts";
import { ANSWER_CODES, type Operation } from "../openapi/operation.ts";
import {
  AUTHZEN_CONFIGURATION,
  DECISION,
  DECISIONS,
  EVALUATION,
  EVALUATIONS,
  EVALUATIONS_UNREAD,
} from "../schemas/authzen.ts";
import { readAs } from "../schemas/strict.ts";

const EVALUATION_PATH = "/access/v1/evaluation";
const EVALUATIONS_PATH = "/access/v1/evaluations";

const LIMITS = { maxBytes: MAX_BODY_BYTES, otherTypeIsInvalid: true } as const;

/**
 * Creates the three routes.
 *
 * @param publicUrl The origin at which clients reach the service (default: that
 * of the request).
 */
export function createAuthzenRoutes(
  sources: Sources,
  publicUrl: string | undefined,
): readonly Operation[] {
  return [{
    method: "GET",
    path: "/.well-known/authzen-configuration",
    open: true,
    id: "authzenConfiguration",
    answer: AUTHZEN_CONFIGURATION,
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
  }, {
    method: "POST",
    path: EVALUATION_PATH,
    id: "accessEvaluation",
    body: { ...LIMITS, schema: EVALUATION },
    answer: DECISION,
    codes: ANSWER_CODES,
    async handle(c, body) {
      const asked = { ...sources, budget: c.get("budget") };
      return sendJson(c, await evaluate(await parseJsonBody(c, body), asked));
    },
  }, {
    method: "POST",
    path: EVALUATIONS_PATH,
    id: "accessEvaluations",
    body: { ...LIMITS, schema: EVALUATIONS },
    answer: z.union([DECISIONS, DECISION]).describe(
      "The decisions in the order of the evaluations, up to where it stopped; a single decision if the request has no `evaluations`.",
    ),
    codes: ANSWER_CODES,
    async handle(c, body) {
      const value = await parseJsonBody(c, body);
      const request = readAs(EVALUATIONS_UNREAD, value);
      const { evaluations = [] } = request;
      const asked = { ...sources, budget: c.get("budget") };
      if (evaluations.length === 0) {
        return sendJson(c, await evaluate(value, asked));
      }
      const texts = await evaluateBatch(
        request,
        evaluations,
        asked,
        (error) => c.set("thrown", error),
      );
      return send(c, listOfTexts("evaluations", texts), "application/json");
    },
  }];
}
