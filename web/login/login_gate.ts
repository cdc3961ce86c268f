/** The question about a relationship that each login asks. @module */

import { createConsumer, type FetchPolicy } from "@sig/consumer";
import { parseRequirement, SigError } from "@sig/core";
import type { CheckRelationship } from "./relationship.ts";

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
  /** The clock. */
  readonly now: () => Date;
}

/** The issuer whose word a login needs, and the question to it. */
export interface LoginGate {
  /** The issuer of the relationship, or null when none is needed. */
  readonly issuer: string | null;
  /** What it must be, or null. */
  readonly require: readonly string[] | null;
  /** Asks about a subject, where something is required. */
  readonly checkRelationship?: CheckRelationship;
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
    maxAge: options.maxAgeMs ?? 0,
    backend: "node",
    now,
  });
  return {
    issuer: issuer.did,
    require,
    checkRelationship: (subject) =>
      consumer.check(issuer.did, { subject, require }),
  };
}
