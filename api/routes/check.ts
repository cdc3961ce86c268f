/** `POST /v1/check` (docs/reference/http.md). @module */

import { answerBatch, listOfTexts } from "../ask/answer_batch.ts";
import { answerOn, groundsOf, type Sources } from "../ask/answer_check.ts";
import {
  keepAnswer,
  RecentQuestions,
  repeatAnswer,
} from "../ask/recent_questions.ts";
import {
  MAX_FEED_BODY_BYTES,
  parseJsonBody,
  problemOf,
  readJson,
  readJsonBytes,
  send,
  sendJson,
  type ServiceEnv,
} from "../http/mod.ts";
import type { Context } from "hono";
import { BATCH_EXAMPLES, CHECK_EXAMPLES } from "../openapi/examples.ts";
import { CHECK_ANSWER, CHECK_RESULTS } from "../schemas/answers.ts";
import {
  type CheckBatch,
  readCheck,
  type RequestSchemas,
} from "../schemas/question.ts";
import { readAs } from "../schemas/read_as.ts";
import { ANSWER_CODES, type Operation } from "../openapi/operation.ts";

const CODES: Operation["codes"] = [
  "requirements_empty",
  "invalid_requirement",
  ...ANSWER_CODES,
];

/** Creates the two routes, for one question and for several. */
export function createCheckRoutes(
  sources: Sources,
  schemas: RequestSchemas,
): readonly Operation[] {
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
    tag: "questions",
    summary: "May this subject do this, now or at another time?",
    description:
      "Allow needs one relationship of the subject that meets every requirement and is effective. A deny is 200 as well, with its reasons. A failure is a problem with its own code, never a deny. An explanation shows up to 1,000 relationships and 8,192 verdicts.",
    body: { schema: schemas.check, maxBytes: MAX_FEED_BODY_BYTES },
    answer: {
      description: "The answer.",
      schema: CHECK_ANSWER,
    },
    examples: CHECK_EXAMPLES,
    codes: CODES,
    async handle(c) {
      const budget = c.get("budget");
      const bytes = await readJsonBytes(c, MAX_FEED_BODY_BYTES);
      const key = recent.keyOf(bytes);
      const known = recent.find(key);
      const request = known?.request ??
        readCheck(schemas, await parseJsonBody(bytes, budget.capacity));
      if (known === undefined) recent.keep(key, request);
      // A batch in the older form, without a separate route.
      if ("checks" in request) return await answerAll(c, request);
      const context = { ...sources, budget };
      const grounds = await groundsOf([request], context);
      const repeated = known && repeatAnswer(known, grounds);
      if (repeated !== undefined) {
        const { freshness = null } = grounds.basis;
        sources.decided?.({ ...known!.last!.answer, freshness });
        return send(c, repeated, "application/json");
      }
      const answer = await answerOn(grounds, request, context);
      if (known !== undefined) keepAnswer(known, request, grounds, answer);
      sources.decided?.(answer);
      return sendJson(c, answer);
    },
  }, {
    method: "POST",
    path: "/v1/check/batch",
    id: "checkBatch",
    tag: "questions",
    summary: "Several questions in one request",
    description:
      'Each question is answered as by `/v1/check`. The result of an item that is invalid or can\'t be answered is `{"error": <problem>}`. Each issuer is queried once for all its items. Results beyond 4,194,304 characters are `invalid_request`: send fewer items, or omit `explain`.',
    body: { schema: schemas.batch, maxBytes: MAX_FEED_BODY_BYTES },
    answer: {
      description: "The answers in the order of the questions.",
      schema: CHECK_RESULTS,
    },
    examples: BATCH_EXAMPLES,
    codes: CODES,
    async handle(c) {
      const body = await readJson(c, MAX_FEED_BODY_BYTES);
      return await answerAll(c, readAs(schemas.batchOfUnread, body));
    },
  }];
}
