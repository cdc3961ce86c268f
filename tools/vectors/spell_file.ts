/** Formats files of vectors so that changes have small diffs. @module */

/** Maximum line length up to which a value is on one line. */
const COLUMNS = 100;

/**
 * Characters that editors may hide or normalise: controls, byte order marks,
 * combining marks, separators. They are escaped; other letters are not.
 */
const HIDDEN = /[\p{C}\p{M}\p{Zl}\p{Zp}\u00a0]/gu;

/**
 * Formats a value as JSON: short values on one line, others with one member per
 * line.
 */
export function spellFile(value: unknown): string {
  return `${spellValue(value, "", 0)}\n`;
}

function spellValue(value: unknown, indent: string, before: number): string {
  const flat = spellFlat(value);
  const isLeaf = value === null || typeof value !== "object";
  if (isLeaf || indent.length + before + flat.length < COLUMNS) return flat;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Array.isArray(value)
    ? value.map((each) => spellValue(each, inner, 0))
    : Object.entries(value).map(([name, each]) => {
      const start = `${spellFlat(name)}: `;
      return start + spellValue(each, inner, start.length);
    });
  if (parts.length === 0) return flat;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

function spellFlat(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spellFlat).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value).map(([name, each]) =>
      `${spellFlat(name)}: ${spellFlat(each)}`
    );
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return JSON.stringify(value).replace(HIDDEN, escapeUnits);
}

function escapeUnits(character: string): string {
  return character.split("").map((unit) =>
    `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  ).join("");
}
