/** What AuthZEN's answers look like. @module */

import {
  ANSWER_WARNINGS,
  CONTINUITY,
  EXPLANATION,
  FRESHNESS,
  ISSUER,
  REASON_CODE,
  REASON_MEMBERS,
  REASONS_LEFT_OUT,
} from "./answers.ts";
import {
  COUNT,
  described,
  INSTANT,
  listOf,
  orNull,
  strictObject,
  TEXT,
  YES_OR_NO,
} from "./answer_parts.ts";
import { ERROR_CODE } from "./problem.ts";
import { Component } from "./schema.ts";

/** The answer to one evaluation. */
export const DECISION: Component = new Component(
  "Decision",
  strictObject("A decision as AuthZEN says it.", {
    decision: described(YES_OR_NO, "Yes or no."),
    context: strictObject("What it rests upon.", {
      reasons: listOf(
        strictObject("One reason of a deny.", REASON_CODE, {
          ...REASON_MEMBERS,
          detail: described(
            TEXT,
            "In words, where the feed was not what decided.",
          ),
        }),
        "Why not; empty on `true`.",
      ),
      issuer: ISSUER,
      matched_relationship_id: orNull(TEXT),
      last_sequence: COUNT,
      evaluated_at: INSTANT,
      not_after: orNull(INSTANT),
      freshness: orNull(FRESHNESS),
      continuity: CONTINUITY,
      warnings: ANSWER_WARNINGS,
    }, { ...REASONS_LEFT_OUT, explain: EXPLANATION }),
  }),
);

const FAILED_EVALUATION = new Component(
  "FailedEvaluation",
  strictObject(
    "An evaluation of a batch that can't be answered. It is not a deny, but AuthZEN demands a `decision`, and a closed one.",
    {
      decision: { const: false },
      context: strictObject("That this is an error.", {
        error: strictObject("The problem, short.", {
          status: described(
            { type: "integer" },
            "The HTTP status of a single one.",
          ),
          code: ERROR_CODE,
          message: described(TEXT, "What went wrong, for people."),
        }),
      }),
    },
  ),
);

/** The answers to a batch. */
export const DECISIONS: Component = new Component(
  "Decisions",
  strictObject("Decisions in the order of the evaluations.", {
    evaluations: listOf({
      anyOf: [DECISION, FAILED_EVALUATION],
    }),
  }),
);

/** Where the endpoints are. */
export const AUTHZEN_CONFIGURATION: Component = new Component(
  "AuthzenConfiguration",
  strictObject("AuthZEN metadata.", {
    policy_decision_point: { type: "string", format: "uri" },
    access_evaluation_endpoint: { type: "string", format: "uri" },
    access_evaluations_endpoint: { type: "string", format: "uri" },
  }),
);
