/** HTTP servers on loopback. @module */

/** A running server, which is shut down when its scope ends. */
export interface LoopbackServer extends AsyncDisposable {
  /** The port. */
  readonly port: number;
  /** `127.0.0.1:<port>` */
  readonly host: string;
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** The did:web of the host. */
  readonly did: string;
}

/** Starts a server on a free port. */
export function serveLoopback(
  respond: Deno.ServeHandler<Deno.NetAddr>,
  certificate: { readonly cert?: string; readonly key?: string } = {},
): LoopbackServer {
  const { cert, key } = certificate;
  const server = Deno.serve({
    ...{ hostname: "127.0.0.1", port: 0, onListen() {} },
    ...(cert && key ? { cert, key } : {}),
  }, respond);
  const { port } = server.addr;
  const host = `127.0.0.1:${port}`;
  return {
    ...{ port, host },
    origin: `http://${host}`,
    did: `did:web:127.0.0.1%3A${port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
