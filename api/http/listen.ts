/** Listening with Deno's own server. @module */

import type { Address } from "../flags/mod.ts";
import { SigError } from "@sig/core";
import { trackInFlight } from "./in_flight.ts";
import type { Respond, RunningServer } from "./server_io.ts";
import { settleWithin } from "./settle_within.ts";

/** Descriptors kept free for files and outgoing requests. */
const RESERVED_DESCRIPTORS = 8;
/** Milliseconds between two attempts to accept connections again. */
const RETRY_MS = 100;
/** Milliseconds in which the operator reads the same only once. */
const QUIET_MS = 10_000;

/**
 * Serves requests at an address. Deno reads on what a client still sends of a
 * body that nobody wants any more, and takes as many connections as the system
 * allows: where strangers can reach it, a reverse proxy belongs in front.
 *
 * When the process runs out of file descriptors, `Deno.serve` stops accepting
 * for good. Here it goes on: open connections are answered, descriptors in
 * reserve are there for files and outgoing requests, and new connections are
 * accepted as soon as descriptors are free.
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
  const reserve = new DescriptorReserve();
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

  /** Waits for descriptors, and listens again. */
  const serveAgain = async () => {
    while (!stop.signal.aborted) {
      await wait(RETRY_MS, stop.signal);
      try {
        reserve.take();
        server = serve(at.port);
        return;
      } catch {
        reserve.release();
      }
    }
  };
  const acceptUntilStopped = async () => {
    let reportedAt = -Infinity;
    while (!stop.signal.aborted) {
      try {
        await server.finished;
        return;
      } catch (error) {
        reserve.release();
        if (performance.now() - reportedAt >= QUIET_MS) {
          reportedAt = performance.now();
          const why = error instanceof Error ? error.message : "unknown error";
          report(`Cannot accept connections, trying again: ${why}`);
        }
      }
      await serveAgain();
    }
  };
  try {
    reserve.take();
  } catch {
    // So few descriptors that there is nothing to spare.
    reserve.release();
  }
  const finished = acceptUntilStopped().finally(() => reserve.release());

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

/**
 * File descriptors that are held for as long as there are others, so that
 * connections can't use up all of them. Permissions decide what holds them; with
 * neither permission there is no reserve.
 */
class DescriptorReserve {
  #held: Disposable[] = [];

  /** Takes what is missing; throws if the system has not as many. */
  take(): void {
    const open = findDescriptorSource();
    while (open !== undefined && this.#held.length < RESERVED_DESCRIPTORS) {
      this.#held.push(open());
    }
  }

  /** Leaves them to the process. */
  release(): void {
    for (const each of this.#held) each[Symbol.dispose]();
    this.#held = [];
  }
}

function findDescriptorSource(): (() => Disposable) | undefined {
  if (Deno.build.os === "windows") return undefined;
  const isGranted = (wanted: Deno.PermissionDescriptor) =>
    Deno.permissions.querySync(wanted).state === "granted";
  if (isGranted({ name: "read", path: "/dev/null" })) {
    return () => Deno.openSync("/dev/null");
  }
  const loopback = { hostname: "127.0.0.1", port: 0 };
  return isGranted({ name: "net", host: "127.0.0.1:0" })
    ? () => Deno.listen(loopback)
    : undefined;
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
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
    return "it is no address of this machine";
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return "the system does not let this user; ports below 1024 need a privilege";
  }
  return "the system refused it";
}
