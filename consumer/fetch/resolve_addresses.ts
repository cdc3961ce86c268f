/** From a host name to the addresses that may be connected to. @module */

import { isPublicAddress } from "./address.ts";
import { fetchError } from "./fetch_error.ts";
import { parseIpBytes } from "./ip_bytes.ts";
import { notAllowed } from "./url_policy.ts";

/** Gives every IPv4 and IPv6 address of a host name, as literals. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/**
 * Resolves the URL's host and vets the answers: if **any** of them is not
 * public the name is refused, since such a name is either a mistake or an
 * attack that waits for the right moment (DNS rebinding). (docs/protocol.md §10)
 *
 * @throws {SigError} `address_not_allowed`; `fetch_failed` without any answer.
 */
export async function resolveAddresses(
  url: URL,
  resolve: Resolve,
  allowPrivate: boolean,
): Promise<readonly string[]> {
  const addresses = await resolve(url.hostname);
  for (const address of addresses) {
    // With `allowPrivate` too: what is no literal would be resolved once more.
    const isAllowed = allowPrivate
      ? parseIpBytes(address) !== undefined
      : isPublicAddress(address);
    if (!isAllowed) {
      throw notAllowed(url, "the name leads to an address that is not public");
    }
  }
  if (addresses.length === 0) {
    const why = "the host name has no address";
    throw fetchError("fetch_failed", url, why, { kind: "dns" });
  }
  return addresses;
}
