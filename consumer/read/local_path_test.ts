import { assertEquals } from "@std/assert";
import { parseLocalPath } from "./local_path.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

Deno.test("a reference is read by its path, its host is not used", () => {
  for (
    const ref of [
      "https://acme.example/.well-known/jwks.json",
      "http://127.0.0.1:8080/.well-known/jwks.json?v=1#x",
      "/.well-known/jwks.json",
      "/.well-known/./sig/../jwks.json",
      "/.well-known/%6awks.json",
      "/.well-known\\jwks.json",
    ]
  ) assertEquals(parseLocalPath(ref), [".well-known", "jwks.json"], ref);
});

Deno.test("a path that climbs out of the directory is refused", async () => {
  for (
    const ref of [
      "https://acme.example/../jwks.json",
      "https://acme.example/.well-known/../../jwks.json",
      "https://acme.example/%2e%2e/jwks.json",
      "https://acme.example/%2e%2e%2fjwks.json",
      "https://acme.example/.well-known/..%2f..%2fjwks.json",
      "https://acme.example/..\\jwks.json",
      "https://acme.example/%2e%2e%5cjwks.json",
      "https://acme.example\\..\\jwks.json",
      "/../jwks.json",
      "../jwks.json",
    ]
  ) {
    await expectSigError(
      () => parseLocalPath(ref),
      "invalid_metadata",
      "it leaves the issuer's directory",
    );
  }
});

Deno.test("percent codes are decoded once only", () => {
  assertEquals(parseLocalPath("/%252e%252e/x"), ["%2e%2e", "x"]);
});

Deno.test("a path that can't be a file is refused", async () => {
  for (
    const [ref, why] of [
      ["https://acme.example", "it names no file"],
      ["https://acme.example/", "it names no file"],
      ["/a/..", "it names no file"],
      ["/%", "its percent-encoding is malformed"],
      ["/%ff", "its percent-encoding is malformed"],
      ["/jwks.json%00.txt", "it contains a control character"],
      ["/a%0ab", "it contains a control character"],
    ] as const
  ) await expectSigError(() => parseLocalPath(ref), "invalid_metadata", why);
});
