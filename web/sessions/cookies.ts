/** Cookies as the login sets and reads them. @module */

import { SigError } from "@sig/core";
import { trimOws } from "@sig/core/internal";

/** A cookie of the login's own host. */
export interface HostCookie {
  /** Its value in a request; undefined without it, and where there are two. */
  read(headers: Headers): string | undefined;
  /** Whether a request has two of it, of which neither is believed. */
  isDoubled(headers: Headers): boolean;
  /** The header that sets it, as a list of headers wants it. */
  set(value: string, maxAgeSeconds: number): readonly [string, string];
}

/**
 * Makes a cookie that only this host gets, no script reads, and no form of
 * another site sends. On https its name begins with `__Host-`, so that no
 * neighbour under the same domain can set it; where two of the name come all the
 * same, neither is believed. Browsers send it to every port: the name has the
 * port, so that servers of one host do not take each other's place.
 */
export function hostCookie(name: string, origin: string): HostCookie {
  const { port, protocol } = new URL(origin);
  const isSecure = protocol === "https:";
  const full = `${isSecure ? "__Host-" : ""}${name}${port && `-${port}`}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${
    isSecure ? "; Secure" : ""
  }`;
  // Only SP and HTAB are white space (RFC 6265 §5.2): a name that begins with
  // U+00A0 is another name, which any neighbour can set.
  const valuesIn = (headers: Headers) =>
    (headers.get("cookie") ?? "").split(";").map(trimOws)
      .filter((pair) => pair.startsWith(`${full}=`))
      .map((pair) => pair.slice(full.length + 1));
  return {
    read(headers) {
      const [value, ...others] = valuesIn(headers);
      return others.length === 0 ? value : undefined;
    },
    isDoubled: (headers) => valuesIn(headers).length > 1,
    set: (value, maxAgeSeconds) => [
      "set-cookie",
      `${full}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    ],
  };
}

/**
 * Whether a page of this very origin sent a request: pages of neighbours under
 * the same domain get cookies sent along, too.
 */
export function isOwnPage(headers: Headers, origin: string): boolean {
  const site = headers.get("sec-fetch-site") ?? "same-origin";
  const from = headers.get("origin") ?? origin;
  return site === "same-origin" && from === origin;
}

/** @throws {SigError} `origin_not_allowed` unless {@linkcode isOwnPage}. */
export function requireOwnPage(headers: Headers, origin: string): void {
  if (isOwnPage(headers, origin)) return;
  throw new SigError(
    "origin_not_allowed",
    "Cannot answer: a page of another site asks",
  );
}
