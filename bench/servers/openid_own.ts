/**
 * Our OpenID Provider with an in-memory store and the demo's issuer. Prints its
 * URL.
 *
 * @module
 */

import { createApp } from "@sig/web";
import {
  createProvider,
  generateProviderKeys,
  readClients,
  readProviderKeys,
} from "@sig/web/openid";
import { createDemoIssuer, DEMO_REQUIRE } from "../../web/demo/demo_issuer.ts";
import { ALGORITHMS, CALLBACK, GATE_HOST } from "./openid_clients.ts";

const ready = Promise.withResolvers<ReturnType<typeof createApp>>();
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  async (request, info) => {
    const app = await ready.promise;
    if (!request.url.endsWith("/enrol")) {
      return app.fetch(request, info);
    }
    await issuer.enrol(await request.text());
    return new Response();
  },
);
const origin = `http://127.0.0.1:${server.addr.port}`;
const clients = readClients(JSON.stringify({
  clients: ALGORITHMS.map((alg) => ({
    client_id: alg,
    redirect_uris: [CALLBACK],
    id_token_signed_response_alg: alg,
  })),
}));
const issuer = await createDemoIssuer({ origin, now: () => new Date() });
const app = createApp({
  audiences: [origin],
  issuers: [issuer.did],
  require: DEMO_REQUIRE,
  allowPrivate: true,
  fetch: ({ url }) => {
    const bytes = issuer.document(new URL(url).pathname);
    return Promise.resolve(new Response(bytes?.slice() ?? null));
  },
  // Reads the feed before the timing.
  maxAgeMs: 60_000,
  openid: createProvider({
    clients: () => clients,
    keys: await readProviderKeys(await generateProviderKeys()),
    gateHosts: [GATE_HOST],
  }),
});
ready.resolve(app);
console.log(origin);
