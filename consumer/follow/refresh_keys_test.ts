import {
  generateSigningKey,
  importSigningKey,
  type SigningKey,
} from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
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

Deno.test("a key withdrawn in the DID document is detected while the feed is unchanged", async () => {
  await using issuer = await watchIssuer(3, key1);
  const { server } = issuer;
  await issuer.verify();
  const did = JSON.parse(server.documents.get(PATHS.did) as string);
  const none = JSON.stringify({ ...did, assertionMethod: [] });
  server.documents.set(PATHS.did, none);
  const { context } = await issuer.refused(
    "key_withdrawn",
    "is no longer authorised by the DID document",
  );
  assertEquals(context.kid, key1.publicJwk.kid);
  assertEquals(server.of(PATHS.jwks).map(({ status }) => status), [200, 304]);
});

Deno.test("without a DID document all published keys are valid, until the document is back", async () => {
  await using issuer = await watchIssuer(3, key1);
  const { documents } = issuer.server;
  const did = documents.get(PATHS.did) as string;
  for (const isThere of [false, false, true, true, false]) {
    if (isThere) documents.set(PATHS.did, did);
    else documents.delete(PATHS.did);
    const { warnings } = await issuer.verify();
    assertEquals(warnings.map(({ code }) => code), [
      ...(isThere ? [] : ["did_document_missing"]),
    ]);
  }
  const none = { ...JSON.parse(did), assertionMethod: [] };
  documents.set(PATHS.did, JSON.stringify(none));
  await issuer.refused("key_withdrawn", "Cannot trust feed: key");
});

Deno.test("documents at new URLs are requested without the old conditions", async () => {
  await using issuer = await watchIssuer(3, key1);
  const { documents, of, origin } = issuer.server;
  await issuer.verify();
  const metadata = documents.get(PATHS.metadata) as string;
  const moved = "/.well-known/moved.json";
  documents.set(PATHS.metadata, metadata.replace(PATHS.jwks, moved));
  documents.set(moved, '{"keys":[]}');
  await issuer.refused("key_withdrawn", "is no longer published");
  assertEquals(last(of(moved)).ifNoneMatch, null);
  const other = makeDocuments({ origin, keys: [key1], lines: [] });
  documents.set(PATHS.metadata, other.get(PATHS.metadata)!);
  await issuer.refused("issuer_mismatch", "Cannot trust metadata");
});

Deno.test("an added key can sign new events, and an unused key can be removed", async () => {
  await using issuer = await watchIssuer(3, key1);
  issuer.publishKeys([key1, key2]);
  await issuer.verify();
  issuer.publishKeys([key1]);
  assertEquals((await issuer.verify()).warnings, []);
  issuer.publishKeys([key1, key2]);
  issuer.publish([...issuer.lines, await issuer.line(4, key2)]);
  const { feed } = await issuer.verify();
  assertEquals(feed.keys.map(({ kid, events }) => [kid, events]), [
    [key1.publicJwk.kid!, 3],
    [key2.publicJwk.kid!, 1],
  ]);
});

/** Serves one key set to the first request, and another to later ones. */
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

Deno.test("keys added while the feed is read are fetched by a second attempt, and kept", async () => {
  for (const isKnown of [false, true]) {
    await using issuer = await watchIssuer(3, key1);
    const { lines, server } = issuer;
    if (isKnown) await issuer.verify();
    const four = await issuer.line(4, key2);
    issuer.publish([...lines, four]);
    switchKeys(issuer, [key1], [key1, key2]);
    assertEquals((await issuer.verify()).feed.verifiedEvents, 4);
    issuer.publish([...lines, four, await issuer.line(5, key2)]);
    assertEquals((await issuer.verify()).feed.verifiedEvents, 5);
    assertEquals(last(server.of(PATHS.jwks)).ifNoneMatch, '"keys"');
    assertEquals(last(server.of(PATHS.feed)).status, 206);
  }
});

Deno.test("a change of known keys while the feed is read is a contradiction", async () => {
  for (
    const [isKnown, then, code] of [
      [true, [stranger, key2], "key_replaced"],
      [true, [key2], "key_withdrawn"],
      // Without a pin, the second attempt decides.
      [false, [stranger, key2], "signature_invalid"],
      [false, [key2], "key_not_found"],
    ] as const
  ) {
    await using issuer = await watchIssuer(3, key1);
    if (isKnown) await issuer.verify();
    issuer.publish([...issuer.lines, await issuer.line(4, key2)]);
    switchKeys(issuer, [key1], then);
    await issuer.refused(code, "Cannot ");
  }
});

Deno.test("for 10,000 unknown kids the keys are fetched twice, then once within 30 s", async () => {
  await using watched = await watchIssuer(1, key1);
  const { consumer, server, lines } = watched;
  const parsed = JSON.parse(await watched.line(2, key2));
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
  // Two fetches by the refresh, one for the report of all faults.
  assertEquals(server.of(PATHS.jwks).length, 3);
  watched.wait(29_999);
  await consumer.report(server.did);
  assertEquals(server.of(PATHS.jwks).length, 5);
  watched.wait(1);
  await consumer.report(server.did);
  assertEquals(server.of(PATHS.jwks).length, 8);
});

Deno.test("a tail that was verified and then rejected is verified again", async () => {
  await using watched = await watchIssuer(3, key2);
  await watched.verify();
  const fresh = await importSigningKey(
    await generateSigningKey({ kid: "fresh" }),
  );
  watched.publish([
    ...watched.lines,
    await watched.line(4, stranger),
    await watched.line(5, fresh),
  ]);
  // Event 4 is verified with a key that is then replaced.
  switchKeys(watched, [key2, stranger], [key2, key1, fresh]);
  await watched.refused("signature_invalid", "Cannot verify feed");
  watched.publishKeys([key2, stranger, fresh]);
  const { feed, warnings } = await watched.verify();
  assertEquals(feed.verifiedEvents, 5);
  assertEquals(warnings.map(({ code }) => code), ["key_added", "key_added"]);
});
