/** A server for issuers, with or without entity tags and ranges. @module */

import { type LoopbackServer, serveLoopback } from "./loopback.ts";
import { PATHS } from "./test_issuer.ts";

/** One request and its response. */
export interface Exchange {
  readonly path: string;
  readonly ifNoneMatch: string | null;
  readonly range: string | null;
  readonly status: number;
  /** Size of the response body in bytes. */
  readonly bytes: number;
}

/** The content of a document, or a function that responds instead. */
export type Served =
  | string
  | Uint8Array<ArrayBuffer>
  | ((request: Request) => Response | Promise<Response>);

/** A running server. */
export interface ConditionalServer extends LoopbackServer {
  /** The documents by path; other paths are 404. */
  readonly documents: Map<string, Served>;
  /** The paths of all requests so far. */
  readonly requests: string[];
  /** The requests with their responses. */
  readonly exchanges: Exchange[];
  /** Whether to send entity tags and support `If-None-Match`. */
  etags: boolean;
  /** A prefix of every entity tag, to change all of them. */
  era: string;
  /** Whether to support `Range`. */
  ranges: boolean;
  /** Returns the exchanges about one path. */
  of(path: string): readonly Exchange[];
  /** Responds with a document as if it was published. */
  respond(request: Request, served: Served | undefined): Promise<Response>;
  /**
   * Delays the next response for a path until `go` is called, with what is
   * served now; `asked` resolves when it is requested.
   */
  hold(
    path: string,
    served?: Served,
  ): { readonly asked: Promise<void>; readonly go: () => void };
}

/** Starts a server without documents. */
export function startConditionalServer(
  { etags = true, ranges = true } = {},
): ConditionalServer {
  const requests: string[] = [];
  const exchanges: Exchange[] = [];
  const http = serveLoopback(async (request) => {
    const { pathname: path } = new URL(request.url);
    requests.push(path);
    const response = await server.respond(request, server.documents.get(path));
    exchanges.push({
      path,
      ifNoneMatch: request.headers.get("if-none-match"),
      range: request.headers.get("range"),
      status: response.status,
      bytes: Number(response.headers.get("content-length") ?? "0"),
    });
    return response;
  });
  const server: ConditionalServer = {
    ...http,
    documents: new Map(),
    requests,
    exchanges,
    etags,
    era: "",
    ranges,
    of: (path) => exchanges.filter((each) => each.path === path),
    async respond(request, served) {
      if (served === undefined) return new Response(null, { status: 404 });
      if (typeof served === "function") return await served(request);
      const bytes = typeof served === "string"
        ? new TextEncoder().encode(served)
        : served;
      return await respond(request, bytes, server);
    },
    hold(path, served = server.documents.get(path)) {
      const now = server.documents.get(path)!;
      const asked = Promise.withResolvers<void>();
      const { promise, resolve: go } = Promise.withResolvers<void>();
      server.documents.set(path, async (request) => {
        server.documents.set(path, now);
        asked.resolve();
        await promise;
        return await server.respond(request, served);
      });
      return { asked: asked.promise, go };
    },
  };
  return server;
}

async function respond(
  request: Request,
  bytes: Uint8Array<ArrayBuffer>,
  { etags, era, ranges }: ConditionalServer,
): Promise<Response> {
  const isFeed = new URL(request.url).pathname === PATHS.feed;
  const headers = new Headers({
    "content-type": isFeed ? "application/x-ndjson" : "application/json",
  });
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const etag = `"${era}${hash.toHex().slice(0, 32)}"`;
  if (etags) {
    headers.set("etag", etag);
    if (request.headers.get("if-none-match") === etag) {
      return new Response(null, { status: 304, headers });
    }
  }
  const [, from] = /^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "") ??
    [];
  if (!ranges || from === undefined) {
    headers.set("content-length", String(bytes.length));
    return new Response(bytes, { headers });
  }
  const first = Number(from);
  if (first >= bytes.length) {
    headers.set("content-range", `bytes */${bytes.length}`);
    return new Response(null, { status: 416, headers });
  }
  const part = bytes.slice(first);
  headers.set(
    "content-range",
    `bytes ${first}-${bytes.length - 1}/${bytes.length}`,
  );
  headers.set("content-length", String(part.length));
  return new Response(part, { status: 206, headers });
}
