import { assertEquals } from "@std/assert";
import { joinBytes } from "@sig/core/internal";
import type { OpenedDocument } from "../fetch/fetch_options.ts";
import {
  createRemoteReader,
  type InlineFeed,
  readAll,
  sourceOf,
} from "./reader.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { openInlineFeed } from "./source.ts";
import {
  importTestKeys,
  makeDocuments,
  makeLines,
  NOW,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { verifyIssuer } from "../verify/verify_feed.ts";

function documentOf(...chunks: number[][]) {
  let cancelled = 0;
  const doc: OpenedDocument = {
    bytes: (async function* () {
      for (const chunk of chunks) {
        yield await Promise.resolve(Uint8Array.from(chunk));
      }
    })(),
    mediaType: null,
    etag: null,
    cancel: () => void cancelled++,
  };
  return { doc, cancelled: () => cancelled };
}

Deno.test("readAll joins the chunks and closes", async () => {
  const { doc, cancelled } = documentOf([1, 2], [], [3]);
  assertEquals(await readAll(doc, 3), Uint8Array.of(1, 2, 3));
  assertEquals(cancelled(), 1);
});

Deno.test("readAll stops at the limit and closes", async () => {
  const { doc, cancelled } = documentOf([1, 2], [3], [4]);
  await expectSigError(
    () => readAll(doc, 2),
    "document_too_large",
    "Cannot read document: it is larger than 2 bytes",
  );
  assertEquals(cancelled(), 1);
});

Deno.test("one document without TLS makes the source http", () => {
  const at = (kind: "remote" | "local" | "inline", metadataRef: string) => ({
    reader: { kind, open: () => Promise.reject(new Error("not opened")) },
    metadataRef,
  });
  const tls = "https://acme.example/.well-known/x";
  const plain = "http://acme.example/.well-known/x";
  const urls = { jwks_uri: tls, events_uri: tls };
  const remote = at("remote", tls);
  assertEquals(sourceOf(remote), "https");
  assertEquals(sourceOf(remote, urls), "https");
  assertEquals(sourceOf(at("remote", plain), urls), "http");
  assertEquals(sourceOf(remote, { ...urls, jwks_uri: plain }), "http");
  assertEquals(sourceOf(remote, { ...urls, events_uri: plain }), "http");
  const plainUrls = { jwks_uri: plain, events_uri: plain };
  assertEquals(sourceOf(at("local", "/sig.json"), plainUrls), "local");
  assertEquals(sourceOf(at("inline", "/sig.json"), plainUrls), "inline");
});

const keys = (await importTestKeys()).slice(0, 1);
const lines = await makeLines(2, keys[0]!);

/** An inline feed, as in a request. */
function inline(changes: Partial<InlineFeed> = {}): InlineFeed {
  const documents = makeDocuments({ keys, lines });
  const parse = (path: string) => JSON.parse(String(documents.get(path)));
  return {
    metadata: parse(PATHS.metadata),
    jwks: parse(PATHS.jwks),
    did_document: parse(PATHS.did),
    events: lines.map((line) => `${line}\n`).join(""),
    ...changes,
  };
}

const verify = (feed: InlineFeed) =>
  verifyIssuer(openInlineFeed(feed), { now: NOW });

Deno.test("reports an inline feed without a key set as not found", async () => {
  await expectSigError(
    () => verify(inline({ jwks: undefined })),
    "source_not_found",
    "Cannot read feed: it has no jwks",
  );
});

Deno.test("does not fetch or compare the URIs of an inline feed", async () => {
  const { metadata } = inline();
  const elsewhere = {
    ...metadata as Record<string, unknown>,
    jwks_uri: "https://other.example/keys",
    events_uri: "http://127.0.0.1:9/feed",
  };
  const { state } = await verify(inline({ metadata: elsewhere }));
  assertEquals(state.last_sequence, 2);
});

Deno.test("reads an inline feed in small pieces", async () => {
  const text = "é".repeat(100_000);
  const { reader } = openInlineFeed(inline({ events: text }));
  const document = await reader.open("", { name: "feed", maxBytes: Infinity });
  const pieces: Uint8Array[] = [];
  for await (const piece of document.bytes) pieces.push(piece);
  assertEquals(pieces.map(({ length }) => length), [
    65_536,
    65_536,
    65_536,
    3_392,
  ]);
  const bytes = joinBytes(pieces, 200_000);
  assertEquals(new TextDecoder().decode(bytes), text);
});

Deno.test("requests each document with its own media type", async () => {
  const accepted: (string | null)[] = [];
  const reader = createRemoteReader({
    fetch: (request) => {
      accepted.push(request.headers.get("accept"));
      return Promise.resolve(Response.json({}));
    },
  });
  for (const name of ["metadata", "jwks", "did_document", "feed"] as const) {
    const doc = await reader.open("https://acme.example/x", {
      name,
      maxBytes: 2,
    });
    assertEquals(doc.mediaType, "application/json");
    assertEquals(await readAll(doc, 2), new TextEncoder().encode("{}"));
  }
  assertEquals(accepted, [
    "application/json",
    "application/jwk-set+json, application/json",
    "application/did+json, application/did+ld+json, application/json",
    "application/x-ndjson",
  ]);
});

Deno.test("a feed over its limit is feed_too_large", async () => {
  const reader = createRemoteReader({
    fetch: () => Promise.resolve(new Response("123")),
  });
  for (
    const [name, code] of [
      ["feed", "feed_too_large"],
      ["jwks", "document_too_large"],
    ] as const
  ) {
    await expectSigError(
      async () => {
        const options = { name, maxBytes: 2 };
        await readAll(await reader.open("https://acme.example/", options), 9);
      },
      code,
      "it is larger than 2 bytes",
    );
  }
});
