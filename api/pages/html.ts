/** Text as HTML. @module */

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text that stays text, in content and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Text in which `code` stands between backticks. */
export function prose(text: string): string {
  return text.split("`").map((part, i) =>
    i % 2 === 0 ? escapeHtml(part) : `<code>${escapeHtml(part)}</code>`
  ).join("");
}
