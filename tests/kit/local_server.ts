/** A server on any port of loopback. @module */

/** A running server, which its scope ends. */
export interface LocalServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
}

/** Serves requests until the scope ends. */
export function serveLocally(
  handle: Deno.ServeHandler<Deno.NetAddr>,
): LocalServer {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const server = Deno.serve(options, handle);
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
