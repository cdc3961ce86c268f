/** HTTP over a connection to exactly the vetted addresses. @module */

import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Duplex } from "node:stream";
import { loadBuiltin } from "@sig/jose/internal";
import { parseIpBytes } from "./public_address.ts";
import type {
  Transport,
  TransportRequest,
  TransportResponse,
} from "./transport.ts";
import { waitForClose } from "./network_budget.ts";
import type * as dns from "node:dns";
import type * as http from "node:http";
import type * as net from "node:net";
import type * as stream from "node:stream";
import type * as timers from "node:timers";
import type * as tls from "node:tls";

/** A resolver must not make us knock at any number of doors. */
const MAX_ADDRESSES = 6;

/**
 * Thrown where the platform's `node:http` does not let us make the connection.
 * Nothing was sent then.
 */
export class CannotPin extends Error {
  /** Says so. */
  constructor() {
    super("Cannot pin connection: node:http asks for none here");
  }
}

/**
 * A transport that dials the addresses itself, one after the other, so no name
 * is resolved after the check (DNS rebinding), no proxy of the environment
 * and no redirect is followed, and each connection serves one request. TLS
 * still checks the certificate against the URL's host. (docs/protocol.md §10)
 *
 * The `lookup` option of `node:https` would do the same on newer runtimes only,
 * and is skipped for IP literals.
 *
 * Node, Deno and Bun ask the agent for a connection when the request is made.
 * Cloudflare Workers has a `node:http` which never does: it would send the
 * request by its own means, without TLS and to the address as its host.
 *
 * @throws {CannotPin} from the transport, at once, on such a platform.
 */
export function createPinnedTransport(node: NodeBuiltins): Transport {
  return async (request, budget) => {
    const addresses = request.addresses.slice(0, MAX_ADDRESSES);
    const giveUpAtMs = budget.spentMs + request.connectTimeoutMs;
    for (const [i, address] of addresses.entries()) {
      // A dead address takes its share of the time, not all of it.
      const shareMs = (giveUpAtMs - budget.spentMs) / (addresses.length - i);
      const exchange = startExchange(node, request, address);
      let isConnected = false;
      try {
        await budget.wait(exchange.connected, shareMs);
        isConnected = true;
        return await budget.wait(exchange.response);
      } catch (error) {
        await exchange.close();
        const isLast = i === addresses.length - 1;
        if (isConnected || isLast || !isOfThisAddress(error)) throw error;
      }
    }
    throw new RangeError("Cannot connect: there must be an address");
  };
}

/** Whether the next address may fare better. */
function isOfThisAddress(error: unknown): boolean {
  const { code, scope } = error as { code?: unknown; scope?: unknown };
  return typeof code === "string" || scope === "wait";
}

/** One request to one address. */
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
      // For the agent's bookkeeping only: the socket is ours.
      host: address,
      port: portOf(request.url),
      path: request.url.pathname + request.url.search,
      headers: { ...request.headers, host: request.url.host },
    });
    sent.on("error", fail);
    // Asked for by now or never: before end() nothing is sent.
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
    // as server name (RFC 6066 §3): then `host` is what is checked.
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

/** When the server's certificate ends; undefined without TLS. */
function certificateEnd(socket: Socket): Date | undefined {
  if (!("getPeerCertificate" in socket)) return undefined;
  const { valid_to } = (socket as TLSSocket).getPeerCertificate();
  const end = new Date(valid_to);
  return Number.isNaN(end.getTime()) ? undefined : end;
}

/** All that has arrived, in one read: one for each tiny chunk takes long. */
function takeBuffered(message: IncomingMessage): Uint8Array | null {
  const length = message.readableLength;
  return length > 0 ? message.read(length) : null;
}

/** A Buffer's slice() would be a view: the plain class copies. */
function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** @param failed The latest error of the connection, also after the head. */
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
      // Bytes after the end, or an end that the runtime took for one.
      const failure = failed();
      if (failure !== undefined) throw failure;
      // Chunks without the last one, where a runtime takes that for an end.
      if (!message.complete) {
        const why = "Cannot read on: the answer is not complete";
        throw Object.assign(new Error(why), { code: "ECONNRESET" });
      }
      return undefined;
    },
    close,
  };
}

/** Holds 2,700 chunks of one byte; a body of 64 MiB takes 4,096 turns. */
const PIECE_BYTES = 16 * 1024;

/**
 * Stands before a socket and hands on what arrives piece by piece, with a turn
 * of the event loop after each, and only while more is wanted.
 *
 * Against a server that sends its body in chunks of one byte: a runtime reads
 * a socket until it is empty, half a mebibyte at a time, and makes an object
 * of every chunk in it before anybody can read one, say stop, or notice that
 * the time is up. (docs/protocol.md §10)
 *
 * Deno before 2.9 gets its socket as it is: its `node:http` never stops waiting
 * for an answer that comes by any other stream. Executables can have such a
 * runtime. The limits on bytes and time hold there too, only later.
 */
export function paceSocket(
  { stream, timers }: Pick<NodeBuiltins, "stream" | "timers">,
  socket: Socket,
): Duplex {
  if (!takesAnyStream(runtimeVersion())) return socket;
  let wanted = Promise.withResolvers<void>();
  const paced: Duplex = new stream.Duplex({
    readableHighWaterMark: PIECE_BYTES,
    read: () => wanted.resolve(),
    write: (bytes, encoding, done) => void socket.write(bytes, encoding, done),
    final(done) {
      // After the other side's end there is nothing left to end.
      if (socket.writable) socket.end();
      done();
    },
    destroy(error, done) {
      wanted.resolve();
      socket.destroy();
      done(error);
    },
  });
  const handOn = async () => {
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
  handOn().catch((error) => paced.destroy(error));
  return paced;
}

/** The version of Deno; undefined on every other platform. */
function runtimeVersion(): string | undefined {
  const { Deno } = globalThis as {
    Deno?: { readonly version?: { readonly deno?: string } };
  };
  return Deno?.version?.deno;
}

/** Whether `node:http` takes a connection that is not a socket. */
export function takesAnyStream(deno: string | undefined): boolean {
  if (deno === undefined) return true;
  const [major = 0, minor = 0] = deno.split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 9);
}

/** The modules that a pinned connection takes; undefined in browsers. */
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

/** What {@linkcode loadNodeBuiltins} returns. */
export type NodeBuiltins = NonNullable<ReturnType<typeof loadNodeBuiltins>>;
