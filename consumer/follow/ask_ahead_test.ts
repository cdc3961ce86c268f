import { assert, assertEquals } from "@std/assert";
import {
  type ConditionalServer,
  startConditionalServer,
} from "../../tests/kit/conditional_server.ts";
import {
  feedOf,
  importTestKeys,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { turns, waitUntil } from "../../tests/kit/wait.ts";

const [key1, key2] = await importTestKeys();

/** Serves the metadata only after the three other documents were requested. */
function serveMetadataLast(
  { documents, exchanges }: ConditionalServer,
  text: () => Promise<string>,
): void {
  const asked = exchanges.length;
  documents.set(PATHS.metadata, async ({ signal }) => {
    await waitUntil(
      "requests for the three others",
      () => exchanges.length >= asked + 3 || signal.aborted,
    );
    const now = await text();
    documents.set(PATHS.metadata, now);
    return new Response(now);
  });
}

const metadataOf = ({ documents }: ConditionalServer) =>
  documents.get(PATHS.metadata) as string;

Deno.test("a known issuer gets all requests concurrently", async () => {
  await using issuer = await watchIssuer(3, key1, { totalTimeoutMs: 30_000 });
  const { server, lines } = issuer;
  await issuer.verify();
  issuer.publish([...lines, await issuer.line(4, key1)]);
  const asked = server.exchanges.length;
  const metadata = metadataOf(server);
  serveMetadataLast(server, () => Promise.resolve(metadata));
  assertEquals((await issuer.verify()).state.last_sequence, 4);
  assertEquals(
    server.exchanges.slice(asked).map(({ path }) => path).toSorted(),
    Object.values(PATHS).toSorted(),
  );
});

Deno.test("after a change of the metadata, documents requested before it are not used", async () => {
  await using issuer = await watchIssuer(3, key1, { totalTimeoutMs: 30_000 });
  const { server, lines } = issuer;
  await issuer.verify();
  const metadata = metadataOf(server);
  serveMetadataLast(server, async () => {
    issuer.publishKeys([key1, key2]);
    issuer.publish([...lines, await issuer.line(4, key2)]);
    return metadata.replace("{", '{"since":4,');
  });
  const { state, feed } = await issuer.verify();
  assertEquals(state.last_sequence, 4);
  assertEquals(feed.keys.map(({ kid }) => kid), [key1.kid, key2.kid]);
  // The key set is requested once in advance and once after the metadata.
  assertEquals(
    server.of(PATHS.jwks).slice(1).map(({ status }) => status),
    [304, 200],
  );
});

Deno.test("a fault of the metadata is reported before other faults", async () => {
  await using issuer = await watchIssuer(3, key1);
  const { did, server } = issuer;
  await issuer.verify();
  const metadata = metadataOf(server);
  const other = metadata.replace(did, "did:web:other.example");
  server.documents.set(PATHS.metadata, other);
  server.documents.set(PATHS.jwks, "not a key set");
  server.documents.delete(PATHS.feed);
  await issuer.refused("issuer_mismatch", "Cannot trust metadata");
  server.documents.set(PATHS.metadata, metadata);
  await issuer.refused("invalid_key", "Cannot read jwks.json");
});

Deno.test("a failed refresh aborts its pending requests", async () => {
  let waiting: AbortSignal | undefined;
  let isSilent = false;
  await using issuer = await watchIssuer(3, key1, {
    // Only an abort can end a request.
    totalTimeoutMs: 2 ** 30,
    fetch(request) {
      if (!isSilent || !request.url.endsWith(PATHS.feed)) return fetch(request);
      const { signal } = request;
      waiting = signal;
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    },
  });
  await issuer.verify();
  isSilent = true;
  issuer.server.documents.delete(PATHS.metadata);
  await issuer.refused("fetch_status", "status 404");
  assertEquals(waiting?.aborted, true);
});

Deno.test("a server that rejects a third concurrent request is read too", async () => {
  await using issuer = await watchIssuer(3, key1);
  const { documents } = issuer.server;
  await issuer.verify();
  issuer.publish([...issuer.lines, await issuer.line(4, key1)]);
  for (const status of [429, 503]) {
    const pending = new Set<Request>();
    for (const [path, served] of [...documents]) {
      documents.set(path, async (request) => {
        if (pending.size === 2) return new Response(null, { status });
        pending.add(request);
        // Meanwhile the other requests of this client arrive.
        await turns(20);
        pending.delete(request);
        return typeof served === "function"
          ? await served(request)
          : new Response(served);
      });
    }
    assertEquals((await issuer.verify()).state.last_sequence, 4);
  }
});

/** Waits until the client aborts the request. */
function abandoned({ signal }: Request): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}

Deno.test("if a third concurrent request is not answered, the remaining documents are requested one by one", async () => {
  await using watched = await watchIssuer(3, key1, { totalTimeoutMs: 8000 });
  const { server, lines } = watched;
  await watched.verify();
  watched.publish([...lines, await watched.line(4, key1)]);
  const pending = new Set<Request>();
  let unanswered = 0;
  for (const [path, served] of [...server.documents]) {
    server.documents.set(path, async (request) => {
      if (pending.size === 2) {
        unanswered++;
        await abandoned(request);
        return new Response();
      }
      pending.add(request);
      await waitUntil("two more requests", () => unanswered === 2);
      pending.delete(request);
      return new Response(served as string);
    });
  }
  assertEquals((await watched.verify()).state.last_sequence, 4);
  assertEquals(unanswered, 2);
});

Deno.test("a known issuer that stops responding keeps one request after 3 s", async () => {
  const stop = new AbortController();
  await using watched = await watchIssuer(3, key1, {
    totalTimeoutMs: 8000,
    signal: stop.signal,
  });
  const { server } = watched;
  await watched.verify();
  const open = new Set<string>();
  const asked = Promise.withResolvers<void>();
  const fewer = Promise.withResolvers<void>();
  const all = Object.values(PATHS);
  for (const path of all) {
    server.documents.set(path, async (request) => {
      open.add(path);
      if (open.size === all.length) asked.resolve();
      await abandoned(request);
      open.delete(path);
      if (open.size === 1) fewer.resolve();
      return new Response();
    });
  }
  const verified = watched.verify().catch((error) => error);
  await asked.promise;
  await Promise.race([fewer.promise, verified]);
  assertEquals([...open], [PATHS.metadata]);
  stop.abort("enough");
  assertEquals(await verified, "enough");
});

Deno.test("a different origin gets requests only after the metadata names it", async () => {
  await using other = startConditionalServer();
  await using watched = await watchIssuer(3, key1, { allowOtherOrigins: true });
  const { did, lines, server } = watched;
  const { origin } = server;
  const here = makeDocuments({ did, origin, keys: [key1], lines });
  const there = makeDocuments({
    ...{ did, origin: other.origin, keys: [key1], lines },
  });
  other.documents.set(PATHS.feed, feedOf(lines));
  other.documents.set(PATHS.jwks, there.get(PATHS.jwks)!);
  server.documents.set(PATHS.metadata, there.get(PATHS.metadata)!);
  await watched.verify();
  assertEquals(other.exchanges.length, 2);
  server.documents.set(PATHS.metadata, here.get(PATHS.metadata)!);
  const { state } = await watched.verify();
  assertEquals(state.last_sequence, 3);
  assertEquals(other.exchanges.length, 2);
  assert(server.of(PATHS.feed).length > 0);
});
