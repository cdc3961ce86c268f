/**
 * Sends HTTP requests over a connection to exactly the vetted addresses.
 *
 * @module
 */

import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Duplex } from "node:stream";
import { loadBuiltin } from "@sig/jose/internal";
import { parseIpBytes } from "./public_address.ts";
import {
  type Transport,
  type TransportRequest,
  type TransportResponse,
  waitForClose,
} from "./transport.ts";
import type * as dns from "node:dns";
import type * as http from "node:http";
import type * as net from "node:net";
import type * as stream from "node:stream";
import type * as timers from "node:timers";
import type * as tls from "node:tls";

/**
 * Maximum number of addresses that are tried, however many the resolver
 * returns.
 */
const MAX_ADDRESSES = 6;

/**
 * Thrown if the platform's `node:http` does not use our connection. Nothing has
 * been sent then.
 */
export class CannotPin extends Error {
  constructor() {
    super(
      "Cannot pin connection: node:http does not use the agent's connection",
    );
  }
}

/**
 * Creates a transport that connects to the addresses itself, one after the
 * other: no name is resolved after the check (DNS rebinding), no proxy from the
 * environment is used, no redirect is followed, and each connection serves one
 * request. TLS still checks the certificate against the URL's host.
 * (docs/protocol.md §10)
 *
 * The `lookup` option of `node:https` would do the same on newer runtimes only,
 * and is skipped for IP literals.
 *
 * Node, Deno and Bun call the agent's `createConnection` within `request`. The
 * `node:http` of Cloudflare Workers never calls it: it would send the request
 * itself, without TLS and with the address as its host.
 *
 * @throws {CannotPin} from the transport, immediately, on such a platform.
 */
export function createPinnedTransport(node: NodeBuiltins): Transport {
  return async (request, budget) => {
    const addresses = request.addresses.slice(0, MAX_ADDRESSES);
    const deadlineMs = budget.spentMs + request.connectTimeoutMs;
    for (const [i, address] of addresses.entries()) {
      // An address that does not respond uses only its share of the time.
      const shareMs = (deadlineMs - budget.spentMs) / (addresses.length - i);
      const exchange = startExchange(node, request, address);
      let isConnected = false;
      try {
        await budget.wait(exchange.connected, shareMs);
        isConnected = true;
        return await budget.wait(exchange.response);
      } catch (error) {
        await exchange.close();
        const isLast = i === addresses.length - 1;
        if (isConnected || isLast || !mayTryNextAddress(error)) throw error;
      }
    }
    throw new RangeError("Cannot connect: there must be an address");
  };
}

/** Returns whether the next address is worth trying after this error. */
function mayTryNextAddress(error: unknown): boolean {
  const { code, scope } = error as { code?: unknown; scope?: unknown };
  return typeof code === "string" || scope === "wait";
}

function startExchange(
  node: NodeBuiltins,
  request: TransportRequest,
  address: string,
) {
  const connected = Promise.withResolvers<void>();
  const response = Promise.withResolvers<TransportResponse>();
  const closed = Promise.withResolvers<void>();
  let failure: unknown;
  const fail = (error: unknown) => {
    failure ??= error;
    connected.reject(error);
    response.reject(error);
  };
  for (const { promise } of [connected, response]) promise.catch(() => {});

  let socket: Socket | undefined;
  const agent = new node.http.Agent({ keepAlive: false });
  agent.createConnection = () => {
    socket = dial(node, request, address, () => connected.resolve());
    socket.on("error", fail);
    socket.once("close", () => closed.resolve());
    const paced = paceSocket(node, socket);
    paced.on("error", fail);
    return paced;
  };
  let sent: ClientRequest | undefined;
  const close = async () => {
    sent?.destroy();
    socket?.destroy();
    if (socket !== undefined) await waitForClose(closed.promise);
  };
  try {
    sent = node.http.request({
      agent,
      method: request.method ?? "GET",
      // Used only by the agent: the socket is already chosen.
      host: address,
      port: portOf(request.url),
      path: request.url.pathname + request.url.search,
      headers: { ...request.headers, host: request.url.host },
    });
    sent.on("error", fail);
    // The agent has been called by now, or never will be. Nothing is sent
    // before end().
    if (socket === undefined) throw new CannotPin();
    const answer = (message: IncomingMessage) =>
      response.resolve(toResponse(message, socket!, () => failure, close));
    sent.once("response", answer);
    sent.once("upgrade", (message, upgraded) => {
      upgraded.destroy();
      answer(message);
    });
    sent.end(request.body);
  } catch (error) {
    fail(error);
  }
  return { connected: connected.promise, response: response.promise, close };
}

/** Opens a TCP or TLS connection to a literal address. */
function dial(
  { net, tls }: NodeBuiltins,
  { url, caCertificates }: TransportRequest,
  address: string,
  onConnected: () => void,
): Socket {
  const port = portOf(url);
  if (url.protocol === "http:") {
    return net.connect({ host: address, port }, onConnected);
  }
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const socket = tls.connect({
    host: address,
    port,
    // The certificate must be for the URL's host. An IP literal can't be sent
    // as server name (RFC 6066 §3): then `host` is checked.
    ...(parseIpBytes(name) === undefined ? { servername: name } : {}),
    ...(caCertificates === undefined ? {} : { ca: [...caCertificates] }),
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
  });
  socket.once("secureConnect", onConnected);
  return socket;
}

function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** Undefined without TLS. */
function certificateEnd(socket: Socket): Date | undefined {
  if (!("getPeerCertificate" in socket)) return undefined;
  const { valid_to } = (socket as TLSSocket).getPeerCertificate();
  const end = new Date(valid_to);
  return Number.isNaN(end.getTime()) ? undefined : end;
}

/** In one read: reading each tiny chunk is slow. */
function takeBuffered(message: IncomingMessage): Uint8Array | null {
  const length = message.readableLength;
  return length > 0 ? message.read(length) : null;
}

/** The slice() of a Buffer is a view; that of a Uint8Array copies. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

/**
 * @param failed Returns the first error of the connection, also after the head.
 */
function toResponse(
  message: IncomingMessage,
  socket: Socket,
  failed: () => unknown,
  close: () => Promise<void>,
): TransportResponse {
  const chunks: AsyncIterator<Uint8Array> = message[Symbol.asyncIterator]();
  return {
    get certificateUntil() {
      return certificateEnd(socket);
    },
    status: message.statusCode ?? 0,
    isVerbatim: true,
    header(name) {
      const value = message.headers[name];
      return (Array.isArray(value) ? value.join(", ") : value) ?? null;
    },
    async read() {
      const buffered = takeBuffered(message);
      if (buffered !== null) return plainBytes(buffered);
      const { done, value } = await chunks.next();
      if (done !== true) return plainBytes(value);
      // There were bytes after the end, or the runtime took an error for the
      // end.
      const failure = failed();
      if (failure !== undefined) throw failure;
      // The last chunk is missing, which some runtimes accept as the end.
      if (!message.complete) {
        const why = "Cannot continue reading: the response is incomplete";
        throw Object.assign(new Error(why), { code: "ECONNRESET" });
      }
      return undefined;
    },
    close,
  };
}

/**
 * Size of one piece in bytes: 2,700 chunks of one byte. 64 MiB take 4,096
 * turns.
 */
const PIECE_BYTES = 16 * 1024;

/**
 * Wraps a socket and passes on the received bytes in pieces, with one turn of
 * the event loop after each piece, and only while the reader wants more.
 *
 * Protects against a server that sends its body in chunks of one byte: a
 * runtime reads up to half a mebibyte from a socket at a time, and creates an
 * object for every chunk in it before the body can be read or cancelled, or a
 * timeout can fire. (docs/protocol.md §10)
 *
 * Deno before 2.9 gets the socket itself: its `node:http` never receives a
 * response over any other stream. Compiled executables can contain such a
 * runtime. The limits on bytes and time apply there too, but take effect later.
 */
function paceSocket(
  { stream, timers }: Pick<NodeBuiltins, "stream" | "timers">,
  socket: Socket,
): Duplex {
  if (!acceptsAnyStream(runtimeVersion())) return socket;
  let wanted = Promise.withResolvers<void>();
  const paced: Duplex = new stream.Duplex({
    readableHighWaterMark: PIECE_BYTES,
    read: () => wanted.resolve(),
    write: (bytes, encoding, done) => void socket.write(bytes, encoding, done),
    final(done) {
      // If the other side has ended, the socket can't be ended again.
      if (socket.writable) socket.end();
      done();
    },
    destroy(error, done) {
      wanted.resolve();
      socket.destroy();
      done(error);
    },
  });
  const forward = async () => {
    for await (const bytes of socket as AsyncIterable<Uint8Array>) {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        wanted = Promise.withResolvers();
        if (!paced.push(bytes.subarray(at, at + PIECE_BYTES))) {
          await wanted.promise;
        }
        await new Promise((resolve) => timers.setImmediate(resolve));
        if (paced.destroyed) return;
      }
    }
    paced.push(null);
  };
  forward().catch((error) => paced.destroy(error));
  return paced;
}

function runtimeVersion(): string | undefined {
  const { Deno } = globalThis as {
    Deno?: { readonly version?: { readonly deno?: string } };
  };
  return Deno?.version?.deno;
}

/** Returns whether `node:http` accepts a connection that is not a socket. */
export function acceptsAnyStream(deno: string | undefined): boolean {
  if (deno === undefined) return true;
  const [major = 0, minor = 0] = deno.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/** Undefined in browsers. */
export function loadNodeBuiltins() {
  if (loadBuiltin("node:http") === undefined) return undefined;
  return {
    dns: loadBuiltin("node:dns") as typeof dns,
    http: loadBuiltin("node:http") as typeof http,
    net: loadBuiltin("node:net") as typeof net,
    stream: loadBuiltin("node:stream") as typeof stream,
    timers: loadBuiltin("node:timers") as typeof timers,
    tls: loadBuiltin("node:tls") as typeof tls,
  };
}

export type NodeBuiltins = NonNullable<ReturnType<typeof loadNodeBuiltins>>;
