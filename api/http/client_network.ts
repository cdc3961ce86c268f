/** Which addresses are one client. @module */

/**
 * The network that a client asks from: an IPv4 address itself; of an IPv6
 * address its /64, which is one client's whole.
 *
 * @example
 * ```ts
 * import { clientNetwork } from "./client_network.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(clientNetwork("192.0.2.1"), "192.0.2.1");
 * assertEquals(clientNetwork("2001:db8::1"), clientNetwork("2001:db8::2"));
 * ```
 */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const canonical = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  if (canonical === undefined) return address;
  const [head = "", tail] = canonical.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail ? tail.split(":").length : 0;
  // An IPv4 client: all of them would share the /64.
  if (canonical.startsWith("::ffff:") && behind === 3) return canonical;
  while (groups.length < 4 && groups.length + behind < 8) groups.push("0");
  return groups.length < 4 ? canonical : groups.slice(0, 4).join(":");
}
