/** Parameters of a request, each once (RFC 6749 §3.1, §3.2). @module */

import { invalidRequest } from "./oauth_error.ts";

/** Characters of one parameter at most. */
const MAX_LENGTH = 4_096;

/** Parameters by their names. */
export interface Parameters {
  /** The value; undefined where it is missing or empty. */
  get(name: string): string | undefined;
  /** @throws {OAuthError} `invalid_request` without it. */
  require(name: string): string;
}

/**
 * Reads parameters. Two of one name are refused: which of them counts is what
 * two programs see differently.
 *
 * @throws {OAuthError} `invalid_request`.
 */
export function readParameters(given: URLSearchParams): Parameters {
  const values = new Map<string, string>();
  for (const [name, value] of given) {
    if (values.has(name)) {
      throw invalidRequest("a parameter stands twice");
    }
    if (name.length + value.length > MAX_LENGTH) {
      throw invalidRequest("a parameter is too long");
    }
    values.set(name, value);
  }
  const get = (name: string) => values.get(name) || undefined;
  return {
    get,
    require(name) {
      const value = get(name);
      if (value !== undefined) return value;
      throw invalidRequest(`${name} is required`);
    },
  };
}

/** The one value of a name, whatever else is wrong; undefined for two. */
export function onlyValue(
  given: URLSearchParams,
  name: string,
): string | undefined {
  const values = given.getAll(name);
  return values.length === 1 ? values[0] || undefined : undefined;
}
