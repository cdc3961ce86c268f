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
import { readAs } from "../schemas/read_as.ts";

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
    tag: "authzen",
    summary: "URLs of the AuthZEN endpoints",
    description:
      "Metadata of the policy decision point (AuthZEN 1.0 §9). The URLs begin with the service's public URL (default: the origin of the request). Needs no token.",
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
    tag: "authzen",
    summary: "May this subject act in this role? (AuthZEN)",
    description:
      "`subject.id` is the SIG subject if `subject.type` is `user`, `agent` or `did`; `action.name` is the role. With `resource.type` `issuer`, `resource.id` is the issuer; any other type means the only listed issuer. `context.sig` takes further members of `/v1/check` and is parsed strictly; all other members of `context`, including `time`, have no effect, and unknown members are ignored. A failure is a problem, never `false`.",
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
    tag: "authzen",
    summary: "Several AuthZEN evaluations",
    description:
      'The members other than `evaluations` are defaults, each of which an item replaces as a whole; `options.evaluations_semantic` says whether to stop at the first deny or permit. The result of an item that is invalid or can\'t be answered is `{"decision": false, "context": {"error": {…}}}`, as AuthZEN requires: only `error` distinguishes it from a deny. Each issuer is queried once for all its items. Results beyond 4,194,304 characters are such errors too.',
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
