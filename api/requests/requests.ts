/** The bodies of the `/v1` requests (docs/reference/http.md). @module */

import {
  EFFECTIVE_STATUSES,
  type EffectiveStatus,
  type Requirement,
} from "@sig/core";
import { isObject, type Timepoint } from "@sig/core/internal";
import { readAs } from "./read_as.ts";
import { list } from "./list.ts";
import { object } from "./object.ts";
import {
  AS_OF,
  AT,
  EXPLAIN,
  MAX_AGE_SECONDS,
  MIN_SEQUENCE,
  REQUIRE,
  SUBJECT,
} from "./question.ts";
import { integer, nonEmptyText, oneOf, text } from "./scalars.ts";
import { later, named, type Schema } from "./schema.ts";
import {
  createSourceSchemas,
  SOURCE_MEMBERS,
  type SourceMembers,
  type SourceOptions,
} from "./source.ts";

/** A question of `/v1/check`. */
export interface CheckRequest extends SourceMembers {
  /** Whom it is about. */
  readonly subject: string;
  /** What one relationship must meet. */
  readonly require: readonly Requirement[];
  /** What was true then. */
  readonly at?: Timepoint;
  /** What was known then. */
  readonly as_of?: number | Timepoint;
  /** The feed must have come so far. */
  readonly min_sequence?: number;
  /** How old the state may be. */
  readonly max_age_seconds?: number;
  /** Show the work. */
  readonly explain?: boolean;
}

/** Several questions; each is read when its turn comes. */
export interface CheckBatch {
  /** The questions. */
  readonly checks: readonly unknown[];
}

/** The body of `/v1/verify`. */
type VerifyRequest = SourceMembers;

/** The body of `/v1/dump-state`. */
export interface DumpStateRequest extends SourceMembers {
  /** What was true then. */
  readonly at?: Timepoint;
  /** What was known then. */
  readonly as_of?: number | Timepoint;
  /** Only relationships about this subject. */
  readonly subject?: string;
  /** Only relationships that come to this. */
  readonly status?: EffectiveStatus;
  /** Relationships on one page. */
  readonly limit?: number;
  /** Where the page before ended. */
  readonly cursor?: string;
}

/** Questions in one request. */
const MAX_CHECKS = 100;
/** Relationships on a page by default. */
export const DEFAULT_PAGE = 1_000;
/** Relationships on a page at most. */
const MAX_PAGE = 10_000;
/** Room for the longest relationship_id that a line can hold. */
const MAX_CURSOR_LENGTH = 256 * 1024;

const ONE_SOURCE =
  "Exactly one of `issuer`, `sig` and `feed` says which feed is meant.";

/** The schemas of the three bodies. */
export interface RequestSchemas {
  /** One question. */
  readonly check: Schema<CheckRequest>;
  /** Several. */
  readonly batch: Schema<CheckBatch>;
  /** Which feed to verify. */
  readonly verify: Schema<VerifyRequest>;
  /** Which page of which state. */
  readonly dumpState: Schema<DumpStateRequest>;
}

/** Makes the schemas; with `allowPrivate` they take `http:` and loopback. */
export function createRequestSchemas(
  options: SourceOptions,
): RequestSchemas {
  const source = createSourceSchemas(options);
  const check = named(
    "CheckRequest",
    object<CheckRequest>({
      members: {
        ...source,
        subject: SUBJECT,
        require: REQUIRE,
        at: AT,
        as_of: AS_OF,
        min_sequence: MIN_SEQUENCE,
        max_age_seconds: MAX_AGE_SECONDS,
        explain: EXPLAIN,
      },
      required: ["subject", "require"],
      exactlyOne: SOURCE_MEMBERS,
      alsoKnown: ["checks"],
      keywords: { description: `One question. ${ONE_SOURCE}` },
    }),
  );
  return {
    check,
    batch: named(
      "CheckBatch",
      object<CheckBatch>({
        members: {
          checks: list({
            item: later(check),
            minItems: 1,
            maxItems: MAX_CHECKS,
            keywords: {
              description:
                "The questions; each may name another feed. One that is wrong or can't be answered spoils no other.",
            },
          }),
        },
        required: ["checks"],
        keywords: { description: "Several questions at once." },
      }),
    ),
    verify: named(
      "VerifyRequest",
      object<VerifyRequest>({
        members: source,
        exactlyOne: SOURCE_MEMBERS,
        keywords: { description: ONE_SOURCE },
      }),
    ),
    dumpState: named(
      "DumpStateRequest",
      object<DumpStateRequest>({
        members: {
          ...source,
          at: AT,
          as_of: AS_OF,
          subject: nonEmptyText({
            description: "Only relationships about this subject.",
          }),
          status: oneOf(EFFECTIVE_STATUSES, {
            description: "Only relationships that come to this at that time.",
          }),
          limit: integer(1, MAX_PAGE, {
            description:
              `Relationships on one page (default: ${DEFAULT_PAGE}).`,
          }),
          cursor: text(
            {
              minLength: 1,
              maxLength: MAX_CURSOR_LENGTH,
              description:
                "`next_cursor` of the page before, with everything else as it was.",
            },
            (value) =>
              value.length === 0 || value.length > MAX_CURSOR_LENGTH
                ? `it must have 1 to ${MAX_CURSOR_LENGTH} characters`
                : undefined,
          ),
        },
        exactlyOne: SOURCE_MEMBERS,
        keywords: { description: ONE_SOURCE },
      }),
    ),
  };
}

/** One question, or several. */
export function readCheck(
  schemas: RequestSchemas,
  body: unknown,
): CheckRequest | CheckBatch {
  return isObject(body) && Object.hasOwn(body, "checks")
    ? readAs(schemas.batch, body)
    : readAs(schemas.check, body);
}
