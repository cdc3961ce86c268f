import { assert, assertEquals } from "@std/assert";
import { isMissing, readAll } from "./reader.ts";
import { createRemoteReader } from "./remote_reader.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

Deno.test("each document is asked for with its own media type", async () => {
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

Deno.test("a feed over its limit has its own code", async () => {
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

Deno.test("an absent document is told from a server in trouble", async () => {
  for (const [status, expected] of [[404, true], [410, true], [503, false]]) {
    const reader = createRemoteReader({
      fetch: () =>
        Promise.resolve(new Response(null, { status: Number(status) })),
    });
    const error = await expectSigError(
      () =>
        reader.open("https://acme.example/", {
          name: "did_document",
          maxBytes: 9,
        }),
      "fetch_status",
      `status ${status}`,
    );
    assert(isMissing(error) === expected);
  }
});
