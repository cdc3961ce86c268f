import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  didWebOf,
  parseDidWeb,
  parseIssuerDid,
  wellKnownUrls,
} from "./did_web.ts";
import { isSigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";

function documentUrl(did: string, allowPrivate = false): string | null {
  try {
    return parseDidWeb(did, { allowPrivate }).didDocumentUrl;
  } catch (error) {
    if (isSigError(error)) return null;
    throw error;
  }
}

Deno.test("rejects each malformed DID with its error code", () => {
  const table: readonly (readonly [ErrorCode, readonly string[]])[] = [
    ["unsupported_did_method", [
      "did:key:z6MkhaXgBZD",
      "did:webs:acme.example",
      "did:plc:abc",
    ]],
    ["invalid_identifier", [
      ...["", "acme.example", "did:web", "did:web:", "DID:web:acme.example"],
      ...["did:Web:acme.example", "did:web:Acme.example"],
      ...["did:web:acme..example", "did:web:.acme.example"],
      ...["did:web:acme_x.example", "did:web:-acme.example"],
      ...["did:web:acme-.example"],
      `did:web:${"a".repeat(64)}.example`,
      `did:web:${"a.".repeat(127)}example`,
      "did:web:acme.example%3A",
      "did:web:acme.example%3A0",
      "did:web:acme.example%3A080",
      "did:web:acme.example%3A65536",
      "did:web:acme.example%3A8443%3A1",
      "did:web:acme.example%2F",
      "did:web:acme.example%40evil.example",
      "did:web:user@acme.example",
      "did:web:acme.example/x",
      "did:web:acme.example?x",
      "did:web:acme.example#x",
      "did:web:acme.example:",
      "did:web:acme.example:a%2Fb",
      "did:web:acme.example:..",
      "did:web:acme.example\u0000",
      " did:web:acme.example",
      "did:web:[::1]",
      "did:web:xn--a.example",
      "did:web:xn--.example",
      `did:web:acme.example:${"a".repeat(2048)}`,
    ]],
    ["address_not_allowed", [
      ...["did:web:localhost", "did:web:localhost.", "did:web:app.localhost"],
      ...["did:web:127.0.0.1", "did:web:127.0.0.1%3A8080", "did:web:10.1"],
      ...["did:web:2130706433", "did:web:0x7f.1", "did:web:0177.0.0.1"],
      ...["did:web:acme.0x", "did:web:printer.local"],
      ...["did:web:metadata.google.internal", "did:web:intranet"],
      ...["did:web:acme.example."],
    ]],
  ];
  for (const [code, dids] of table) {
    for (const did of dids) {
      assertEquals(catchSigError(() => parseDidWeb(did)).code, code, did);
    }
  }
});

Deno.test("messages state the rule, and show the input escaped and shortened", () => {
  assertSigError(
    () => parseDidWeb("did:key:z6Mk"),
    "unsupported_did_method",
    'Cannot use "did:key:z6Mk": only did:web is supported here',
  );
  assertSigError(
    () => parseDidWeb("did:web:a\u001b[31m.example"),
    "invalid_identifier",
    'Cannot use "did:web:a\\u001b[31m.example": the host must be a lower-case DNS name',
  );
  assertSigError(
    () => parseDidWeb("did:web:localhost"),
    "address_not_allowed",
    'Cannot use "did:web:localhost": IP addresses, local names and a trailing dot are refused',
  );
  assertSigError(
    () => wellKnownUrls("did:web:acme.example:team"),
    "invalid_identifier",
    'Cannot use "did:web:acme.example:team": an issuer\'s did:web has no path',
  );
});

Deno.test("a hint is given only for the hosts that it helps with", () => {
  const hintOf = (did: string) => catchSigError(() => parseIssuerDid(did));
  const allowPrivate =
    "Write the whole public name, such as acme.example. For a test or in a closed network, set allowPrivate.";
  for (
    const [did, hint] of [
      ["did:web:localhost", allowPrivate],
      ["did:web:10.0.0.7", allowPrivate],
      ["did:web:acme", allowPrivate],
      ["did:web:acme.internal", allowPrivate],
      ["did:web:acme.example.", "Write it without the dot at its end."],
      ["did:web:127.1", "Write the whole public name, such as acme.example."],
      [
        "did:web:acme.example:8443",
        "A port is written with %3A: did:web:acme.example%3A8443.",
      ],
      ["did:web:acme.example:team", undefined],
    ] as const
  ) assertEquals(hintOf(did).context.hint, hint, did);
});

Deno.test("accepts private hosts only on request, with http", () => {
  const table: readonly (readonly [string, string | null])[] = [
    ["did:web:127.0.0.1%3A8080", "http://127.0.0.1:8080"],
    ["did:web:localhost", "http://localhost"],
    ["did:web:localhost%3A8080", "http://localhost:8080"],
    ["did:web:a.localhost%3A8080", "http://a.localhost:8080"],
    ["did:web:10.0.0.7", "http://10.0.0.7"],
    ["did:web:acme.example", "https://acme.example"],
    ["did:web:127.1", null],
    ["did:web:2130706433", null],
    ["did:web:300.0.0.1", null],
    ["did:web:members%3A8080", "http://members:8080"],
    ["did:web:printer.local", "http://printer.local"],
    ["did:web:sig.acme.internal", "http://sig.acme.internal"],
    ["did:web:members.lan", "http://members.lan"],
    ["did:web:members.acme.corp", "http://members.acme.corp"],
    ["did:web:lan.acme.example", "https://lan.acme.example"],
    ["did:web:127", null],
    ["did:web:acme.example.", null],
    ["did:web:members.", null],
    ["did:web:members.internal.", null],
    // The host is validated before its `.localhost` ending is trusted.
    ["did:web:evil.example/.localhost", null],
    ["did:web:evil.example#.localhost", null],
    ["did:web:evil.example?.localhost", null],
    ["did:web:evil.example\\.localhost", null],
    ["did:web:user@evil.localhost", null],
    ["did:web: .localhost", null],
    ["did:web:.localhost", null],
  ];
  for (const [did, origin] of table) {
    assertEquals(
      documentUrl(did, true),
      origin === null ? null : `${origin}/.well-known/did.json`,
      did,
    );
  }
});

Deno.test("parses a did:web into its parts", () => {
  assertEquals(parseDidWeb("did:web:acme.example%3A8443:a:b-c_d.e"), {
    did: "did:web:acme.example%3A8443:a:b-c_d.e",
    host: "acme.example",
    port: 8443,
    path: ["a", "b-c_d.e"],
    origin: "https://acme.example:8443",
    didDocumentUrl: "https://acme.example:8443/a/b-c_d.e/did.json",
  });
  assertEquals(
    parseDidWeb("did:web:acme.example%3A443").origin,
    "https://acme.example",
  );
});

Deno.test("an issuer's four URLs are below its origin", () => {
  assertEquals(wellKnownUrls("did:web:acme.example%3A8443"), {
    did_document: "https://acme.example:8443/.well-known/did.json",
    jwks: "https://acme.example:8443/.well-known/jwks.json",
    metadata: "https://acme.example:8443/.well-known/sig.json",
    feed: "https://acme.example:8443/.well-known/sig/events.jsonl",
  });
});

Deno.test("didWebOf and parseDidWeb agree on origins", () => {
  for (const origin of ["https://acme.example", "https://acme.example:8443"]) {
    const did = didWebOf(new URL(`${origin}/x?y`));
    assertEquals(parseIssuerDid(did).origin, origin);
  }
  assertEquals(
    didWebOf(new URL("http://127.0.0.1:8080")),
    "did:web:127.0.0.1%3A8080",
  );
});

Deno.test("property: any text is rejected or parsed without loss", () => {
  const unit = fc.constantFrom(
    ..."ab.-0127:/@?#%3A\\ \n[]localhost.example".split(""),
    "xn--",
    ".localhost",
    "\u2028",
    "\u00e4",
  );
  const tail = fc.string({ unit, maxLength: 24 });
  fc.assert(
    fc.property(tail, fc.boolean(), (tail, allowPrivate) => {
      const did = `did:web:${tail}`;
      const url = documentUrl(did, allowPrivate);
      if (url === null) return;
      const { host, origin, port } = parseDidWeb(did, { allowPrivate });
      const parsed = new URL(url);
      assertEquals(parsed.hostname, host);
      assertEquals(parsed.origin, origin);
      assertEquals(parsed.username + parsed.search + parsed.hash, "");
      const authority = tail.split(":")[0]!.split(/%3a/i);
      assertEquals(authority[0], host);
      assertEquals(authority[1], port === undefined ? undefined : `${port}`);
    }),
    { numRuns: 3_000 },
  );
});

Deno.test("accepts lengths and ports up to their limits", () => {
  const host = (length: number) =>
    `${"a.".repeat(120)}${"b".repeat(length - 240)}`;
  const path = (length: number) =>
    `did:web:acme.example:${"p".repeat(length - 21)}`;
  const table: readonly (readonly [string, boolean])[] = [
    [`did:web:${host(253)}`, true],
    [`did:web:${host(254)}`, false],
    [`did:web:${"a".repeat(63)}.example`, true],
    ["did:web:acme.example%3A1", true],
    ["did:web:acme.example%3A65535", true],
    [path(2_048), true],
    [path(2_049), false],
  ];
  for (const [did, accepted] of table) {
    assertEquals(documentUrl(did) !== null, accepted, did);
  }
});
