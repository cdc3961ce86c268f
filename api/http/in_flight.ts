/** Which requests are being answered, for a server that is to stop. @module */

import { Exchange } from "./exchange.ts";
import { overloaded } from "./overloaded.ts";
import { Load, RequestFlow } from "./request_flow.ts";
import { requestIdOf } from "./request_id.ts";
import type { Respond } from "./server_io.ts";

/** Requests on their way through a server. */
export interface InFlight {
  /** Answers requests; once it drains, only with `overloaded`. */
  readonly respond: Respond;
  /** Takes no further request; resolves when all those taken are answered. */
  drain(): Promise<void>;
}

/**
 * Follows the requests of a server. `Deno.serve` breaks off every body that is
 * still being read when its `shutdown()` is called (denoland/deno#36809), so a
 * server drains first, and sends away in words whoever comes meanwhile.
 *
 * @example
 * ```ts
 * import { trackInFlight } from "./in_flight.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { respond, drain } = trackInFlight(() =>
 *   Promise.resolve(new Response("hello"))
 * );
 * const ask = () => respond(new Request("http://127.0.0.1/"), undefined);
 * assertEquals((await ask()).status, 200);
 * await drain();
 * assertEquals((await ask()).status, 503);
 * ```
 */
export function trackInFlight(respond: Respond): InFlight {
  let count = 0;
  let isDraining = false;
  const drained = Promise.withResolvers<void>();
  return {
    async respond(request, info) {
      if (isDraining) return refuse(request);
      count++;
      try {
        return await respond(request, info);
      } finally {
        count--;
        if (isDraining && count === 0) drained.resolve();
      }
    },
    drain() {
      isDraining = true;
      if (count === 0) drained.resolve();
      return drained.promise;
    },
  };
}

/** One that is sent away takes nothing. */
const NOTHING = new Load({ places: 0, heldBytes: 0 });

function refuse(request: Request): Response {
  return new Exchange(request, {
    requestId: requestIdOf(request.headers),
    headers: [["connection", "close"]],
    bodyTimeoutMs: 0,
    sendTimeoutMs: 0,
    flow: new RequestFlow(NOTHING, () => ""),
  }).refuse(overloaded("this server is being stopped"));
}
