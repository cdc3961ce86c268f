/** Servers with faults, by the finding that each causes. @module */

const FEED = "/.well-known/sig/events.jsonl";
type Site = (request: Request) => Promise<Response>;
/** A server with a fault; `good` is the correct server. */
export type Fault = (
  request: Request,
  good: Site,
) => Response | Promise<Response>;

/** Returns a fault that changes the headers of responses. */
function headed(
  change: (headers: Headers, request: Request, status: number) => void,
): Fault {
  return async (request, good) => {
    const { body, headers, status } = await good(request);
    const changed = new Headers(headers);
    change(changed, request, status);
    return new Response(body, { headers: changed, status });
  };
}

/** Returns a fault that ignores some request headers. */
function deaf(...names: readonly string[]): Fault {
  return (request, good) => {
    const headers = new Headers(request.headers);
    for (const name of names) headers.delete(name);
    return good(new Request(request.url, { headers, method: request.method }));
  };
}

const isFeed = (request: Request) => request.url.endsWith(FEED);

function compressed(isAsked: (request: Request) => boolean): Fault {
  return async (request, good) => {
    const answer = await good(request);
    if (!isAsked(request) || answer.status !== 200) return answer;
    const headers = new Headers(answer.headers);
    headers.delete("content-length");
    headers.set("content-encoding", "gzip");
    const body = answer.body!.pipeThrough(new CompressionStream("gzip"));
    return new Response(body, { headers });
  };
}

/**
 * Returns a fault that sets `cache-control` of the responses with status `at`.
 */
export const cacheControl = (value: string, at = 200): Fault =>
  headed((headers, _request, status) => {
    if (status === at) headers.set("cache-control", value);
  });

/** Code and severity of a finding, and its fault. */
export const FAULTS: readonly (readonly [string, string, Fault])[] = [
  [
    "media_type_unexpected",
    "warning",
    headed((headers, request) => {
      if (isFeed(request)) headers.set("content-type", "text/plain");
    }),
  ],
  ["etag_missing", "warning", headed((headers) => headers.delete("etag"))],
  ["etag_ignored", "warning", deaf("if-none-match")],
  ["range_ignored", "warning", deaf("range")],
  ["range_wrong", "error", async (request, good) => {
    if (!request.headers.has("range")) return await good(request);
    return new Response("{", {
      status: 206,
      headers: { "content-range": "bytes 0-0/100" },
    });
  }],
  [
    "cors_missing",
    "warning",
    headed((headers) =>
      headers.set("access-control-allow-origin", "https://one.example")
    ),
  ],
  ["cached_for_long", "warning", cacheControl("public, max-age=86400")],
  ["cached_for_long", "warning", cacheControl("max-age=0, s-maxage=301")],
  [
    "cached_for_long",
    "warning",
    headed((headers, _request, status) => {
      if (status !== 200) return;
      headers.delete("cache-control");
      headers.set("expires", new Date(Date.now() + 3_600_000).toUTCString());
    }),
  ],
  ["missing_cached", "warning", cacheControl("max-age=86400, immutable", 404)],
  ["cache_unsaid", "warning", cacheControl("public")],
  [
    "compressed_on_request",
    "warning",
    compressed(({ headers }) =>
      headers.get("accept-encoding")?.includes("gzip") === true
    ),
  ],
  ["missing_not_404", "warning", async (request, good) => {
    const answer = await good(request);
    if (answer.status !== 404) return answer;
    await answer.body?.cancel();
    return new Response("Welcome!");
  }],
  [
    "private_folder_served",
    "error",
    async (request, good) =>
      request.url.endsWith("/.sig/lock")
        ? new Response("")
        : await good(request),
  ],
];

/** Codes of findings that prevent verification, and their faults. */
export const FATAL: readonly (readonly [string, Fault])[] = [
  ["compressed_always", compressed(() => true)],
  [
    "fetch_redirected",
    (request) => Response.redirect(new URL("/elsewhere", request.url)),
  ],
  ["fetch_status", () => new Response(null, { status: 404 })],
  [
    "fetch_media_type",
    () => new Response("", { headers: { "content-type": "text/html" } }),
  ],
];
