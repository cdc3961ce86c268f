/** Two versions of the same thing, for people. @module */

/** The members that differ, in the order of both; all but those left out. */
export function differingFields<M extends object>(
  before: M,
  after: M,
  leftOut: readonly (keyof M & string)[] = [],
): readonly (keyof M & string)[] {
  const names = new Set(
    [before, after].flatMap((each) =>
      Object.keys(each) as (keyof M & string)[]
    ),
  );
  for (const name of leftOut) names.delete(name);
  return [...names].filter((name) =>
    JSON.stringify(before[name]) !== JSON.stringify(after[name])
  );
}

/** `roles deploy → deploy, refund`, for each field. */
export function describeFields<M extends object>(
  before: M,
  after: M,
  fields: readonly (keyof M & string)[],
): readonly string[] {
  return fields.map((name) =>
    `${name} ${describeValue(before[name])} → ${describeValue(after[name])}`
  );
}

/** A member's value. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (value instanceof Array) return value.join(", ") || "none";
  return typeof value === "object" ? JSON.stringify(value) : `${value}`;
}
