/** Whether a server is for this machine alone. @module */

import { type Address, isLoopback } from "./values.ts";

/** What a server is reached by, as far as it is known. */
export interface Reachability {
  /** Where it listens. */
  readonly address?: Address | undefined;
  /** The origins or DIDs that it speaks for. */
  readonly audiences?: readonly string[] | undefined;
  /** Where clients reach it. */
  readonly publicUrl?: string | undefined;
  /** Networks of proxies in front of it. */
  readonly trustProxy?: readonly string[] | undefined;
  /** The names that it answers to. */
  readonly hosts?: readonly string[] | undefined;
}

/** A flag whose value makes a server reachable for others. */
export interface Exposure {
  /** The flag, such as `--audience`. */
  readonly flag: string;
  /** Its value. */
  readonly value: string;
}

/**
 * The first flag that makes a server reachable for others than this machine;
 * undefined for a local server. The bind address is not enough: behind a proxy
 * or a tunnel a public server listens on loopback, but it has a public audience,
 * URL or host name, or a trusted proxy. A value that can't be read counts as
 * public.
 *
 * @example
 * ```ts
 * import { parseAddress } from "@sig/api/flags";
 * import { findExposure } from "./exposure.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const address = parseAddress("127.0.0.1:8788");
 * const audiences = ["http://localhost:8788", "https://login.acme.example"];
 * assertEquals(findExposure({ address }), undefined);
 * assertEquals(findExposure({ address, audiences }), {
 *   flag: "--audience",
 *   value: "https://login.acme.example",
 * });
 * ```
 */
export function findExposure(reachability: Reachability): Exposure | undefined {
  const { address, audiences = [], publicUrl, trustProxy = [], hosts = [] } =
    reachability;
  if (address !== undefined && !isLoopback(address.hostname)) {
    return { flag: "--addr", value: address.hostname };
  }
  const signs: readonly (readonly [string, string | undefined])[] = [
    ["--audience", audiences.find((each) => !isLocalAudience(each))],
    [
      "--public-url",
      publicUrl === undefined || isLocalUrl(publicUrl) ? undefined : publicUrl,
    ],
    ["--trust-proxy", trustProxy[0]],
    ["--host", hosts.find((each) => !isLocalUrl(`http://${each}`))],
  ];
  const [flag, value] = signs.find(([, value]) => value !== undefined) ?? [];
  return flag === undefined || value === undefined
    ? undefined
    : { flag, value };
}

/** An origin of this machine, or a did:web whose host it is. */
function isLocalAudience(audience: string): boolean {
  const host = /^did:web:([^:]+)/.exec(audience)?.[1];
  if (host === undefined) return isLocalUrl(audience);
  return isLocalUrl(`http://${host.replaceAll(/%3a/gi, ":")}`);
}

function isLocalUrl(url: string): boolean {
  const { hostname } = URL.parse(url) ?? { hostname: "" };
  return isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
}
