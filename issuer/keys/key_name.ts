/** What a `kid` and a host may look like as a file name. @module */

import { quote, SigError } from "@sig/core";

/** Our own kids become file names and URL fragments (PROTOCOL §1). */
const KID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;
const HOST = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[1-9][0-9]{0,4})?$/;

/** Whether a kid may be given to a new key. */
export function isOwnKid(kid: string): boolean {
  return KID.test(kid);
}

/**
 * Refuses a kid that a new key may not have.
 *
 * @throws {SigError} `invalid_identifier`
 */
export function requireKid(kid: string): void {
  if (isOwnKid(kid)) return;
  throw new SigError(
    "invalid_identifier",
    `Cannot use kid ${
      quote(kid)
    }: it must be 1 to 64 of A-Z a-z 0-9 . _ - and not start with a dot`,
    { context: { pointer: "/kid" } },
  );
}

/**
 * Refuses a host that could name a place outside of the key store.
 *
 * @throws {SigError} `invalid_identifier`
 */
export function requireHost(host: string): void {
  if (HOST.test(host) && !host.includes("..")) return;
  throw new SigError(
    "invalid_identifier",
    `Cannot use host ${
      quote(host)
    }: it must be a host name, with or without a port`,
    { context: { pointer: "/host" } },
  );
}
