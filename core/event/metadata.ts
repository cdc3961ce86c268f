/** Validation of `/.well-known/sig.json` (docs/protocol.md §1). @module */

import { parseIssuerDid } from "./did_web.ts";
import { isSigError, type Issue } from "../errors/error.ts";
import { Fields, isObject, isString, issuesError } from "./fields.ts";
import { type SigMetadata, SPEC_VERSION } from "./types.ts";

/**
 * Validates an issuer's metadata. Unknown members are ignored.
 *
 * @example
 * ```ts
 * import { validateMetadata } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const metadata = validateMetadata({
 *   spec_version: "sig/0.1",
 *   issuer: "did:web:acme.example",
 *   jwks_uri: "https://acme.example/.well-known/jwks.json",
 *   events_uri: "https://acme.example/.well-known/sig/events.jsonl",
 *   public_only: true,
 *   algorithms_supported: ["EdDSA"],
 * });
 * assertEquals(metadata.issuer, "did:web:acme.example");
 * ```
 *
 * @throws {SigError} `invalid_metadata`, with all faults in `context.errors`.
 */
export function validateMetadata(value: unknown): SigMetadata {
  const issues = findMetadataIssues(value);
  if (issues.length === 0) return value as SigMetadata;
  throw issuesError("metadata (sig.json)", issues, "invalid_metadata");
}

function findMetadataIssues(value: unknown): readonly Issue[] {
  if (!isObject(value)) {
    const detail = "it must be one JSON object";
    return [{ pointer: "", code: "invalid_metadata", detail }];
  }
  const fields = new Fields(value);
  fields.oneOf("spec_version", [SPEC_VERSION]);
  const issuer = fields.identifier("issuer");
  if (issuer !== undefined) validateIssuer(fields, issuer);
  for (const name of ["jwks_uri", "events_uri"]) {
    fields.member(name, isUrl, "an absolute URL that begins with https://");
  }
  fields.member("public_only", isBoolean, "true or false");
  fields.member(
    "algorithms_supported",
    hasEdDsa,
    'an array of strings that contains "EdDSA"',
  );
  fields.optional("event_serialization", isJwsFlattened, '"jws-flattened"');
  const proofs = fields.get("proofs_uri");
  const place = allowedProofsUri(value);
  if (proofs !== undefined && proofs !== place) {
    const expected = place ?? "a URL on the issuer's host";
    fields.report("proofs_uri", "invalid_field", `must be ${expected}`);
  }
  return fields.issues;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function hasEdDsa(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isString) &&
    value.includes("EdDSA");
}

function isJwsFlattened(value: unknown): value is "jws-flattened" {
  return value === "jws-flattened";
}

/** Returns the only allowed URL: the issuer's host, `jwks_uri`'s scheme. */
function allowedProofsUri(
  { issuer, jwks_uri }: Readonly<Record<string, unknown>>,
): string | undefined {
  if (!isString(issuer) || !isString(jwks_uri)) return undefined;
  const [, scheme] = /^(https?):/.exec(jwks_uri) ?? [];
  const host = issuer.replace("did:web:", "").replace(/%3a/i, ":");
  const origin = scheme && URL.parse(`${scheme}://${host}`)?.origin;
  return origin && `${origin}/.well-known/sig/`;
}

function validateIssuer(fields: Fields, issuer: string): void {
  try {
    // The fetch decides whether a private host is allowed.
    parseIssuerDid(issuer, { allowPrivate: true });
  } catch (error) {
    if (!isSigError(error)) throw error;
    fields.report(
      "issuer",
      "invalid_field",
      "must be did:web:<host>, without a path",
    );
  }
}

/**
 * URL parsers also accept `https:host`, a third slash, backslashes and white
 * space, and remove them; a reader of a directory takes the path from the text.
 */
const URL_TEXT = /^https?:\/\/[^/\\\p{Cc} ][^\\\p{Cc} ]*$/u;

function isUrl(value: unknown): value is string {
  const url = isString(value) && URL_TEXT.test(value) ? URL.parse(value) : null;
  return url !== null && url.username === "" && url.password === "" &&
    url.hash === "";
}
