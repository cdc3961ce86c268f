/** `POST /v1/verify` (docs/reference/http.md). @module */

import { sourceOf, type Sources } from "../ask/answer_check.ts";
import { VERIFY_EXAMPLES } from "../openapi/examples.ts";
import { MAX_FEED_BODY_BYTES, readJson, sendJson } from "../http/mod.ts";
import { VERIFY_REPORT } from "../schemas/answers.ts";
import type { RequestSchemas } from "../schemas/question.ts";
import { readAs } from "../schemas/read_as.ts";
import { type Operation, SOURCE_CODES } from "../openapi/operation.ts";

/** Creates the route. */
export function createVerifyRoute(
  sources: Sources,
  schemas: RequestSchemas,
): Operation {
  return {
    method: "POST",
    path: "/v1/verify",
    id: "verify",
    tag: "questions",
    summary: "Is this feed valid?",
    description:
      "Checks every document, signature and rule; the issuer's documents are fetched now. A feed that is invalid, or contradicts what this service has seen before, is 200 with `valid: false` and up to 100 faults. A problem means that the result is unknown, because a document could not be read or exceeds a limit.",
    body: { schema: schemas.verify, maxBytes: MAX_FEED_BODY_BYTES },
    answer: {
      description: "The report.",
      schema: VERIFY_REPORT,
    },
    examples: VERIFY_EXAMPLES,
    codes: SOURCE_CODES,
    async handle(c) {
      const body = await readJson(c, MAX_FEED_BODY_BYTES);
      const request = readAs(schemas.verify, body);
      const { consumer, inline } = sources;
      const { waitFor } = c.get("budget");
      return sendJson(
        c,
        request.feed === undefined
          ? await consumer.report(sourceOf(request), { waitFor })
          : await inline.report(request.feed, waitFor),
      );
    },
  };
}
