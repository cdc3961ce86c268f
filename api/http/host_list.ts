/** Which names a server answers to (SECURITY §5, W9). @module */

import { quote, SigError } from "@sig/core";

const NAME = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?$/;

/**
 * Makes the test whether a `Host` is on the list. A page of the web can point a
 * name of its own at 127.0.0.1; its browser then still sends that name. An
 * entry without a port stands for every port.
 *
 * @example
 * ```ts
 * import { createHostList } from "./host_list.ts";
 * import { assert } from "@std/assert";
 *
 * const isKnown = createHostList(["localhost", "login.example:8443"]);
 * assert(isKnown("localhost:8788"));
 * assert(!isKnown("rebound.example:8788"));
 * ```
 *
 * @throws {SigError} `invalid_request` for an entry that is no host.
 */
export function createHostList(
  hosts: readonly string[],
): (host: string) => boolean {
  const known = new Set(hosts.map(readEntry));
  return (host) => {
    const [, name, port] = NAME.exec(host.toLowerCase()) ?? [];
    if (name === undefined) return false;
    return known.has(name) || known.has(`${name}:${port ?? "80"}`);
  };
}

function readEntry(entry: string): string {
  const host = entry.toLowerCase();
  if (NAME.test(host)) return host;
  throw new SigError(
    "invalid_request",
    `Cannot answer to ${
      quote(entry)
    }: it must be a host name, with a port at most`,
    { context: { flag: "--host", hint: "For example: sig.acme.example" } },
  );
}
