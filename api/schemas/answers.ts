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
export const COUNT = z.int().min(0);
/** RFC 3339 UTC. */
export const INSTANT = TEXT.meta({ format: "date-time" });
const SECONDS = z.number().min(0);

/** The codes of problems, faults and failed items. */
export const ERROR_CODE = z.enum(Object.keys(ERROR_CODES) as [ErrorCode]).meta({
  id: "ErrorCode",
  description: "Every code; none is ever renamed or used for another thing.",
});

/** A problem as in the answers. */
export const PROBLEM = z.looseObject({
  type: TEXT.describe("`urn:sig:problem:<code>`."),
  title: TEXT.describe("The code in words."),
  status: z.int().describe("The HTTP status."),
  detail: TEXT.describe("What went wrong, for people."),
  instance: TEXT.describe("The request's id."),
  code: ERROR_CODE,
  hint: TEXT.describe("What to do next.").optional(),
  pointer: TEXT.describe("JSON Pointer of the field.").optional(),
  line: COUNT.describe("Line of the feed.").optional(),
  sequence: COUNT.describe("Event of the feed.").optional(),
  kid: TEXT.describe("The key.").optional(),
  retry_after_seconds: z.number().describe("When to ask again.").optional(),
  errors: z.array(
    z.strictObject({ pointer: TEXT, code: ERROR_CODE, detail: TEXT })
      .describe("One fault."),
  ).describe("All faults of the request.").optional(),
}).meta({
  id: "Problem",
  description:
    "An error (RFC 9457). `code` is stable; further members tell the place and circumstances.",
});

const WARNING = z.strictObject({
  code: z.enum(WARNING_CODES),
  detail: TEXT,
  sequence: COUNT.optional(),
  line: COUNT.optional(),
}).meta({
  id: "Warning",
  description: "Something odd that makes no feed invalid.",
});
const WARNINGS = z.array(WARNING).describe("What was odd.");

const REQUIREMENT = { key: z.enum(REQUIREMENT_KEYS), value: TEXT };
const ISSUER = TEXT.describe("The issuer's DID.");
const SOURCE = z.enum(["https", "http", "inline"]).describe(
  "Where the documents came from. Only `https` proves the origin: `http` means that at least one of them came without TLS.",
);

/** One reason of a deny. */
export const REASON = z.strictObject({
  code: z.enum(DENY_REASONS),
  relationship_id: TEXT.describe("The relationship that it is about.")
    .optional(),
  sequence: COUNT.describe("That relationship's last event.").optional(),
  requirement: z.strictObject(REQUIREMENT)
    .describe("The requirement that it is about.").optional(),
}).meta({ id: "Reason", description: "One reason of a deny." });

const FRESHNESS = z.strictObject({
  observed_at: INSTANT.describe("When the issuer last confirmed it."),
  age_seconds: SECONDS.describe("Seconds since then."),
  max_age_seconds: SECONDS.describe("How old it may be."),
  status: z.enum(["fresh", "stale"]),
}).meta({ id: "Freshness", description: "How fresh the state is." });

const PROOF = z.strictObject({
  size: COUNT.describe("Events of the checkpoint."),
  root: TEXT.describe("Its tree hash, base64."),
  state: TEXT.describe("The hash of its state tree, base64."),
  kid: TEXT.describe("The issuer's key that signed the checkpoint."),
  signed_at: INSTANT.nullable().describe(
    "When the issuer last said that this checkpoint is the newest.",
  ),
  tail: COUNT.describe("Events after the checkpoint that were read too."),
}).meta({
  id: "Proof",
  description: "How an answer was proved without the whole feed.",
});

const EXPLANATION = z.strictObject({
  judged_at: INSTANT.describe("The instant that was judged."),
  tense: z.enum(["now", "then"]).describe(
    "`now`: the feed's last word. `then`: what was true at the instant.",
  ),
  events: COUNT.describe("Number of events that were looked at."),
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
    }).describe("How one relationship was judged."),
  ).describe(
    "The relationships of the subject, up to 1,000 of them, and up to 8,192 verdicts.",
  ),
  truncated: z.literal(true).describe(
    "Present when relationships were left out; the decision rests upon all.",
  ).optional(),
  relationship_count: COUNT.describe(
    "How many there are, when some were left out.",
  ).optional(),
}).meta({ id: "Explanation", description: "How the question was judged." });

/** The basis of every decision, also in AuthZEN answers. */
export const BASIS = {
  issuer: ISSUER,
  matched_relationship_id: TEXT.nullable().describe(
    "The relationship that meets them, null on deny.",
  ),
  last_sequence: COUNT.describe("The last event that was looked at."),
  evaluated_at: INSTANT.describe("When the answer was made."),
  not_after: INSTANT.nullable().describe(
    "When the answer may change with no further event, null for never.",
  ),
  freshness: FRESHNESS.nullable().describe("Null for `inline`."),
  continuity: z.enum(["first_seen", "consistent", "unpinned"]).describe(
    "How it relates to what this service saw of the feed before.",
  ),
  warnings: z.array(WARNING).max(MAX_ANSWER_WARNINGS).describe(
    "What was odd about the subject or the feed as a whole.",
  ),
  reasons_left_out: COUNT.describe(
    "How many reasons are left out, where there are more than 100.",
  ).optional(),
  explain: EXPLANATION.optional(),
};

/** The answer of `/v1/check`. */
export const CHECK_ANSWER = z.strictObject({
  decision: z.enum(["allow", "deny"]).describe("Yes or no."),
  subject: TEXT.describe("Whom it is about."),
  requirements: z.array(
    z.strictObject(REQUIREMENT).describe("One requirement."),
  ).describe("The requirements, as understood."),
  reasons: z.array(REASON).describe("Why not; empty on allow."),
  at: TEXT.nullable().describe("As asked."),
  as_of: z.union([COUNT, TEXT]).nullable().describe("As asked."),
  source: SOURCE,
  ...BASIS,
  proof: PROOF.nullable().describe("Null where the whole feed was read."),
}).meta({
  id: "CheckAnswer",
  description: "A decision, and what it rests upon.",
});

/** The answer of `/v1/check` to several questions. */
export const CHECK_RESULTS = z.strictObject({
  results: z.array(
    z.union([
      CHECK_ANSWER,
      z.strictObject({ error: PROBLEM }).describe("There is no answer."),
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
    verified_events: COUNT.describe("How many events."),
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
      }).describe("Which events a key signed."),
    ).describe("The keys that signed."),
    warnings: WARNINGS,
  }).describe("Everything is in order."),
  z.strictObject({
    valid: z.literal(false),
    errors: z.array(
      z.looseObject({
        code: ERROR_CODE,
        detail: TEXT.describe("In words."),
        sequence: COUNT.optional(),
        line: COUNT.optional(),
        kid: TEXT.optional(),
        pointer: TEXT.optional(),
      }).describe("One fault."),
    ).min(1).max(100).describe("The faults in the order of the feed."),
    issuer: TEXT.nullable().describe(
      "Null when one of its documents is at fault.",
    ),
    source: SOURCE,
    verified_events: COUNT.describe(
      "Events that did verify; none of them may be relied upon.",
    ),
    warnings: WARNINGS,
  }).describe("Something that was published is wrong."),
]).meta({ id: "VerifyReport", description: "What verifying came to." });

const RELATIONSHIP = z.strictObject({
  issuer: TEXT,
  relationship_id: TEXT,
  subject: TEXT,
  relationship_type: z.enum(RELATIONSHIP_TYPES),
  roles: z.array(TEXT),
  valid_from: INSTANT.nullable(),
  valid_until: INSTANT.nullable(),
  status: z.enum(["active", "revoked"]).describe(
    "As the feed says it; validity is not looked at.",
  ),
  last_sequence: COUNT,
  revoked_reason_code: z.enum(REASON_CODES).optional(),
  revoked_effective_at: INSTANT.optional(),
}).meta({
  id: "Relationship",
  description: "What the feed says of one relationship.",
});

/** The answer of `/v1/dump-state`. */
export const STATE_PAGE = z.strictObject({
  issuer: ISSUER,
  last_sequence: COUNT.describe("The last event that was looked at."),
  by_relationship_id: z.record(TEXT, RELATIONSHIP).describe(
    "Relationships, in the order of their first events.",
  ),
  next_cursor: TEXT.nullable().describe(
    "Asks for the next page; null on the last.",
  ),
}).meta({ id: "StatePage", description: "One page of a state." });

/** The answer of `/readyz`. */
export const READY = z.strictObject({ status: z.literal("ready") })
  .meta({ id: "Ready", description: "The service can answer." });

const OUTCOME = TEXT.describe("`ok`, or why it gave no answer.");

/** The answer of `/readyz` with status 503. */
export const NOT_READY = z.strictObject({
  status: z.literal("not_ready"),
  checks: z.strictObject({
    pins: OUTCOME.optional(),
    issuers: z.union([
      z.enum(["ok", "unreachable"]).describe("All of them together."),
      z.record(TEXT, OUTCOME).describe("With the token: by DID."),
    ]).optional(),
  }).describe("What the service depends on."),
}).meta({ id: "NotReady", description: "The service can't answer now." });

/** The answer of `/healthz`. */
export const HEALTH = z.strictObject({
  status: z.literal("ok"),
  service: z.literal("sig-api"),
  version: TEXT,
  spec_version: z.literal(SPEC_VERSION),
  uptime_seconds: COUNT,
}).meta({ id: "Health", description: "The service answers." });
