/** Our OpenID Provider over memory, with the demo's issuer. Prints its URL. @module */

import {
  createDemoIssuer,
  createWeb,
  generateProviderKeys,
  readClients,
  readProviderKeys,
} from "@sig/web";
import { ALGORITHMS, CALLBACK, GATE_HOST } from "./openid_clients.ts";

const ready = Promise.withResolvers<ReturnType<typeof createWeb>["app"]>();
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  async (request, info) => (await ready.promise).fetch(request, info),
);
const origin = `http://127.0.0.1:${server.addr.port}`;
const clients = readClients(JSON.stringify({
  clients: ALGORITHMS.map((alg) => ({
    client_id: alg,
    redirect_uris: [CALLBACK],
    id_token_signed_response_alg: alg,
  })),
}));
const { app } = createWeb({
  audiences: [origin],
  demo: await createDemoIssuer({ origin, now: () => new Date() }),
  // A login is timed here, not the reading of a feed.
  maxAgeMs: 60_000,
  openid: {
    clients: () => clients,
    keys: await readProviderKeys(await generateProviderKeys()),
    gateHosts: [GATE_HOST],
  },
});
ready.resolve(app);
console.log(origin);
