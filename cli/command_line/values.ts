/** Value types of flags for feeds and subjects. @module */

import {
  isSigError,
  JsonError,
  type OpenObject,
  type ParsedTime,
  parseJson,
  parseTimestamp,
  REASON_CODES,
  type ReasonCode,
  RELATIONSHIP_TYPES,
  type RelationshipType,
  SigError,
} from "@sig/core";
import { isObject, parseTime, Timepoint } from "@sig/core/internal";
import {
  file,
  oneOf,
  text,
  usageError,
  type ValueType,
} from "@sig/api/program";

/** Returns a type that accepts any text, with its placeholder for the help. */
export function textOf(placeholder: string): ValueType<string> {
  return { ...text, placeholder };
}

/** Returns a type of texts of which some are paths of files. */
export function fileOr(placeholder: string): ValueType<string> {
  return { ...file, placeholder };
}

/** Returns a type that also rejects values that fail `isValid`. */
export function checked<T>(
  type: ValueType<T>,
  isValid: (value: T) => boolean,
  must: string,
  hint?: string,
): ValueType<T> {
  return {
    ...type,
    parse(text, flag) {
      const value = type.parse(text, flag);
      if (isValid(value)) return value;
      throw usageError(
        `${flag} must ${must}`,
        hint === undefined ? { flag } : { flag, hint },
      );
    },
  };
}

/** The values of flags by name. */
interface GivenValues {
  readonly [flag: string]: unknown;
}

/** Refuses each of these flags together with another one. */
export function refuseTogether(
  flags: GivenValues,
  other: string,
  hint?: string,
): void {
  for (const [name, value] of Object.entries(flags)) {
    const isGiven = Array.isArray(value) ? value.length > 0 : value;
    if (value === undefined || isGiven === false) continue;
    const flag = `--${name}`;
    throw usageError(
      `${flag} and --${other} contradict each other`,
      hint === undefined ? { flag } : { flag, hint },
    );
  }
}

/** Requires exactly one of two flags. */
export function requireEither(
  flags: GivenValues,
  one: string,
  other: string,
): void {
  if ((flags[one] === undefined) !== (flags[other] === undefined)) return;
  throw usageError(`give either --${one} or --${other}`, { flag: `--${one}` });
}

// Values that become members of an event are validated by the issuer alone.
/** A subject. An OpenSSH public key or its file is converted to a did:key. */
export const did: ValueType<string> = {
  ...textOf("DID|KEY|FILE.pub"),
  kind: "subject",
};
/** The subject of a flag that users may call otherwise. */
export const person: ValueType<string> = {
  ...did,
  mistaken: ["person", "name"],
};
export const id = textOf("ID");
export const kid = textOf("KID");
export const role = textOf("ROLE");
/** A role to give: one with a line break reads as several. */
export const givenRole = checked(
  role,
  (text) => !/\p{Cc}/u.test(text),
  "have no control characters",
);
export const source = fileOr("SOURCE");

/** The source of `--sig`, which similar tools call otherwise. */
export const mainSource: ValueType<string> = {
  ...source,
  mistaken: ["issuer", "source"],
};
export const url = textOf("URL");
/** A private key: the file of a JWK, or a key in ssh-agent. */
export const signingKey = fileOr("FILE|agent:…");
/** A file, or `-` for standard input. */
export const input = fileOr("FILE|-");

/** A relationship type. Requirements call it `relationship`. */
export const relationshipType: ValueType<RelationshipType> = {
  ...oneOf(...RELATIONSHIP_TYPES),
  placeholder: "TYPE",
  mistaken: ["relationship", "relationship-type"],
};

/** The reason code of a revoke. */
export const reasonCode: ValueType<ReasonCode> = {
  ...oneOf(...REASON_CODES),
  placeholder: "CODE",
};

/** Converts a bare date to an instant of that day; keeps other text. */
function instantOfDay(text: string, instant: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T${instant}Z` : text;
}

const DAY_START = "00:00:00";
/** The last instant of a day with nine decimal places. */
const DAY_END = "23:59:59.999999999";

/** A time that the issuer validates; a bare date is the start of the day. */
export const time: ValueType<string> = {
  placeholder: "TIME",
  parse: (text) => instantOfDay(text, DAY_START),
};

function timepoint(ofDay: string): ValueType<Timepoint> {
  return {
    placeholder: "TIME",
    parse: (text, flag) =>
      Timepoint.parse(instantOfDay(text, ofDay)) ??
        notATime(flag, "an RFC 3339 UTC timestamp or a date"),
  };
}

/** A time with its spelling; a bare date is the start of the day. */
export const timestamp = timepoint(DAY_START);

/** As {@linkcode timestamp}, but a bare date is the end of the day. */
export const timestampThrough = timepoint(DAY_END);

function knownUntil(
  ofDay: string,
): ValueType<NonNullable<ParsedTime["asOf"]>> {
  return {
    placeholder: "SEQ|TIME",
    parse(text, flag) {
      try {
        return parseTime({ asOf: instantOfDay(text, ofDay) }).asOf!;
      } catch (error) {
        // The error of core names a member of a request; here it must name a
        // flag.
        if (!isSigError(error, "invalid_request")) throw error;
        const what = "a sequence, an RFC 3339 UTC timestamp or a date";
        return notATime(flag, what);
      }
    },
  };
}

/**
 * The last known event or time of a feed; a bare date is the start of the day.
 */
export const asOf = knownUntil(DAY_START);

/** As {@linkcode asOf}, but a bare date is the end of the day. */
export const asOfThrough = knownUntil(DAY_END);

function notATime(flag: string, what: string): never {
  throw usageError(`${flag} must be ${what}`, {
    flag,
    hint: "For example: 2026-01-31T09:00:00Z, 2026-01-31.",
  });
}

/** The start or the end of a validity. */
export type End = "valid_from" | "valid_until";

const DAY_MS = 86_400_000;

/**
 * Parses a cell as an instant. RFC 3339 UTC stays unchanged. A bare date is the
 * start of that day, or for `valid_until` its end (the next midnight), UTC.
 * Rejects every other spelling and says what to write instead, since 03/04/2026
 * is ambiguous.
 *
 * @returns the instant, or the reason why there is none.
 */
export function readDay(
  text: string,
  end: End,
): { readonly instant: string } | { readonly why: string } {
  if (parseTimestamp(text) !== undefined) return { instant: text };
  const day = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (day !== null) return wholeDay(text, end);
  return { why: `${whyNot(text)}; write a date as 2026-12-31` };
}

function wholeDay(text: string, end: End) {
  const start = `${text}T00:00:00Z`;
  if (parseTimestamp(start) === undefined) {
    return { why: "this day does not exist" };
  }
  if (end === "valid_from") return { instant: start };
  const next = new Date(Date.parse(start) + DAY_MS).toISOString();
  const instant = next.replace(".000Z", "Z");
  // The midnight after 9999-12-31 can't be written in RFC 3339.
  if (parseTimestamp(instant) === undefined) {
    return { why: "the day after it can't be written" };
  }
  return { instant };
}

function whyNot(text: string): string {
  const parts = /^(\d{1,2})[./-](\d{1,2})[./-](\d{2}|\d{4})$/.exec(text);
  if (parts !== null) {
    return Number(parts[1]) <= 12 && Number(parts[2]) <= 12
      ? "it is ambiguous: day first or month first"
      : "it is not in the form YYYY-MM-DD";
  }
  if (/^\d{4,6}(\.\d+)?$/.test(text)) {
    return "it is a spreadsheet's day number: format the column as text";
  }
  if (/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(text)) {
    return "it needs seconds and UTC, as in 2026-12-31T09:00:00Z";
  }
  return "it is not a date";
}

/** The start or end of a validity, which includes the day of a bare date. */
export function dayOf(end: End): ValueType<string> {
  return {
    placeholder: "TIME",
    parse(text, flag) {
      const read = readDay(text, end);
      if ("instant" in read) return read.instant;
      throw usageError(`${flag} must be a date or an instant: ${read.why}`, {
        flag,
      });
    },
  };
}

/** Returns a type that also accepts `none`, as null. */
export function orNone<T>(type: ValueType<T>): ValueType<T | null> {
  return {
    placeholder: `${type.placeholder}|none`,
    parse: (text, flag) => text === "none" ? null : type.parse(text, flag),
  };
}

/** The sequence of an event, 1 or more. */
export const sequence: ValueType<number> = {
  placeholder: "SEQ",
  parse(text, flag) {
    if (/^[1-9]\d{0,15}$/.test(text)) return Number(text);
    throw usageError(`${flag} must be a sequence, 1 or more`, { flag });
  },
};

/** A number of people, 0 or more. */
export const people: ValueType<number> = {
  placeholder: "N",
  parse(text, flag) {
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw usageError(`${flag} must be a number`, { flag });
  },
};

/** A JSON object, parsed strictly. */
export const metadata: ValueType<OpenObject> = {
  placeholder: "JSON",
  parse(text, flag) {
    let why = "it must be one object";
    try {
      const value = parseJson(text);
      if (isObject(value)) return value;
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      why = error.message;
    }
    throw new SigError("invalid_json", {
      action: `use ${flag}`,
      reason: `it must be strict JSON: ${why}`,
      context: { flag, hint: `For example: ${flag} '{"badge":7}'` },
    });
  },
};
