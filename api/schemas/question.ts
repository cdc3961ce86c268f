/** Schemas of the `/v1` request bodies (docs/reference/http.md). @module */

import type { InlineFeed } from "@sig/consumer";
import { IssuerName } from "@sig/consumer/internal";
import {
  EFFECTIVE_STATUSES,
  parseRequirement,
  RELATIONSHIP_TYPES,
  SigError,
} from "@sig/core";
import {
  isObject,
  isSequence,
  quote,
  sequenceOfDigits,
} from "@sig/core/internal";
import { z } from "zod";
import {
  instant,
  INSTANT_PATTERN,
  integer,
  list,
  oneOf,
  parsed,
  readAs,
  refuse,
  strictObject,
} from "./strict.ts";

/** Maximum length of an issuer or URL; no existing host has a longer one. */
const MAX_SOURCE_LENGTH = 2048;
/**
 * Maximum number of requirements in one question: each is checked against every
 * relationship.
 */
const MAX_REQUIREMENTS = 64;
/** Maximum number of questions in one request. */
const MAX_CHECKS = 100;
/** Default and maximum number of relationships in a page. */
export const DEFAULT_PAGE = 1_000;
const MAX_PAGE = 10_000;
/** Maximum length of a cursor, which contains an identifier of any length. */
const MAX_CURSOR_LENGTH = 256 * 1024;

/** A text that is not empty. */
export const nonEmpty: z.ZodString = z.string().min(1);

const DOCUMENT = z.unknown() as z.ZodType<NonNullable<unknown>>;

/** The documents of an issuer, as values. */
const INLINE_FEED: z.ZodType<InlineFeed> = strictObject({
  metadata: DOCUMENT.describe("`sig.json` as published."),
  jwks: DOCUMENT.describe("`jwks.json` as published."),
  did_document: DOCUMENT.describe(
    "`did.json` as published; absent if there is none.",
  ).exactOptional(),
  events: z.string().describe(
    "The feed as published: NDJSON, one envelope per line, the last line ends in LF.",
  ),
}).meta({
  id: "InlineFeed",
  description:
    "An issuer's documents. They don't prove their origin: the answer's `source` is `inline`. An error in them is the issuer's (422), not the request's (400).",
});

const SUBJECT = z.string().transform(parsed((subject: string) => {
  if (subject !== "") return subject;
  throw new SigError("invalid_identifier", {
    action: "ask",
    reason: "the subject must not be empty",
  });
})).meta({
  minLength: 1,
  description:
    "The subject: any non-empty text, usually a DID; compared exactly.",
});

const REQUIREMENT = z.unknown().transform(parsed(parseRequirement)).meta({
  anyOf: [
    {
      type: "string",
      pattern: "^(relationship|role|relationship_id)=.+$",
      examples: ["role=deploy"],
    },
    {
      type: "object",
      properties: {
        relationship: { enum: RELATIONSHIP_TYPES },
        role: { type: "string", minLength: 1 },
        relationship_id: { type: "string", minLength: 1 },
      },
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
      examples: [{ role: "deploy" }],
    },
  ],
});

const REQUIRE = list(
  REQUIREMENT,
  1,
  MAX_REQUIREMENTS,
  new SigError("requirements_empty", {
    action: "ask",
    reason: "at least one requirement is needed",
    context: { hint: 'For example: [{"role":"deploy"}].' },
  }),
).describe(
  "The requirements, all of which one relationship must meet. Each is `key=value` or an object with exactly one member.",
);

const AT = instant.describe(
  "The time of the question: what was true then (default: now).",
);

const SEQUENCE = integer(1, Number.MAX_SAFE_INTEGER);
const AS_OF = z.unknown().transform((value, ctx) => {
  if (typeof value === "string" && /^[0-9]+$/.test(value)) {
    const sequence = sequenceOfDigits(value);
    return isSequence(sequence)
      ? sequence
      : refuse(ctx, "a sequence must be an integer from 1 to 2^53-1");
  }
  if (typeof value !== "number" && typeof value !== "string") {
    const why = "it must be a sequence number or an RFC 3339 UTC timestamp";
    return refuse(ctx, why);
  }
  const schema = typeof value === "number" ? SEQUENCE : instant;
  const { data, error } = schema.safeParse(value);
  return data ?? refuse(ctx, error!.issues[0]!.message);
}).meta({
  description:
    "What was known then: only the events up to this sequence, or the longest prefix with every `issued_at` up to this time, are considered.",
  anyOf: [
    {
      type: "integer",
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "A sequence number.",
    },
    {
      type: "string",
      pattern: `${INSTANT_PATTERN}|^[0-9]+$`,
      description: "An instant, or a sequence number in digits.",
    },
  ],
});

/** The members that bound a question, also in AuthZEN's `context.sig`. */
export const BOUNDS = {
  at: AT.optional(),
  as_of: AS_OF.optional(),
  min_sequence: integer(0, Number.MAX_SAFE_INTEGER).describe(
    "Answer only from a feed that has this event. If the known state ends before it, the issuer is queried once more; if the event is still missing, the result is `consistency_unavailable`.",
  ).optional(),
  max_age_seconds: integer(0, Number.MAX_SAFE_INTEGER).describe(
    "The maximum age of the state. It can only be stricter than the service's own limit; 0 queries the issuer now. Ignored for `feed`.",
  ).optional(),
  explain: z.boolean().describe(
    "Whether to explain the evaluation of each relationship of the subject.",
  ).optional(),
} as const;

/** Options for sources. */
interface SourceOptions {
  /** Whether `http:` and loopback are allowed. */
  readonly allowPrivate: boolean;
  /** Listed issuers, whose names are not parsed again for each request. */
  readonly listed?: readonly IssuerName[];
}

/**
 * Returns the schema of an issuer's name: a DID or host, or the URL of its
 * `sig.json`. Neither can be a file, which would let a client read this
 * machine's disk.
 */
function createSourceName(
  kind: "did" | "url",
  { allowPrivate, listed = [] }: SourceOptions,
): z.ZodType<IssuerName> {
  const read = (text: string) =>
    IssuerName.parse(text, { allowPrivate }, ({ kind: found }) => {
      if (found !== kind) throw otherKind(text, found, kind);
    });
  const spellings = listed.flatMap((name) => [
    ...(name.kind === kind ? [name.text] : []),
    kind === "did" ? name.expectedIssuer : name.metadataRef,
  ]);
  const known = new Map(spellings.map((text) => [text, read(text)]));
  return z.string().max(MAX_SOURCE_LENGTH).transform(
    parsed((text: string) => known.get(text) ?? read(text)),
  );
}

function otherKind(
  value: string,
  found: string,
  expected: "did" | "url",
): SigError {
  const member = found === "url" ? "sig" : found === "did" ? "issuer" : null;
  const form = expected === "did"
    ? "a did:web or a host name"
    : "the https URL of a sig.json";
  return new SigError("invalid_identifier", {
    action: `use ${quote(value)}`,
    reason: `it must be ${form}`,
    context: {
      identifier: value.slice(0, 200),
      hint: member === null
        ? "Files can't be named; send their content as `feed`."
        : `Give it as \`${member}\`.`,
    },
  });
}

/**
 * Creates the schemas of the bodies; `allowPrivate` allows `http:` and
 * loopback.
 */
export function createRequestSchemas(options: SourceOptions) {
  const issuer = createSourceName("did", options);
  const source = {
    issuer: issuer.meta({
      description:
        "The issuer: a did:web, or its host name. The service's list decides which may be queried.",
    }).optional(),
    sig: createSourceName("url", options).meta({
      format: "uri",
      description: "The https URL of the issuer's `sig.json`.",
    }).optional(),
    feed: INLINE_FEED.optional(),
  } as const;
  const oneSource = oneOf(Object.keys(source));
  const meta = (id: string, start = "") => ({
    id,
    description:
      `${start}Exactly one of \`issuer\`, \`sig\` and \`feed\` names the feed.`,
    oneOf: Object.keys(source).map((name) => ({ required: [name] })),
  });
  const [only, ...others] = options.listed ?? [];
  const question = strictObject(
    { ...source, subject: SUBJECT, require: REQUIRE, ...BOUNDS },
    ["checks"],
  );
  const check = only === undefined || others.length > 0
    ? question.check(oneSource).meta(meta("CheckRequest", "One question. "))
    : question.check(oneOf(Object.keys(source), false)).transform(
      (asked) => asked.sig || asked.feed ? asked : { issuer: only, ...asked },
    ).meta({
      id: "CheckRequest",
      description:
        `One question. At most one of \`issuer\`, \`sig\` and \`feed\` names the feed (default: the only issuer on the service's list).`,
    });
  const batch = strictObject({
    checks: list(check, 1, MAX_CHECKS).describe(
      "The questions; each may name another feed. One that is invalid or can't be answered does not affect the others.",
    ),
  }).meta({
    id: "CheckBatch",
    description: "Several questions in one request.",
  });
  const quick = z.compile(question);
  return {
    issuer,
    check,
    // The same schema, at half the cost for valid bodies (bench/check.ts). zod
    // can't compile the check of the source, which also runs if other members
    // are invalid.
    quickCheck: z.withParser(check, (body) => {
      const { data } = quick.safeParse(body);
      const { issuer, sig, feed } = data ?? {};
      const isOne = [issuer, sig, feed].filter(Boolean).length === 1;
      return data !== undefined && isOne ? data : z.INVALID;
    }),
    batch,
    // Each question is parsed separately, so that one invalid item doesn't fail
    // the batch.
    batchOfUnread: batch.extend({ checks: list(z.unknown(), 1, MAX_CHECKS) }),
    verify: strictObject(source).check(oneSource).meta(meta("VerifyRequest")),
    dumpState: strictObject({
      ...source,
      at: AT.optional(),
      as_of: AS_OF.optional(),
      subject: nonEmpty.describe("Only relationships about this subject.")
        .optional(),
      status: z.enum(EFFECTIVE_STATUSES).describe(
        "Only relationships with this status at that time.",
      ).optional(),
      limit: integer(1, MAX_PAGE).describe(
        `Relationships on one page (default: ${DEFAULT_PAGE}).`,
      ).optional(),
      cursor: nonEmpty.max(MAX_CURSOR_LENGTH).describe(
        "`next_cursor` of the previous page; all other members must be unchanged.",
      ).optional(),
    }).check(oneSource).meta(meta("DumpStateRequest")),
  };
}

/** The schemas of the bodies. */
export type RequestSchemas = ReturnType<typeof createRequestSchemas>;
/** A question of `/v1/check`. */
export type CheckRequest = z.output<RequestSchemas["check"]>;
/** Several unparsed questions. */
export type CheckBatch = z.output<RequestSchemas["batchOfUnread"]>;
/** A request for a page of a state. */
export type DumpStateRequest = z.output<RequestSchemas["dumpState"]>;
/** The members that name a feed; exactly one of the three is present. */
export type SourceMembers = z.output<RequestSchemas["verify"]>;

/** Parses one question, or several. */
export function readCheck(
  schemas: RequestSchemas,
  body: unknown,
): CheckRequest | CheckBatch {
  return isObject(body) && Object.hasOwn(body, "checks")
    ? readAs(schemas.batchOfUnread, body)
    : readAs(schemas.quickCheck, body);
}
