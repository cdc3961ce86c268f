/** Node's built-in modules, where the runtime has them. @module */

import type * as dns from "node:dns";
import type * as http from "node:http";
import type * as net from "node:net";
import type * as stream from "node:stream";
import type * as timers from "node:timers";
import type * as tls from "node:tls";
import { loadBuiltin } from "@sig/jose";

/** The modules that a pinned connection takes. */
export interface NodeBuiltins {
  /** Name resolution. */
  readonly dns: typeof dns;
  /** HTTP/1.1 over a given socket. */
  readonly http: typeof http;
  /** TCP. */
  readonly net: typeof net;
  /** Streams. */
  readonly stream: typeof stream;
  /** Turns of the event loop. */
  readonly timers: typeof timers;
  /** TLS. */
  readonly tls: typeof tls;
}

/** The modules of {@linkcode NodeBuiltins}; undefined in browsers. */
export function loadNodeBuiltins(): NodeBuiltins | undefined {
  if (loadBuiltin("node:http") === undefined) return undefined;
  return {
    dns: loadBuiltin("node:dns"),
    http: loadBuiltin("node:http"),
    net: loadBuiltin("node:net"),
    stream: loadBuiltin("node:stream"),
    timers: loadBuiltin("node:timers"),
    tls: loadBuiltin("node:tls"),
  } as NodeBuiltins;
}
