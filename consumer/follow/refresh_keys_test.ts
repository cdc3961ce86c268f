import {
  generateSigningKey,
  importSigningKey,
  type SigningKey,
} from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  importTestKeys,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import {
  last,
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

const [key1, key2, stranger] = await importTestKeys();

Deno.test("a DID document that withdraws a key is seen while the feed is unchanged", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  await consumer.verify(server.did);
  const did = JSON.parse(server.documents.get(PATHS.did) as string);
  server.documents.set(
    PATHS.did,
    JSON.stringify({ ...did, assertionMethod: [] }),
  );
  const error = await expectSigError(
    () => consumer.verify(server.did),
    "key_withdrawn",
    "is no longer authorised by the DID document",
  );
  assertEquals(error.context.kid, key1.publicJwk.kid);
  assertEquals(server.of(PATHS.jwks).map(({ status }) => status), [200, 304]);
});

Deno.test("a DID document that goes leaves the keys; one that comes counts", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  const did = server.documents.get(PATHS.did) as string;
  server.documents.delete(PATHS.did);
  const codes = async () =>
    (await consumer.verify(server.did)).warnings.map(({ code }) => code);
  assertEquals(await codes(), ["did_document_missing"]);
  assertEquals(await codes(), ["did_document_missing"]);
  server.documents.set(PATHS.did, did);
  assertEquals(await codes(), []);
  assertEquals(await codes(), []);
  server.documents.delete(PATHS.did);
  assertEquals(await codes(), ["did_document_missing"]);
  const none = { ...JSON.parse(did), assertionMethod: [] };
  server.documents.set(PATHS.did, JSON.stringify(none));
  await expectSigError(codes, "key_withdrawn", "Cannot trust feed: key");
});

Deno.test("keys that moved are not asked for by the old place's entity tag", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  await consumer.verify(server.did);
  const metadata = server.documents.get(PATHS.metadata) as string;
  const moved = "/.well-known/moved.json";
  server.documents.set(PATHS.metadata, metadata.replace(PATHS.jwks, moved));
  server.documents.set(moved, '{"keys":[]}');
  await expectSigError(
    () => consumer.verify(server.did),
    "key_withdrawn",
    "is no longer published",
  );
  assertEquals(last(server.of(moved)).ifNoneMatch, null);
});

Deno.test("metadata that names another issuer is its own error", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  await consumer.verify(server.did);
  const { origin } = server;
  const other = makeDocuments({ origin, keys: [key1], lines: [] });
  server.documents.set(PATHS.metadata, other.get(PATHS.metadata)!);
  await expectSigError(
    () => consumer.verify(server.did),
    "issuer_mismatch",
    "Cannot trust metadata",
  );
});

Deno.test("a key that is added signs what follows", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  watched.publishKeys([key1, key2]);
  watched.publish([...lines, await watched.line(4, key2)]);
  const { feed } = await consumer.verify(server.did);
  assertEquals(feed.keys.map(({ kid, events }) => [kid, events]), [
    [key1.publicJwk.kid!, 3],
    [key2.publicJwk.kid!, 1],
  ]);
});

Deno.test("a key that has signed nothing may go", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  watched.publishKeys([key1, key2]);
  await consumer.verify(server.did);
  watched.publishKeys([key1]);
  assertEquals((await consumer.verify(server.did)).warnings, []);
});

/** Serves one key set first, and another from the second request on. */
function switchKeys(
  { server, publishKeys }: WatchedIssuer,
  first: readonly SigningKey[],
  then: readonly SigningKey[],
): void {
  publishKeys(first);
  server.documents.delete(PATHS.did);
  const early = server.documents.get(PATHS.jwks) as string;
  publishKeys(then);
  server.documents.delete(PATHS.did);
  const late = server.documents.get(PATHS.jwks) as string;
  let isFirst = true;
  server.documents.set(PATHS.jwks, () => {
    const response = new Response(isFirst ? early : late, {
      headers: { etag: '"keys"' },
    });
    isFirst = false;
    return response;
  });
}

Deno.test("keys that come while the feed is read are fetched again, and the newer are kept", async () => {
  for (const isKnown of [false, true]) {
    await using watched = await watchIssuer(3, key1);
    const { consumer, server, lines } = watched;
    if (isKnown) await consumer.verify(server.did);
    const four = await watched.line(4, key2);
    watched.publish([...lines, four]);
    switchKeys(watched, [key1], [key1, key2]);
    assertEquals((await consumer.verify(server.did)).feed.verifiedEvents, 4);
    watched.publish([...lines, four, await watched.line(5, key2)]);
    assertEquals((await consumer.verify(server.did)).feed.verifiedEvents, 5);
    assertEquals(last(server.of(PATHS.jwks)).ifNoneMatch, '"keys"');
    assertEquals(last(server.of(PATHS.feed)).status, 206);
  }
});

Deno.test("keys that change while the feed is read are no less replaced or withdrawn", async () => {
  for (
    const [isKnown, then, code] of [
      [true, [stranger, key2], "key_replaced"],
      [true, [key2], "key_withdrawn"],
      // Of a first reading nothing is remembered: the second one decides.
      [false, [stranger, key2], "signature_invalid"],
      [false, [key2], "key_not_found"],
    ] as const
  ) {
    await using watched = await watchIssuer(3, key1);
    const { consumer, server, lines } = watched;
    if (isKnown) await consumer.verify(server.did);
    watched.publish([...lines, await watched.line(4, key2)]);
    switchKeys(watched, [key1], then);
    await expectSigError(() => consumer.verify(server.did), code, "Cannot ");
  }
});

Deno.test("10,000 unknown kids make the keys be fetched twice, then once a cooldown", async () => {
  await using watched = await watchIssuer(1, key1);
  const { consumer, server, lines } = watched;
  const line = await watched.line(2, key2);
  const parsed = JSON.parse(line);
  const unknown = Array.from({ length: 10_000 }, (_, i) => {
    const header = { alg: "EdDSA", kid: `none-${i}`, typ: "sig-event+jws" };
    const protectedHeader = new TextEncoder().encode(JSON.stringify(header))
      .toBase64({ alphabet: "base64url", omitPadding: true });
    return JSON.stringify({ ...parsed, protected: protectedHeader });
  });
  watched.publish([...lines, ...unknown]);
  const report = await consumer.report(server.did);
  assert(!report.valid);
  assertEquals(report.errors.length, 100);
  assertEquals(report.errors[0]?.code, "key_not_found");
  assertEquals(report.verified_events, 1);
  // Twice by the refresh, and once for the report of all faults.
  assertEquals(server.of(PATHS.jwks).length, 3);
  watched.wait(29_999);
  await consumer.report(server.did);
  assertEquals(server.of(PATHS.jwks).length, 5);
  watched.wait(1);
  await consumer.report(server.did);
  assertEquals(server.of(PATHS.jwks).length, 8);
});

Deno.test("a tail that was verified and then refused is not taken for known", async () => {
  await using watched = await watchIssuer(3, key2);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const fresh = await importSigningKey(
    await generateSigningKey({ kid: "fresh" }),
  );
  watched.publish([
    ...lines,
    await watched.line(4, stranger),
    await watched.line(5, fresh),
  ]);
  // Event 4 is verified with a key that is another one a moment later.
  switchKeys(watched, [key2, stranger], [key2, key1, fresh]);
  await expectSigError(
    () => consumer.verify(server.did),
    "signature_invalid",
    "Cannot verify feed",
  );
  watched.publishKeys([key2, stranger, fresh]);
  const { feed, warnings } = await consumer.verify(server.did);
  assertEquals(feed.verifiedEvents, 5);
  assertEquals(warnings.map(({ code }) => code), ["key_added", "key_added"]);
});
