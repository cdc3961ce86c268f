// The requests of a read: the metadata, then everything else together.
import { assert, assertEquals } from "@std/assert";
import { startConditionalServer } from "../../tests/kit/conditional_server.ts";
import { watchProven } from "../../tests/kit/proofs.ts";
import {
  feedOf,
  importTestKeys,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { turns, waitUntil } from "../../tests/kit/wait.ts";

const [key1] = await importTestKeys();

Deno.test("the metadata is requested first, then all other documents together", async () => {
  await using issuer = await watchProven(3, key1);
  const { server, did, consumer } = issuer;
  const { documents, exchanges } = server;
  const later = [
    ...[PATHS.jwks, PATHS.did, PATHS.feed],
    "/.well-known/sig/checkpoint",
  ];
  for (const isKnown of [false, true]) {
    const asked = exchanges.length;
    const open = new Set<string>();
    for (const path of later) {
      const served = documents.get(path) as string;
      documents.set(path, async ({ signal }) => {
        open.add(path);
        await waitUntil(
          "the requests for the others",
          () => open.size === later.length || signal.aborted,
        );
        documents.set(path, served);
        return new Response(served);
      });
    }
    if (isKnown) issuer.wait(61_000);
    // A question about all subjects reads the feed.
    assertEquals((await consumer.state(did)).last_sequence, 3);
    const [first, ...others] = exchanges.slice(asked).map(({ path }) => path);
    assertEquals(first, PATHS.metadata);
    assertEquals(others.toSorted(), later.toSorted());
  }
});

Deno.test("faults are reported in the order of the documents", async () => {
  await using issuer = await watchIssuer(3, key1);
  const { did, server } = issuer;
  await issuer.verify();
  const metadata = server.documents.get(PATHS.metadata) as string;
  const other = metadata.replace(did, "did:web:other.example");
  server.documents.set(PATHS.metadata, other);
  server.documents.set(PATHS.jwks, "not a key set");
  server.documents.delete(PATHS.feed);
  await issuer.refused("issuer_mismatch", "Cannot trust metadata");
  server.documents.set(PATHS.metadata, metadata);
  await issuer.refused("invalid_key", "Cannot read jwks.json");
});

Deno.test("a feed that is not needed any more is not read on", async () => {
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
  issuer.server.documents.delete(PATHS.jwks);
  await issuer.refused("fetch_status", "status 404");
  assertEquals(waiting?.aborted, true);
});

for (const answer of ["429", "503", "none"]) {
  Deno.test(`a server that accepts two concurrent requests is read too (third: ${answer})`, async () => {
    await using issuer = await watchIssuer(3, key1, { totalTimeoutMs: 8000 });
    const { documents } = issuer.server;
    await issuer.verify();
    issuer.publish([...issuer.lines, await issuer.line(4, key1)]);
    const pending = new Set<Request>();
    for (const [path, served] of [...documents]) {
      documents.set(path, async (request) => {
        if (pending.size === 2 && answer === "none") {
          await new Promise<void>((resolve) => {
            request.signal.addEventListener("abort", () => resolve());
          });
        }
        if (pending.size === 2) {
          return new Response(null, { status: Number(answer) || 500 });
        }
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
  });
}

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
