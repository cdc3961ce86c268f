// Idle connections that use up all file descriptors (SECURITY §10).
import { assert, assertEquals } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  jwkToDidKey,
  signAttestation,
} from "@sig/jose";
import { head, RawClient, rawPost } from "../kit/raw_client.ts";
import { ServerProcess } from "../kit/server_process.ts";
import {
  importTestKeys,
  makeDocuments,
  makeLines,
  PATHS,
} from "../kit/test_issuer.ts";
import { startIssuerServer } from "../kit/issuer_server.ts";

const MAX_DESCRIPTORS = 120;
/** More than the server has descriptors. */
const CONNECTIONS = 200;

/** Opens idle connections until the server accepts no more. */
async function exhaust(server: ServerProcess): Promise<readonly Deno.Conn[]> {
  const idle: Deno.Conn[] = [];
  try {
    while (idle.length < CONNECTIONS) {
      const { port } = server;
      idle.push(await Deno.connect({ hostname: "127.0.0.1", port }));
    }
  } catch (error) {
    const { ConnectionRefused, ConnectionReset } = Deno.errors;
    if (
      !(error instanceof ConnectionRefused || error instanceof ConnectionReset)
    ) throw error;
  }
  await server.said("Cannot accept connections, trying again: ");
  return idle;
}

/** Asks until a new connection is answered. */
async function askAgain(url: string): Promise<Response> {
  for (;;) {
    try {
      return await fetch(url);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Frees descriptors; then new connections are answered, and it can stop. */
async function recover(
  server: ServerProcess,
  idle: readonly Deno.Conn[],
  path = "/healthz",
): Promise<void> {
  for (const each of idle) each.close();
  const response = await askAgain(server.url + path);
  assertEquals(response.status, 200);
  await response.body?.cancel();
  assertEquals((await server.stop()).code, 0);
}

async function get(client: RawClient, path: string) {
  assert(await client.send(head(`GET ${path} HTTP/1.1`)));
  return await client.receive();
}

async function post(client: RawClient, path: string, body: unknown) {
  assert(await client.send(rawPost(path, JSON.stringify(body))));
  const answer = await client.receive();
  return { status: answer.status, body: JSON.parse(answer.body) };
}

Deno.test("sig-web outlives idle connections, with its memory", async () => {
  const key = await importSigningKey(await generateSigningKey());
  await using server = await ServerProcess.start("web", [], {
    maxDescriptors: MAX_DESCRIPTORS,
  });
  using client = await RawClient.connect(server.port);
  const path = "/v1/auth/challenge/create";
  const { body: challenge } = await post(client, path, {
    subject: jwkToDidKey(key.publicJwk),
  });
  const idle = await exhaust(server);
  assertEquals((await get(client, "/healthz")).status, 200);
  for (const each of idle) each.close();
  await (await askAgain(`${server.url}/healthz`)).body?.cancel();
  // It is the same process: the challenge is still known.
  const now = () => new Date();
  const attestation = await signAttestation({ challenge, key, now });
  const verified = await post(client, "/v1/auth/attestation/verify", {
    attestation,
  });
  assertEquals([verified.status, verified.body.verified], [200, true]);
  assertEquals((await server.stop()).code, 0);
});

Deno.test("sig-api asks an issuer while connections use up all descriptors", async () => {
  const [key] = await importTestKeys();
  await using issuer = startIssuerServer();
  const { did, origin } = issuer;
  const changes = { issuer: did };
  const lines = await makeLines(2, key, changes);
  const documents = makeDocuments({ did, origin, keys: [key], lines });
  for (const [path, text] of documents) issuer.documents.set(path, text);
  await using server = await ServerProcess.start("api", [
    ...["--issuer", did, "--allow-insecure"],
  ], { maxDescriptors: MAX_DESCRIPTORS });
  using client = await RawClient.connect(server.port);
  assertEquals((await get(client, "/healthz")).status, 200);
  const idle = await exhaust(server);
  // It needs a connection of its own, out of the reserve.
  const verified = await post(client, "/v1/verify", { issuer: did });
  assertEquals([verified.status, verified.body.valid], [200, true]);
  await recover(server, idle);
});

Deno.test("sig serve opens files while connections use up all descriptors", async () => {
  const [key] = await importTestKeys();
  const dir = await Deno.makeTempDir();
  try {
    const lines = await makeLines(2, key);
    await Deno.mkdir(`${dir}/.well-known/sig`, { recursive: true });
    for (const [path, text] of makeDocuments({ keys: [key], lines })) {
      const bytes = new TextEncoder().encode(String(text));
      await Deno.writeFile(
        dir + path,
        text instanceof Uint8Array ? text : bytes,
      );
    }
    await using server = await ServerProcess.start("cli", ["serve", dir], {
      maxDescriptors: MAX_DESCRIPTORS,
      permissions: ["--allow-read", "--allow-net=127.0.0.1"],
    });
    using client = await RawClient.connect(server.port);
    assertEquals((await get(client, PATHS.feed)).status, 200);
    const idle = await exhaust(server);
    assertEquals((await get(client, PATHS.feed)).status, 200);
    await recover(server, idle, PATHS.feed);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
