/** The question about a relationship that each login asks. @module */

import { type Consumer, createConsumer, type FetchPolicy } from "@sig/consumer";
import type { PinStore } from "@sig/consumer/pins";
import {
  type CheckAnswer,
  compareInstants,
  instantOf,
  parseRequirement,
  parseTimestamp,
  SigError,
} from "@sig/core";
import type {
  CheckRelationship,
  InactiveRelationship,
  LoginAnswer,
} from "./relationship.ts";

/** An issuer whose word may be asked, and how it is fetched from. */
export interface GateIssuer {
  /** Its DID. */
  readonly did: string;
  /** Decides which addresses it may have. */
  readonly policy: FetchPolicy;
}

/** What a login needs. */
export interface LoginGateOptions {
  /** Exactly one, where something is required. */
  readonly issuers: readonly GateIssuer[];
  /** `key=value`, each; nothing unless told. */
  readonly require?: readonly string[] | undefined;
  /** Milliseconds that the issuer's state may be old; 0 unless told. */
  readonly maxAgeMs?: number | undefined;
  /** Remembers the issuer; this process does unless told. */
  readonly pins?: PinStore | undefined;
  /** With `pins`: the issuer must be there already. */
  readonly requirePin?: boolean | undefined;
  /** The clock. */
  readonly now: () => Date;
}

/** The relationship by which the issuer vouches for somebody. */
export interface Standing {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Its identifier in the issuer's feed. */
  readonly relationship_id: string;
  /** What kind of relationship. */
  readonly type: string;
  /** Its roles. */
  readonly roles: readonly string[];
  /** The feed's last event that was looked at. */
  readonly sequence: number;
  /** RFC 3339; when it ends with no further event. Absent: never. */
  readonly not_after?: string;
}

/** Whether it has ended by the issuer's own word, which said until when. */
export function hasEnded({ not_after }: Standing, at: Date): boolean {
  if (not_after === undefined) return false;
  const end = parseTimestamp(not_after);
  return end === undefined || compareInstants(instantOf(at), end) >= 0;
}

/** What is asked beyond the gate's own question. */
export interface FurtherQuestion {
  /** Further requirements, `key=value` each. */
  readonly require?: readonly string[] | undefined;
  /** How old the issuer's state may be; as the gate says unless told. */
  readonly maxAgeSeconds?: number | undefined;
}

/** What the issuer is remembered to have said. */
export interface Remembered {
  /** The feed's last event that is known. */
  readonly sequence: number;
  /** The relationship, or undefined for a deny. */
  readonly standing: Standing | undefined;
}

/** Asks the issuer about a subject; throws when it can't say. */
export interface AskIssuer {
  /** Its DID. */
  readonly issuer: string;
  /** The whole answer. */
  check(subject: string, further?: FurtherQuestion): Promise<LoginAnswer>;
  /** The relationship, or undefined for a deny. */
  standing(
    subject: string,
    further?: FurtherQuestion,
  ): Promise<Standing | undefined>;
  /** The same of an answer that was just given. */
  standingOf(answer: CheckAnswer): Promise<Standing | undefined>;
  /** The same by what is remembered of it, however old that is. */
  remembered(subject: string, further?: FurtherQuestion): Promise<Remembered>;
}

/** The issuer whose word a login needs, and the question to it. */
export interface LoginGate {
  /** The issuer of the relationship, or null when none is needed. */
  readonly issuer: string | null;
  /** What it must be, or null. */
  readonly require: readonly string[] | null;
  /** Asks about a subject, where something is required. */
  readonly checkRelationship?: CheckRelationship;
  /** The same for those who ask more, and again. */
  readonly ask?: AskIssuer;
}

/**
 * Reads the configuration; nothing is fetched yet. With `require` and without
 * `maxAgeMs` the issuer is asked at every login, so that a revocation takes
 * effect at the next one.
 *
 * @throws {SigError} `invalid_requirement`; `invalid_request` for requirements without their one issuer.
 */
export function createLoginGate(options: LoginGateOptions): LoginGate {
  const { issuers: [issuer, ...others], require = [], now } = options;
  if (require.length === 0) return { issuer: null, require: null };
  for (const each of require) parseRequirement(each);
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
    // Each question says how old an answer may be: some may be older.
    maxAge: Infinity,
    pins: options.pins,
    requirePin: options.requirePin,
    backend: "node",
    now,
  });
  const ask = createAsk(consumer, {
    issuer: issuer.did,
    require,
    maxAgeMs: options.maxAgeMs ?? 0,
  });
  return {
    issuer: issuer.did,
    require,
    checkRelationship: (subject) => ask.check(subject),
    ask,
  };
}

/** The relationship that a deny is about; it helps people to understand it. */
async function inactiveOf(
  consumer: Consumer,
  { issuer, reasons }: CheckAnswer,
): Promise<InactiveRelationship | undefined> {
  const id = reasons.find((each) => each.relationship_id !== undefined)
    ?.relationship_id;
  if (id === undefined) return undefined;
  // The deny stands, whether or not its relationship can be described.
  const state = await consumer.state(issuer, { maxAgeMs: SAME_STATE_MS })
    .catch(() => undefined);
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

/** Milliseconds in which the state that an answer came from is still at hand. */
const SAME_STATE_MS = 60_000;

function createAsk(
  consumer: Consumer,
  { issuer, require: own, maxAgeMs }: {
    readonly issuer: string;
    readonly require: readonly string[];
    readonly maxAgeMs: number;
  },
): AskIssuer {
  const check: AskIssuer["check"] = async (
    subject,
    { require, maxAgeSeconds = maxAgeMs / 1000 } = {},
  ) => {
    const answer = await consumer.check(issuer, {
      subject,
      require: require === undefined ? own : [...new Set([...own, ...require])],
      maxAgeSeconds,
    });
    const relationship = await inactiveOf(consumer, answer);
    return relationship === undefined ? answer : { ...answer, relationship };
  };
  const ask: AskIssuer = {
    issuer,
    check,
    standing: async (subject, further) =>
      await ask.standingOf(await check(subject, further)),
    standingOf: (answer) => standingAt(answer, SAME_STATE_MS),
    async remembered(subject, { require } = {}) {
      const answer = await check(subject, { require, maxAgeSeconds: Infinity });
      const standing = await standingAt(answer, Infinity);
      return { sequence: answer.last_sequence, standing };
    },
  };

  async function standingAt(
    answer: CheckAnswer,
    maxAgeMs: number,
  ): Promise<Standing | undefined> {
    const { decision, matched_relationship_id: id, not_after } = answer;
    if (decision !== "allow" || id === null) return undefined;
    const state = await consumer.state(issuer, { maxAgeMs });
    const found = state.by_relationship_id.get(id);
    // Ended between the answer and now.
    if (found === undefined || found.status !== "active") return undefined;
    return {
      issuer: answer.issuer,
      relationship_id: id,
      type: found.relationship_type,
      // A copy: the state is asked again, and callers hand this on.
      roles: [...found.roles],
      sequence: answer.last_sequence,
      ...(not_after === null ? {} : { not_after }),
    };
  }
  return ask;
}
