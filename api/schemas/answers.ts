/** Schemas of the answers; a test compares them with real answers. @module */

import {
  DENY_REASONS,
  EFFECTIVE_STATUSES,
  ERROR_CODES,
  type ErrorCode,
  REASON_CODES,
  RELATIONSHIP_TYPES,
  REQUIREMENT_KEYS,
  SPEC_VERSION,
  WARNING_CODES,
} from "@sig/core";
import { MAX_ANSWER_WARNINGS } from "@sig/core/internal";
import { z } from "zod";

const TEXT = z.string();
/** A whole number of at least 0. */
const COUNT = z.int().min(0);
/** RFC 3339 UTC. */
const INSTANT = TEXT.meta({ format: "date-time" });
const SECONDS = z.number().min(0);

/** The codes of problems, faults and failed items. */
export const ERROR_CODE = z.enum(Object.keys(ERROR_CODES) as [ErrorCode]).meta({
  id: "ErrorCode",
  description:
    "All codes. A code is never renamed and never changes its meaning.",
});

/** A problem as in the answers. */
export const PROBLEM = z.looseObject({
  type: TEXT.describe("`urn:sig:problem:<code>`."),
  title: TEXT.describe("The code in words."),
  status: z.int().describe("The HTTP status."),
  detail: TEXT.describe("A description of the error for people."),
  instance: TEXT.describe("The request's id."),
  code: ERROR_CODE,
  hint: TEXT.describe("What to do next.").optional(),
  pointer: TEXT.describe("JSON Pointer of the field.").optional(),
  line: COUNT.describe("Line of the feed.").optional(),
  sequence: COUNT.describe("Event of the feed.").optional(),
  kid: TEXT.describe("The key.").optional(),
  retry_after_seconds: z.number().describe("Seconds until a retry.").optional(),
  errors: z.array(
    z.strictObject({ pointer: TEXT, code: ERROR_CODE, detail: TEXT })
      .describe("One fault."),
  ).describe("All faults of the request.").optional(),
}).meta({
  id: "Problem",
  description:
    "An error (RFC 9457). `code` is stable; further members contain details.",
});

const WARNING = z.strictObject({
  code: z.enum(WARNING_CODES),
  detail: TEXT,
  sequence: COUNT.optional(),
  line: COUNT.optional(),
}).meta({
  id: "Warning",
  description: "A deviation that does not make the feed invalid.",
});
const WARNINGS = z.array(WARNING).describe(
  "Deviations that don't make the feed invalid.",
);

const REQUIREMENT = { key: z.enum(REQUIREMENT_KEYS), value: TEXT };
const ISSUER = TEXT.describe("The issuer's DID.");
const SOURCE = z.enum(["https", "http", "inline"]).describe(
  "Where the documents came from. Only `https` proves the origin: `http` means that at least one of them came without TLS.",
);

/** One reason of a deny. */
export const REASON = z.strictObject({
  code: z.enum(DENY_REASONS),
  relationship_id: TEXT.describe("The relationship that the reason is about.")
    .optional(),
  sequence: COUNT.describe(
    "The sequence of the event that decides its status (docs/protocol.md §5.5).",
  )
    .optional(),
  requirement: z.strictObject(REQUIREMENT)
    .describe("The requirement that the reason is about.").optional(),
}).meta({ id: "Reason", description: "One reason of a deny." });

const FRESHNESS = z.strictObject({
  observed_at: INSTANT.describe(
    "When the state was last confirmed by the issuer.",
  ),
  age_seconds: SECONDS.describe("Seconds since then."),
  max_age_seconds: SECONDS.describe("The maximum age of the state in seconds."),
  status: z.enum(["fresh", "stale"]),
}).meta({ id: "Freshness", description: "How fresh the state is." });

const PROOF = z.strictObject({
  size: COUNT.describe("Events of the checkpoint."),
  root: TEXT.describe("Its tree hash, base64."),
  state: TEXT.describe("The hash of its state tree, base64."),
  kid: TEXT.describe("The issuer's key that signed the checkpoint."),
  signed_at: INSTANT.nullable().describe(
    "When the issuer last signed this checkpoint as the newest.",
  ),
  tail: COUNT.describe("Number of further events after the checkpoint."),
}).meta({
  id: "Proof",
  description: "How an answer was proved without the whole feed.",
});

const EXPLANATION = z.strictObject({
  judged_at: INSTANT.describe("The time for which the question was answered."),
  tense: z.enum(["now", "then"]).describe(
    "`now`: the current state. `then`: the state at that time.",
  ),
  events: COUNT.describe("Number of events that were considered."),
  relationships: z.array(
    z.strictObject({
      relationship_id: TEXT,
      relationship_type: z.enum(RELATIONSHIP_TYPES),
      roles: z.array(TEXT),
      valid_from: INSTANT.nullable(),
      valid_until: INSTANT.nullable(),
      effective_status: z.enum(EFFECTIVE_STATUSES),
      last_sequence: COUNT,
      requirements: z.array(
        z.strictObject({ ...REQUIREMENT, met: z.boolean() })
          .describe("One requirement."),
      ),
    }).describe("The evaluation of one relationship."),
  ).describe(
    "The relationships of the subject, up to 1,000 of them, and up to 8,192 verdicts.",
  ),
  truncated: z.literal(true).describe(
    "Present if relationships were left out; the decision considers all of them.",
  ).optional(),
  relationship_count: COUNT.describe(
    "The number of all relationships, if some were left out.",
  ).optional(),
}).meta({ id: "Explanation", description: "How the decision was made." });

/** The basis of every decision, also in AuthZEN answers. */
export const BASIS = {
  issuer: ISSUER,
  matched_relationship_id: TEXT.nullable().describe(
    "The relationship that meets the requirements; null on deny.",
  ),
  last_sequence: COUNT.describe(
    "The sequence of the last event that was considered.",
  ),
  evaluated_at: INSTANT.describe("When the question was answered."),
  not_after: INSTANT.nullable().describe(
    "When the answer may change without a further event; null if never.",
  ),
  freshness: FRESHNESS.nullable().describe("Null for `inline`."),
  continuity: z.enum(["first_seen", "consistent", "unpinned"]).describe(
    "How the feed relates to what this service has seen of it before.",
  ),
  warnings: z.array(WARNING).max(MAX_ANSWER_WARNINGS).describe(
    "Deviations that concern the subject or the whole feed.",
  ),
  reasons_left_out: COUNT.describe(
    "The number of omitted reasons, if there are more than 100.",
  ).optional(),
  explain: EXPLANATION.optional(),
};

/** The answer of `/v1/check`. */
export const CHECK_ANSWER = z.strictObject({
  decision: z.enum(["allow", "deny"]).describe("The decision."),
  subject: TEXT.describe("The subject of the question."),
  requirements: z.array(
    z.strictObject(REQUIREMENT).describe("One requirement."),
  ).describe("The parsed requirements."),
  reasons: z.array(REASON).describe("The reasons of a deny; empty on allow."),
  at: TEXT.nullable().describe("As in the question."),
  as_of: z.union([COUNT, TEXT]).nullable().describe("As in the question."),
  source: SOURCE,
  ...BASIS,
  proof: PROOF.nullable().describe("Null if the whole feed was read."),
}).meta({
  id: "CheckAnswer",
  description: "A decision and its basis.",
});

/** The answer of `/v1/check` to several questions. */
export const CHECK_RESULTS = z.strictObject({
  results: z.array(
    z.union([
      CHECK_ANSWER,
      z.strictObject({ error: PROBLEM }).describe(
        "The question has no answer.",
      ),
    ]),
  ),
}).meta({
  id: "CheckResults",
  description: "Answers in the order of the questions.",
});

/** The answer of `/v1/verify`. */
export const VERIFY_REPORT = z.xor([
  z.strictObject({
    valid: z.literal(true),
    issuer: ISSUER,
    source: SOURCE,
    verified_events: COUNT.describe("Number of events."),
    last_sequence: COUNT.describe("Sequence of the last event."),
    feed_sha256: TEXT.regex(/^[0-9a-f]{64}$/).describe(
      "SHA-256 of the feed's bytes.",
    ),
    keys: z.array(
      z.strictObject({
        kid: TEXT,
        events: COUNT,
        first_sequence: COUNT,
        last_sequence: COUNT,
      }).describe("A key and the range of events that it signed."),
    ).describe("The keys that signed."),
    warnings: WARNINGS,
  }).describe("The feed is valid."),
  z.strictObject({
    valid: z.literal(false),
    errors: z.array(
      z.looseObject({
        code: ERROR_CODE,
        detail: TEXT.describe("A description of the fault."),
        sequence: COUNT.optional(),
        line: COUNT.optional(),
        kid: TEXT.optional(),
        pointer: TEXT.optional(),
      }).describe("One fault."),
    ).min(1).max(100).describe("The faults in the order of the feed."),
    issuer: TEXT.nullable().describe(
      "Null if one of its documents is invalid.",
    ),
    source: SOURCE,
    verified_events: COUNT.describe(
      "Number of events that were verified; don't rely on any of them.",
    ),
    warnings: WARNINGS,
  }).describe("The published documents are invalid."),
]).meta({ id: "VerifyReport", description: "The result of a verification." });

const RELATIONSHIP = z.strictObject({
  issuer: TEXT,
  relationship_id: TEXT,
  subject: TEXT,
  relationship_type: z.enum(RELATIONSHIP_TYPES),
  roles: z.array(TEXT),
  valid_from: INSTANT.nullable(),
  valid_until: INSTANT.nullable(),
  status: z.enum(["active", "revoked"]).describe(
    "As in the feed, regardless of the period of validity.",
  ),
  last_sequence: COUNT,
  revoked_reason_code: z.enum(REASON_CODES).optional(),
  revoked_effective_at: INSTANT.optional(),
}).meta({
  id: "Relationship",
  description: "A relationship as in the feed.",
});

/** The answer of `/v1/dump-state`. */
export const STATE_PAGE = z.strictObject({
  issuer: ISSUER,
  last_sequence: COUNT.describe(
    "The sequence of the last event that was considered.",
  ),
  by_relationship_id: z.record(TEXT, RELATIONSHIP).describe(
    "Relationships, in the order of their first events.",
  ),
  next_cursor: TEXT.nullable().describe(
    "The cursor of the next page; null on the last.",
  ),
}).meta({ id: "StatePage", description: "One page of a state." });

/** The answer of `/readyz`. */
export const READY = z.strictObject({ status: z.literal("ready") })
  .meta({
    id: "Ready",
    description: "The store answers, and so does at least one listed issuer.",
  });

const OUTCOME = TEXT.describe("`ok`, or the error code.");

/** The answer of `/readyz` with status 503. */
export const NOT_READY = z.strictObject({
  status: z.literal("not_ready"),
  checks: z.strictObject({
    pins: OUTCOME.optional(),
    issuers: z.union([
      z.enum(["ok", "unreachable"]).describe(
        "The result for all issuers together.",
      ),
      z.record(TEXT, OUTCOME).describe("With the token: the results by DID."),
    ]).optional(),
  }).describe("The dependencies of the service."),
}).meta({
  id: "NotReady",
  description: "The store doesn't answer, or none of the listed issuers does.",
});

/** The answer of `/healthz`. */
export const HEALTH = z.strictObject({
  status: z.literal("ok"),
  service: z.literal("sig-api"),
  version: TEXT,
  spec_version: z.literal(SPEC_VERSION),
  uptime_seconds: COUNT,
}).meta({ id: "Health", description: "The service is running." });
