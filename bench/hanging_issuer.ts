/**
 * Goal 5. Latency of questions about an issuer that accepts connections but
 * sends nothing, after the first failure, compared with the time in which it
 * answers (p99 at most 1.5 ×): without a grace and with one. Takes 3 minutes.
 *
 * @module
 */

import {
  Connection,
  measureLatency,
  openConnections,
  percentile,
  postBytes,
} from "./http_client.ts";
import { startServer } from "./servers/start.ts";

const QUESTIONS_PER_SECOND = 300;
const DURATION_MS = 6_000;

for (const grace of ["0s", "1h"]) {
  const issuer = await startServer("bench/servers/issuer.ts", ["100"]);
  const { host } = issuer.url;
  const api = await startServer("api/main.ts", [
    ...["--addr", "127.0.0.1:0", "--allow-insecure", "--log", "off"],
    ...["--issuer", host, "--max-age", "1s", "--grace", grace],
  ]);
  const request = postBytes(
    new URL("/v1/check", api.url),
    JSON.stringify({
      issuer: `did:web:${host.replace(":", "%3A")}`,
      subject: "did:web:person-50.example",
      require: ["role=deploy"],
    }),
  );
  const connections = await openConnections(api.url);
  const first = await Connection.open(api.url);
  const p99 = async () => {
    const times = await measureLatency(
      connections,
      request,
      QUESTIONS_PER_SECOND,
      DURATION_MS,
    );
    return percentile(times, 99);
  };
  try {
    await p99();
    const before = await p99();
    issuer.signal("SIGSTOP");
    // The question that meets the silence first waits for the timeout.
    const isWaiting = (body: string) =>
      JSON.parse(body).freshness?.status === "fresh";
    while (isWaiting((await first.ask(request)).body)) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const during = await p99();
    const { status } = await first.ask(request);
    issuer.signal("SIGCONT");
    console.log(
      `grace ${grace}: p99 ${before.toFixed(1)} ms while it answers, ` +
        `${during.toFixed(1)} ms while it hangs (status ${status}): ` +
        `${(during / before).toFixed(2)} × (goal: at most 1.5)`,
    );
  } finally {
    for (const each of [first, ...connections]) each.close();
    issuer.signal("SIGCONT");
    for (const server of [api, issuer]) await server.stop();
  }
}
