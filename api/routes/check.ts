/** `POST /v1/check` (INTERFACES §3). @module */

import { toProblem } from "@sig/core";
import { answerCheck, type AnswerContext, onceEach } from "../answer_check.ts";
import type { Exchange } from "../http/mod.ts";
import { CHECK_EXAMPLES } from "../openapi/examples.ts";
import { readFeedBody } from "../read_feed_body.ts";
import { readAs } from "../schema/faults.ts";
import { readCheck, type RequestSchemas } from "../schema/requests.ts";
import { refTo } from "../schema/schema.ts";
import { MAX_FEED_BODY_BYTES, type Operation } from "./operation.ts";
import { FAULT_CODES, FETCH_CODES, SOURCE_CODES } from "./problem_codes.ts";

/** Items of a batch that are worked on at a time. */
const BATCH_WIDTH = 8;
/** Milliseconds of a batch's work before others are let in. */
const SLICE_MS = 10;

/** Makes the route. */
export function createCheckRoute(
  context: AnswerContext,
  schemas: RequestSchemas,
): Operation {
  return {
    method: "POST",
    path: "/v1/check",
    id: "check",
    summary: "May this subject do this, now or then?",
    description:
      "Allow needs one relationship of the subject that meets every requirement and is effective. A deny is 200 as well, with its reasons. What can't be answered is a problem with a code of its own and never a deny. In a batch an item that is wrong or can't be answered is `{\"error\": <problem>}` in its place.",
    body: {
      schema: { anyOf: [refTo("CheckRequest"), refTo("CheckBatch")] },
      maxBytes: MAX_FEED_BODY_BYTES,
    },
    answer: {
      type: "application/json",
      description: "The answer, or the answers in the order of the questions.",
      schema: { anyOf: [refTo("CheckAnswer"), refTo("CheckResults")] },
    },
    examples: CHECK_EXAMPLES,
    codes: [
      ...["requirements_empty", "invalid_requirement"] as const,
      ...["consistency_unavailable", "feed_stale"] as const,
      ...SOURCE_CODES,
      ...FAULT_CODES,
      ...FETCH_CODES,
    ],
    async handle(exchange) {
      const body = await readFeedBody(exchange, context.breathe);
      const request = readCheck(schemas, body);
      const { verify } = context.inline;
      if (!("checks" in request)) {
        return exchange.json(await answerCheck(request, context, verify));
      }
      const verifyOnce = onceEach(verify);
      const results = await mapWidely(
        request.checks,
        context.breathe,
        async (item, i) => {
          try {
            const read = readAs(schemas.check, item, `/checks/${i}`);
            return await answerCheck(read, context, verifyOnce);
          } catch (error) {
            return { error: problemOf(error, exchange) };
          }
        },
      );
      return exchange.json({ results });
    },
  };
}

/** A problem in the place of one answer. */
function problemOf(error: unknown, exchange: Exchange) {
  const problem = toProblem(error);
  if (problem.code === "internal") {
    // For the log, which tells of what was not meant to happen.
    exchange.problem ??= problem;
    exchange.thrown ??= error;
  }
  const { type, title, status, detail, ...rest } = problem;
  const instance = exchange.requestId;
  return { type, title, status, detail, instance, ...rest };
}

/** Like `map`, with a few items in progress at a time. */
async function mapWidely<T, R>(
  items: readonly T[],
  breathe: () => Promise<void>,
  map: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  let sliceBegan = performance.now();
  const work = async () => {
    while (next < items.length) {
      const index = next++;
      // Answers from what is known would else come all in one go, and those
      // about a subject of very many relationships take long.
      if (performance.now() - sliceBegan > SLICE_MS) {
        await breathe();
        sliceBegan = performance.now();
      }
      results[index] = await map(items[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: BATCH_WIDTH }, work));
  return results;
}
