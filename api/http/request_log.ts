/** One line a request, for people or programs. @module */

import { escapeInvisible } from "@sig/core";

/** What is logged of a request: no body, no query, no token, no subject. */
export interface RequestLogEntry {
  /** When it came: RFC 3339 UTC. */
  readonly time: string;
  /** `error` only for what was not meant to happen. */
  readonly level: "info" | "error";
  /** `sig-api` or `sig-web`: one log may be of both. */
  readonly service: string;
  /** The request's name, as in the response. */
  readonly request_id: string;
  /** As sent: HTTP compares methods exactly. */
  readonly method: string;
  /** Its path, without the query; at most 200 characters. */
  readonly path: string;
  /** HTTP status, also where the answer was cut off later. */
  readonly status: number;
  /** Milliseconds until the response was made. */
  readonly duration_ms: number;
  /** The client's address, where it is known. */
  readonly client?: string;
  /** The code of the problem (`ErrorCode`); absent for other answers. */
  readonly code?: string;
  /** What was thrown and not meant to happen, with its stack. */
  readonly error?: string;
}

/** How a log is written. */
export type LogFormat = "json" | "text";

/**
 * An entry as one line. Whatever a client sent, it stays one line and can't
 * speak to a terminal. In the text format, what is not plain stands in quotes,
 * so that nothing a client sends reads like further fields.
 *
 * @example
 * ```ts
 * import { formatLogEntry } from "./request_log.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const line = formatLogEntry({
 *   time: "2026-01-01T00:00:00.000Z",
 *   level: "info",
 *   service: "sig-api",
 *   request_id: "r1",
 *   method: "GET",
 *   path: "/\u001b[2J",
 *   status: 404,
 *   duration_ms: 1,
 *   code: "not_found",
 * }, "text");
 * assertEquals(
 *   line,
 *   "2026-01-01T00:00:00.000Z GET \"/\\u001b[2J\" 404 not_found 1ms r1\n",
 * );
 * ```
 */
export function formatLogEntry(
  entry: RequestLogEntry,
  format: LogFormat,
): string {
  if (format === "json") return jsonLine(entry);
  const { time, method, path, status, code, duration_ms, request_id, error } =
    entry;
  const words = [time, field(method), field(path), status, code];
  words.push(`${duration_ms}ms`, field(request_id), error);
  const line = words.filter((word) => word !== undefined).join(" ");
  return `${escapeInvisible(line)}\n`;
}

/** One field of the text format. */
function field(text: string): string {
  return /^[!#-[\]-~]+$/.test(text) ? text : JSON.stringify(text);
}

/** Texts that are themselves in JSON, and that everybody sees. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Nearly every line: put together, since a service writes one a request. */
function jsonLine(entry: RequestLogEntry): string {
  const { time, level, service, request_id, method, path, client } = entry;
  const { status, duration_ms } = entry;
  const isUsual = entry.code === undefined && entry.error === undefined &&
    client !== undefined;
  const texts = time + service + request_id + method + path + client;
  if (!isUsual || !PLAIN.test(texts)) {
    return `${escapeInvisible(JSON.stringify(entry))}\n`;
  }
  return `{"time":"${time}","level":"${level}","service":"${service}",` +
    `"request_id":"${request_id}","method":"${method}","path":"${path}",` +
    `"status":${status},"duration_ms":${duration_ms},"client":"${client}"}\n`;
}

/** For the operator: the stack, which begins with name and message. */
export function describeThrown(thrown: unknown): string {
  return thrown instanceof Error
    ? thrown.stack ?? `${thrown.name}: ${thrown.message}`
    : typeof thrown;
}
