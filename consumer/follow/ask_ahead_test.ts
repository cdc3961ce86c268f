import { assert, assertEquals } from "@std/assert";
import {
  type ConditionalServer,
  startConditionalServer,
} from "../../tests/kit/conditional_server.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  feedOf,
  importTestKeys,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { turns, waitUntil } from "../../tests/kit/wait.ts";

const [key1, key2] = await importTestKeys();

/** The metadata is served once the three others were asked for. */
function serveMetadataLast(
  { documents, exchanges }: ConditionalServer,
  text: () => Promise<string>,
): void {
  const asked = exchanges.length;
  documents.set(PATHS.metadata, async ({ signal }) => {
    await waitUntil(
      "asked for the three others",
      () => exchanges.length >= asked + 3 || signal.aborted,
    );
    const now = await text();
    documents.set(PATHS.metadata, now);
    return new Response(now);
  });
}

Deno.test("an issuer that is known is asked for everything at once", async () => {
  await using watched = await watchIssuer(3, key1, { totalTimeoutMs: 30_000 });
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  watched.publish([...lines, await watched.line(4, key1)]);
  const asked = server.exchanges.length;
  const metadata = server.documents.get(PATHS.metadata) as string;
  serveMetadataLast(server, () => Promise.resolve(metadata));
  const { state } = await consumer.verify(server.did);
  assertEquals(state.last_sequence, 4);
  assertEquals(
    server.exchanges.slice(asked).map(({ path }) => path).toSorted(),
    Object.values(PATHS).toSorted(),
  );
});

Deno.test("where the metadata is another, nothing older is read with it", async () => {
  await using watched = await watchIssuer(3, key1, { totalTimeoutMs: 30_000 });
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const metadata = server.documents.get(PATHS.metadata) as string;
  serveMetadataLast(server, async () => {
    watched.publishKeys([key1, key2]);
    watched.publish([...lines, await watched.line(4, key2)]);
    return metadata.replace("{", '{"since":4,');
  });
  const { state, feed } = await consumer.verify(server.did);
  assertEquals(state.last_sequence, 4);
  assertEquals(feed.keys.map(({ kid }) => kid), [key1.kid, key2.kid]);
  // The key set once ahead, once with the metadata, and not a third time.
  assertEquals(
    server.of(PATHS.jwks).slice(1).map(({ status }) => status),
    [304, 200],
  );
});

Deno.test("the metadata's fault is told, whatever else is wrong", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  await consumer.verify(server.did);
  const metadata = server.documents.get(PATHS.metadata) as string;
  server.documents.set(
    PATHS.metadata,
    metadata.replace(server.did, "did:web:other.example"),
  );
  server.documents.set(PATHS.jwks, "no key set");
  server.documents.delete(PATHS.feed);
  const verify = () => consumer.verify(server.did);
  await expectSigError(verify, "issuer_mismatch", "Cannot trust metadata");
  server.documents.set(PATHS.metadata, metadata);
  await expectSigError(verify, "invalid_key", "Cannot read jwks.json");
});

Deno.test("requests that wait end with the refresh that failed", async () => {
  let waiting: AbortSignal | undefined;
  let isSilent = false;
  await using watched = await watchIssuer(3, key1, {
    // For as long as nobody stops it.
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
  const { consumer, server } = watched;
  await consumer.verify(server.did);
  isSilent = true;
  server.documents.delete(PATHS.metadata);
  await expectSigError(
    () => consumer.verify(server.did),
    "fetch_status",
    "status 404",
  );
  assertEquals(waiting?.aborted, true);
});

Deno.test("a server with room for two requests at a time is read all the same", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  watched.publish([...lines, await watched.line(4, key1)]);
  for (const status of [429, 503]) {
    const inHand = new Set<Request>();
    for (const [path, served] of [...server.documents]) {
      server.documents.set(path, async (request) => {
        if (inHand.size === 2) return new Response(null, { status });
        inHand.add(request);
        // The others of a client that asks for all at once come meanwhile.
        await turns(20);
        inHand.delete(request);
        return typeof served === "function"
          ? await served(request)
          : new Response(served);
      });
    }
    const { state } = await consumer.verify(server.did);
    assertEquals(state.last_sequence, 4);
  }
});

/** Until the client goes away. */
function abandoned({ signal }: Request): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}

Deno.test("where a third request at a time is never answered, the rest is asked for alone", async () => {
  await using watched = await watchIssuer(3, key1, { totalTimeoutMs: 8000 });
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  watched.publish([...lines, await watched.line(4, key1)]);
  const inHand = new Set<Request>();
  let unanswered = 0;
  for (const [path, served] of [...server.documents]) {
    server.documents.set(path, async (request) => {
      if (inHand.size === 2) {
        unanswered++;
        await abandoned(request);
        return new Response();
      }
      inHand.add(request);
      await waitUntil("two more requests", () => unanswered === 2);
      inHand.delete(request);
      return new Response(served as string);
    });
  }
  const { state } = await consumer.verify(server.did);
  assertEquals(state.last_sequence, 4);
  assertEquals(unanswered, 2);
});

Deno.test("a known issuer that falls silent holds one connection before long", async () => {
  const stop = new AbortController();
  await using watched = await watchIssuer(3, key1, {
    totalTimeoutMs: 8000,
    signal: stop.signal,
  });
  const { consumer, server } = watched;
  await consumer.verify(server.did);
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
  const verified = consumer.verify(server.did).catch((error) => error);
  await asked.promise;
  await Promise.race([fewer.promise, verified]);
  assertEquals([...open], [PATHS.metadata]);
  stop.abort("enough");
  assertEquals(await verified, "enough");
});

Deno.test("no other origin is asked before the metadata says so", async () => {
  await using other = startConditionalServer();
  await using watched = await watchIssuer(3, key1, { allowOtherOrigins: true });
  const { consumer, server, lines } = watched;
  const { did, origin } = server;
  const here = makeDocuments({ did, origin, keys: [key1], lines });
  const there = makeDocuments({
    ...{ did, origin: other.origin, keys: [key1], lines },
  });
  other.documents.set(PATHS.feed, feedOf(lines));
  other.documents.set(PATHS.jwks, there.get(PATHS.jwks)!);
  server.documents.set(PATHS.metadata, there.get(PATHS.metadata)!);
  await consumer.verify(did);
  assertEquals(other.exchanges.length, 2);
  server.documents.set(PATHS.metadata, here.get(PATHS.metadata)!);
  const { state } = await consumer.verify(did);
  assertEquals(state.last_sequence, 3);
  assertEquals(other.exchanges.length, 2);
  assert(server.of(PATHS.feed).length > 0);
});
