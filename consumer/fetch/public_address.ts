/** Public addresses and host names (docs/protocol.md §10). @module */

/** A prefix of an address: its bytes, and the number of significant bits. */
type Block = readonly [bytes: readonly number[], bits: number];

/** Not globally reachable, or not unicast (IANA special-purpose registry). */
const REFUSED_IPV4: readonly Block[] = [
  [[0], 8], // this network
  [[10], 8], // private use
  [[100, 64], 10], // shared address space
  [[127], 8], // loopback
  [[169, 254], 16], // link local; cloud metadata services
  [[172, 16], 12], // private use
  [[192, 0, 0], 24], // IETF protocol assignments
  [[192, 0, 2], 24], // documentation
  [[192, 88, 99], 24], // 6to4 relay
  [[192, 168], 16], // private use
  [[198, 18], 15], // benchmarking
  [[198, 51, 100], 24], // documentation
  [[203, 0, 113], 24], // documentation
  [[224], 3], // multicast, reserved, broadcast
];

/**
 * The whole of global unicast. All other addresses (loopback, mapped and
 * compatible IPv4, NAT64, unique local, link local, multicast) are refused
 * without a list.
 */
const GLOBAL_UNICAST_IPV6: Block = [[0x20], 3];

const REFUSED_IPV6: readonly Block[] = [
  [[0x20, 0x01, 0x00], 23], // protocol assignments, Teredo, ORCHID
  [[0x20, 0x01, 0x0d, 0xb8], 32], // documentation
  [[0x20, 0x02], 16], // 6to4: carries any IPv4 address
  [[0x3f, 0xff, 0x00], 20], // documentation
];

/**
 * Returns whether an IP address literal is public unicast: an address that any
 * host on the Internet could connect to. Anything that is not exactly an IPv4
 * or IPv6 literal is not public. (docs/protocol.md §10)
 *
 * Prevents an issuer's name from leading into a private network.
 *
 * @example
 * ```ts
 * import { isPublicAddress } from "./public_address.ts";
 * import { assert } from "@std/assert";
 *
 * assert(isPublicAddress("93.184.216.34"));
 * assert(!isPublicAddress("169.254.169.254"));
 * assert(!isPublicAddress("::ffff:127.0.0.1"));
 * assert(!isPublicAddress("127.1"));
 * ```
 */
export function isPublicAddress(ip: string): boolean {
  const bytes = parseIpBytes(ip);
  if (bytes === undefined) return false;
  if (bytes.length === 4) {
    return !REFUSED_IPV4.some((block) => isWithin(bytes, block));
  }
  return isWithin(bytes, GLOBAL_UNICAST_IPV6) &&
    !REFUSED_IPV6.some((block) => isWithin(bytes, block));
}

/**
 * Returns whether a host name is refused without resolving it: `localhost`,
 * `*.localhost`, `*.local`, `*.internal`, a name without a dot, or with a
 * trailing dot. Ignores case. For names only; for IP literals use {@linkcode
 * isPublicAddress}. (docs/protocol.md §10)
 *
 * @example
 * ```ts
 * import { isRefusedHostName } from "./public_address.ts";
 * import { assert } from "@std/assert";
 *
 * assert(isRefusedHostName("metadata.google.internal"));
 * assert(isRefusedHostName("acme.example."));
 * assert(!isRefusedHostName("acme.example"));
 * ```
 */
export function isRefusedHostName(host: string): boolean {
  const name = host.toLowerCase();
  return !name.includes(".") || name.endsWith(".") ||
    /\.(?:localhost|local|internal)$/.test(name);
}

function isWithin(address: Uint8Array, [prefix, bits]: Block): boolean {
  for (let bit = 0; bit < bits; bit += 8) {
    const mask = bits - bit >= 8 ? 255 : (255 << (8 - (bits - bit))) & 255;
    const i = bit >> 3;
    if (((address[i]! ^ (prefix[i] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}

const OCTET = /^(?:0|[1-9]\d{0,2})$/;
const HEXTET = /^[0-9a-fA-F]{1,4}$/;

/**
 * Returns the 4 or 16 bytes of an IP address literal, or undefined for anything
 * else: brackets, zone identifiers, ports, leading zeros and the short or
 * hexadecimal spellings of IPv4, which parsers read differently.
 */
export function parseIpBytes(text: string): Uint8Array | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

function parseIpv4(text: string): Uint8Array | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [i, part] of parts.entries()) {
    const value = OCTET.test(part) ? Number(part) : 256;
    if (value > 255) return undefined;
    bytes[i] = value;
  }
  return bytes;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  // Only the last 32 bits may be written as IPv4.
  const head = parseGroups(halves[0]!, halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1]!, true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  // "::" replaces at least one group of zeros (RFC 4291 §2.2).
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(head);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

function parseGroups(text: string, mayEndInIpv4: boolean) {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [i, group] of groups.entries()) {
    if (mayEndInIpv4 && i === groups.length - 1 && group.includes(".")) {
      const ipv4 = parseIpv4(group);
      if (ipv4 === undefined) return undefined;
      bytes.push(...ipv4);
    } else {
      if (!HEXTET.test(group)) return undefined;
      const value = parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
  }
  return bytes.length <= 16 ? bytes : undefined;
}
