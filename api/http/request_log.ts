/** The request log: one line per request, for people or programs. @module */

import { escapeInvisible } from "@sig/core";

/** A log entry of a request. It contains no body, query, token or subject. */
export interface RequestLogEntry {
  /** When the request arrived (RFC 3339 UTC). */
  readonly time: string;
  /** `error` only for unexpected errors. */
  readonly level: "info" | "error";
  /** `sig-api` or `sig-web`, since both may write to the same log. */
  readonly service: string;
  /** The request id, as in the response. */
  readonly request_id: string;
  /** As sent: HTTP methods are case-sensitive. */
  readonly method: string;
  /**
   * The pattern of the route, such as `/oidc/interaction/:id`, since a path may
   * contain a secret; without a route the first segment of the path.
   */
  readonly path: string;
  /** The HTTP status, even if sending was aborted later. */
  readonly status: number;
  /** Time until the response was created, in milliseconds. */
  readonly duration_ms: number;
  /** The client's address, if known. */
  readonly client?: string;
  /** The code of the problem (`ErrorCode`); absent for other responses. */
  readonly code?: string;
  /** The unexpected error with its stack. */
  readonly error?: string;
}

/** The format of a log. */
export type LogFormat = "json" | "text";

/**
 * Formats an entry as one line. Text of a client can neither add a line nor
 * send control characters to a terminal. In the text format, values with other
 * characters than plain ones are quoted, so that they can't look like further
 * fields.
 */
export function formatLogEntry(
  entry: RequestLogEntry,
  format: LogFormat,
): string {
  if (format === "json") return `${escapeInvisible(JSON.stringify(entry))}\n`;
  const { time, method, path, status, code, duration_ms, request_id, error } =
    entry;
  const words = [time, field(method), field(path), status, code];
  words.push(`${duration_ms}ms`, field(request_id), error);
  const line = words.filter((word) => word !== undefined).join(" ");
  return `${escapeInvisible(line)}\n`;
}

/** Returns one field of the text format. */
function field(text: string): string {
  return /^[!#-[\]-~]+$/.test(text) ? text : JSON.stringify(text);
}

/** Returns the stack, which begins with name and message, for the operator. */
export function describeThrown(thrown: unknown): string {
  return thrown instanceof Error
    ? thrown.stack ?? `${thrown.name}: ${thrown.message}`
    : typeof thrown;
}
