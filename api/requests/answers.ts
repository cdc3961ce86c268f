/** What the answers look like; a test compares them with real ones. @module */

import {
  EFFECTIVE_STATUSES,
  ERROR_CODES,
  type JsonValue,
  MAX_ANSWER_WARNINGS,
  REASON_CODES,
  RELATIONSHIP_TYPES,
  REQUIREMENT_KEYS,
} from "@sig/core";
import { type JsonSchema, refTo } from "./schema.ts";

type Properties = { readonly [name: string]: JsonSchema };

/** An object with exactly these members; those of `optional` may be absent. */
function exactly(
  description: string,
  properties: Properties,
  optional: Properties = {},
): JsonSchema {
  return {
    type: "object",
    description,
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function listOf(items: JsonSchema, description = ""): JsonSchema {
  return { type: "array", items, ...(description ? { description } : {}) };
}

function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

function word(...words: readonly JsonValue[]): JsonSchema {
  return { enum: words };
}

const TEXT: JsonSchema = { type: "string" };
const COUNT: JsonSchema = { type: "integer", minimum: 0 };
const YES_OR_NO: JsonSchema = { type: "boolean" };
const INSTANT: JsonSchema = { type: "string", format: "date-time" };

function told(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

const REQUIREMENT = {
  key: word(...REQUIREMENT_KEYS),
  value: TEXT,
};

const ISSUER = told(TEXT, "The issuer's DID.");
const SOURCE = told(
  word("https", "inline"),
  "Where the bytes came from: a proof of origin only when `https`.",
);
const WARNINGS = listOf(refTo("Warning"), "What was odd.");
const ANSWER_WARNINGS = {
  ...listOf(
    refTo("Warning"),
    "What was odd about the subject or the feed as a whole.",
  ),
  maxItems: MAX_ANSWER_WARNINGS,
};

const RELATIONSHIP = exactly(
  "What the feed says of one relationship.",
  {
    issuer: TEXT,
    relationship_id: TEXT,
    subject: TEXT,
    relationship_type: word(...RELATIONSHIP_TYPES),
    roles: listOf(TEXT),
    valid_from: orNull(INSTANT),
    valid_until: orNull(INSTANT),
    status: told(
      word("active", "revoked"),
      "As the feed says it; validity is not looked at.",
    ),
    last_sequence: COUNT,
  },
  {
    revoked_reason_code: word(...REASON_CODES),
    revoked_effective_at: INSTANT,
  },
);

const REASON_CODE = {
  code: word(
    ...["no_relationship", "relationship_type_missing", "role_missing"],
    ...["relationship_id_missing", "revoked", "expired", "not_yet_valid"],
    "requirements_split",
  ),
};
const REASON_MEMBERS = {
  relationship_id: told(TEXT, "The relationship that it is about."),
  sequence: told(COUNT, "That relationship's last event."),
  requirement: exactly("The requirement that it is about.", REQUIREMENT),
};
const REASON = exactly("One reason of a deny.", REASON_CODE, REASON_MEMBERS);

const REASONS_LEFT_OUT = {
  reasons_left_out: told(
    COUNT,
    "How many reasons are left out, where there are more than 100.",
  ),
};

const FRESHNESS = exactly("How fresh the state is.", {
  observed_at: told(INSTANT, "When the issuer last confirmed it."),
  age_seconds: told({ type: "number", minimum: 0 }, "Seconds since then."),
  max_age_seconds: told(
    { type: "number", minimum: 0 },
    "How old it may be.",
  ),
  status: word("fresh", "stale"),
});

const EXPLANATION = exactly("How the question was judged.", {
  judged_at: told(INSTANT, "The instant that was judged."),
  tense: told(
    word("now", "then"),
    "`now`: the feed's last word. `then`: what was true at the instant.",
  ),
  events: told(COUNT, "Number of events that were looked at."),
  relationships: listOf(
    exactly("How one relationship was judged.", {
      relationship_id: TEXT,
      relationship_type: word(...RELATIONSHIP_TYPES),
      roles: listOf(TEXT),
      valid_from: orNull(INSTANT),
      valid_until: orNull(INSTANT),
      effective_status: word(...EFFECTIVE_STATUSES),
      last_sequence: COUNT,
      requirements: listOf(
        exactly("One requirement.", { ...REQUIREMENT, met: YES_OR_NO }),
      ),
    }),
    "The relationships of the subject, up to 1,000 of them, and up to 8,192 verdicts.",
  ),
}, {
  truncated: told(
    { const: true },
    "Present when relationships were left out; the decision rests upon all.",
  ),
  relationship_count: told(
    COUNT,
    "How many there are, when some were left out.",
  ),
});

const CONTINUITY = told(
  word("first_seen", "consistent", "unpinned"),
  "How it relates to what this service saw of the feed before.",
);

const CHECK_ANSWER = exactly(
  "A decision, and what it rests upon.",
  {
    decision: told(word("allow", "deny"), "Yes or no."),
    subject: told(TEXT, "Whom it is about."),
    requirements: listOf(
      exactly("One requirement.", REQUIREMENT),
      "The requirements, as understood.",
    ),
    matched_relationship_id: told(
      orNull(TEXT),
      "The relationship that meets them, null on deny.",
    ),
    last_sequence: told(COUNT, "The last event that was looked at."),
    issuer: ISSUER,
    reasons: listOf(refTo("Reason"), "Why not; empty on allow."),
    evaluated_at: told(INSTANT, "When the answer was made."),
    at: told(orNull(TEXT), "As asked."),
    as_of: told({ anyOf: [COUNT, TEXT, { type: "null" }] }, "As asked."),
    not_after: told(
      orNull(INSTANT),
      "When the answer may change with no further event, null for never.",
    ),
    source: SOURCE,
    freshness: told(orNull(refTo("Freshness")), "Null for `inline`."),
    continuity: CONTINUITY,
    warnings: ANSWER_WARNINGS,
  },
  { ...REASONS_LEFT_OUT, explain: refTo("Explanation") },
);

const VERIFY_REPORT: JsonSchema = {
  description: "What verifying came to.",
  oneOf: [
    exactly("Everything is in order.", {
      valid: { const: true },
      issuer: ISSUER,
      source: SOURCE,
      verified_events: told(COUNT, "How many events."),
      last_sequence: told(COUNT, "Sequence of the last event."),
      feed_sha256: told(
        { type: "string", pattern: "^[0-9a-f]{64}$" },
        "SHA-256 of the feed's bytes.",
      ),
      keys: listOf(
        exactly("Which events a key signed.", {
          kid: TEXT,
          events: COUNT,
          first_sequence: COUNT,
          last_sequence: COUNT,
        }),
        "The keys that signed.",
      ),
      warnings: WARNINGS,
    }),
    exactly("Something that was published is wrong.", {
      valid: { const: false },
      errors: {
        ...listOf(
          {
            type: "object",
            description: "One fault.",
            properties: {
              code: refTo("ErrorCode"),
              detail: told(TEXT, "In words."),
              sequence: COUNT,
              line: COUNT,
              kid: TEXT,
              pointer: TEXT,
            },
            required: ["code", "detail"],
          },
          "The faults in the order of the feed.",
        ),
        minItems: 1,
        maxItems: 100,
      },
      issuer: told(orNull(TEXT), "Null when one of its documents is at fault."),
      source: SOURCE,
      verified_events: told(
        COUNT,
        "Events that did verify; none of them may be relied upon.",
      ),
      warnings: WARNINGS,
    }),
  ],
};

const PROBLEM: JsonSchema = {
  type: "object",
  description:
    "An error (RFC 9457). `code` is stable; further members tell the place and circumstances.",
  properties: {
    type: told(TEXT, "`urn:sig:problem:<code>`."),
    title: told(TEXT, "The code in words."),
    status: told({ type: "integer" }, "The HTTP status."),
    detail: told(TEXT, "What went wrong, for people."),
    instance: told(TEXT, "The request's id."),
    code: refTo("ErrorCode"),
    hint: told(TEXT, "What to do next."),
    pointer: told(TEXT, "JSON Pointer of the field."),
    line: told(COUNT, "Line of the feed."),
    sequence: told(COUNT, "Event of the feed."),
    kid: told(TEXT, "The key."),
    retry_after_seconds: told({ type: "number" }, "When to ask again."),
    errors: listOf(
      exactly("One fault.", {
        pointer: TEXT,
        code: refTo("ErrorCode"),
        detail: TEXT,
      }),
      "All faults of the request.",
    ),
  },
  required: ["type", "title", "status", "detail", "instance", "code"],
  additionalProperties: true,
};

const DECISION = exactly("A decision as AuthZEN says it.", {
  decision: told(YES_OR_NO, "Yes or no."),
  context: exactly("What it rests upon.", {
    reasons: listOf(
      exactly("One reason of a deny.", REASON_CODE, {
        ...REASON_MEMBERS,
        detail: told(TEXT, "In words, where the feed was not what decided."),
      }),
      "Why not; empty on `true`.",
    ),
    issuer: ISSUER,
    matched_relationship_id: orNull(TEXT),
    last_sequence: COUNT,
    evaluated_at: INSTANT,
    not_after: orNull(INSTANT),
    freshness: orNull(refTo("Freshness")),
    continuity: CONTINUITY,
    warnings: ANSWER_WARNINGS,
  }, { ...REASONS_LEFT_OUT, explain: refTo("Explanation") }),
});

const FAILED_EVALUATION = exactly(
  "An evaluation of a batch that can't be answered. It is no deny, but AuthZEN demands a `decision`, and a closed one.",
  {
    decision: { const: false },
    context: exactly("That this is an error.", {
      error: exactly("The problem, short.", {
        status: told({ type: "integer" }, "The HTTP status of a single one."),
        code: refTo("ErrorCode"),
        message: told(TEXT, "What went wrong, for people."),
      }),
    }),
  },
);

/** The components of the OpenAPI document that are about answers. */
export const ANSWER_SCHEMAS: Properties = {
  CheckAnswer: CHECK_ANSWER,
  CheckResults: exactly("Answers in the order of the questions.", {
    results: listOf({
      anyOf: [
        refTo("CheckAnswer"),
        exactly("There is no answer.", { error: refTo("Problem") }),
      ],
    }),
  }),
  VerifyReport: VERIFY_REPORT,
  StatePage: exactly("One page of a state.", {
    issuer: ISSUER,
    last_sequence: told(COUNT, "The last event that was looked at."),
    by_relationship_id: {
      type: "object",
      description: "Relationships, sorted by their identifiers.",
      additionalProperties: refTo("Relationship"),
    },
    next_cursor: told(
      orNull(TEXT),
      "Asks for the next page; null on the last.",
    ),
  }),
  Decision: DECISION,
  FailedEvaluation: FAILED_EVALUATION,
  Decisions: exactly("Decisions in the order of the evaluations.", {
    evaluations: listOf({
      anyOf: [refTo("Decision"), refTo("FailedEvaluation")],
    }),
  }),
  AuthzenConfiguration: exactly("AuthZEN metadata.", {
    policy_decision_point: { type: "string", format: "uri" },
    access_evaluation_endpoint: { type: "string", format: "uri" },
    access_evaluations_endpoint: { type: "string", format: "uri" },
  }),
  Health: exactly("The service answers.", {
    status: { const: "ok" },
    service: { const: "sig-api" },
    version: TEXT,
    spec_version: { const: "sig/0.1" },
    uptime_seconds: COUNT,
  }),
  Relationship: RELATIONSHIP,
  Reason: REASON,
  Freshness: FRESHNESS,
  Explanation: EXPLANATION,
  Warning: exactly(
    "Something odd that makes no feed invalid.",
    { code: TEXT, detail: TEXT },
    { sequence: COUNT, line: COUNT },
  ),
  Problem: PROBLEM,
  ErrorCode: {
    description: "Every code; none is ever renamed or used for another thing.",
    enum: Object.keys(ERROR_CODES),
  },
};
