/** What a server says to its operator. @module */

import { escapeInvisible } from "@sig/core";

/** A line of a server's own, in the form of its log. */
export function operatorLine(
  message: string,
  log: "json" | "text" | "off",
  now: Date,
  level: "info" | "warning" | "error" = "error",
): string {
  const line = log === "json"
    ? JSON.stringify({ time: now.toISOString(), level, message })
    : `${level}: ${message}`;
  return `${escapeInvisible(line)}\n`;
}
