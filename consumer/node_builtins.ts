/** Node's built-in modules, where the runtime has them. @module */

import type * as dns from "node:dns";
import type * as http from "node:http";
import type * as net from "node:net";
import type * as tls from "node:tls";

/** The modules that a pinned connection takes. */
export interface NodeBuiltins {
  /** Name resolution. */
  readonly dns: typeof dns;
  /** HTTP/1.1 over a given socket. */
  readonly http: typeof http;
  /** TCP. */
  readonly net: typeof net;
  /** TLS. */
  readonly tls: typeof tls;
}

/**
 * Node's modules in Deno and Node, undefined in browsers. By a call instead of
 * an import: browsers can bundle this package, and a program that fetches
 * nothing does not pay for loading them.
 */
export function loadNodeBuiltins(): NodeBuiltins | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => unknown };
  };
  const load = (name: string) => process?.getBuiltinModule?.(name);
  if (load("node:http") === undefined) return undefined;
  return {
    dns: load("node:dns"),
    http: load("node:http"),
    net: load("node:net"),
    tls: load("node:tls"),
  } as NodeBuiltins;
}
