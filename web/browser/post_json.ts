/** Asking the application's own server. @module */

import {
  ERROR_CODES,
  type ErrorCode,
  type JsonValue,
  SigError,
} from "@sig/core";
import { isObject } from "@sig/core/internal";

/**
 * Posts JSON, and reads JSON.
 *
 * @throws {SigError} what the server refused with; `fetch_failed` when it can't
 * be reached, `fetch_status` for an answer that is neither.
 */
export async function postJson(
  url: URL,
  body: unknown,
  fetcher: typeof fetch,
): Promise<JsonValue> {
  let response: Response;
  let value: JsonValue | undefined;
  try {
    response = await fetcher(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch (cause) {
    throw new SigError(
      "fetch_failed",
      "Cannot sign in: the server does not answer",
      {
        cause,
      },
    );
  }
  try {
    value = await response.json();
  } catch {
    // Told below: it is nothing of ours.
  }
  if (response.ok && value !== undefined) return value;
  const { code, detail } = isObject(value) ? value : {};
  if (typeof code === "string" && Object.hasOwn(ERROR_CODES, code)) {
    throw new SigError(code as ErrorCode, `Cannot sign in: ${detail ?? code}`, {
      context: contextOf(value),
    });
  }
  throw new SigError(
    "fetch_status",
    `Cannot sign in: the server answered ${response.status}`,
    { context: { status: response.status } },
  );
}

/** What a problem says beyond its own members (RFC 9457). */
function contextOf(problem: JsonValue | undefined): Record<string, JsonValue> {
  if (!isObject(problem)) return {};
  const { type: _t, title: _i, status: _s, detail: _d, code: _c, ...rest } =
    problem as Record<string, JsonValue>;
  return rest;
}
