/** `POST /v1/check` (docs/reference/http.md). @module */

import { answerBatch, listOfTexts } from "../ask/answer_batch.ts";
import { answerCheck, forRequest, type Sources } from "../ask/answer_check.ts";
import {
  MAX_FEED_BODY_BYTES,
  parseJsonBody,
  problemOf,
  readJson,
  readJsonBytes,
  type RequestBudget,
  send,
  sendJson,
  type ServiceEnv,
} from "../http/mod.ts";
import type { Context } from "hono";
import { BATCH_EXAMPLES, CHECK_EXAMPLES } from "../openapi/examples.ts";
import { CHECK_ANSWER, CHECK_RESULTS } from "../schemas/answers.ts";
import {
  type CheckBatch,
  type CheckRequest,
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
  const readQuestion = createReader(schemas);
  const answerAll = async (c: Context<ServiceEnv>, { checks }: CheckBatch) => {
    const budget = c.get("budget");
    const results = await answerBatch(checks, {
      ...forRequest(sources, budget),
      read: (check, i) => readAs(schemas.quickCheck, check, `/checks/${i}`),
      toResult(answer) {
        sources.decided?.(answer);
        return answer;
      },
      toFailure: (error) => ({ error: problemOf(c, error) }),
      reserve: (bytes) => budget.reserve(bytes),
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
      const bytes = await readJsonBytes(c, MAX_FEED_BODY_BYTES);
      const request = await readQuestion(bytes, c.get("budget").capacity);
      // A batch in the older form, without a separate route.
      if ("checks" in request) return await answerAll(c, request);
      const context = forRequest(sources, c.get("budget"));
      const answer = await answerCheck(request, context);
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

/** Maximum size in bytes of a cached question, and how many are cached. */
const MAX_RECENT_BYTES = 1024;
const MAX_RECENT = 1000;

/**
 * Creates a parser that caches questions: most clients send the same few
 * questions again and again. Answers are never cached.
 */
function createReader(schemas: RequestSchemas) {
  const recentQuestions = new Map<string, CheckRequest | CheckBatch>();
  return async (
    bytes: Uint8Array,
    shared: RequestBudget["capacity"],
  ): Promise<CheckRequest | CheckBatch> => {
    const isShort = bytes.length <= MAX_RECENT_BYTES;
    // Unique for these bytes, and faster to create than decoded UTF-8.
    const key = isShort ? bytes.toBase64() : "";
    const recent = recentQuestions.get(key);
    if (recent !== undefined) return recent;
    const request = readCheck(schemas, await parseJsonBody(bytes, shared));
    if (recentQuestions.size >= MAX_RECENT) recentQuestions.clear();
    if (isShort) recentQuestions.set(key, request);
    return request;
  };
}
