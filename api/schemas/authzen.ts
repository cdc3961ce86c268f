/**
 * The requests and answers of OpenID AuthZEN Authorization API 1.0, §5 to §7.
 * Unknown members are ignored, as required there, except in `context.sig`.
 *
 * @module
 */

import { quote } from "@sig/core/internal";
import { z } from "zod";
import { BASIS, ERROR_CODE, REASON } from "./answers.ts";
import { list, strictObject } from "./strict.ts";
import { BOUNDS, nonEmpty } from "./question.ts";

/** Maximum number of evaluations in one request. */
const MAX_EVALUATIONS = 100;
/**
 * The types of AuthZEN subjects whose ids are SIG subjects. AuthZEN scopes an
 * id to its type (§4.1), and SIG has only one type: a `group` with the same id
 * is another subject, which no feed can list.
 */
const SUBJECT_TYPES: readonly string[] = Object.freeze([
  "user",
  "agent",
  "did",
]);
/** The beginning of every DID (W3C DID Core §3.1). */
const DID = /^did:[a-z0-9]+:./;

/** One evaluation: may this subject act in this role? */
export const EVALUATION = z.object({
  subject: z.object({
    type: nonEmpty.meta({
      description:
        "`user`, `agent` for software, or `did` if `id` is a DID. The id is scoped to its type: no feed lists subjects of other types, so those are denied.",
      examples: [...SUBJECT_TYPES],
    }),
    id: nonEmpty.describe(
      "The SIG subject; compared exactly.",
    ),
  }),
  action: z.object({ name: nonEmpty.describe("The required role.") }),
  resource: z.object({
    type: nonEmpty.describe(
      "`issuer`: `id` is the issuer. Any other type means the only listed issuer.",
    ),
    id: nonEmpty.describe(
      "A did:web or a host if `type` is `issuer`.",
    ),
  }),
  context: z.object({
    sig: strictObject(BOUNDS).describe(
      "Members of `/v1/check` that AuthZEN lacks. Unknown members are rejected.",
    ).optional(),
  }).describe(
    "Only `sig` has an effect; for example, `time` does not set the time of the question.",
  ).optional(),
}).meta({
  id: "EvaluationRequest",
  description: "May this subject act in this role?",
});

/** A batch; the members other than `evaluations` are defaults for its items. */
export const EVALUATIONS = EVALUATION.partial().extend({
  evaluations: list(
    EVALUATION.partial().meta({ id: "EvaluationItem" }),
    0,
    MAX_EVALUATIONS,
  ).describe(
    "The evaluations; the other members of the request are their defaults. Without this list, the request is a single evaluation.",
  ).optional(),
  options: z.object({
    evaluations_semantic: z.enum([
      "execute_all",
      "deny_on_first_deny",
      "permit_on_first_permit",
    ]).describe(
      "Whether to stop at the first deny or permit (default: `execute_all`). An evaluation that can't be answered counts as a deny.",
    ).optional(),
  }).optional(),
}).meta({ id: "EvaluationsRequest", description: "Several evaluations." });

/** A batch whose evaluations are parsed later, together with the defaults. */
export const EVALUATIONS_UNREAD = EVALUATIONS.extend({
  evaluations: list(z.unknown(), 0, MAX_EVALUATIONS).optional(),
});

/** A batch with unparsed evaluations. */
export type EvaluationsRequest = z.output<typeof EVALUATIONS_UNREAD>;

/** The answer to one evaluation. */
export const DECISION = z.strictObject({
  decision: z.boolean().describe("Whether the action is allowed."),
  context: z.strictObject({
    reasons: z.array(REASON.extend({
      detail: z.string().describe(
        "A description, if the reason is not from the feed.",
      ).optional(),
    })).describe("The reasons of a deny; empty on `true`."),
    ...BASIS,
    ignored: z.array(z.literal("resource")).describe(
      'Members of the evaluation that had no part in the decision: `["resource"]` unless `resource.type` is `issuer`; else absent.',
    ).optional(),
  }).describe("The basis of the decision."),
}).meta({
  id: "Decision",
  description: "A decision in the format of AuthZEN.",
});

const FAILED_EVALUATION = z.strictObject({
  decision: z.literal(false),
  context: z.strictObject({
    error: z.strictObject({
      status: z.int().describe(
        "The HTTP status of the same error for a single evaluation.",
      ),
      code: ERROR_CODE,
      message: z.string().describe("A description of the error for people."),
    }).describe("The problem in short form."),
  }).describe("Present only for errors."),
}).meta({
  id: "FailedEvaluation",
  description:
    "An evaluation of a batch that can't be answered. It is not a deny, but AuthZEN requires a `decision`, which must then be `false`.",
});

/** The answers to a batch. */
export const DECISIONS = z.strictObject({
  evaluations: z.array(z.union([DECISION, FAILED_EVALUATION])),
}).meta({
  id: "Decisions",
  description: "Decisions in the order of the evaluations.",
});

/** The URLs of the endpoints. */
export const AUTHZEN_CONFIGURATION = z.strictObject({
  policy_decision_point: z.url(),
  access_evaluation_endpoint: z.url(),
  access_evaluations_endpoint: z.url(),
}).meta({ id: "AuthzenConfiguration", description: "AuthZEN metadata." });

/**
 * Returns why no feed can list a subject; `undefined` if a feed can.
 */
export function findForeignSubject(
  { type, id }: { readonly type: string; readonly id: string },
): string | undefined {
  if (!SUBJECT_TYPES.includes(type)) {
    return `unsupported subject type ${
      quote(type)
    }: it must be user, agent or did`;
  }
  return type === "did" && !DID.test(id)
    ? 'unsupported subject: an id of type "did" must be a DID'
    : undefined;
}
