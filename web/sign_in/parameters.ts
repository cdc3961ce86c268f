/**
 * Reads request parameters, which must be unique (RFC 6749 §3.1, §3.2).
 *
 * @module
 */

import { invalidRequest } from "./oauth_error.ts";

/** Maximum length of a parameter in characters. */
const MAX_LENGTH = 4_096;

/** Parameters by name. */
export interface Parameters {
  /** Returns the value; undefined if it is missing or empty. */
  get(name: string): string | undefined;
  /**
   * @param advice What the developer of the application should do.
   * @throws {OAuthError} `invalid_request` if it is missing or empty.
   */
  require(name: string, advice?: string): string;
}

/**
 * Reads parameters. Duplicates are rejected, since two programs may use
 * different ones.
 *
 * @throws {OAuthError} `invalid_request`.
 */
export function readParameters(given: URLSearchParams): Parameters {
  const values = new Map<string, string>();
  for (const [name, value] of given) {
    if (values.has(name)) {
      throw invalidRequest("duplicate parameter");
    }
    if (name.length + value.length > MAX_LENGTH) {
      throw invalidRequest("a parameter is too long");
    }
    values.set(name, value);
  }
  const get = (name: string) => values.get(name) || undefined;
  return {
    get,
    require(name, advice) {
      const value = get(name);
      if (value !== undefined) return value;
      throw invalidRequest(`${name} is required`, advice);
    },
  };
}

/**
 * Returns the only value of a name, without validating other parameters;
 * undefined for duplicates.
 */
export function onlyValue(
  given: URLSearchParams,
  name: string,
): string | undefined {
  const values = given.getAll(name);
  return values.length === 1 ? values[0] || undefined : undefined;
}
