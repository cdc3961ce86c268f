/** Where to listen: `host:port`, `[ipv6]:port`. @module */

import { usageError } from "./parse_command_line.ts";

/** A parsed `--addr`. */
export interface Address {
  /** An IP address without brackets, or a host name. */
  readonly hostname: string;
  /** 0 takes any free port. */
  readonly port: number;
}

const ADDRESS = /^(?:\[([0-9a-fA-F:.]+)\]|([a-z0-9.-]+)):(0|[1-9]\d{0,4})$/;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/** Reads an address strictly: a mistake must not open it to the world. */
export function parseAddress(text: string): Address {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  const hostname = ipv6 ?? name;
  const isHost = ipv6 === undefined ? isName(name) : isIpv6(ipv6);
  if (hostname === undefined || !isHost || port > 65_535) {
    throw usageError(`--addr ${JSON.stringify(text)} must be host:port`, {
      flag: "--addr",
      hint: "For example: 127.0.0.1:8080, [::1]:8080.",
    });
  }
  return { hostname, port };
}

function isIpv6(text: string): boolean {
  return URL.parse(`http://[${text}]`) !== null;
}

/** A URL parser rewrites every unusual spelling of an IPv4 address. */
function isName(name: string | undefined): boolean {
  return name !== undefined && name.split(".").every((l) => LABEL.test(l)) &&
    URL.parse(`http://${name}`)?.hostname === name;
}
