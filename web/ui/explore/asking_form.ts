/** A question as it is typed. @module */

import type { Asking } from "../parts/route.ts";

/** What may be required, and how it is said. */
export const REQUIREMENT_KEYS = {
  relationship: "is",
  role: "has the role",
  relationship_id: "by the relationship",
} as const;

/** One of them. */
export type RequirementKey = keyof typeof REQUIREMENT_KEYS;

/** A row of the form. */
export interface RequirementRow {
  /** Of the row, for as long as the form lives. */
  readonly id: number;
  readonly key: RequirementKey;
  readonly value: string;
}

/** The whole form. */
export interface AskingForm {
  readonly subject: string;
  readonly rows: readonly RequirementRow[];
  /** RFC 3339, or "". */
  readonly at: string;
  /** The number of an event, RFC 3339, or "". */
  readonly asOf: string;
}

/** The form that a link's question fills. */
export function formOf({ subject, require, at, asOf }: Asking): AskingForm {
  return {
    subject,
    rows: require.map((text, id) => {
      const [key = "", ...rest] = text.split("=");
      return {
        id,
        key: Object.hasOwn(REQUIREMENT_KEYS, key)
          ? key as RequirementKey
          : "role",
        value: rest.join("="),
      };
    }),
    at: at ?? "",
    asOf: asOf ?? "",
  };
}

/** The question that a form asks. */
export function askingOf({ subject, rows, at, asOf }: AskingForm): Asking {
  return {
    subject: subject.trim(),
    require: rows.map(({ key, value }) => `${key}=${value}`),
    at: at.trim() || undefined,
    asOf: asOf.trim() || undefined,
  };
}
