/** The members of a question (docs/protocol.md §5). @module */

import {
  isSigError,
  parseRequirement,
  RELATIONSHIP_TYPES,
  type Requirement,
  SigError,
} from "@sig/core";
import { isSequence, type Timepoint } from "@sig/core/internal";
import { list } from "./list.ts";
import { flag, instant, INSTANT_PATTERN, integer, text } from "./scalars.ts";
import type { Schema } from "./schema.ts";

/** Requirements of one question: each is looked at once a relationship. */
const MAX_REQUIREMENTS = 64;

/** Whom the question is about. */
export const SUBJECT: Schema<string> = text({
  minLength: 1,
  description:
    "Whom the question is about: any non-empty text, usually a DID; compared exactly.",
  examples: ["did:web:alice.example"],
}, (value) => {
  if (value !== "") return;
  throw new SigError(
    "invalid_identifier",
    "Cannot ask: the subject must not be empty",
  );
});

const REQUIREMENT: Schema<Requirement> = {
  json: {
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
  },
  read(value, pointer, faults) {
    try {
      return parseRequirement(value);
    } catch (error) {
      if (!isSigError(error)) throw error;
      return faults.noteError(pointer, error);
    }
  },
};

/** What one relationship must meet. */
export const REQUIRE: Schema<readonly Requirement[]> = list({
  item: REQUIREMENT,
  minItems: 1,
  maxItems: MAX_REQUIREMENTS,
  noteTooFew: (pointer, faults) =>
    faults.noteError(
      pointer,
      new SigError(
        "requirements_empty",
        "Cannot ask: at least one requirement is needed",
        { context: { hint: 'For example: [{"role":"deploy"}].' } },
      ),
    ),
  keywords: {
    description:
      "What one relationship must meet, all of it. Each is `key=value` or an object with exactly one member.",
  },
});

/** What was true then. */
export const AT: Schema<Timepoint> = instant({
  description: "Ask what was true at this instant, instead of now.",
  examples: ["2026-02-10T12:00:00Z"],
});

const AS_OF_SEQUENCE = integer(1, Number.MAX_SAFE_INTEGER, {
  description: "A sequence number.",
});
const AS_OF_TEXT = text({
  pattern: `${INSTANT_PATTERN}|^[0-9]{1,16}$`,
  description: "An instant, or a sequence number in digits.",
});
const AS_OF_INSTANT = instant({});

/** What was known then. */
export const AS_OF: Schema<number | Timepoint> = {
  json: {
    description:
      "Ask what was known by then: only the events up to this sequence, or the longest prefix with every `issued_at` up to this instant, are looked at.",
    anyOf: [AS_OF_SEQUENCE.json, AS_OF_TEXT.json],
    examples: [2, "2026-02-10T12:00:00Z"],
  },
  read(value, pointer, faults) {
    if (typeof value === "number") {
      return AS_OF_SEQUENCE.read(value, pointer, faults);
    }
    if (typeof value === "string") {
      if (!/^[0-9]+$/.test(value)) {
        return AS_OF_INSTANT.read(value, pointer, faults);
      }
      const sequence = Number(value);
      return isSequence(sequence) ? sequence : faults.note(
        pointer,
        "invalid_field",
        "a sequence must be an integer from 1 to 2^53-1",
      );
    }
    return faults.note(
      pointer,
      "invalid_field",
      "it must be a sequence number or an RFC 3339 UTC timestamp",
    );
  },
};

/** The feed must have come so far. */
export const MIN_SEQUENCE: Schema<number> = integer(
  0,
  Number.MAX_SAFE_INTEGER,
  {
    description:
      "Answer only from a feed that has this event; where the known state ends before it, the issuer is asked once more, and then it is `consistency_unavailable`.",
  },
);

/** How old the answer's state may be. */
export const MAX_AGE_SECONDS: Schema<number> = integer(
  0,
  Number.MAX_SAFE_INTEGER,
  {
    description:
      "How old the state may be. It can only tighten the service's own limit; 0 asks the issuer now. Without meaning for `feed`.",
  },
);

/** Show the work. */
export const EXPLAIN: Schema<boolean> = flag({
  description: "Show how each relationship of the subject was judged.",
});
