/** Where to listen: `host:port`, `[ipv6]:port`. @module */

import { usageError } from "./parse_command_line.ts";

/** A parsed `--addr`. */
export interface Address {
  /** An IP address without brackets, or a host name. */
  readonly hostname: string;
  /** 0 takes any free port. */
  readonly port: number;
}

/** Reads an address strictly: a mistake must not open it to the world. */
export function parseAddress(text: string): Address {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(
    text,
  );
  const port = Number(match?.[3]);
  const hostname = match?.[1] ?? match?.[2];
  const numeric = /^[\d.]+$/.test(hostname ?? "");
  const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
  if (
    hostname === undefined || port > 65_535 ||
    (match?.[3]?.length !== 1 && match?.[3]?.startsWith("0")) ||
    (numeric && !ipv4.test(hostname))
  ) {
    throw usageError(`--addr ${JSON.stringify(text)} must be host:port`, {
      flag: "--addr",
      hint: "For example: 127.0.0.1:8080, [::1]:8080.",
    });
  }
  return { hostname, port };
}
