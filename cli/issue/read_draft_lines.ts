/** Drafts of events as JSON lines. @module */

import {
  isObject,
  type Issue,
  JsonError,
  parseJson,
  SigError,
} from "@sig/core";
import type { EventDraft } from "@sig/issuer";

/** A draft and where it stands. */
export interface DraftLine {
  /** From 1. */
  readonly line: number;
  /** One JSON object; the issuer judges its members. */
  readonly draft: EventDraft;
}

const LF = 0x0a;

/**
 * Splits bytes into drafts. Blank lines are passed over.
 *
 * @throws {SigError} `invalid_json` with every line that is not one strict JSON
 * object, up to `maxFaults`.
 */
export function readDraftLines(
  bytes: Uint8Array,
  maxFaults: number,
): readonly DraftLine[] {
  const drafts: DraftLine[] = [];
  const faults: (Issue & { readonly line: number })[] = [];
  for (let at = 0, line = 1; at < bytes.length; line++) {
    const lf = bytes.indexOf(LF, at);
    const end = lf < 0 ? bytes.length : lf;
    const read = readLine(bytes.subarray(at, end));
    at = end + 1;
    if (read === undefined) continue;
    if (typeof read !== "string") drafts.push({ line, draft: read });
    else if (faults.length < maxFaults) {
      const detail = `line ${line}: ${read}`;
      faults.push({ pointer: `/${line}`, line, code: "invalid_json", detail });
    }
  }
  const [first] = faults;
  if (first === undefined) return drafts;
  throw new SigError("invalid_json", `Cannot read drafts: ${first.detail}`, {
    context: {
      line: first.line,
      ...(faults.length === 1 ? {} : { errors: faults }),
      hint: "Nothing was written. Each line must be one strict JSON object.",
    },
  });
}

/** A draft, why it is none, or undefined for a blank line. */
function readLine(bytes: Uint8Array): EventDraft | string | undefined {
  if (bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)) {
    return undefined;
  }
  try {
    const value = parseJson(bytes);
    // The issuer judges every member.
    if (isObject(value)) return value as unknown as EventDraft;
    return "it must be one object";
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return `it must be strict JSON: ${error.message}`;
  }
}
