/** How a list of people is written. @module */

/** A format that lists are read from. */
export type ListFormat = "csv" | "json" | "yaml";

/** The format that a file's name tells; undefined where it tells none. */
export function formatOf(path: string): ListFormat | undefined {
  const ending = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === "csv" || ending === "tsv" || ending === "txt") return "csv";
  if (ending === "json") return "json";
  if (ending === "yaml" || ending === "yml") return "yaml";
  return undefined;
}
