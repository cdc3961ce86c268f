/**
 * The bodies of the AuthZEN requests (OpenID AuthZEN Authorization API 1.0, §5
 * to §7). Unknown members are ignored, as its text demands.
 *
 * @module
 */

import { list } from "./list.ts";
import { object } from "./object.ts";
import { anything, instant, nonEmptyText, oneOf } from "./scalars.ts";
import { named, type Schema } from "./schema.ts";

/** One evaluation. */
export interface Evaluation {
  /** `id` is SIG's subject. */
  readonly subject: { readonly type: string; readonly id: string };
  /** `name` is a role. */
  readonly action: { readonly name: string };
  /** Of type `issuer`, `id` is the issuer. */
  readonly resource: { readonly type: string; readonly id: string };
  /** `time` is `at`. */
  readonly context?: { readonly time?: string };
}

/** How a batch is gone through. */
export type EvaluationsSemantic =
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
      type: nonEmptyText({ description: "Of no effect." }),
      id: nonEmptyText({ description: "Whom the question is about." }),
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
      time: instant({
        description: "Ask what was true at this instant: RFC 3339 UTC.",
      }),
    },
    unknown: "ignored",
  }),
};

/** One evaluation. */
export const EVALUATION: Schema<Evaluation> = object<Evaluation>({
  members: MEMBERS,
  required: ["subject", "action", "resource"],
  unknown: "ignored",
  keywords: { description: "May this subject act in this role?" },
});

/** A batch. Each item is read with the defaults merged in, when it is due. */
export const EVALUATIONS: Schema<EvaluationsRequest> = object<
  EvaluationsRequest
>({
  members: {
    ...MEMBERS,
    evaluations: list({
      item: named("EvaluationItem", anything({})),
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
            default: "execute_all",
            description: "Whether to stop, and where.",
          },
        ),
      },
      unknown: "ignored",
    }),
  },
  unknown: "ignored",
  keywords: { description: "Several evaluations." },
});

/** What an item of a batch may hold. */
export const EVALUATION_ITEM: Schema<Partial<Evaluation>> = object<
  Partial<Evaluation>
>({ members: MEMBERS, unknown: "ignored" });
