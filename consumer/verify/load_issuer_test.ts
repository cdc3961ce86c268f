import { DEFAULT_LIMITS } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import { loadIssuer } from "./load_issuer.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { publishIssuer, status } from "../../tests/kit/issuer_server.ts";
import { createMemoryReader } from "../testdata/memory_reader.ts";
import {
  DID,
  importTestKeys,
  makeDocuments,
  makeLines,
  PATHS,
} from "../../tests/kit/test_issuer.ts";

// promise: Documents of another host are refused before anything else is
//   fetched.

const [key1] = await importTestKeys();
const lines = await makeLines(1, key1);

/**
 * Starts a server that publishes an issuer of its own origin, with other
 * metadata.
 */
async function publish(changes: Record<string, unknown> = {}) {
  const server = await publishIssuer([key1], () => Promise.resolve(lines));
  const metadata = JSON.parse(String(server.documents.get(PATHS.metadata)));
  const changed = JSON.stringify({ ...metadata, ...changes });
  server.documents.set(PATHS.metadata, changed);
  return server;
}

Deno.test("requests metadata first, then keys and DID document, and the feed when it is opened", async () => {
  await using server = await publish();
  const loaded = await loadIssuer(server.location);
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

Deno.test("refuses an issuer other than the origin's before it fetches anything else", async () => {
  for (
    const issuer of ["did:web:other.example", "did:web:127.0.0.1%3A1", DID]
  ) {
    await using server = await publish({ issuer });
    const error = await expectSigError(
      () => loadIssuer(server.location),
      "issuer_mismatch",
      `Cannot trust metadata: the issuer is "${issuer}", but the origin is that of "${server.did}"`,
    );
    assertEquals(error.context.expected, server.did);
    assertEquals(server.requests, [PATHS.metadata]);
  }
});

Deno.test("follows jwks_uri and events_uri to other origins only if allowed", async () => {
  for (const name of ["jwks_uri", "events_uri"] as const) {
    await using elsewhere = await publish();
    const path = name === "jwks_uri" ? PATHS.jwks : PATHS.feed;
    await using server = await publish({
      [name]: `${elsewhere.origin}${path}`,
    });
    const error = await expectSigError(
      () => loadIssuer(server.location),
      "invalid_metadata",
      `Cannot trust metadata: ${name} must be on the origin of sig.json`,
    );
    assertEquals(error.context.pointer, `/${name}`);
    assertEquals(server.requests, [PATHS.metadata]);
    assertEquals(elsewhere.requests, []);

    const loaded = await loadIssuer(server.location, {
      allowOtherOrigins: true,
    });
    const { document } = await loaded.openFeed();
    await Array.fromAsync(document.bytes);
    assertEquals(elsewhere.requests, [path]);
  }
});

Deno.test("only a did.json that does not exist is a warning", async () => {
  await using server = await publish();
  for (const code of [404, 410]) {
    server.documents.set(PATHS.did, status(code));
    const { warnings, keys } = await loadIssuer(server.location);
    assertEquals(warnings.map(({ code }) => code), ["did_document_missing"]);
    assertEquals(keys.resolve("orgsign-1").kid, "orgsign-1");
  }
  // An attacker who causes errors must not be able to switch this check off.
  for (const code of [204, 401, 403, 429, 500, 503]) {
    server.documents.set(PATHS.did, status(code));
    const error = await expectSigError(
      () => loadIssuer(server.location),
      "fetch_status",
      `the server answered with status ${code}`,
    );
    assertEquals(error.context.status, code);
  }
});

Deno.test("of two failures, that of the key set is thrown, whichever is first", async () => {
  for (const slow of [PATHS.jwks, PATHS.did]) {
    await using server = await publish();
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
      () => loadIssuer(server.location),
      "fetch_status",
      "the server answered with status 500",
    );
    assert(String(error.context.url).endsWith(PATHS.jwks));
  }
});

Deno.test("each document has a separate limit, which allows n bytes but not n + 1", async () => {
  const documents = makeDocuments({ keys: [key1], lines });
  const reader = createMemoryReader(documents);
  const location = { reader, metadataRef: PATHS.metadata };
  const rows = [
    ["maxMetadataBytes", PATHS.metadata],
    ["maxJwksBytes", PATHS.jwks],
    ["maxDidDocumentBytes", PATHS.did],
  ] as const;
  for (const [name, path] of rows) {
    const n = String(documents.get(path)).length;
    await loadIssuer(location, { limits: { ...DEFAULT_LIMITS, [name]: n } });
    const limits = { ...DEFAULT_LIMITS, [name]: n - 1 };
    const error = await expectSigError(
      () => loadIssuer(location, { limits }),
      "document_too_large",
      `Cannot read document: it is larger than ${n - 1} bytes`,
    );
    assertEquals(error.category, "limit");
  }
});

Deno.test("an unexpected media type is a warning for each document", async () => {
  await using server = await publish();
  for (const path of [PATHS.metadata, PATHS.jwks, PATHS.did, PATHS.feed]) {
    const text = server.documents.get(path);
    assert(text !== undefined && typeof text !== "function");
    server.documents.set(path, () =>
      new Response(text, {
        headers: { "content-type": "text/plain; charset=utf-8" },
      }));
  }
  const loaded = await loadIssuer(server.location);
  const { document, warnings } = await loaded.openFeed();
  await document.cancel();
  const codes = [...loaded.warnings, ...warnings].map(({ code }) => code);
  assertEquals(codes, Array(4).fill("media_type_unexpected"));
});
