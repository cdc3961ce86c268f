import { assertEquals } from "@std/assert";
import { openInlineFeed, openSource } from "./open_source.ts";
import { parseSource } from "./source.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

/** What a source says about where to read and who must speak there. */
function place(text: string, allowPrivate = false) {
  const policy = { allowPrivate };
  const { reader, metadataRef, expectedIssuer } = openSource(
    parseSource(text, policy),
    policy,
  );
  return [reader.kind, metadataRef, expectedIssuer];
}

Deno.test("a DID and its host are the same place, and prove that DID", () => {
  const expected = [
    "remote",
    "https://acme.example:8443/.well-known/sig.json",
    "did:web:acme.example%3A8443",
  ];
  assertEquals(place("did:web:acme.example%3A8443"), expected);
  assertEquals(place("acme.example:8443"), expected);
});

Deno.test("a URL proves the did:web of its host and port, not of its path", () => {
  assertEquals(place("https://acme.example/team/sig.json"), [
    "remote",
    "https://acme.example/team/sig.json",
    "did:web:acme.example",
  ]);
  assertEquals(
    place("https://acme.example:443/sig.json")[2],
    "did:web:acme.example",
  );
  assertEquals(
    place("https://acme.example:8443/sig.json")[2],
    "did:web:acme.example%3A8443",
  );
});

Deno.test("files and values prove nothing", () => {
  assertEquals(place("./acme"), ["local", "/.well-known/sig.json", undefined]);
  const [kind, , issuer] = place("/srv/acme/.well-known/sig.json");
  assertEquals([kind, issuer], ["local", undefined]);
  const inline = openInlineFeed({ metadata: {}, jwks: {}, events: "" });
  assertEquals(
    [inline.reader.kind, inline.metadataRef, inline.expectedIssuer],
    ["inline", "/.well-known/sig.json", undefined],
  );
});

Deno.test("a private host means http, and only on request", async () => {
  assertEquals(place("did:web:127.0.0.1%3A8080", true), [
    "remote",
    "http://127.0.0.1:8080/.well-known/sig.json",
    "did:web:127.0.0.1%3A8080",
  ]);
  const source = parseSource("did:web:localhost", { allowPrivate: true });
  await expectSigError(
    () => openSource(source),
    "address_not_allowed",
    "Cannot use",
  );
});

Deno.test("a URL's fragment is not part of the place", () => {
  const url = "https://acme.example/.well-known/sig.json";
  for (const text of [url, `${url}#`, `${url}#f`]) {
    assertEquals(openSource(parseSource(text)).metadataRef, url);
  }
  const query = `${url}?v=1`;
  assertEquals(openSource(parseSource(query)).metadataRef, query);
});
