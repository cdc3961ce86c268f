import { assert, assertEquals } from "@std/assert";
import { SigError } from "@sig/core";
import { isMissing, type OpenedDocument, readAll, sourceOf } from "./reader.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

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

Deno.test("readAll stops beyond the limit and closes", async () => {
  const { doc, cancelled } = documentOf([1, 2], [3], [4]);
  await expectSigError(
    () => readAll(doc, 2),
    "document_too_large",
    "Cannot read document: it is larger than 2 bytes",
  );
  assertEquals(cancelled(), 1);
});

Deno.test("only 404, 410 and no such file mean absence", () => {
  const error = (
    code: "fetch_status" | "source_not_found" | "fetch_failed",
    context: Record<string, string | number>,
  ) => new SigError(code, "Cannot", { context });
  assert(isMissing(error("fetch_status", { status: 404 })));
  assert(isMissing(error("fetch_status", { status: 410 })));
  assert(isMissing(error("source_not_found", { reason: "missing" })));
  for (const status of [204, 401, 403, 500, 503]) {
    assert(!isMissing(error("fetch_status", { status })));
  }
  for (const reason of ["permission_denied", "not_a_file", "unreadable"]) {
    assert(!isMissing(error("source_not_found", { reason })));
  }
  assert(!isMissing(error("fetch_failed", {})));
  assert(!isMissing(new Error("404")));
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
