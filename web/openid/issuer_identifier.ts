/** What the provider is called. @module */

import { isLoopback } from "@sig/api/flags";

/**
 * The issuer identifier: the first https audience; on this machine alone an http
 * one does. Undefined where none is an origin of that kind.
 *
 * @example
 * ```ts
 * import { findIssuerIdentifier } from "./issuer_identifier.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const audiences = ["did:web:acme.example", "https://login.acme.example"];
 * assertEquals(findIssuerIdentifier(audiences), "https://login.acme.example");
 * ```
 */
export function findIssuerIdentifier(
  audiences: readonly string[],
): string | undefined {
  return audiences.find((each) => each.startsWith("https://")) ??
    audiences.find((each) => {
      const url = URL.parse(each);
      return url?.protocol === "http:" && isLoopback(hostnameOf(url));
    });
}

/** Without the brackets of an IPv6 address. */
function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
