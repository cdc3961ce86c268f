/** Listening with Deno's own server. @module */

import type { Address } from "@sig/api/flags";
import { SigError } from "@sig/core";
import type { Respond, RunningServer } from "./server_io.ts";

/**
 * Serves requests at an address.
 *
 * @throws {SigError} `invalid_request` if it can't listen there.
 */
export function listen(
  { hostname, port }: Address,
  respond: Respond,
): RunningServer {
  let server: Deno.HttpServer<Deno.NetAddr>;
  try {
    server = Deno.serve({
      hostname,
      port,
      onListen() {},
      // Nothing about the inside leaves the process.
      onError: () => new Response(null, { status: 500 }),
    }, respond);
  } catch (cause) {
    throw new SigError(
      "invalid_request",
      `Cannot listen on ${hostname}:${port}: it is in use or not allowed`,
      { context: { flag: "--addr" }, cause },
    );
  }
  const at = server.addr;
  const host = at.hostname.includes(":") ? `[${at.hostname}]` : at.hostname;
  return {
    url: `http://${host}:${at.port}`,
    finished: server.finished,
    shutdown: (graceMs) => shutdown(server, graceMs),
  };
}

/** A reader that takes nothing would keep its request in flight for ever. */
async function shutdown(
  server: Deno.HttpServer,
  graceMs: number,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([server.shutdown(), grace]);
  clearTimeout(timer);
}
