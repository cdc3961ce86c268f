/**
 * A worker that asks `/healthz` again and again, on a thread of its own, so
 * that a busy asker is not taken for a busy server.
 *
 * @module
 */

import { Connection } from "../http_client.ts";

/** What a worker's own side has; naming that library would change all others. */
interface Scope {
  onmessage: (event: MessageEvent<string | null>) => void;
  postMessage(waits: readonly number[]): void;
}
const scope = globalThis as unknown as Scope;

let asking: Promise<readonly number[]> | undefined;
let done = false;

scope.onmessage = async ({ data: url }) => {
  if (url !== null) {
    done = false;
    asking = ask(new URL(url));
    scope.postMessage([]);
  } else {
    done = true;
    scope.postMessage(await asking ?? []);
  }
};

/** Milliseconds of each answer, one every 5 ms. */
async function ask(url: URL): Promise<readonly number[]> {
  const connection = await Connection.open(url);
  const request = new TextEncoder().encode(
    `GET /healthz HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`,
  );
  const waits: number[] = [];
  do {
    const start = performance.now();
    const { status } = await connection.ask(request);
    if (status !== 200) throw new Error(`/healthz answered ${status}`);
    waits.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 5));
  } while (!done);
  connection.close();
  return waits;
}
