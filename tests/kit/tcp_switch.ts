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
}

/** Starts a proxy without a target. */
export function openTcpSwitch(): TcpSwitch {
  const hostname = "127.0.0.1";
  const listener = Deno.listen({ hostname, port: 0 });
  const open = new Set<Deno.TcpConn>();
  const joined: Promise<void>[] = [];
  let target = 0;

  const join = async (client: Deno.TcpConn) => {
    open.add(client);
    const server = await Deno.connect({ hostname, port: target })
      .catch(() => undefined);
    if (server === undefined) return close(client);
    open.add(server);
    await Promise.all([pass(client, server), pass(server, client)]);
  };
  const pass = async (from: Deno.TcpConn, to: Deno.TcpConn) => {
    await from.readable.pipeTo(to.writable).catch(() => {});
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
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      for (const each of open) close(each);
      await Promise.all(joined);
    },
  };
}
