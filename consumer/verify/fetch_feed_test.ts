import { assertEquals } from "@std/assert";
import { fetchFeed } from "./fetch_feed.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { startIssuerServer } from "../../tests/kit/issuer_server.ts";
import {
  importTestKeys,
  makeDocuments,
  makeLines,
  NOW,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { verifyFeed } from "./verify_feed.ts";

const [key1] = await importTestKeys();
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
