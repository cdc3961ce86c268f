/** IP address literals as bytes. @module */

const OCTET = /^(?:0|[1-9]\d{0,2})$/;
const HEXTET = /^[0-9a-fA-F]{1,4}$/;

/**
 * The 4 or 16 bytes of an IP address literal, or undefined for anything else:
 * brackets, zone identifiers, ports, leading zeros and the short or
 * hexadecimal spellings of IPv4, which different parsers read differently.
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
  // Only the very end may be written as IPv4.
  const head = parseGroups(halves[0]!, halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1]!, true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  // "::" stands for at least one group of zeros (RFC 4291 §2.2).
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
