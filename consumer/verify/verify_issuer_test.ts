import { assert, assertEquals } from "@std/assert";
import { unpackedFeed } from "../../tests/kit/unpack_vectors.ts";
import { DOCUMENT_PATHS, readFeedVector } from "../../tests/kit/vectors.ts";
import { sha256Hex } from "../memory/pin.ts";
import { openSource } from "../read/source.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { publishIssuer, status } from "../../tests/kit/issuer_server.ts";
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
  assertEquals(await reportIssuer(location, { now: NOW }), {
    valid: true,
    issuer: DID,
    source: "local",
    verified_events: 3,
    last_sequence: 3,
    feed_sha256: await sha256Hex(feed!),
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

Deno.test("a fault of the documents is reported without an issuer", async () => {
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

Deno.test("an issuer that can't be read is thrown, not reported as invalid", async () => {
  const location = openSource({ kind: "directory", path: "./no-such-issuer" });
  for (const read of [reportIssuer, verifyIssuer]) {
    await expectSigError(
      () => read(location, { now: NOW }),
      "source_not_found",
      "there is no such file",
    );
  }
});

/** Publishes an issuer whose second key is added while the feed is read. */
async function startRotating() {
  const server = await publishIssuer([key1], async (issuer) => [
    await lineOf(upsert(1, { issuer }), key1),
    await lineOf(upsert(2, { issuer }), key2),
  ]);
  const { did, origin, documents, lines } = server;
  const after = makeDocuments({ did, origin, keys: [key1, key2], lines });
  documents.set(PATHS.feed, () => {
    for (const path of [PATHS.jwks, PATHS.did]) {
      documents.set(path, after.get(path)!);
    }
    return new Response(after.get(PATHS.feed));
  });
  return server;
}

Deno.test("an issuer that adds a key during the reading is read a second time", async () => {
  await using first = await startRotating();
  const { feed } = await verifyIssuer(first.location, { now: NOW });
  assertEquals(feed.keys.map(({ kid }) => kid), ["orgsign-1", "orgsign-2"]);

  await using second = await startRotating();
  const report = await reportIssuer(second.location, { now: NOW });
  assertEquals(report.valid, true);
});

Deno.test("for an unknown key, an issuer is read twice, not once per line", async () => {
  await using server = await publishIssuer(
    [key1],
    (issuer) => makeLines(150, key2, { issuer }),
  );
  const report = await reportIssuer(server.location, { now: NOW });
  assert(!report.valid);
  assertEquals(report.errors.length, 100);
  assertEquals(report.errors[0]?.code, "key_not_found");
  assertEquals(server.requests.filter((path) => path === PATHS.feed).length, 2);
});

Deno.test("if the second reading fails, its error is thrown instead of a fault", async () => {
  await using server = await startRotating();
  server.documents.set(PATHS.feed, () => {
    server.documents.set(PATHS.jwks, status(503));
    return new Response(`${server.lines[1]}\n`);
  });
  await expectSigError(
    () => reportIssuer(server.location, { now: NOW }),
    "fetch_status",
    "the server answered with status 503",
  );
});

Deno.test("returns the warnings of documents, transport and feed together", async () => {
  await using server = await publishIssuer([key1], async (issuer) => [
    await lineOf(upsert(1, { issuer, subject: "alice" }), key1),
  ]);
  const { documents, lines, location } = server;
  documents.delete(PATHS.did);
  documents.set(PATHS.feed, () => new Response(`${lines[0]}\n`));
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

Deno.test("progress reports the bytes of the feed and its events", async () => {
  const lines = await makeLines(300, key1);
  const documents = makeDocuments({ keys: [key1], lines });
  const location = {
    reader: createMemoryReader(documents),
    metadataRef: PATHS.metadata,
  };
  const calls: unknown[] = [];
  const feed = documents.get(PATHS.feed)!;
  await verifyIssuer(location, {
    now: NOW,
    onProgress: (bytes, more) => calls.push([bytes, more]),
  });
  // Called when bytes arrive, before their events are verified.
  const totalBytes = feed.length;
  assertEquals(calls[0], [65_536, { events: 0, totalBytes }]);
  const [bytes, { events }] = calls.at(-1) as [number, { events: number }];
  assertEquals(bytes, totalBytes);
  assert(events > 0 && events < 300);
});

Deno.test("fetchFeed returns the bytes for verifyFeed, and the warnings so far", async () => {
  await using server = await publishIssuer(
    [key1],
    (issuer) => makeLines(3, key1, { issuer }),
  );
  server.documents.delete(PATHS.did);
  const fetched = await fetchFeed(server.did, { allowPrivate: true });
  const { issuer, document, warnings } = fetched;
  assertEquals(warnings.map(({ code }) => code), ["did_document_missing"]);
  const { state } = await verifyFeed(document.bytes, {
    issuer: issuer.issuer,
    keys: issuer.keys,
    publicOnly: issuer.metadata.public_only,
    now: NOW,
  });
  assertEquals(state.last_sequence, 3);
});
