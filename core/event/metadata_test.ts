import { assertEquals } from "@std/assert";
import { validateMetadata } from "./metadata.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { ISSUER } from "../../tests/kit/events.ts";

const METADATA = {
  spec_version: "sig/0.1",
  issuer: ISSUER,
  jwks_uri: "https://acme.example/.well-known/jwks.json",
  events_uri: "https://acme.example/.well-known/sig/events.jsonl",
  public_only: true,
  algorithms_supported: ["EdDSA"],
};

function faults(value: unknown): string[] {
  const { code, context } = catchSigError(() => validateMetadata(value));
  assertEquals(code, "invalid_metadata");
  return (context.errors ?? []).map(({ pointer, code }) =>
    `${pointer} ${code}`
  );
}

Deno.test("returns valid metadata unchanged", () => {
  const changes: readonly Record<string, unknown>[] = [
    {},
    { public_only: false },
    { event_serialization: "jws-flattened" },
    { event_serialization: null },
    { algorithms_supported: ["ES256", "EdDSA"] },
    { issuer: "did:web:acme.example%3A8443" },
    {
      issuer: "did:web:127.0.0.1%3A8080",
      jwks_uri: "http://127.0.0.1:8080/.well-known/jwks.json",
    },
    { future: 1, ["__proto__"]: 1, constructor: 1 },
  ];
  for (const change of changes) {
    const metadata = { ...METADATA, ...change };
    assertEquals(validateMetadata(metadata) === metadata as unknown, true);
  }
});

Deno.test("reports each absent required member", () => {
  for (const name of Object.keys(METADATA)) {
    assertEquals(
      faults({ ...METADATA, [name]: undefined }),
      [`/${name} missing_field`],
    );
  }
  assertEquals(faults({}).length, Object.keys(METADATA).length);
});

Deno.test("reports each invalid member", () => {
  const table: readonly (readonly [string, readonly unknown[]])[] = [
    ["spec_version", ["sig/0.2", "", null, 1]],
    ["issuer", [
      "",
      null,
      "acme.example",
      "did:key:z6Mk",
      "did:web:acme.example:team",
      "did:web:Acme.example",
      "did:web:evil.example#.localhost",
      "did:web:acme.example\n",
    ]],
    ["jwks_uri", [
      "",
      null,
      "/.well-known/jwks.json",
      "acme.example",
      "file:///etc/passwd",
      "data:,x",
      "https://user@acme.example/",
      "https://:pw@acme.example/",
      "https://acme.example/#x",
      "https://",
      {},
    ]],
    ["events_uri", [
      "",
      null,
      "ftp://acme.example/",
      1,
      // URL parsers read all of these as https://acme.example/x.
      "https:acme.example/x",
      "https:/acme.example/x",
      "https:///acme.example/x",
      "https:\\\\acme.example/x",
      "https://acme.example\\x",
      "HTTPS://acme.example/x",
      " https://acme.example/x",
      "https://acme.example/x ",
      "https://acme.example/\tx",
      "https://ac\nme.example/x",
    ]],
    ["public_only", [null, "true", 1]],
    ["algorithms_supported", [
      null,
      "EdDSA",
      [],
      ["eddsa"],
      ["EdDSA", 1],
      { 0: "EdDSA" },
    ]],
    ["event_serialization", ["jws-compact", "", 1]],
  ];
  for (const [name, values] of table) {
    for (const value of values) {
      assertEquals(
        faults({ ...METADATA, [name]: value }),
        [`/${name} invalid_field`],
        Deno.inspect(value),
      );
    }
  }
});

Deno.test("the error names the first fault and contains all faults", () => {
  const error = assertSigError(
    () => validateMetadata({ ...METADATA, issuer: 1, public_only: 1 }),
    "invalid_metadata",
    "Cannot accept metadata (sig.json): /issuer must be a non-empty string without control characters (and 1 more)",
  );
  assertEquals(error.context.errors?.length, 2);
  for (const value of [null, [], "x", 1]) {
    assertSigError(
      () => validateMetadata(value),
      "invalid_metadata",
      "Cannot accept metadata (sig.json): it must be one JSON object",
    );
  }
});
