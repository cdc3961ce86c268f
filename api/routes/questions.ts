/** The routes of questions about a feed (docs/reference/http.md). @module */

import type { Context } from "hono";
import { answerBatch, listOfTexts } from "../ask/answer_batch.ts";
import { answerOn, groundsOf, type Sources } from "../ask/answer_check.ts";
import { RecentQuestions, repeatAnswer } from "../ask/recent_questions.ts";
import { cursorOf, pageOf } from "../ask/state_pages.ts";
import {
  MAX_FEED_BODY_BYTES as maxBytes,
  parseJsonBody,
  problemOf,
  send,
  sendJson,
  type ServiceEnv,
} from "../http/mod.ts";
import {
  ANSWER_CODES,
  type Operation,
  SOURCE_CODES,
} from "../openapi/operation.ts";
import {
  CHECK_ANSWER,
  CHECK_RESULTS,
  STATE_PAGE,
  VERIFY_REPORT,
} from "../schemas/answers.ts";
import { type CheckBatch, readCheck } from "../schemas/question.ts";
import { readAs } from "../schemas/strict.ts";

const CHECK_CODES: Operation["codes"] = [
  "requirements_empty",
  "invalid_requirement",
  ...ANSWER_CODES,
];

/** Creates the routes below `/v1`. */
export function createQuestionRoutes(sources: Sources): readonly Operation[] {
  const { feeds, schemas } = sources;
  const recent = new RecentQuestions();
  const answerAll = async (c: Context<ServiceEnv>, { checks }: CheckBatch) => {
    const results = await answerBatch(checks, {
      ...sources,
      budget: c.get("budget"),
      read: (check, i) => readAs(schemas.quickCheck, check, `/checks/${i}`),
      toResult(answer) {
        sources.decided?.(answer);
        return answer;
      },
      toFailure: (error) => ({ error: problemOf(c, error) }),
    });
    return send(c, listOfTexts("results", results), "application/json");
  };
  return [{
    method: "POST",
    path: "/v1/check",
    id: "check",
    body: { schema: schemas.check, maxBytes },
    answer: CHECK_ANSWER,
    codes: CHECK_CODES,
    async handle(c, body) {
      const known = recent.find(body);
      const request = known?.request ??
        readCheck(schemas, await parseJsonBody(c, body));
      // A batch in the older form, without a separate route.
      if ("checks" in request) return await answerAll(c, request);
      const context = { ...sources, budget: c.get("budget") };
      const grounds = await groundsOf([request], context);
      const repeated = known && repeatAnswer(known, grounds);
      if (repeated !== undefined) {
        const { freshness = null } = grounds.basis;
        sources.decided?.({ ...known!.answer, freshness });
        return send(c, repeated, "application/json");
      }
      const answer = await answerOn(grounds, request, context);
      recent.keep(body, request, grounds, answer);
      sources.decided?.(answer);
      return sendJson(c, answer);
    },
  }, {
    method: "POST",
    path: "/v1/check/batch",
    id: "checkBatch",
    body: { schema: schemas.batch, maxBytes },
    answer: CHECK_RESULTS,
    codes: CHECK_CODES,
    async handle(c, body) {
      const batch = readAs(schemas.batchOfUnread, await parseJsonBody(c, body));
      return await answerAll(c, batch);
    },
  }, {
    method: "POST",
    path: "/v1/verify",
    id: "verify",
    body: { schema: schemas.verify, maxBytes },
    answer: VERIFY_REPORT,
    codes: SOURCE_CODES,
    async handle(c, body) {
      const request = readAs(schemas.verify, await parseJsonBody(c, body));
      const { whileWaitingFor } = c.get("budget");
      return sendJson(c, await feeds.report(request, whileWaitingFor));
    },
  }, {
    method: "POST",
    path: "/v1/dump-state",
    id: "dumpState",
    body: { schema: schemas.dumpState, maxBytes },
    answer: STATE_PAGE,
    codes: ANSWER_CODES,
    async handle(c, body) {
      const request = readAs(schemas.dumpState, await parseJsonBody(c, body));
      const cursor = cursorOf(request);
      const { verified } = await feeds.observe(request, {
        minSequence: cursor?.sequence,
        asOf: request.as_of,
        waitFor: c.get("budget").whileWaitingFor,
      });
      const page = await pageOf(verified.state, request, cursor, sources);
      return send(c, page, "application/json");
    },
  }];
}
