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

Deno.test("a URL is written as a strict parser reads it", () => {
  const urls = [
    // URL parsers read all of these as https://acme.example/x.
    ...["https:acme.example/x", "https:/acme.example/x"],
    ...["https:///acme.example/x", "https:\\\\acme.example/x"],
    ...["https://acme.example\\x", "HTTPS://acme.example/x"],
    ...[" https://acme.example/x", "https://acme.example/x "],
    ...["https://acme.example/\tx", "https://ac\nme.example/x"],
    ...["https://user@acme.example/", "https://:pw@acme.example/"],
    ...["https://acme.example/#x", "https://", "file:///etc/passwd"],
  ];
  for (const name of ["jwks_uri", "events_uri"]) {
    for (const url of urls) {
      assertEquals(
        faults({ ...METADATA, [name]: url }),
        [`/${name} invalid_field`],
        url,
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
  for (const issuer of ["acme.example", "did:web:evil.example#.localhost"]) {
    assertEquals(
      faults({ ...METADATA, issuer }),
      ["/issuer invalid_field"],
    );
  }
  for (const value of [null, [], "x", 1]) {
    assertSigError(
      () => validateMetadata(value),
      "invalid_metadata",
      "Cannot accept metadata (sig.json): it must be one JSON object",
    );
  }
});
