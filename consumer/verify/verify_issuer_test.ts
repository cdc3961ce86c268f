import { assert, assertEquals } from "@std/assert";
import { encodeHex } from "@std/encoding/hex";
import { unpackedFeed } from "../../tests/kit/unpack_vectors.ts";
import { DOCUMENT_PATHS, readFeedVector } from "../../tests/kit/vectors.ts";
import { openSource, parseSource } from "../read/source.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { startIssuerServer, status } from "../../tests/kit/issuer_server.ts";
import { createMemoryReader } from "../testdata/memory_reader.ts";
import {
  DID,
  importTestKeys,
  lineOf,
  makeDocuments,
  makeLines,
  NOW,
  PATHS,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { reportIssuer } from "./verify_report.ts";
import { fetchFeed, verifyFeed, verifyIssuer } from "./verify_feed.ts";

const [key1, key2, stranger] = await importTestKeys();

Deno.test("the report on a valid feed has exactly the members of /v1/verify", async () => {
  const vector = readFeedVector("key-rotation");
  await using unpacked = await unpackedFeed(vector);
  const location = openSource({ kind: "directory", path: unpacked.path });
  const feed = vector.documents.get(DOCUMENT_PATHS.feed);
  const hash = await crypto.subtle.digest("SHA-256", feed!);
  assertEquals(await reportIssuer(location, { now: NOW }), {
    valid: true,
    issuer: DID,
    source: "local",
    verified_events: 3,
    last_sequence: 3,
    feed_sha256: encodeHex(hash),
    keys: [
      { kid: "orgsign-1", events: 1, first_sequence: 1, last_sequence: 1 },
      { kid: "orgsign-2", events: 2, first_sequence: 2, last_sequence: 3 },
    ],
    warnings: [],
  });
});

Deno.test("the report on an invalid feed lists its faults in order", async () => {
  const lines = [
    ...await makeLines(1, key1),
    await lineOf(upsert(2), stranger),
    "{}",
    await lineOf(upsert(4, { roles: "deploy" }), key1),
  ];
  const documents = makeDocuments({ keys: [key1], lines });
  const location = {
    reader: createMemoryReader(documents),
    metadataRef: PATHS.metadata,
  };
  const report = await reportIssuer(location, { now: NOW });
  assert(!report.valid);
  const { errors, ...rest } = report;
  assertEquals(rest, {
    valid: false,
    issuer: DID,
    source: "local",
    verified_events: 1,
    warnings: [],
  });
  assertEquals(errors, [
    {
      code: "signature_invalid",
      detail: "Cannot verify feed: it is not a signature of key " +
        '"orgsign-1" over these bytes',
      sequence: 2,
      line: 2,
      kid: "orgsign-1",
    },
    {
      code: "invalid_envelope",
      detail: "Cannot verify feed: member protected is missing",
      sequence: 3,
      line: 3,
      pointer: "/protected",
    },
    {
      code: "invalid_field",
      detail: "Cannot verify feed: /roles must be an array of strings",
      sequence: 4,
      line: 4,
      kid: "orgsign-1",
      pointer: "/roles",
    },
  ]);
});

Deno.test("a fault of the documents is reported, without an issuer", async () => {
  for (
    const [name, code, issuer] of [
      ["metadata-not-json", "invalid_metadata", null],
      ["jwks-duplicate-kid", "duplicate_kid", null],
      ["did-other-id", "invalid_did_document", null],
      ["sequence-gap", "sequence_gap", DID],
    ] as const
  ) {
    await using unpacked = await unpackedFeed(name);
    const location = openSource({ kind: "directory", path: unpacked.path });
    const report = await reportIssuer(location, { now: NOW });
    assert(!report.valid);
    assertEquals([report.errors[0]?.code, report.issuer], [code, issuer], name);
  }
});

Deno.test("what can't be read is thrown, never reported as invalid", async () => {
  const location = openSource({ kind: "directory", path: "./no-such-issuer" });
  for (const read of [reportIssuer, verifyIssuer]) {
    await expectSigError(
      () => read(location, { now: NOW }),
      "source_not_found",
      "there is no such file",
    );
  }
});

/** An issuer whose second key is published while its feed is being read. */
async function startRotating() {
  const server = startIssuerServer();
  const { did, origin } = server;
  const event = (n: number) => upsert(n, { issuer: did });
  const lines = [await lineOf(event(1), key1), await lineOf(event(2), key2)];
  const before = makeDocuments({ did, origin, keys: [key1], lines });
  const after = makeDocuments({ did, origin, keys: [key1, key2], lines });
  for (const [path, text] of before) server.documents.set(path, text);
  server.documents.set(PATHS.feed, () => {
    for (const [path, text] of after) {
      if (path !== PATHS.feed) server.documents.set(path, text);
    }
    return new Response(after.get(PATHS.feed), {
      headers: { "content-type": "application/x-ndjson" },
    });
  });
  const policy = { allowPrivate: true };
  return { server, location: openSource(parseSource(did, policy), policy) };
}

Deno.test("an issuer that adds a key while it is read is read a second time", async () => {
  const first = await startRotating();
  await using _first = first.server;
  const { feed } = await verifyIssuer(first.location, { now: NOW });
  assertEquals(feed.keys.map(({ kid }) => kid), ["orgsign-1", "orgsign-2"]);

  const second = await startRotating();
  await using _second = second.server;
  const report = await reportIssuer(second.location, { now: NOW });
  assertEquals(report.valid, true);
});

Deno.test("for a key that stays unknown an issuer is read twice, not once a line", async () => {
  await using server = startIssuerServer();
  const { did, origin } = server;
  const lines = await makeLines(150, key2, { issuer: did });
  const documents = makeDocuments({ did, origin, keys: [key1], lines });
  for (const [path, text] of documents) server.documents.set(path, text);
  const policy = { allowPrivate: true };
  const location = openSource(parseSource(did, policy), policy);
  const report = await reportIssuer(location, { now: NOW });
  assert(!report.valid);
  assertEquals(report.errors.length, 100);
  assertEquals(report.errors[0]?.code, "key_not_found");
  assertEquals(server.requests.filter((path) => path === PATHS.feed).length, 2);
});

Deno.test("an issuer that can't be read a second time leaves the question open", async () => {
  await using server = startIssuerServer();
  const { did, origin } = server;
  const lines = await makeLines(1, key2, { issuer: did });
  const documents = makeDocuments({ did, origin, keys: [key1], lines });
  for (const [path, text] of documents) server.documents.set(path, text);
  server.documents.set(PATHS.feed, () => {
    server.documents.set(PATHS.jwks, status(503));
    return new Response(documents.get(PATHS.feed));
  });
  const policy = { allowPrivate: true };
  const location = openSource(parseSource(did, policy), policy);
  await expectSigError(
    () => reportIssuer(location, { now: NOW }),
    "fetch_status",
    "the server answered with status 503",
  );
});

Deno.test("warnings of documents, transport and feed come together", async () => {
  await using server = startIssuerServer();
  const { did, origin } = server;
  const event = upsert(1, { issuer: did, subject: "alice" });
  const lines = [await lineOf(event, key1)];
  const documents = makeDocuments({ did, origin, keys: [key1], lines });
  documents.delete(PATHS.did);
  for (const [path, text] of documents) server.documents.set(path, text);
  server.documents.set(
    PATHS.feed,
    () =>
      new Response(documents.get(PATHS.feed), {
        headers: { "content-type": "text/plain" },
      }),
  );
  const policy = { allowPrivate: true };
  const location = openSource(parseSource(did, policy), policy);
  const { warnings } = await verifyIssuer(location, { now: NOW });
  assertEquals(
    warnings,
    [
      {
        code: "did_document_missing",
        detail: "there is no did.json: keys are taken from jwks.json alone",
      },
      {
        code: "media_type_unexpected",
        detail: 'the feed is served as "text/plain" ' +
          "(expected application/x-ndjson)",
      },
      {
        code: "subject_not_did",
        detail: "subject is not a DID",
        sequence: 1,
        line: 1,
      },
    ] as typeof warnings,
  );
});

Deno.test("progress counts the bytes of the feed and its events", async () => {
  const lines = await makeLines(300, key1);
  const documents = makeDocuments({ keys: [key1], lines });
  const location = {
    reader: createMemoryReader(documents),
    metadataRef: PATHS.metadata,
  };
  const told: unknown[] = [];
  const feed = documents.get(PATHS.feed)!;
  await verifyIssuer(location, {
    now: NOW,
    onProgress: (bytes, more) => told.push([bytes, more]),
  });
  // Told when bytes come: before their events are verified.
  const totalBytes = feed.length;
  assertEquals(told[0], [65_536, { events: 0, totalBytes }]);
  const [bytes, { events }] = told.at(-1) as [number, { events: number }];
  assertEquals(bytes, totalBytes);
  assert(events > 0 && events < 300);
});

const POLICY = { allowPrivate: true };

Deno.test("a fetched feed is what verifyFeed takes, with what was odd so far", async () => {
  await using server = startIssuerServer();
  const { did, origin, documents } = server;
  const lines = await makeLines(3, key1, { issuer: did });
  for (
    const [path, text] of makeDocuments({ did, origin, keys: [key1], lines })
  ) documents.set(path, text);
  documents.delete(PATHS.did);
  const text = lines.map((line) => `${line}\n`).join("");
  documents.set(PATHS.feed, () => new Response(text));
  const { issuer, document, warnings } = await fetchFeed(did, POLICY);
  assertEquals(warnings.map(({ code }) => code), [
    "did_document_missing",
    "media_type_unexpected",
  ]);
  const { state } = await verifyFeed(document.bytes, {
    issuer: issuer.issuer,
    keys: issuer.keys,
    publicOnly: issuer.metadata.public_only,
    now: NOW,
  });
  assertEquals(state.last_sequence, 3);
});

Deno.test("a feed is fetched from private hosts on request only", async () => {
  await expectSigError(
    () => fetchFeed("did:web:127.0.0.1%3A8080"),
    "address_not_allowed",
    "IP addresses, local names and a trailing dot are refused",
  );
});
