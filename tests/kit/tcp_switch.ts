/**
 * A TCP proxy whose target can be changed, like a host name after a failover.
 * Open connections keep their target.
 *
 * @module
 */

/** A running proxy. */
export interface TcpSwitch extends AsyncDisposable {
  /** The port of the proxy. */
  readonly port: number;
  /** Sends new connections to a port of loopback. */
  point(port: number): void;
  /**
   * Forwards the next request with this text, then calls `cut` instead of
   * forwarding its response, and closes the connection.
   */
  cutAfter(text: string, cut: () => void): void;
}

/** Starts a proxy (default: without a target). */
export function openTcpSwitch(target = 0): TcpSwitch {
  const hostname = "127.0.0.1";
  const listener = Deno.listen({ hostname, port: 0 });
  const open = new Set<Deno.TcpConn>();
  const joined: Promise<void>[] = [];
  let armed: { readonly text: string; readonly cut: () => void } | undefined;

  const join = async (client: Deno.TcpConn) => {
    open.add(client);
    const server = await Deno.connect({ hostname, port: target })
      .catch(() => undefined);
    if (server === undefined) return close(client);
    open.add(server);
    let cut: (() => void) | undefined;
    const request = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, out) {
        if (armed && new TextDecoder().decode(bytes).includes(armed.text)) {
          [cut, armed] = [armed.cut, undefined];
        }
        out.enqueue(bytes);
      },
    });
    const response = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, out) {
        if (cut === undefined) return out.enqueue(bytes);
        cut();
        out.terminate();
      },
    });
    await Promise.all([
      pass(client, server, request),
      pass(server, client, response),
    ]);
  };
  const pass = async (
    from: Deno.TcpConn,
    to: Deno.TcpConn,
    through: TransformStream<Uint8Array, Uint8Array>,
  ) => {
    await from.readable.pipeThrough(through).pipeTo(to.writable)
      .catch(() => {});
    close(from);
    close(to);
  };
  const close = (connection: Deno.TcpConn) => {
    if (!open.delete(connection)) return;
    try {
      connection.close();
    } catch (error) {
      // The streams have closed it.
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  };
  const accepting = (async () => {
    for await (const client of listener) joined.push(join(client));
  })();
  return {
    port: listener.addr.port,
    point(next) {
      target = next;
    },
    cutAfter(text, cut) {
      armed = { text, cut };
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const each of open) close(each);
      await Promise.all(joined);
    },
  };
}
