/** What the answers look like; a test compares them with real ones. @module */

import {
  DENY_REASONS,
  EFFECTIVE_STATUSES,
  REASON_CODES,
  RELATIONSHIP_TYPES,
  REQUIREMENT_KEYS,
} from "@sig/core";
import { MAX_ANSWER_WARNINGS } from "@sig/core/internal";
import {
  COUNT,
  described,
  enumOf,
  INSTANT,
  listOf,
  orNull,
  strictObject,
  TEXT,
  YES_OR_NO,
} from "./answer_parts.ts";
import { ERROR_CODE, PROBLEM, WARNING } from "./problem.ts";
import { Component } from "./schema.ts";

const REQUIREMENT = {
  key: enumOf(...REQUIREMENT_KEYS),
  value: TEXT,
};

/** The issuer. */
export const ISSUER = described(TEXT, "The issuer's DID.");
const SOURCE = described(
  enumOf("https", "http", "inline"),
  "Where the documents came from. Only `https` proves the origin: `http` means that at least one of them came without TLS.",
);
const WARNINGS = listOf(WARNING, "What was odd.");
/** The warnings of one answer. */
export const ANSWER_WARNINGS = {
  ...listOf(
    WARNING,
    "What was odd about the subject or the feed as a whole.",
  ),
  maxItems: MAX_ANSWER_WARNINGS,
};

const RELATIONSHIP: Component = new Component(
  "Relationship",
  strictObject(
    "What the feed says of one relationship.",
    {
      issuer: TEXT,
      relationship_id: TEXT,
      subject: TEXT,
      relationship_type: enumOf(...RELATIONSHIP_TYPES),
      roles: listOf(TEXT),
      valid_from: orNull(INSTANT),
      valid_until: orNull(INSTANT),
      status: described(
        enumOf("active", "revoked"),
        "As the feed says it; validity is not looked at.",
      ),
      last_sequence: COUNT,
    },
    {
      revoked_reason_code: enumOf(...REASON_CODES),
      revoked_effective_at: INSTANT,
    },
  ),
);

/** Why not. */
export const REASON_CODE = {
  code: enumOf(...DENY_REASONS),
};
/** What a reason is about. */
export const REASON_MEMBERS = {
  relationship_id: described(TEXT, "The relationship that it is about."),
  sequence: described(COUNT, "That relationship's last event."),
  requirement: strictObject("The requirement that it is about.", REQUIREMENT),
};
const REASON: Component = new Component(
  "Reason",
  strictObject("One reason of a deny.", REASON_CODE, REASON_MEMBERS),
);

/** Of a deny with very many reasons. */
export const REASONS_LEFT_OUT = {
  reasons_left_out: described(
    COUNT,
    "How many reasons are left out, where there are more than 100.",
  ),
};

/** How fresh a state is; null where nothing was fetched. */
export const FRESHNESS: Component = new Component(
  "Freshness",
  strictObject("How fresh the state is.", {
    observed_at: described(INSTANT, "When the issuer last confirmed it."),
    age_seconds: described(
      { type: "number", minimum: 0 },
      "Seconds since then.",
    ),
    max_age_seconds: described(
      { type: "number", minimum: 0 },
      "How old it may be.",
    ),
    status: enumOf("fresh", "stale"),
  }),
);

/** How a question was judged. */
export const EXPLANATION: Component = new Component(
  "Explanation",
  strictObject("How the question was judged.", {
    judged_at: described(INSTANT, "The instant that was judged."),
    tense: described(
      enumOf("now", "then"),
      "`now`: the feed's last word. `then`: what was true at the instant.",
    ),
    events: described(COUNT, "Number of events that were looked at."),
    relationships: listOf(
      strictObject("How one relationship was judged.", {
        relationship_id: TEXT,
        relationship_type: enumOf(...RELATIONSHIP_TYPES),
        roles: listOf(TEXT),
        valid_from: orNull(INSTANT),
        valid_until: orNull(INSTANT),
        effective_status: enumOf(...EFFECTIVE_STATUSES),
        last_sequence: COUNT,
        requirements: listOf(
          strictObject("One requirement.", { ...REQUIREMENT, met: YES_OR_NO }),
        ),
      }),
      "The relationships of the subject, up to 1,000 of them, and up to 8,192 verdicts.",
    ),
  }, {
    truncated: described(
      { const: true },
      "Present when relationships were left out; the decision rests upon all.",
    ),
    relationship_count: described(
      COUNT,
      "How many there are, when some were left out.",
    ),
  }),
);

/** How a feed relates to what was seen before. */
export const CONTINUITY = described(
  enumOf("first_seen", "consistent", "unpinned"),
  "How it relates to what this service saw of the feed before.",
);

/** What `/v1/check` answers. */
export const CHECK_ANSWER: Component = new Component(
  "CheckAnswer",
  strictObject(
    "A decision, and what it rests upon.",
    {
      decision: described(enumOf("allow", "deny"), "Yes or no."),
      subject: described(TEXT, "Whom it is about."),
      requirements: listOf(
        strictObject("One requirement.", REQUIREMENT),
        "The requirements, as understood.",
      ),
      matched_relationship_id: described(
        orNull(TEXT),
        "The relationship that meets them, null on deny.",
      ),
      last_sequence: described(COUNT, "The last event that was looked at."),
      issuer: ISSUER,
      reasons: listOf(REASON, "Why not; empty on allow."),
      evaluated_at: described(INSTANT, "When the answer was made."),
      at: described(orNull(TEXT), "As asked."),
      as_of: described({ anyOf: [COUNT, TEXT, { type: "null" }] }, "As asked."),
      not_after: described(
        orNull(INSTANT),
        "When the answer may change with no further event, null for never.",
      ),
      source: SOURCE,
      freshness: described(orNull(FRESHNESS), "Null for `inline`."),
      continuity: CONTINUITY,
      warnings: ANSWER_WARNINGS,
    },
    { ...REASONS_LEFT_OUT, explain: EXPLANATION },
  ),
);

/** What `/v1/verify` answers. */
export const VERIFY_REPORT: Component = new Component("VerifyReport", {
  description: "What verifying came to.",
  oneOf: [
    strictObject("Everything is in order.", {
      valid: { const: true },
      issuer: ISSUER,
      source: SOURCE,
      verified_events: described(COUNT, "How many events."),
      last_sequence: described(COUNT, "Sequence of the last event."),
      feed_sha256: described(
        { type: "string", pattern: "^[0-9a-f]{64}$" },
        "SHA-256 of the feed's bytes.",
      ),
      keys: listOf(
        strictObject("Which events a key signed.", {
          kid: TEXT,
          events: COUNT,
          first_sequence: COUNT,
          last_sequence: COUNT,
        }),
        "The keys that signed.",
      ),
      warnings: WARNINGS,
    }),
    strictObject("Something that was published is wrong.", {
      valid: { const: false },
      errors: {
        ...listOf(
          {
            type: "object",
            description: "One fault.",
            properties: {
              code: ERROR_CODE,
              detail: described(TEXT, "In words."),
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
      issuer: described(
        orNull(TEXT),
        "Null when one of its documents is at fault.",
      ),
      source: SOURCE,
      verified_events: described(
        COUNT,
        "Events that did verify; none of them may be relied upon.",
      ),
      warnings: WARNINGS,
    }),
  ],
});

/** What `/v1/check` answers to several questions. */
export const CHECK_RESULTS: Component = new Component(
  "CheckResults",
  strictObject("Answers in the order of the questions.", {
    results: listOf({
      anyOf: [
        CHECK_ANSWER,
        strictObject("There is no answer.", { error: PROBLEM }),
      ],
    }),
  }),
);

/** What `/v1/dump-state` answers. */
export const STATE_PAGE: Component = new Component(
  "StatePage",
  strictObject("One page of a state.", {
    issuer: ISSUER,
    last_sequence: described(COUNT, "The last event that was looked at."),
    by_relationship_id: {
      type: "object",
      description: "Relationships, in the order of their first events.",
      additionalProperties: RELATIONSHIP,
    },
    next_cursor: described(
      orNull(TEXT),
      "Asks for the next page; null on the last.",
    ),
  }),
);

/** What `/healthz` answers. */
export const HEALTH: Component = new Component(
  "Health",
  strictObject("The service answers.", {
    status: { const: "ok" },
    service: { const: "sig-api" },
    version: TEXT,
    spec_version: { const: "sig/0.1" },
    uptime_seconds: COUNT,
  }),
);
