/** `POST /v1/dump-state` (docs/reference/http.md). @module */

import { sourceOf, type Sources } from "../ask/answer_check.ts";
import { DUMP_STATE_EXAMPLES } from "../openapi/examples.ts";
import { MAX_FEED_BODY_BYTES, readJson, send } from "../http/mod.ts";
import { STATE_PAGE } from "../schemas/answers.ts";
import type { RequestSchemas } from "../schemas/question.ts";
import { readAs } from "../schemas/read_as.ts";
import { cursorOf, pageOf } from "../ask/state_pages.ts";
import { ANSWER_CODES, type Operation } from "../openapi/operation.ts";

/** Creates the route. */
export function createDumpStateRoute(
  sources: Sources,
  schemas: RequestSchemas,
): Operation {
  return {
    method: "POST",
    path: "/v1/dump-state",
    id: "dumpState",
    tag: "questions",
    summary: "The state of each relationship in the feed",
    description:
      "The state in pages, in the order of the feed: `next_cursor` requests the next page and is null on the last. A page of large relationships ends before `limit`, at about 4 MiB. All pages show the state and time of the first page, even if the feed grows meanwhile; an inline feed must be sent again with each request. A cursor of another history is `invalid_request`: begin again without it. An invalid feed is 422 and has no state.",
    body: { schema: schemas.dumpState, maxBytes: MAX_FEED_BODY_BYTES },
    answer: {
      description: "One page.",
      schema: STATE_PAGE,
    },
    examples: DUMP_STATE_EXAMPLES,
    codes: ANSWER_CODES,
    async handle(c) {
      const body = await readJson(c, MAX_FEED_BODY_BYTES);
      const request = readAs(schemas.dumpState, body);
      const cursor = cursorOf(request);
      const { consumer, inline } = sources;
      const { waitFor } = c.get("budget");
      const state = request.feed === undefined
        ? await consumer.state(sourceOf(request), {
          minSequence: cursor?.sequence,
          asOf: request.as_of,
          waitFor,
        })
        : (await inline.verify(request.feed, waitFor)).state;
      const page = await pageOf(state, request, cursor, sources);
      return send(c, page, "application/json");
    },
  };
}
