/** Reads and sets the cookies of the login. @module */

import { SigError } from "@sig/core";
import { trimOws } from "@sig/core/internal";
import { isSecret, randomText } from "../store/digest.ts";

/** A cookie for exactly one host. */
export interface HostCookie {
  /**
   * Returns its value in a request; undefined if it is absent or sent twice.
   */
  read(headers: Headers): string | undefined;
  /**
   * Whether a request has two cookies with its name, which are both ignored.
   */
  isDoubled(headers: Headers): boolean;
  /**
   * Returns the browser's secret of 32 bytes in it, or a new one.
   */
  secretIn(headers: Headers): string;
  /** Returns the name and value of the header that sets it. */
  set(value: string, maxAgeSeconds: number): [string, string];
}

/**
 * Creates a cookie that only this host receives, that scripts can't read, and
 * that forms of other sites don't send. With https its name begins with
 * `__Host-`, so that other hosts of the domain can't set it; if a request has
 * two with this name, both are ignored. Browsers send cookies to every port, so
 * the name contains the port, which keeps servers of one host apart.
 */
export function hostCookie(name: string, origin: string): HostCookie {
  const { port, protocol } = new URL(origin);
  const isSecure = protocol === "https:";
  const full = `${isSecure ? "__Host-" : ""}${name}${port && `-${port}`}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${
    isSecure ? "; Secure" : ""
  }`;
  // Only SP and HTAB are white space (RFC 6265 §5.2): a name that begins with
  // U+00A0 is a different name, which other hosts of the domain can set.
  const valuesIn = (headers: Headers) =>
    (headers.get("cookie") ?? "").split(";").map(trimOws)
      .filter((pair) => pair.startsWith(`${full}=`))
      .map((pair) => pair.slice(full.length + 1));
  const read = (headers: Headers) => {
    const [value, ...others] = valuesIn(headers);
    return others.length === 0 ? value : undefined;
  };
  return {
    read,
    secretIn(headers) {
      const given = read(headers);
      return given !== undefined && isSecret(given) ? given : randomText(32);
    },
    isDoubled: (headers) => valuesIn(headers).length > 1,
    set: (value, maxAgeSeconds) => [
      "set-cookie",
      `${full}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    ],
  };
}

/**
 * Whether a page of exactly this origin sent a request. Browsers also send the
 * cookies with requests from other hosts of the same domain.
 */
export function isOwnPage(headers: Headers, origin: string): boolean {
  const site = headers.get("sec-fetch-site") ?? "same-origin";
  const from = headers.get("origin") ?? origin;
  return site === "same-origin" && from === origin;
}

/** @throws {SigError} `origin_not_allowed` unless {@linkcode isOwnPage}. */
export function requireOwnPage(headers: Headers, origin: string): void {
  if (isOwnPage(headers, origin)) return;
  throw new SigError("origin_not_allowed", {
    action: "answer",
    reason: "the request is from a page of another site",
  });
}
