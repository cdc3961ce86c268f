/** Checks the relationship that a login requires. @module */

import { createTurns } from "@sig/api/internal/http";
import { type Consumer, createConsumer, type FetchPolicy } from "@sig/consumer";
import type { AnswerMetrics } from "@sig/api/internal/http";
import type { PinStore } from "@sig/consumer/pins";
import {
  check,
  type CheckAnswer,
  instantOf,
  type JsonValue,
  parseRequirements,
  personOf,
  type Reason,
  type RelationshipState,
  SigError,
} from "@sig/core";
import { quote, validityAt } from "@sig/core/internal";

/**
 * Queries the configured issuer about a subject, with the configured
 * requirements. It must throw if there is no answer.
 */
export type CheckRelationship = (
  subject: string,
  now: Date,
) => Promise<LoginAnswer>;

/**
 * An issuer's answer; a deny may contain the relationship that is not active.
 */
export type LoginAnswer = CheckAnswer & {
  readonly relationship?: InactiveRelationship | undefined;
  /**
   * What has ended, for a relationship that has: this key only, since another
   * key of the person is admitted, or the person. Absent if it is unknown.
   */
  readonly ended?: "key" | "person" | undefined;
};

/** A relationship that is revoked, expired or not valid yet. */
export type InactiveRelationship = Pick<
  RelationshipState,
  "relationship_type" | "valid_from" | "valid_until" | "revoked_effective_at"
>;

/**
 * The relationship that allowed a login. It must be checked again by
 * `not_after`.
 */
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
 * Returns the relationship of an answer.
 *
 * @param action What a deny prevents, for its message.
 * @throws {SigError} `relationship_denied` with `context.reasons`.
 * @throws {TypeError} for an answer about another subject.
 */
export function requireRelationship(
  answer: LoginAnswer,
  subject: string,
  action = "accept attestation",
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
  throw new SigError("relationship_denied", {
    action: action,
    reason: `${quote(answer.issuer)} does not vouch for ${quote(subject)} (${
      answer.reasons.map(describeReason).join(", ")
    })`,
    context: {
      issuer: answer.issuer,
      // Reasons are JSON, but their interface has no index signature.
      reasons: answer.reasons as unknown as JsonValue,
      ...(answer.relationship &&
        { relationship: { ...answer.relationship } }),
      ...(answer.ended && { ended: answer.ended }),
      last_sequence: answer.last_sequence,
      hint: answer.ended === "key"
        ? "This key has ended: use another key of yours."
        : "Ask the issuer for the relationship that is required here.",
    },
  });
}

/** Returns a reason with the requirement that is not met. */
function describeReason({ code, requirement }: Reason): string {
  if (requirement === undefined) return code;
  const { key, value } = requirement;
  return `${code}: ${quote(`${key}=${value}`)}`;
}

/** Options of {@linkcode createLoginGate}. */
interface LoginGateOptions {
  /** The issuers; exactly one if `require` is not empty. */
  readonly issuers: readonly { did: string; policy: FetchPolicy }[];
  /** Requirements, `key=value` each (default: none). */
  readonly require?: readonly string[] | undefined;
  /** Maximum age of the issuer's state in milliseconds (default: 0). */
  readonly maxAgeMs?: number | undefined;
  /** The pin store (default: in memory, for this process). */
  readonly pins?: PinStore | undefined;
  /** With `pins`: rejects an issuer without a pin (default: false). */
  readonly requirePin?: boolean | undefined;
  /** Counts answers, for telemetry. */
  readonly metrics?: AnswerMetrics | undefined;
  readonly now: () => Date;
}

/** A relationship that meets the requirements. */
export interface MatchedRelationship {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Its identifier in the issuer's feed. */
  readonly relationship_id: string;
  /** Its type. */
  readonly type: string;
  /** Its roles. */
  readonly roles: readonly string[];
  /** The sequence of the last event that was read. */
  readonly sequence: number;
  /** Its end without further events, RFC 3339; absent: no end. */
  readonly not_after?: string;
}

/** Whether a relationship has reached its `not_after`. */
export function hasEnded(
  { not_after }: MatchedRelationship,
  at: Date,
): boolean {
  const period = { valid_until: not_after };
  return validityAt(period, instantOf(at)) === "expired";
}

/** Options of a single query. */
interface FurtherQuestion {
  /** Requirements besides those of the login, `key=value` each. */
  readonly require?: readonly string[] | undefined;
  /**
   * Maximum age of the issuer's state in milliseconds (default: that of the
   * login).
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * Milliseconds for which an older state answers while the issuer can't be
   * reached (default: 0).
   */
  readonly graceMs?: number | undefined;
  /**
   * False: answers only from the state that this process has read, whatever its
   * age.
   */
  readonly refresh?: false;
  /** Whether a deny is explained by what has ended (default: false). */
  readonly explains?: boolean;
}

/** An issuer's answer about a subject. */
export interface IssuerAnswer {
  /** The complete answer. */
  readonly answer: LoginAnswer;
  /** The matching relationship; undefined for a deny. */
  readonly relationship: MatchedRelationship | undefined;
  /** When the issuer's state was last observed, in milliseconds since 1970. */
  readonly observedMs: number;
  /**
   * Returns the root DID of the person (docs/protocol.md §4.1). Reads the whole
   * feed, at least up to the last event of this answer.
   */
  personOf(): Promise<string>;
}

/** Queries the issuer about a subject; throws if there is no answer. */
export type AskIssuer = (
  subject: string,
  further?: FurtherQuestion,
) => Promise<IssuerAnswer>;

/** The issuer and the requirements of a login. */
export interface LoginGate {
  /** The issuer's DID; null if no relationship is required. */
  readonly issuer: string | null;
  /** The requirements; null if there are none. */
  readonly require: readonly string[] | null;
  /** Queries the issuer about a subject; absent without requirements. */
  readonly ask?: AskIssuer;
}

/**
 * Creates the check from the configuration; nothing is fetched yet. By default
 * (`maxAgeMs` 0) the issuer is queried at every login, so that a revocation
 * takes effect at the next one.
 *
 * @throws {SigError} `invalid_requirement`; `invalid_request` for requirements
 * without exactly one issuer.
 */
export function createLoginGate(options: LoginGateOptions): LoginGate {
  const { issuers: [issuer, ...others], require: own = [], now } = options;
  const { maxAgeMs: ownMaxAgeMs = 0, metrics } = options;
  if (own.length === 0) return { issuer: null, require: null };
  parseRequirements(own);
  if (issuer === undefined || others.length > 0) {
    throw new SigError("invalid_request", {
      action: "require a relationship",
      reason: "exactly one issuer must be named",
      context: {
        flag: "--require",
        hint: "For example: --issuer acme.example --require role=deploy.",
      },
    });
  }
  const consumer = createConsumer({
    ...issuer.policy,
    issuers: [issuer.did],
    // Each query sets its own maximum age.
    maxAgeMs: Infinity,
    pins: options.pins,
    requirePin: options.requirePin,
    backend: "node",
    // Finding a person's root reads the whole feed.
    yieldToEventLoop: createTurns(),
    now,
  });
  const ask: AskIssuer = async (subject, further = {}) => {
    const { maxAgeMs = ownMaxAgeMs, graceMs = 0, refresh = true } = further;
    const require = parseRequirements([
      ...new Set([...own, ...further.require ?? []]),
    ]);
    const question = { subject, require, maxAgeMs, graceMs };
    const asking = consumer.ask(issuer.did, question, { refresh });
    const { answer, relationship } = await asking.catch((error) => {
      metrics?.failed(error);
      throw error;
    });
    metrics?.decided(answer, true);
    return {
      ...(relationship === null
        ? {
          answer: {
            ...answer,
            relationship: await inactiveOf(consumer, answer),
            ended: further.explains
              ? await endedOf(consumer, answer, now())
              : undefined,
          },
          relationship: undefined,
        }
        : { answer, relationship: matchOf(answer, relationship) }),
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
    issuer,
    relationship_id,
    type: relationship_type,
    // A copy, since callers may change it and the state is reused.
    roles: [...roles],
    sequence: last_sequence,
    ...(not_after === null ? {} : { not_after }),
  };
}

/**
 * Returns what has ended, if the deny is about an ended relationship: only this
 * key, if another key of the same person is allowed, or the person.
 */
async function endedOf(
  consumer: Consumer,
  { issuer, subject, reasons, requirements, last_sequence }: CheckAnswer,
  at: Date,
): Promise<"key" | "person" | undefined> {
  const hasEnded = reasons.some(({ code }) =>
    code === "revoked" || code === "expired"
  );
  if (!hasEnded) return undefined;
  // The deny is valid even if the other keys can't be read.
  const state = await consumer.state(issuer, { minSequence: last_sequence })
    .catch(() => undefined);
  if (state === undefined) return undefined;
  const root = personOf(state, subject);
  const require = parseRequirements(
    requirements.map(({ key, value }) => ({ [key]: value })),
  );
  const isAllowed = Array.from(state.by_relationship_id.values()).some((
    { subject },
  ) =>
    personOf(state, subject) === root &&
    check(state, { subject, require, now: at }).decision === "allow"
  );
  return isAllowed ? "key" : "person";
}

/** Returns the relationship that a deny is about, to explain the deny. */
async function inactiveOf(
  consumer: Consumer,
  { issuer, subject, reasons }: CheckAnswer,
): Promise<InactiveRelationship | undefined> {
  const id = reasons.find((each) => each.relationship_id !== undefined)
    ?.relationship_id;
  if (id === undefined) return undefined;
  // The deny is valid even if its relationship can't be read.
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
