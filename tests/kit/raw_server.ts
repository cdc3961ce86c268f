/** A server on loopback that sends exactly the given bytes. @module */

import { within } from "./wait.ts";

/** Handles one connection after its request was read. */
export type Behaviour = (
  connection: Deno.TcpConn,
  request: string,
) => Promise<void>;

/** A running server. */
export interface RawServer {
  /** `http://127.0.0.1:<port>/.well-known/sig.json` */
  readonly url: string;
  /** The port. */
  readonly port: number;
  /** The heads of the requests so far. */
  readonly requests: readonly string[];
  /** Returns the number of connections so far. */
  readonly connections: () => number;
  /**
   * Stops the server and waits for every connection to end; throws if the
   * client leaves one open.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a server, which closes each connection after its behaviour ends. */
export function startRawServer(
  behave: Behaviour,
  hostname = "127.0.0.1",
  port = 0,
): RawServer {
  const listener = Deno.listen({ hostname, port });
  const open = new Map<Deno.TcpConn, Promise<void>>();
  const requests: string[] = [];
  let connections = 0;
  const serve = async (connection: Deno.TcpConn) => {
    try {
      const request = await readHead(connection);
      requests.push(request);
      await behave(connection, request);
    } catch {
      // The client has closed the connection, as in most of these tests.
    } finally {
      close(connection);
    }
  };
  const accepting = (async () => {
    for await (const connection of listener) {
      connections++;
      const serving = serve(connection);
      open.set(connection, serving);
      serving.then(() => open.delete(connection));
    }
  })();
  return {
    url: `http://${hostname}:${listener.addr.port}/.well-known/sig.json`,
    port: listener.addr.port,
    requests,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepting;
      try {
        await within("connections closed", Promise.all(open.values()));
      } catch (error) {
        for (const connection of open.keys()) close(connection);
        await Promise.all(open.values());
        throw error;
      }
    },
  };
}

/** Writes a whole text. */
export async function send(
  connection: Deno.TcpConn,
  text: string | Uint8Array,
): Promise<void> {
  const bytes = typeof text === "string"
    ? new TextEncoder().encode(text)
    : text;
  for (let at = 0; at < bytes.length;) {
    at += await connection.write(bytes.subarray(at));
  }
}

/** Returns a behaviour that sends some parts and closes. */
export function say(...parts: (string | Uint8Array)[]): Behaviour {
  return async (connection) => {
    for (const part of parts) await send(connection, part);
    await connection.closeWrite();
    await untilClosed(connection);
  };
}

/** Waits until the client closes its side. */
export async function untilClosed(connection: Deno.TcpConn): Promise<void> {
  const rest = new Uint8Array(1024);
  while (await connection.read(rest) !== null);
}

async function readHead(connection: Deno.TcpConn): Promise<string> {
  const buffer = new Uint8Array(8192);
  let text = "";
  while (!text.includes("\r\n\r\n")) {
    const length = await connection.read(buffer);
    if (length === null) break;
    text += new TextDecoder().decode(buffer.subarray(0, length));
  }
  return text;
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch {
    // The connection is closed already.
  }
}
