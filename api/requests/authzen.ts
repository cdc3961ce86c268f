/**
 * The bodies of the AuthZEN requests (OpenID AuthZEN Authorization API 1.0, §5
 * to §7). Unknown members are ignored, as its text demands, but for ours.
 *
 * @module
 */

import { SUBJECT_TYPES } from "./subject_type.ts";
import { list } from "./list.ts";
import { object } from "./object.ts";
import {
  AS_OF,
  AT,
  EXPLAIN,
  MAX_AGE_SECONDS,
  MIN_SEQUENCE,
} from "./question.ts";
import type { CheckRequest } from "./requests.ts";
import { nonEmptyText, oneOf } from "./scalars.ts";
import { later, named, type Schema } from "./schema.ts";

/** One evaluation. */
export interface Evaluation {
  /** `id` is SIG's subject. */
  readonly subject: { readonly type: string; readonly id: string };
  /** `name` is a role. */
  readonly action: { readonly name: string };
  /** Of type `issuer`, `id` is the issuer. */
  readonly resource: { readonly type: string; readonly id: string };
  /** `sig` bounds the question; all else is of no effect. */
  readonly context?: { readonly sig?: SigContext };
}

/** What AuthZEN has no members for. */
type SigContext = Pick<
  CheckRequest,
  "at" | "as_of" | "min_sequence" | "max_age_seconds" | "explain"
>;

/** How a batch is gone through. */
type EvaluationsSemantic =
  | "execute_all"
  | "deny_on_first_deny"
  | "permit_on_first_permit";

/** A batch; what stands beside `evaluations` are their defaults. */
export interface EvaluationsRequest extends Partial<Evaluation> {
  /** The evaluations, each of which may leave out what has a default. */
  readonly evaluations?: readonly unknown[];
  /** How to go through them. */
  readonly options?: { readonly evaluations_semantic?: EvaluationsSemantic };
}

/** Evaluations in one request. */
const MAX_EVALUATIONS = 100;

const MEMBERS = {
  subject: object<Evaluation["subject"]>({
    members: {
      type: nonEmptyText({
        description:
          "`user`, or `did` where `id` is a DID. The id is scoped to it: of any other type no feed speaks, which is a deny.",
        examples: SUBJECT_TYPES,
      }),
      id: nonEmptyText({
        description:
          "Whom the question is about: SIG's subject; compared exactly.",
      }),
    },
    required: ["type", "id"],
    unknown: "ignored",
  }),
  action: object<Evaluation["action"]>({
    members: {
      name: nonEmptyText({ description: "The role that is needed." }),
    },
    required: ["name"],
    unknown: "ignored",
  }),
  resource: object<Evaluation["resource"]>({
    members: {
      type: nonEmptyText({
        description:
          "`issuer`: `id` is the issuer. Anything else: the only issuer on the service's list is asked.",
      }),
      id: nonEmptyText({
        description: "A did:web or a host where `type` is `issuer`.",
      }),
    },
    required: ["type", "id"],
    unknown: "ignored",
  }),
  context: object<NonNullable<Evaluation["context"]>>({
    members: {
      sig: object<SigContext>({
        members: {
          at: AT,
          as_of: AS_OF,
          min_sequence: MIN_SEQUENCE,
          max_age_seconds: MAX_AGE_SECONDS,
          explain: EXPLAIN,
        },
        keywords: {
          description:
            "What AuthZEN has no members for, as in `/v1/check`. Read strictly: an unknown member is refused.",
        },
      }),
    },
    unknown: "ignored",
    keywords: {
      description:
        "Of no effect but for `sig`: the `time` of a request, for one, is not the instant of the question.",
    },
  }),
};

/** One evaluation. */
export const EVALUATION: Schema<Evaluation> = named(
  "EvaluationRequest",
  object<Evaluation>({
    members: MEMBERS,
    required: ["subject", "action", "resource"],
    unknown: "ignored",
    keywords: { description: "May this subject act in this role?" },
  }),
);

/** What an item of a batch may hold. */
const EVALUATION_ITEM: Schema<unknown> = named(
  "EvaluationItem",
  object<Partial<Evaluation>>({ members: MEMBERS, unknown: "ignored" }),
);

/** A batch. Each item is read with the defaults merged in, when it is due. */
export const EVALUATIONS: Schema<EvaluationsRequest> = named(
  "EvaluationsRequest",
  object<EvaluationsRequest>({
    members: {
      ...MEMBERS,
      evaluations: list({
        item: later(EVALUATION_ITEM),
        minItems: 0,
        maxItems: MAX_EVALUATIONS,
        keywords: {
          description:
            "Each takes what it leaves out from the members beside this list. Without any, the request is a single evaluation.",
        },
      }),
      options: object<NonNullable<EvaluationsRequest["options"]>>({
        members: {
          evaluations_semantic: oneOf<EvaluationsSemantic>(
            ["execute_all", "deny_on_first_deny", "permit_on_first_permit"],
            {
              description:
                "Whether to stop, and where; (default: `execute_all`). An evaluation that can't be answered counts as a deny.",
            },
          ),
        },
        unknown: "ignored",
      }),
    },
    unknown: "ignored",
    keywords: { description: "Several evaluations." },
  }),
);
