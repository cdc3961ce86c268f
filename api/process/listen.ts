/** Listening with Deno's own server. @module */

import type { Address } from "../flags/mod.ts";
import { SigError, toProblem } from "@sig/core";
import { pause } from "./io.ts";

/** A server that listens. */
export interface RunningServer {
  /** Where, such as `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Resolves when it has stopped. */
  readonly finished: Promise<void>;
  /** Lets requests in flight finish, for so long at most, then stops. */
  shutdown(graceMs: number): Promise<void>;
}

/** Answers one request; `info` is what is known of the connection. */
export type Respond = (request: Request, info: unknown) => Promise<Response>;

/** Descriptors that connections leave to files and outgoing requests. */
const SPARE_DESCRIPTORS = 8;
/** How often it is checked that they are free, in milliseconds. */
const PROBE_MS = 1_000;
/** Milliseconds between two attempts to accept connections again. */
const RETRY_MS = 100;
/** Milliseconds in which the operator reads the same only once. */
const QUIET_MS = 10_000;

/**
 * Serves requests at an address. Deno reads on what a client still sends of a
 * body that nobody wants any more, and takes as many connections as the system
 * allows: where strangers can reach it, a reverse proxy belongs in front.
 *
 * When connections use up the file descriptors, `Deno.serve` stops accepting for
 * good. Here the idle ones are closed then, requests in flight are answered, and
 * new connections are accepted as soon as descriptors are free.
 *
 * @example
 * ```ts
 * import { listen } from "./listen.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const respond = () => Promise.resolve(new Response("hello"));
 * const server = listen({ hostname: "127.0.0.1", port: 0 }, respond);
 * assertEquals(await (await fetch(server.url)).text(), "hello");
 * await server.shutdown(1_000);
 * ```
 *
 * @param report Gets lines for the operator's log.
 * @throws {SigError} `invalid_request` if it can't listen there.
 */
export function listen(
  { hostname, port }: Address,
  respond: Respond,
  report: (message: string) => void = () => {},
): RunningServer {
  const inFlight = trackInFlight(respond);
  const force = new AbortController();
  const stop = new AbortController();
  const serve = (port: number) =>
    Deno.serve({
      hostname,
      port,
      signal: force.signal,
      onListen() {},
      // Nothing about the inside leaves the process.
      onError: () => new Response(null, { status: 500 }),
    }, inFlight.respond);
  let server: Deno.HttpServer<Deno.NetAddr>;
  try {
    server = serve(port);
  } catch (cause) {
    throw cannotListen(`${hostname}:${port}`, cause);
  }
  const at = server.addr;

  const serveAgain = async () => {
    while (!stop.signal.aborted) {
      await pause(RETRY_MS, stop.signal);
      if (!areFree(SPARE_DESCRIPTORS + 1)) continue;
      try {
        server = serve(at.port);
        return;
      } catch {
        // The port is not free yet, or a descriptor has gone meanwhile.
      }
    }
  };
  const serveUntilStopped = async () => {
    let reportedAt = -Infinity;
    while (!stop.signal.aborted) {
      const shortage = await untilShort(server, stop.signal);
      if (shortage === undefined) break;
      if (performance.now() - reportedAt >= QUIET_MS) {
        reportedAt = performance.now();
        report(`Closing idle connections: ${shortage}`);
      }
      // It answers what is in flight, closes what is idle, and accepts no more.
      server.shutdown().catch(() => {});
      await serveAgain();
    }
    await server.finished.catch(() => {});
  };
  const finished = serveUntilStopped();

  const host = at.hostname.includes(":") ? `[${at.hostname}]` : at.hostname;
  return {
    url: `http://${host}:${at.port}`,
    finished,
    async shutdown(graceMs) {
      let isAnswered = false;
      const stopping = inFlight.drain().then(() => {
        isAnswered = true;
        stop.abort();
        return server.shutdown();
      });
      const isStopped = await settleWithin(stopping, graceMs);
      // All are answered: who still sends is cut off when the process ends.
      if (isStopped || isAnswered) return;
      stop.abort();
      force.abort();
      await finished;
    },
  };
}

/** Why descriptors are short, when they are; undefined when it has stopped. */
async function untilShort(
  server: Deno.HttpServer,
  stop: AbortSignal,
): Promise<string | undefined> {
  const over = new AbortController();
  const failed = server.finished.then(
    () => undefined,
    (error) => error instanceof Error ? error.message : "accepting failed",
  ).finally(() => over.abort());
  const signal = AbortSignal.any([stop, over.signal]);
  while (!signal.aborted) {
    await pause(PROBE_MS, signal);
    if (!signal.aborted && !areFree(SPARE_DESCRIPTORS)) {
      return "too few file descriptors are free";
    }
  }
  return stop.aborted ? undefined : await failed;
}

/**
 * Whether so many descriptors are free. Permissions decide how it is tried; with
 * neither of them it is believed.
 */
function areFree(count: number): boolean {
  const isGranted = (wanted: Deno.PermissionDescriptor) =>
    Deno.permissions.querySync(wanted).state === "granted";
  const open = Deno.build.os === "windows"
    ? undefined
    : isGranted({ name: "read", path: "/dev/null" })
    ? () => Deno.openSync("/dev/null")
    : isGranted({ name: "net", host: "127.0.0.1:0" })
    ? () => Deno.listen({ hostname: "127.0.0.1", port: 0 })
    : undefined;
  if (open === undefined) return true;
  using opened = new DisposableStack();
  try {
    for (let i = 0; i < count; i++) opened.use(open());
    return true;
  } catch {
    return false;
  }
}

/**
 * Follows the requests of a server. `Deno.serve` breaks off every body that is
 * still being read when its `shutdown()` is called (denoland/deno#36809), so a
 * server drains first, and refuses what comes meanwhile.
 */
function trackInFlight(answer: Respond) {
  let count = 0;
  let isDraining = false;
  const drained = Promise.withResolvers<void>();
  return {
    async respond(request: Request, info: unknown): Promise<Response> {
      if (isDraining) return refuseStopping();
      count++;
      try {
        return await answer(request, info);
      } finally {
        count--;
        if (isDraining && count === 0) drained.resolve();
      }
    },
    /** Resolves when all requests that were taken are answered. */
    drain(): Promise<void> {
      isDraining = true;
      if (count === 0) drained.resolve();
      return drained.promise;
    },
  };
}

function refuseStopping(): Response {
  const problem = toProblem(
    new SigError("overloaded", "Cannot answer: this server is being stopped", {
      context: { retry_after_seconds: 1, hint: "Ask again in a moment." },
    }),
  );
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      "retry-after": "1",
      "connection": "close",
    },
  });
}

/** Whether a promise settles in time; never rejects. */
export async function settleWithin(
  promise: Promise<unknown>,
  timeoutMs: number,
): Promise<boolean> {
  const settled = promise.then(() => true, () => true);
  const over = Promise.withResolvers<false>();
  const timer = setTimeout(() => over.resolve(false), timeoutMs);
  const isSettled = await Promise.race([settled, over.promise]);
  clearTimeout(timer);
  return isSettled;
}

function cannotListen(place: string, cause: unknown): SigError {
  return new SigError(
    "invalid_request",
    `Cannot listen on ${place}: ${whyNot(cause)}`,
    {
      context: {
        flag: "--addr",
        ...(isNotGiven(cause)
          ? { hint: `Run it with --allow-net=${place}.` }
          : {}),
      },
      cause,
    },
  );
}

/** A permission of Deno's, which a flag gives, not the system's. */
function isNotGiven(error: unknown): boolean {
  return error instanceof Deno.errors.NotCapable;
}

function whyNot(error: unknown): string {
  if (isNotGiven(error)) return "the program was not given permission to";
  if (error instanceof Deno.errors.AddrInUse) {
    return "another program listens there";
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return "address not available on this machine";
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return "the system does not let this user; ports below 1024 need a privilege";
  }
  return "the system refused it";
}
