import { assertEquals } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import {
  openInlineFeed,
  openSource,
  parseSource,
  type Source,
} from "./source.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

function did(host: string, origin: string) {
  return { kind: "did" as const, did: `did:web:${host}`, origin };
}

Deno.test("a did:web, a host and a URL are valid sources", () => {
  const rows: [string, Source][] = [
    ["did:web:acme.example", did("acme.example", "https://acme.example")],
    ["acme.example", did("acme.example", "https://acme.example")],
    ["Acme.Example", did("acme.example", "https://acme.example")],
    [
      "acme.example:8443",
      did("acme.example%3A8443", "https://acme.example:8443"),
    ],
    ["https://acme.example/.well-known/sig.json", {
      kind: "url",
      url: "https://acme.example/.well-known/sig.json",
    }],
  ];
  for (const [text, expected] of rows) {
    assertEquals(parseSource(text), expected, text);
  }
});

Deno.test("text with a slash, a leading dot or a final .json is a path", () => {
  for (
    const [path, kind] of [
      [".", "directory"],
      ["./acme.example", "directory"],
      ["../acme", "directory"],
      ["/srv/acme", "directory"],
      ["acme/", "directory"],
      ["sig.json", "file"],
      ["acme/.well-known/sig.json", "file"],
      ["127.0.0.1:8080/x", "directory"],
    ] as const
  ) assertEquals(parseSource(path), { kind, path }, path);
});

Deno.test("any other text is a host, even if a folder has that name", async () => {
  const exists = (path: string) => path.startsWith("acme");
  assertEquals(parseSource("acme.example", { exists }), {
    ...did("acme.example", "https://acme.example"),
    hint: "A folder of that name exists: write ./acme.example to read it.",
  });
  const error = await expectSigError(
    () => parseSource("acme", { exists }),
    "address_not_allowed",
    'Cannot use "did:web:acme"',
  );
  assertEquals(
    error.context.hint,
    "A folder of that name exists: write ./acme to read it.",
  );
});

Deno.test("private hosts are valid only if allowed, and use http", async () => {
  for (
    const [text, didHost, origin] of [
      ["127.0.0.1:8080", "127.0.0.1%3A8080", "http://127.0.0.1:8080"],
      ["localhost:8080", "localhost%3A8080", "http://localhost:8080"],
      ["did:web:localhost", "localhost", "http://localhost"],
    ] as const
  ) {
    assertEquals(
      parseSource(text, { allowPrivate: true }),
      did(didHost, origin),
    );
    await expectSigError(
      () => parseSource(text),
      "address_not_allowed",
      "IP addresses, local names",
    );
  }
  assertEquals(
    parseSource("http://127.0.0.1:1234/sig.json", { allowPrivate: true }),
    { kind: "url", url: "http://127.0.0.1:1234/sig.json" },
  );
});

Deno.test("any other text is refused with its own code", async () => {
  const rows: [string, ErrorCode, string][] = [
    ["http://acme.example/sig.json", "insecure_url", 'over "http:"'],
    ["file:///etc/hostname", "insecure_url", 'over "file:"'],
    ["file:/etc/hostname", "insecure_url", 'over "file:"'],
    ["https://me:secret@acme.example/", "insecure_url", "a user name"],
    ["https://localhost/", "address_not_allowed", "a local one"],
    ["https://", "invalid_identifier", "the URL is malformed"],
    ["did:key:z6Mk", "unsupported_did_method", "only did:web"],
    ["DID:web:acme.example", "invalid_identifier", "did:web:<host>"],
    ["did:web:acme.example:users", "invalid_identifier", "no path"],
    ["", "invalid_identifier", 'Cannot use ""'],
    [" acme.example", "invalid_identifier", "it is neither"],
    ["acme.example\u001b[2J", "invalid_identifier", "\\u001b[2J"],
    ["acme.example:", "invalid_identifier", "it is neither"],
    ["acme.example:8443:x", "invalid_identifier", "it is neither"],
    ["acme%3A80", "invalid_identifier", "it is neither"],
    ["me@acme.example", "invalid_identifier", "it is neither"],
    ["bücher.example", "invalid_identifier", "it is neither"],
    ["\u212aeys.example", "invalid_identifier", "it is neither"],
    ["acme.example\u00a0", "invalid_identifier", "it is neither"],
    ["./a\0b", "invalid_identifier", "NUL"],
  ];
  for (const [text, code, message] of rows) {
    await expectSigError(() => parseSource(text), code, message);
  }
});

Deno.test("a password in a URL is not shown", async () => {
  for (
    const [url, code] of [
      ["https://me:s3cret@acme.example/", "insecure_url"],
      ["https://me:s3cret@", "invalid_identifier"],
    ] as const
  ) {
    const error = await expectSigError(() => parseSource(url), code, "Cannot");
    const shown = error.message + JSON.stringify(error.context);
    assertEquals(shown.includes("s3cret"), false);
  }
});

/** Returns the kind, the reference and the expected issuer of a source. */
function place(text: string) {
  const { reader, metadataRef, expectedIssuer } = openSource(parseSource(text));
  return [reader.kind, metadataRef, expectedIssuer];
}

Deno.test("a DID, its host and a URL prove the did:web of the host and port", () => {
  const metadata = "https://acme.example:8443/.well-known/sig.json";
  const url = "https://acme.example/team/sig.json";
  const did = "did:web:acme.example";
  for (
    const [text, metadataRef, expectedIssuer] of [
      ["did:web:acme.example%3A8443", metadata, `${did}%3A8443`],
      ["acme.example:8443", metadata, `${did}%3A8443`],
      [metadata, metadata, `${did}%3A8443`],
      ["https://acme.example:443/team/sig.json", url, did],
      [url, url, did],
    ] as const
  ) {
    assertEquals(place(text), ["remote", metadataRef, expectedIssuer]);
  }
});

Deno.test("files and values prove no issuer", () => {
  assertEquals(place("./acme"), ["local", "/.well-known/sig.json", undefined]);
  const [kind, , issuer] = place("/srv/acme/.well-known/sig.json");
  assertEquals([kind, issuer], ["local", undefined]);
  const inline = openInlineFeed({ metadata: {}, jwks: {}, events: "" });
  assertEquals(
    [inline.reader.kind, inline.metadataRef, inline.expectedIssuer],
    ["inline", "/.well-known/sig.json", undefined],
  );
});

Deno.test("opens a private host only if allowed", async () => {
  const source = parseSource("did:web:localhost", { allowPrivate: true });
  await expectSigError(
    () => openSource(source),
    "address_not_allowed",
    "Cannot use",
  );
});

Deno.test("a URL's fragment is not part of the location", () => {
  const url = "https://acme.example/.well-known/sig.json";
  for (const text of [url, `${url}#`, `${url}#f`]) {
    assertEquals(openSource(parseSource(text)).metadataRef, url);
  }
  const query = `${url}?v=1`;
  assertEquals(openSource(parseSource(query)).metadataRef, query);
});
