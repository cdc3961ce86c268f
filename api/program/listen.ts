/** Listens with Deno's own server. @module */

import type { Address } from "./values.ts";
import { SigError, toProblem } from "@sig/core";
import { reasonOf } from "./files.ts";
import { pause } from "./io.ts";

/** A running server. */
export interface RunningServer {
  /** Its origin, such as `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Resolves when the server has stopped. */
  readonly finished: Promise<void>;
  /**
   * Stops accepting requests and waits up to `graceMs` milliseconds for those
   * in flight. Resolves to whether all of them were answered.
   */
  shutdown(graceMs: number): Promise<boolean>;
}

/** Answers one request; `info` describes the connection. */
export type Respond = (request: Request, info: unknown) => Promise<Response>;

/** Delay between two attempts to accept connections again, in milliseconds. */
const RETRY_MS = 100;
/** Minimum interval between equal messages to the operator, in milliseconds. */
const QUIET_MS = 10_000;

/**
 * Serves requests at an address. Deno keeps reading bodies that are no longer
 * needed, and accepts as many connections as the system allows, so a public
 * server needs a reverse proxy in front.
 *
 * When accepting a connection fails, mostly since the connections use up the
 * file descriptors, `Deno.serve` stops accepting permanently. This server then
 * closes idle connections, answers requests in flight, and listens again.
 *
 * @param report Receives lines for the operator's log.
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
      // Error details must not leave the process.
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
      try {
        server = serve(at.port);
        return;
      } catch {
        // The port or the descriptors are not free yet.
      }
    }
  };
  const serveUntilStopped = async () => {
    let reportedAt = -Infinity;
    while (!stop.signal.aborted) {
      const failure = await server.finished.then(
        () => undefined,
        (error) => error instanceof Error ? error.message : "accepting failed",
      );
      if (failure === undefined || stop.signal.aborted) break;
      if (performance.now() - reportedAt >= QUIET_MS) {
        reportedAt = performance.now();
        report(`Closing idle connections: ${failure}`);
      }
      // Answers requests in flight, closes idle connections, and accepts no
      // more.
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
      // All requests are answered; clients that still send a body are
      // disconnected when the process ends.
      if (isStopped || isAnswered) return true;
      stop.abort();
      force.abort();
      await finished;
      return false;
    },
  };
}

/**
 * Tracks the requests of a server. `Deno.serve` aborts every body that is still
 * being read when its `shutdown()` is called (denoland/deno#36809), so a server
 * waits for requests in flight first, and rejects new ones meanwhile.
 */
function trackInFlight(answer: Respond) {
  let count = 0;
  let isDraining = false;
  const drained = Promise.withResolvers<void>();
  const done = () => {
    count--;
    if (isDraining && count === 0) drained.resolve();
  };
  return {
    respond(request: Request, info: unknown): Promise<Response> {
      if (isDraining) return Promise.resolve(refuseStopping());
      count++;
      const response = answer(request, info);
      response.then(done, done);
      return response;
    },
    /** Resolves when all accepted requests are answered. */
    drain(): Promise<void> {
      isDraining = true;
      if (count === 0) drained.resolve();
      return drained.promise;
    },
  };
}

function refuseStopping(): Response {
  const problem = toProblem(
    new SigError("overloaded", {
      action: "answer",
      reason: "this server is being stopped",
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

/** Returns whether a promise settles in time; never rejects. */
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
  return new SigError("invalid_request", {
    action: `listen on ${place}`,
    reason: reasonOf(cause, NOT_LISTENING, "the system refused it"),
    context: {
      flag: "--addr",
      ...(cause instanceof Deno.errors.NotCapable
        ? { hint: `Run it with --allow-net=${place}.` }
        : {}),
    },
    cause,
  });
}

/** Reasons by the names of Deno's errors. */
const NOT_LISTENING = {
  NotCapable: "the program was not given permission to",
  AddrInUse: "another program listens there",
  AddrNotAvailable: "address not available on this machine",
  PermissionDenied:
    "the system does not let this user; ports below 1024 need a privilege",
};
