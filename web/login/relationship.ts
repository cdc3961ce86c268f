/** The relationship that a login needs, and the question about it. @module */

import { createTurns } from "@sig/api/http";
import { type Consumer, createConsumer, type FetchPolicy } from "@sig/consumer";
import type { AnswerMetrics } from "@sig/api/http";
import type { PinStore } from "@sig/consumer/pins";
import {
  type CheckAnswer,
  compareInstants,
  instantOf,
  type JsonValue,
  parseRequirement,
  parseTimestamp,
  personOf,
  type RelationshipState,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";

/**
 * Asks an issuer about a subject; which issuer and what is required has been
 * configured. It must throw when there is no answer.
 */
export type CheckRelationship = (
  subject: string,
  now: Date,
) => Promise<LoginAnswer>;

/** An answer; a deny may say which relationship is not active, and when. */
export type LoginAnswer = CheckAnswer & {
  readonly relationship?: InactiveRelationship | undefined;
};

/** A relationship that is revoked, expired or not valid yet. */
export type InactiveRelationship = Pick<
  RelationshipState,
  "relationship_type" | "valid_from" | "valid_until" | "revoked_effective_at"
>;

/** The relationship that a login was allowed by. Ask again by `not_after`. */
export interface LoginRelationship extends
  Pick<
    CheckAnswer,
    | "issuer"
    | "requirements"
    | "last_sequence"
    | "evaluated_at"
    | "not_after"
    | "freshness"
    | "continuity"
  > {
  /** Its identifier in the issuer's feed. */
  readonly relationship_id: string;
}

/**
 * The relationship of an answer.
 *
 * @throws {SigError} `relationship_denied` with `context.reasons`.
 * @throws {TypeError} for an answer about somebody else.
 */
export function requireRelationship(
  answer: LoginAnswer,
  subject: string,
): LoginRelationship {
  if (answer.subject !== subject) {
    throw new TypeError("Cannot use answer: it is about another subject");
  }
  const { decision, matched_relationship_id } = answer;
  if (decision === "allow" && matched_relationship_id !== null) {
    return {
      issuer: answer.issuer,
      relationship_id: matched_relationship_id,
      requirements: answer.requirements,
      last_sequence: answer.last_sequence,
      evaluated_at: answer.evaluated_at,
      not_after: answer.not_after,
      freshness: answer.freshness,
      continuity: answer.continuity,
    };
  }
  throw new SigError(
    "relationship_denied",
    `Cannot accept attestation: ${quote(answer.issuer)} does not vouch for ${
      quote(subject)
    } (${answer.reasons.map(({ code }) => code).join(", ")})`,
    {
      context: {
        issuer: answer.issuer,
        // Reasons are JSON; interfaces lack the index signature to say so.
        reasons: answer.reasons as unknown as JsonValue,
        ...(answer.relationship &&
          { relationship: { ...answer.relationship } }),
        last_sequence: answer.last_sequence,
        hint: "Ask the issuer for the relationship that is required here.",
      },
    },
  );
}

/** An issuer that can be asked, and how it is fetched from. */
interface GateIssuer {
  /** Its DID. */
  readonly did: string;
  /** Decides which addresses it may have. */
  readonly policy: FetchPolicy;
}

/** What a login needs. */
interface LoginGateOptions {
  /** Exactly one, where something is required. */
  readonly issuers: readonly GateIssuer[];
  /** `key=value`, each (default: nothing). */
  readonly require?: readonly string[] | undefined;
  /** Milliseconds that the issuer's state may be old (default: 0). */
  readonly maxAgeMs?: number | undefined;
  /** Remembers the issuer (default: this process does). */
  readonly pins?: PinStore | undefined;
  /** With `pins`: the issuer must be there already. */
  readonly requirePin?: boolean | undefined;
  /** Counts answers, for telemetry. */
  readonly metrics?: AnswerMetrics | undefined;
  /** The clock. */
  readonly now: () => Date;
}

/** The relationship that meets what is required. */
export interface MatchedRelationship {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Its identifier in the issuer's feed. */
  readonly relationship_id: string;
  /** Its type. */
  readonly type: string;
  /** Its roles. */
  readonly roles: readonly string[];
  /** The last event of the feed that was read. */
  readonly sequence: number;
  /** RFC 3339; when it ends with no further event. Absent: never. */
  readonly not_after?: string;
}

/** Whether it has ended by the date that the issuer gave. */
export function hasEnded(
  { not_after }: MatchedRelationship,
  at: Date,
): boolean {
  if (not_after === undefined) return false;
  const end = parseTimestamp(not_after);
  return end === undefined || compareInstants(instantOf(at), end) >= 0;
}

/** A question about a subject, beyond what the login requires of everybody. */
interface FurtherQuestion {
  /** Further requirements, `key=value` each. */
  readonly require?: readonly string[] | undefined;
  /** How old the issuer's state may be (default: that of the login). */
  readonly maxAgeMs?: number | undefined;
  /** False: only what this process has read answers, whatever its age. */
  readonly refresh?: false;
}

/** What an issuer says of a subject. */
export interface IssuerAnswer {
  /** The whole answer. */
  readonly answer: LoginAnswer;
  /** The relationship that matches, or undefined for a deny. */
  readonly relationship: MatchedRelationship | undefined;
  /** When the issuer last confirmed it, in milliseconds since 1970. */
  readonly observedMs: number;
  /**
   * The root of the subject's person (docs/protocol.md §4.1): reads the whole
   * feed, at least up to the event that this answer rests upon.
   */
  personOf(): Promise<string>;
}

/** Asks the issuer about a subject; throws when it can't answer. */
export type AskIssuer = (
  subject: string,
  further?: FurtherQuestion,
) => Promise<IssuerAnswer>;

/** The issuer and the question that a login needs. */
export interface LoginGate {
  /** The issuer of the relationship, or null when none is needed. */
  readonly issuer: string | null;
  /** What it must be, or null. */
  readonly require: readonly string[] | null;
  /** Asks about a subject, where something is required. */
  readonly ask?: AskIssuer;
}

/**
 * Reads the configuration; nothing is fetched yet. With `require` and without
 * `maxAgeMs` the issuer is asked at every login, so that a revocation takes
 * effect at the next one.
 *
 * @throws {SigError} `invalid_requirement`; `invalid_request` for requirements
 * without their one issuer.
 */
export function createLoginGate(options: LoginGateOptions): LoginGate {
  const { issuers: [issuer, ...others], require: own = [], now } = options;
  const { maxAgeMs: ownMaxAgeMs = 0, metrics } = options;
  if (own.length === 0) return { issuer: null, require: null };
  for (const each of own) parseRequirement(each);
  if (issuer === undefined || others.length > 0) {
    throw new SigError(
      "invalid_request",
      "Cannot require a relationship: exactly one issuer must be named",
      {
        context: {
          flag: "--require",
          hint: "For example: --issuer acme.example --require role=deploy.",
        },
      },
    );
  }
  const consumer = createConsumer({
    ...issuer.policy,
    issuers: [issuer.did],
    // Each question says how old its answer may be.
    maxAgeMs: Infinity,
    pins: options.pins,
    requirePin: options.requirePin,
    backend: "node",
    // A person's root is read from the whole feed.
    yieldToEventLoop: createTurns(),
    now,
  });
  const ask: AskIssuer = async (subject, further = {}) => {
    const { require = [], maxAgeMs = ownMaxAgeMs, refresh = true } = further;
    const asking = consumer.ask(
      issuer.did,
      { subject, require: [...new Set([...own, ...require])], maxAgeMs },
      { refresh },
    );
    const { answer, relationship } = await (metrics?.noting(asking) ?? asking);
    metrics?.decided(answer, true);
    return {
      answer: relationship === null
        ? { ...answer, relationship: await inactiveOf(consumer, answer) }
        : answer,
      relationship: relationship === null
        ? undefined
        : matchOf(answer, relationship),
      observedMs: answer.freshness === null
        ? now().getTime()
        : Date.parse(answer.freshness.observed_at),
      personOf: async () =>
        personOf(
          await consumer.state(issuer.did, {
            minSequence: answer.last_sequence,
          }),
          subject,
        ),
    };
  };
  return { issuer: issuer.did, require: own, ask };
}

function matchOf(
  { issuer, last_sequence, not_after }: CheckAnswer,
  { relationship_id, relationship_type, roles }: RelationshipState,
): MatchedRelationship {
  return {
    ...{ issuer, relationship_id, type: relationship_type },
    // A copy: the state answers again, and callers pass this on.
    roles: [...roles],
    sequence: last_sequence,
    ...(not_after === null ? {} : { not_after }),
  };
}

/** The relationship that a deny is about; it helps people to understand it. */
async function inactiveOf(
  consumer: Consumer,
  { issuer, subject, reasons }: CheckAnswer,
): Promise<InactiveRelationship | undefined> {
  const id = reasons.find((each) => each.relationship_id !== undefined)
    ?.relationship_id;
  if (id === undefined) return undefined;
  // The deny stands, whether or not its relationship can be described.
  const part = { subjects: [subject], refresh: false };
  const state = await consumer.state(issuer, part).catch(() => undefined);
  const found = state?.by_relationship_id.get(id);
  return found && {
    relationship_type: found.relationship_type,
    valid_from: found.valid_from,
    valid_until: found.valid_until,
    ...(found.revoked_effective_at !== undefined && {
      revoked_effective_at: found.revoked_effective_at,
    }),
  };
}
