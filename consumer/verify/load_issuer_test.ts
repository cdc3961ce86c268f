import { DEFAULT_LIMITS, type ErrorCode } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import { type LoadedIssuer, loadIssuer } from "./load_issuer.ts";
import { openSource, parseSource } from "../read/source.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  type IssuerServer,
  startIssuerServer,
  status,
} from "../../tests/kit/issuer_server.ts";
import {
  createMemoryReader,
  type MemoryReader,
} from "../testdata/memory_reader.ts";
import {
  DID,
  importTestKeys,
  makeDocuments,
  makeLines,
  PATHS,
} from "../../tests/kit/test_issuer.ts";

const [key1] = await importTestKeys();
const lines = await makeLines(1, key1);
const POLICY = { allowPrivate: true };

/** A server that publishes an issuer of its own origin, changed as told. */
function publish(changes: Record<string, unknown> = {}): IssuerServer {
  const server = startIssuerServer();
  const { did, origin } = server;
  const documents = makeDocuments({ did, origin, keys: [key1!], lines });
  for (const [path, text] of documents) server.documents.set(path, text);
  if (Object.keys(changes).length > 0) {
    const metadata = JSON.parse(String(documents.get(PATHS.metadata)));
    server.documents.set(
      PATHS.metadata,
      JSON.stringify({ ...metadata, ...changes }),
    );
  }
  return server;
}

function load(server: IssuerServer, options = {}): Promise<LoadedIssuer> {
  const source = parseSource(server.did, POLICY);
  return loadIssuer(openSource(source, POLICY), options);
}

/** Loads documents out of a map, some of them replaced or removed. */
function loadLocal(
  changes: { readonly [path: string]: string | undefined },
  options = {},
): { readonly reader: MemoryReader; readonly loaded: Promise<LoadedIssuer> } {
  const documents = makeDocuments({ keys: [key1!], lines });
  for (const [path, text] of Object.entries(changes)) {
    if (text === undefined) documents.delete(path);
    else documents.set(path, text);
  }
  const reader = createMemoryReader(documents);
  const location = { reader, metadataRef: PATHS.metadata };
  return { reader, loaded: loadIssuer(location, options) };
}

Deno.test("metadata comes first, then keys and DID document; the feed when opened", async () => {
  await using server = publish();
  const loaded = await load(server);
  assertEquals(loaded.issuer, server.did);
  assertEquals(loaded.warnings, []);
  assertEquals([...loaded.keys.keys.keys()], ["orgsign-1"]);
  assertEquals(server.requests[0], PATHS.metadata);
  assertEquals(server.requests.toSorted(), [
    PATHS.did,
    PATHS.jwks,
    PATHS.metadata,
  ]);
  const { document, warnings } = await loaded.openFeed();
  assertEquals(warnings, []);
  await Array.fromAsync(document.bytes);
  assertEquals(server.requests.at(-1), PATHS.feed);
});

Deno.test("another issuer than the origin's is refused before anything else is fetched", async () => {
  for (
    const issuer of ["did:web:other.example", "did:web:127.0.0.1%3A1", DID]
  ) {
    await using server = publish({ issuer });
    const error = await expectSigError(
      () => load(server),
      "issuer_mismatch",
      `Cannot trust metadata: it is of "${issuer}", and its origin proves "${server.did}"`,
    );
    assertEquals(error.context.expected, server.did);
    assertEquals(server.requests, [PATHS.metadata]);
  }
});

Deno.test("a URL proves the did:web of its host and port, wherever its path leads", async () => {
  await using server = publish();
  server.documents.set("/deep/sig.json", server.documents.get(PATHS.metadata)!);
  const url = `${server.origin}/deep/sig.json`;
  const loaded = await loadIssuer(openSource(parseSource(url, POLICY), POLICY));
  assertEquals(loaded.issuer, server.did);
  // The DID document stands where did:web says, not beside the metadata.
  assert(server.requests.includes(PATHS.did));

  await using stranger = publish({ issuer: server.did });
  const other = parseSource(`${stranger.origin}${PATHS.metadata}`, POLICY);
  await expectSigError(
    () => loadIssuer(openSource(other, POLICY)),
    "issuer_mismatch",
    "Cannot trust metadata",
  );
  assertEquals(stranger.requests, [PATHS.metadata]);
});

Deno.test("jwks_uri and events_uri of other origins are followed on request only", async () => {
  for (const name of ["jwks_uri", "events_uri"] as const) {
    await using elsewhere = publish();
    const path = name === "jwks_uri" ? PATHS.jwks : PATHS.feed;
    await using server = publish({ [name]: `${elsewhere.origin}${path}` });
    const error = await expectSigError(
      () => load(server),
      "invalid_metadata",
      `Cannot trust metadata: ${name} must be on the origin of sig.json`,
    );
    assertEquals(error.context.pointer, `/${name}`);
    assertEquals(server.requests, [PATHS.metadata]);
    assertEquals(elsewhere.requests, []);

    const loaded = await load(server, { allowOtherOrigins: true });
    const { document } = await loaded.openFeed();
    await Array.fromAsync(document.bytes);
    assertEquals(elsewhere.requests, [path]);
  }
});

Deno.test("the metadata's paths are followed, no file name is guessed", async () => {
  const { origin } = new URL("https://acme.example");
  const metadata = JSON.parse(
    String(makeDocuments({ keys: [key1], lines }).get(PATHS.metadata)),
  );
  const { reader, loaded } = loadLocal({
    [PATHS.metadata]: JSON.stringify({
      ...metadata,
      jwks_uri: `${origin}/keys/all.json`,
      events_uri: `${origin}/feed.ndjson`,
    }),
    [PATHS.jwks]: undefined,
    [PATHS.feed]: undefined,
    "/keys/all.json": JSON.stringify({ keys: [key1.publicJwk] }),
    "/feed.ndjson": "",
  });
  const { document } = await (await loaded).openFeed();
  await Array.fromAsync(document.bytes);
  assertEquals(reader.requests, [
    PATHS.metadata,
    "/keys/all.json",
    PATHS.did,
    "/feed.ndjson",
  ]);
});

Deno.test("only a did.json that is not there at all is a mere warning", async () => {
  for (const code of [404, 410]) {
    await using server = publish();
    server.documents.set(PATHS.did, status(code));
    const { warnings, keys } = await load(server);
    assertEquals(warnings.map(({ code }) => code), ["did_document_missing"]);
    assertEquals(keys.resolve("orgsign-1").kid, "orgsign-1");
  }
  // An attacker who causes errors must not be able to switch a check off.
  for (const code of [204, 401, 403, 429, 500, 503]) {
    await using server = publish();
    server.documents.set(PATHS.did, status(code));
    const error = await expectSigError(
      () => load(server),
      "fetch_status",
      `the server answered with status ${code}`,
    );
    assertEquals(error.context.status, code);
  }
});

Deno.test("a did.json that can't be read is not a missing one", async () => {
  const path = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${path}/.well-known/sig`, { recursive: true });
    for (const [name, text] of makeDocuments({ keys: [key1], lines })) {
      const bytes = typeof text === "string"
        ? new TextEncoder().encode(text)
        : text;
      await Deno.writeFile(path + name, bytes);
    }
    const location = openSource({ kind: "directory", path });
    assertEquals((await loadIssuer(location)).warnings, []);
    await Deno.remove(path + PATHS.did);
    assertEquals(
      (await loadIssuer(location)).warnings.map(({ code }) => code),
      ["did_document_missing"],
    );
    await Deno.mkdir(path + PATHS.did);
    await expectSigError(
      () => loadIssuer(location),
      "source_not_found",
      "it is not a regular file",
    );
  } finally {
    await Deno.remove(path, { recursive: true });
  }
});

Deno.test("a document that is missing, other than did.json, is an error", async () => {
  for (const path of [PATHS.metadata, PATHS.jwks]) {
    await using server = publish();
    server.documents.delete(path);
    await expectSigError(
      () => load(server),
      "fetch_status",
      "the server answered with status 404",
    );
  }
  await using server = publish();
  server.documents.delete(PATHS.feed);
  const loaded = await load(server);
  await expectSigError(
    () => loaded.openFeed(),
    "fetch_status",
    "the server answered with status 404",
  );
});

/** Document, text, code, part of the message. */
const FAULTS: readonly (readonly [
  keyof typeof PATHS,
  string,
  ErrorCode,
  string,
])[] = [
  ["metadata", "", "invalid_metadata", "Cannot read sig.json: "],
  ["metadata", "{", "invalid_metadata", "Cannot read sig.json: "],
  ["metadata", "\ufeff{}", "invalid_metadata", "Cannot read sig.json: "],
  ["metadata", "[]", "invalid_metadata", "it must be one JSON object"],
  ["metadata", "{}", "invalid_metadata", "/spec_version is required"],
  [
    "metadata",
    '{"issuer":"a","issuer":"b"}',
    "duplicate_json_member",
    "Cannot read sig.json: ",
  ],
  ["jwks", "{", "invalid_key", "Cannot read jwks.json: "],
  ["jwks", "[]", "invalid_key", "Cannot use key set: "],
  ["jwks", '{"keys":[{"kty":"oct"}]}', "private_key_in_jwks", "publishes"],
  [
    "jwks",
    '{"keys":[],"keys":[]}',
    "duplicate_json_member",
    "Cannot read jwks.json: ",
  ],
  ["did", "null", "invalid_did_document", "it must be one JSON object"],
  ["did", "nope", "invalid_did_document", "Cannot read did.json: "],
  ["did", '{"id":"did:web:x.example"}', "invalid_did_document", "its id must"],
  ["did", `{"a":{"b":1,"b":2}}`, "duplicate_json_member", "did.json: "],
];

for (const [document, text, code, message] of FAULTS) {
  Deno.test(`${document} ${JSON.stringify(text)} is ${code}`, async () => {
    const { loaded } = loadLocal({ [PATHS[document]]: text });
    const error = await expectSigError(() => loaded, code, message);
    assertEquals(error.category, "invalid");
  });
}

Deno.test("of two failures the key set's is told, whichever comes first", async () => {
  for (const slow of [PATHS.jwks, PATHS.did]) {
    await using server = publish();
    const answered = Promise.withResolvers<void>();
    const fail = (path: string, code: number) =>
      server.documents.set(path, async () => {
        if (path === slow) await answered.promise;
        else answered.resolve();
        return new Response(null, { status: code });
      });
    fail(PATHS.jwks, 500);
    fail(PATHS.did, 503);
    const error = await expectSigError(
      () => load(server),
      "fetch_status",
      "the server answered with status 500",
    );
    assert(String(error.context.url).endsWith(PATHS.jwks));
  }
});

Deno.test("each document has its own limit, at n and not at n + 1", async () => {
  const documents = makeDocuments({ keys: [key1], lines });
  const rows = [
    ["maxMetadataBytes", PATHS.metadata],
    ["maxJwksBytes", PATHS.jwks],
    ["maxDidDocumentBytes", PATHS.did],
  ] as const;
  for (const [name, path] of rows) {
    const n = String(documents.get(path)).length;
    await loadLocal({}, { limits: { ...DEFAULT_LIMITS, [name]: n } }).loaded;
    const limits = { ...DEFAULT_LIMITS, [name]: n - 1 };
    const error = await expectSigError(
      () => loadLocal({}, { limits }).loaded,
      "document_too_large",
      `Cannot read document: it is larger than ${n - 1} bytes`,
    );
    assertEquals(error.category, "limit");
  }
});

Deno.test("an unexpected media type is a warning for each document", async () => {
  await using server = publish();
  for (const path of [PATHS.metadata, PATHS.jwks, PATHS.did, PATHS.feed]) {
    const text = server.documents.get(path);
    assert(text !== undefined && typeof text !== "function");
    server.documents.set(path, () =>
      new Response(text, {
        headers: { "content-type": "text/plain; charset=utf-8" },
      }));
  }
  const loaded = await load(server);
  const { document, warnings } = await loaded.openFeed();
  await document.cancel();
  const codes = [...loaded.warnings, ...warnings].map(({ code }) => code);
  assertEquals(codes, Array(4).fill("media_type_unexpected"));
});
