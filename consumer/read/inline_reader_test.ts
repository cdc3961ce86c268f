import { assertEquals } from "@std/assert";
import { joinBytes } from "@sig/core";
import { openInlineFeed } from "./open_source.ts";
import type { InlineFeed } from "./inline_reader.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  importTestKeys,
  makeDocuments,
  makeLines,
  NOW,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { verifyIssuer } from "../verify/verify_issuer.ts";

const keys = (await importTestKeys()).slice(0, 1);
const lines = await makeLines(2, keys[0]!);

/** A feed as it comes in a request. */
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

Deno.test("an inline feed is verified like any other, and proves no origin", async () => {
  const { source, state, warnings } = await verify(inline());
  assertEquals(source, "inline");
  assertEquals(state.last_sequence, 2);
  assertEquals(warnings, []);
});

Deno.test("no events are an empty feed, not a blank line", async () => {
  assertEquals((await verify(inline({ events: "" }))).state.last_sequence, 0);
  await expectSigError(
    () => verify(inline({ events: "\n" })),
    "invalid_line",
    "Cannot verify feed: ",
  );
});

Deno.test("an absent DID document is a missing one, null is a wrong one", async () => {
  const { did_document: _, ...without } = inline();
  for (const feed of [without, inline({ did_document: undefined })]) {
    const { warnings } = await verify(feed);
    assertEquals(warnings.map(({ code }) => code), ["did_document_missing"]);
  }
  await expectSigError(
    () => verify(inline({ did_document: null })),
    "invalid_did_document",
    "it must be one JSON object",
  );
});

Deno.test("its text ends in LF and has no byte order mark", async () => {
  const { events } = inline();
  await expectSigError(
    () => verify(inline({ events: events.slice(0, -1) })),
    "incomplete_line",
    "Cannot verify feed: the last line must end in LF",
  );
  await expectSigError(
    () => verify(inline({ events: `\ufeff${events}` })),
    "invalid_line",
    "Cannot verify feed: ",
  );
});

Deno.test("its documents have the limits of fetched ones", async () => {
  await expectSigError(
    () => verify(inline({ metadata: { x: "y".repeat(16_384) } })),
    "document_too_large",
    "Cannot read document: it is larger than 16384 bytes",
  );
});

Deno.test("a key set that is not given is not found", async () => {
  await expectSigError(
    () => verify(inline({ jwks: undefined })),
    "source_not_found",
    "Cannot read feed: it has no jwks",
  );
});

Deno.test("its URIs are neither fetched nor compared", async () => {
  const { metadata } = inline();
  const elsewhere = {
    ...metadata as Record<string, unknown>,
    jwks_uri: "https://other.example/keys",
    events_uri: "http://127.0.0.1:9/feed",
  };
  const { state } = await verify(inline({ metadata: elsewhere }));
  assertEquals(state.last_sequence, 2);
});

Deno.test("a feed comes in pieces, so that none of them takes long", async () => {
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
