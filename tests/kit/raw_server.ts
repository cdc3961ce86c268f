/** A server on loopback that sends exactly the bytes it is given. @module */

import { within } from "./wait.ts";

/** What the server does with one connection, once the request was read. */
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
  /** How many connections were made. */
  readonly connections: () => number;
  /**
   * Stops it and waits for every connection to end; throws when the client
   * leaves one open.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a server; each connection is closed after its behaviour ends. */
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
      // The client went away: most of these tests are about that.
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

/** Writes all of a text. */
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

/** A behaviour that sends one text and closes. */
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
    // Already closed.
  }
}
