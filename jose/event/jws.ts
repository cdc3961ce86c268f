/** JWS (RFC 7515, docs/protocol.md §2.2, §7.2). @module */

import {
  type FlattenedJws,
  JsonError,
  type OpenObject,
  parseJson,
  type ParseJsonOptions,
  type SigError,
} from "@sig/core";
import { decodeBase64UrlStrict, isObject, member } from "@sig/core/internal";
import { encodeBase64Url } from "../bytes/bytes.ts";
import type { SigningKey } from "../keys/signing_key.ts";

const encoder = new TextEncoder();

/** Signs a header and a payload. */
export async function signJws(
  header: Readonly<Record<string, string>>,
  payload: string,
  key: SigningKey,
): Promise<FlattenedJws> {
  const parts = {
    protected: encodeBase64Url(encoder.encode(JSON.stringify(header))),
    payload: encodeBase64Url(encoder.encode(payload)),
  };
  const input = encoder.encode(`${parts.protected}.${parts.payload}`);
  return { ...parts, signature: encodeBase64Url(await key.sign(input)) };
}

/** Signs claims as a JWT in compact serialization. */
export async function signCompactJws(
  header: Readonly<Record<string, string>>,
  claims: object,
  key: SigningKey,
): Promise<string> {
  const jws = await signJws(header, JSON.stringify(claims), key);
  return `${jws.protected}.${jws.payload}.${jws.signature}`;
}

/** A parsed JWT in compact serialization. Its signature is not verified. */
interface CompactJws {
  /** The protected header. */
  readonly header: OpenObject;
  /** The claims. */
  readonly claims: OpenObject;
  /** The decoded signature, of any length; empty for an unsecured token. */
  readonly signature: Uint8Array<ArrayBuffer>;
  /** The signed bytes. */
  readonly signingInput: Uint8Array<ArrayBuffer>;
}

/**
 * Parses three base64url parts, of which the first two are strict JSON objects.
 *
 * @param options How the claims are parsed.
 * @throws the error that `fault` returns.
 */
export function readCompactJws(
  text: string,
  fault: (why: string) => SigError,
  options?: ParseJsonOptions,
): CompactJws {
  const [first, second, third, ...rest] = text.split(".");
  if (
    first === undefined || second === undefined || third === undefined ||
    rest.length > 0
  ) throw fault("it must be three base64url parts with dots between them");
  return {
    header: readObject(first, "the header", fault),
    claims: readObject(second, "the claims", fault, options),
    signature: decodePart(third, "the signature", fault),
    signingInput: encoder.encode(`${first}.${second}`),
  };
}

/** The header of a JWT of this toolkit. */
interface JwtHeader<Typ extends string> {
  readonly alg: "EdDSA";
  readonly typ: Typ;
  readonly kid: string;
}

/** The rules for a JWT's header, and the errors of violations. */
interface HeaderRules<Typ extends string> {
  /**
   * The required `typ`, which prevents a signature made for another purpose
   * from being accepted.
   */
  readonly typ: Typ;
  /** Returns whether a value is a valid `kid`. */
  readonly isKid: (kid: unknown) => kid is string;
  /** A description of a valid `kid`. */
  readonly kid: string;
  /** Creates the error of a violation. */
  readonly fault: (
    code: "algorithm_not_allowed" | "typ_mismatch" | "invalid_header",
    why: string,
  ) => SigError;
}

/**
 * Requires exactly `alg`, `typ` and `kid`: no embedded key, no `crit`, no
 * `b64`.
 */
export function requireHeader<Typ extends string>(
  header: OpenObject,
  rules: HeaderRules<Typ>,
): JwtHeader<Typ> {
  const { typ, fault } = rules;
  if (member(header, "alg") !== "EdDSA") {
    throw fault("algorithm_not_allowed", "alg must be EdDSA");
  }
  if (member(header, "typ") !== typ) {
    throw fault("typ_mismatch", `typ must be ${typ}`);
  }
  const kid = member(header, "kid");
  if (!rules.isKid(kid)) {
    throw fault("invalid_header", `kid must be ${rules.kid}`);
  }
  if (Object.keys(header).length > 3) {
    throw fault(
      "invalid_header",
      "the header must have exactly alg, typ and kid",
    );
  }
  return { alg: "EdDSA", typ, kid };
}

function decodePart(
  part: string,
  what: string,
  fault: (why: string) => SigError,
): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64UrlStrict(part);
  if (bytes !== undefined) return bytes;
  throw fault(
    `${what} must be base64url without padding, white space or trailing bits`,
  );
}

function readObject(
  part: string,
  what: string,
  fault: (why: string) => SigError,
  options?: ParseJsonOptions,
): OpenObject {
  try {
    const value = parseJson(decodePart(part, what, fault), options);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw fault(`${what} must be strict JSON: ${error.message}`);
  }
  throw fault(`${what} must be one JSON object`);
}
