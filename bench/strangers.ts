/**
 * Goal 7. The memory that unauthenticated requests leave behind in `sig-web`
 * (less than 64 MiB in total, for any requests): many of each kind, with the
 * maximum size. Linux only. Argument: requests of each kind.
 *
 * @module
 */

import { getBytes, openConnections, postBytes } from "./http_client.ts";
import { CALLBACK } from "./servers/openid_clients.ts";
import { startServer } from "./servers/start.ts";

const REQUESTS = Number(Deno.args[0] ?? "20000");

const web = await startServer("bench/servers/openid_own.ts");
const at = (path: string, query: Record<string, string> = {}) =>
  new URL(`${path}?${new URLSearchParams(query)}`, web.url);
const authorize = {
  ...{ client_id: "RS256", redirect_uri: CALLBACK, response_type: "code" },
  ...{ scope: "openid", code_challenge: "c".repeat(43) },
  code_challenge_method: "S256",
};
const long = (length: number) => '"'.repeat(length);
const challenge = JSON.stringify({ scopes: ["profile"] });

const KINDS: readonly (readonly [name: string, request: Uint8Array])[] = [
  ["authorize", getBytes(at("/oidc/authorize", authorize), {})],
  [
    "authorize, large",
    getBytes(
      at("/oidc/authorize", {
        ...authorize,
        ...{ state: long(2_000), nonce: long(1_000), login_hint: long(2_000) },
      }),
      {},
    ),
  ],
  [
    "gate, large",
    getBytes(at("/gate/login", { begin: "!".repeat(8_000) }), {}),
  ],
  ["challenge", postBytes(at("/v1/auth/challenge/create"), challenge)],
];

const rest = (await web.memory()).now;
const connections = await openConnections(web.url, 16);
for (const [name, request] of KINDS) {
  let left = REQUESTS;
  const statuses = new Map<number, number>();
  await Promise.all(connections.map(async (connection) => {
    while (left-- > 0) {
      const { status } = await connection.ask(request);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  }));
  const { now, most } = await web.memory();
  const answers = Array.from(statuses, ([status, n]) => `${n} × ${status}`);
  console.log(
    `${name} (${answers.join(", ")}): ${(now - rest).toFixed(0)} MiB remain, ` +
      `${(most - rest).toFixed(0)} maximum (goal: less than 64)`,
  );
}
for (const connection of connections) connection.close();
await web.stop();
