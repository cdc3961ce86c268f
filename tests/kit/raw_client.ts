/** Sends requests that `fetch` can't send. @module */

import { waitUntil } from "./wait.ts";

/** A response without interpretation. */
export interface RawResponse {
  /** The status; 0 if the connection was closed without a response. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** A raw TCP connection. */
export class RawClient implements Disposable {
  readonly #connection: Deno.TcpConn;
  #rest = "";

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  /** Connects to a port of loopback. */
  static async connect(port: number): Promise<RawClient> {
    return new RawClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /**
   * Sends bytes unchanged; returns false if the server has closed the
   * connection.
   */
  async send(data: string | Uint8Array): Promise<boolean> {
    const bytes = typeof data === "string" ? latin1(data) : data;
    try {
      for (let at = 0; at < bytes.length;) {
        at += await this.#connection.write(bytes.subarray(at));
      }
      return true;
    } catch {
      return false;
    }
  }

  /** Reads one response to its end. */
  async receive(method = "GET"): Promise<RawResponse> {
    while (!this.#rest.includes("\r\n\r\n")) {
      if (!await this.#more()) return NOTHING;
    }
    const [head = "", ...behind] = this.#rest.split("\r\n\r\n");
    this.#rest = behind.join("\r\n\r\n");
    const [first = "", ...lines] = head.split("\r\n");
    const pairs = lines.map((line): [string, string] => {
      const at = line.indexOf(":");
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    });
    const headers = new Headers(pairs);
    const length = method === "HEAD"
      ? 0
      : Number(headers.get("content-length"));
    while (this.#rest.length < length && await this.#more());
    const body = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    return {
      status: Number(first.split(" ")[1]),
      headers,
      body,
    };
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }

  async #more(): Promise<boolean> {
    const buffer = new Uint8Array(65_536);
    const length = await this.#connection.read(buffer).catch(() => null);
    if (length === null) return false;
    for (const byte of buffer.subarray(0, length)) {
      this.#rest += String.fromCharCode(byte);
    }
    return true;
  }
}

const NOTHING: RawResponse = {
  status: 0,
  headers: new Headers(),
  body: "",
};

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

/** Sends bytes on a separate connection and reads one response. */
export async function exchangeRaw(
  port: number,
  data: string | Uint8Array,
): Promise<RawResponse> {
  using client = await RawClient.connect(port);
  await client.send(data);
  return await client.receive();
}

/**
 * Repeats a request while the response has this status; returns the first other
 * one.
 */
export async function askWhile(
  port: number,
  data: string,
  status: number,
): Promise<RawResponse> {
  return await waitUntil(`not ${status}`, async () => {
    const answer = await exchangeRaw(port, data);
    return answer.status === status ? undefined : answer;
  });
}

/** Returns the head of a request: the first line and headers, `Host` first. */
export function head(
  first: string,
  headers: readonly string[] = [],
  host = "Host: localhost",
): string {
  return [first, host, ...headers, "", ""].join("\r\n");
}

/** Returns a `POST` of JSON with its length. */
export function rawPost(
  path: string,
  body: string,
  headers: readonly string[] = [],
): string {
  return head(`POST ${path} HTTP/1.1`, [
    "Content-Type: application/json",
    `Content-Length: ${new TextEncoder().encode(body).length}`,
    ...headers,
  ]) + body;
}
