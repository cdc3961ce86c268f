/**
 * An HTTP client that costs less than the server it measures: it sends prepared
 * bytes over persistent connections, one request on each at a time.
 *
 * @module
 */

import type { Started } from "./servers/start.ts";

/** Returns a request with a JSON body as bytes, with further header lines. */
export function postBytes(
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Uint8Array {
  const all = {
    ...{ "content-type": "application/json", ...headers },
    "content-length": String(encoder.encode(body).length),
  };
  return encoder.encode(headOf("POST", url, all) + body);
}

/** Returns a request without a body as bytes, with further header lines. */
export function getBytes(
  url: URL,
  headers: Readonly<Record<string, string>>,
): Uint8Array {
  return encoder.encode(headOf("GET", url, headers));
}

function headOf(
  method: string,
  { host, pathname, search }: URL,
  headers: Readonly<Record<string, string>>,
): string {
  const lines = Object.entries({ host, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

const encoder = new TextEncoder();

const decoder = new TextDecoder("latin1");

export interface Answer {
  readonly status: number;
  readonly head: string;
  /** The body, with one character for each byte. */
  readonly body: string;
}

/** Returns the value of a header; an empty string if absent. */
export function headerOf({ head }: Answer, name: string): string {
  return new RegExp(`\\r\\n${name}: *([^\\r]*)`, "i").exec(head)?.[1] ?? "";
}

export class Connection {
  readonly #socket: Deno.TcpConn;
  readonly #buffer = new Uint8Array(1024 * 1024);

  private constructor(socket: Deno.TcpConn) {
    this.#socket = socket;
  }

  static async open({ hostname, port }: URL): Promise<Connection> {
    const socket = await Deno.connect({ hostname, port: Number(port) });
    socket.setNoDelay(true);
    return new Connection(socket);
  }

  /** Sends prepared bytes and waits for the whole response. */
  async ask(request: Uint8Array): Promise<Answer> {
    for (let at = 0; at < request.length;) {
      at += await this.#socket.write(request.subarray(at));
    }
    let length = 0;
    for (;;) {
      const count = await this.#socket.read(this.#buffer.subarray(length));
      if (count === null) throw new Error("the server closed the connection");
      length += count;
      const text = decoder.decode(this.#buffer.subarray(0, length));
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) continue;
      const header = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end));
      const size = Number(header?.[1] ?? 0);
      if (length < end + 4 + size) continue;
      return {
        status: Number(text.slice(9, 12)),
        head: text.slice(0, end),
        body: text.slice(end + 4, end + 4 + size),
      };
    }
  }

  close(): void {
    this.#socket.close();
  }
}

/** Returns the maximum rate of responses per second over these connections. */
export async function measureRate(
  connections: readonly Connection[],
  next: () => Uint8Array,
  durationMs: number,
): Promise<number> {
  const start = performance.now();
  let answers = 0;
  await Promise.all(connections.map(async (connection) => {
    while (performance.now() - start < durationMs) {
      const { status } = await connection.ask(next());
      if (status !== 200) throw new Error(`the server answered ${status}`);
      answers++;
    }
  }));
  return answers / (performance.now() - start) * 1000;
}

export interface Load {
  readonly server: Started;
  readonly connections: readonly Connection[];
}

/** Returns responses per second, and the server's CPU time for each. */
export async function measureWork(
  { server, connections }: Load,
  next: () => Uint8Array,
  durationMs: number,
): Promise<{ readonly rate: number; readonly micros: number }> {
  const before = await server.processorMs();
  const start = performance.now();
  const rate = await measureRate(connections, next, durationMs);
  const answers = rate * (performance.now() - start) / 1000;
  const worked = await server.processorMs() - before;
  return { rate, micros: worked * 1000 / answers };
}

/**
 * Returns sorted latencies in milliseconds at a constant rate. Each is measured
 * from the time at which its request was due, so that a pause of the server
 * delays all requests in it.
 */
export async function measureLatency(
  connections: readonly Connection[],
  request: Uint8Array,
  rate: number,
  durationMs: number,
): Promise<readonly number[]> {
  const start = performance.now();
  const total = Math.floor(rate * durationMs / 1000);
  const dueAt = (i: number) => start + i * 1000 / rate;
  const idle = [...connections];
  const times: number[] = [];
  let sent = 0;
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  // Also at every response, because timers are milliseconds late.
  const sendDue = () => {
    const now = performance.now();
    while (sent < total && idle.length > 0 && dueAt(sent) <= now) {
      const at = dueAt(sent++);
      const connection = idle.pop()!;
      connection.ask(request).then(() => {
        times.push(performance.now() - at);
        idle.push(connection);
        if (times.length === total) resolve();
        else sendDue();
      }).catch(reject);
    }
  };
  const timer = setInterval(sendDue, 1);
  await done.finally(() => clearInterval(timer));
  return times.sort((a, b) => a - b);
}

/** Returns a percentile of sorted values. */
export function percentile(sorted: readonly number[], of100: number): number {
  const at = Math.floor(sorted.length * of100 / 100);
  return sorted[Math.min(sorted.length - 1, at)] ?? NaN;
}

/** Opens several persistent connections to a server. */
export function openConnections(url: URL, count = 32): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(url)));
}
