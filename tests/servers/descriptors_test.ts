// Idle connections that use up all file descriptors.
import { assert, assertEquals } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  jwkToDidKey,
  signAttestation,
} from "@sig/jose";
import {
  exchangeRaw,
  head,
  rawPost,
  type RawResponse,
} from "../kit/raw_client.ts";
import { retry } from "../kit/wait.ts";
import { ServerProcess } from "../kit/server_process.ts";
import {
  importTestKeys,
  makeDocuments,
  makeLines,
  PATHS,
} from "../kit/test_issuer.ts";
import { tempFolder } from "../kit/process.ts";
import { writeDocuments } from "../kit/unpack_vectors.ts";

const MAX_DESCRIPTORS = 120;

/** Idle connections, which stay open until the end of their scope. */
class IdleConnections implements Disposable {
  readonly #open: Deno.Conn[] = [];

  /** Opens `count` connections, or as many as the server accepts. */
  async add(port: number, count: number): Promise<void> {
    try {
      for (let i = 0; i < count; i++) {
        this.#open.push(await Deno.connect({ hostname: "127.0.0.1", port }));
      }
    } catch (error) {
      // NotConnected: the connection was reset before its addresses were read.
      const { ConnectionRefused, ConnectionReset, NotConnected } = Deno.errors;
      const closed = [ConnectionRefused, ConnectionReset, NotConnected];
      if (!closed.some((each) => error instanceof each)) throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const each of this.#open) each.close();
  }
}

/** Sends a request on new connections until it gets a response. */
function send(port: number, data: string): Promise<RawResponse> {
  return retry(async () => {
    const answer = await exchangeRaw(port, data);
    assert(answer.status !== 0, "the connection was closed");
    return answer;
  });
}

async function post(port: number, path: string, body: unknown) {
  const answer = await send(port, rawPost(path, JSON.stringify(body)));
  return { status: answer.status, body: JSON.parse(answer.body) };
}

Deno.test("sig-web survives connections that use up its descriptors, and keeps its memory", async () => {
  const key = await importSigningKey(await generateSigningKey());
  await using server = await ServerProcess.start("web", [], {
    maxDescriptors: MAX_DESCRIPTORS,
  });
  const { port } = server;
  const { body: challenge } = await post(port, "/v1/auth/challenge/create", {
    subject: jwkToDidKey(key.publicJwk),
  });
  using idle = new IdleConnections();
  await idle.add(port, 2 * MAX_DESCRIPTORS);
  await server.said("Closing idle connections: ");
  // The process is the same: it still knows the challenge.
  const now = () => new Date();
  const attestation = await signAttestation({ challenge, key, now });
  const verified = await post(port, "/v1/auth/attestation/verify", {
    attestation,
  });
  assertEquals([verified.status, verified.body.verified], [200, true]);
  assertEquals((await server.stop()).code, 0);
});

Deno.test("sig serve survives connections that use up its descriptors", async () => {
  const [key] = await importTestKeys();
  await using folder = await tempFolder();
  const dir = folder.path;
  const lines = await makeLines(2, key);
  await writeDocuments(makeDocuments({ keys: [key], lines }), dir);
  await using server = await ServerProcess.start("cli", ["serve", dir], {
    maxDescriptors: MAX_DESCRIPTORS,
    permissions: ["--allow-read", "--allow-net=127.0.0.1"],
  });
  using idle = new IdleConnections();
  await idle.add(server.port, 2 * MAX_DESCRIPTORS);
  await server.said("Closing idle connections: ");
  const feed = await send(server.port, head(`GET ${PATHS.feed} HTTP/1.1`));
  assertEquals([feed.status, feed.body.split("\n").length], [200, 3]);
  assertEquals((await server.stop()).code, 0);
});
