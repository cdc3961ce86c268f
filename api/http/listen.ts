/** Listening with Deno's own server. @module */

import type { Address } from "../flags/mod.ts";
import { SigError } from "@sig/core";
import { trackInFlight } from "./in_flight.ts";
import type { Respond, RunningServer } from "./server_io.ts";
import { settleWithin } from "./settle_within.ts";

/**
 * Serves requests at an address. Deno reads on what a client still sends of a
 * body that nobody wants any more, and takes as many connections as the system
 * allows: where strangers can reach it, a reverse proxy belongs in front.
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
 * @throws {SigError} `invalid_request` if it can't listen there.
 */
export function listen(
  { hostname, port }: Address,
  respond: Respond,
): RunningServer {
  const inFlight = trackInFlight(respond);
  const force = new AbortController();
  let server: Deno.HttpServer<Deno.NetAddr>;
  try {
    server = Deno.serve({
      hostname,
      port,
      signal: force.signal,
      onListen() {},
      // Nothing about the inside leaves the process.
      onError: () => new Response(null, { status: 500 }),
    }, inFlight.respond);
  } catch (cause) {
    const place = `${hostname}:${port}`;
    throw new SigError(
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
  const at = server.addr;
  const host = at.hostname.includes(":") ? `[${at.hostname}]` : at.hostname;
  return {
    url: `http://${host}:${at.port}`,
    finished: server.finished,
    async shutdown(graceMs) {
      let isAnswered = false;
      const stopping = inFlight.drain().then(() => {
        isAnswered = true;
        return server.shutdown();
      });
      const isStopped = await settleWithin(stopping, graceMs);
      // All are answered: who still sends is cut off when the process ends.
      if (isStopped || isAnswered) return;
      force.abort();
      await server.finished;
    },
  };
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
