/** The keys that a DID document authorises (docs/protocol.md §1). @module */

import { type OpenObject, SigError } from "@sig/core";
import { isKid, isObject, member, quote } from "@sig/core/internal";
import { readDidKey } from "./did_key.ts";
import { decode32 } from "./public_key.ts";

/** The purpose of a key (DID Core §5.3). */
export type VerificationRelationship = "assertionMethod" | "authentication";

/** Options of {@linkcode readDidDocument}. */
export interface ReadDidDocumentOptions {
  /**
   * The purpose: `assertionMethod` signs events, `authentication` logs in
   * (default: `assertionMethod`).
   */
  readonly relationship?: VerificationRelationship;
}

/**
 * Returns the keys that a DID document lists for a purpose: `x` by kid. A key
 * is listed as `<did>#<kid>`, `#<kid>` or an embedded method. Methods without
 * an Ed25519 key, methods of other DIDs and dangling references authorise
 * nothing. The caller must limit the size of the document (docs/protocol.md
 * §1).
 *
 * Keys are read from `publicKeyJwk`. For `authentication`, where the document
 * belongs to a person and not to an issuer, they are also read from the
 * `publicKeyMultibase` (base58btc) of a `Multikey` (Controlled Identifiers 1.0
 * §2.2.2) or an `Ed25519VerificationKey2020`.
 *
 * @example
 * ```ts
 * import { readDidDocument } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
 * const did = "did:web:issuer.example";
 * const authorized = readDidDocument({
 *   id: did,
 *   verificationMethod: [{
 *     id: `${did}#key-1`,
 *     type: "JsonWebKey2020",
 *     controller: did,
 *     publicKeyJwk: { kty: "OKP", crv: "Ed25519", x },
 *   }],
 *   assertionMethod: ["#key-1"],
 * }, did);
 * assertEquals([...authorized], [["key-1", x]]);
 * ```
 *
 * @throws {SigError} `invalid_did_document`: another `id`, a malformed
 * document, one id for two keys, or a published private key.
 */
export function readDidDocument(
  value: unknown,
  did: string,
  options: ReadDidDocumentOptions = {},
): ReadonlyMap<string, string> {
  if (!isObject(value)) throw invalid("it must be one JSON object", "");
  if (member(value, "id") !== did) {
    throw invalid(`its id must be ${quote(did)}`, "/id");
  }
  const relationship = options.relationship ?? "assertionMethod";
  const methods = new Map<string, string>();
  list(value, "verificationMethod").forEach((method, index) => {
    const pointer = `/verificationMethod/${index}`;
    if (!isObject(method)) throw invalid("a method must be an object", pointer);
    addMethod(methods, method, { did, pointer, relationship });
  });
  const authorized = new Map<string, string>();
  list(value, relationship).forEach((entry, index) => {
    const pointer = `/${relationship}/${index}`;
    const kid = typeof entry === "string"
      ? kidOf(entry, did)
      : addEmbedded(methods, entry, { did, pointer, relationship });
    const x = kid === undefined ? undefined : methods.get(kid);
    if (kid !== undefined && x !== undefined) authorized.set(kid, x);
  });
  return authorized;
}

function list(document: OpenObject, name: string): readonly unknown[] {
  const value = member(document, name);
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw invalid(`${name} must be an array`, `/${name}`);
}

/** The position and context of a method. */
interface Place {
  readonly did: string;
  readonly pointer: string;
  readonly relationship: VerificationRelationship;
}

function addEmbedded(
  methods: Map<string, string>,
  entry: unknown,
  place: Place,
): string | undefined {
  if (isObject(entry)) return addMethod(methods, entry, place);
  throw invalid("it must be a reference or a method", place.pointer);
}

/** Adds the method's key and returns its kid. */
function addMethod(
  methods: Map<string, string>,
  method: OpenObject,
  place: Place,
): string | undefined {
  const { did, pointer, relationship } = place;
  const id = member(method, "id");
  if (typeof id !== "string") {
    throw invalid("a method's id must be a string", `${pointer}/id`);
  }
  const x = relationship === "authentication" &&
      Object.hasOwn(method, "publicKeyMultibase")
    ? readMultibase(method, pointer)
    : readX(method, pointer);
  const kid = kidOf(id, did);
  if (kid === undefined || x === undefined) return undefined;
  const known = methods.get(kid);
  if (known !== undefined && known !== x) {
    throw invalid(`${quote(id)} is the id of two keys`, `${pointer}/id`);
  }
  methods.set(kid, x);
  return kid;
}

/** The prefix of every Ed25519 multikey in base58btc. */
const ED25519_MULTIBASE = "z6Mk";

/** Returns the `x` of an Ed25519 multikey; undefined for other keys. */
function readMultibase(
  method: OpenObject,
  pointer: string,
): string | undefined {
  for (const secret of ["secretKeyMultibase", "privateKeyMultibase"]) {
    if (Object.hasOwn(method, secret)) {
      throw invalid("it publishes a private key", `${pointer}/${secret}`);
    }
  }
  const place = `${pointer}/publicKeyMultibase`;
  if (Object.hasOwn(method, "publicKeyJwk")) {
    throw invalid("a method must have one key, not two", place);
  }
  const text = method.publicKeyMultibase;
  if (typeof text !== "string") {
    throw invalid("publicKeyMultibase must be a string", place);
  }
  const type = member(method, "type");
  const isOurs = type === "Ed25519VerificationKey2020" ||
    type === "Multikey" && text.startsWith(ED25519_MULTIBASE);
  if (!isOurs) return undefined;
  try {
    return readDidKey(`did:key:${text}`).x;
  } catch {
    throw invalid(
      "publicKeyMultibase must be an Ed25519 key in base58btc (z6Mk…)",
      place,
    );
  }
}

/** Returns the `x` of an Ed25519 JWK; undefined for other keys. */
function readX(method: OpenObject, pointer: string): string | undefined {
  const place = `${pointer}/publicKeyJwk`;
  const jwk = member(method, "publicKeyJwk");
  if (jwk === undefined) return undefined;
  if (!isObject(jwk)) throw invalid("publicKeyJwk must be an object", place);
  if (Object.hasOwn(jwk, "d") || Object.hasOwn(jwk, "k")) {
    throw invalid("it publishes a private key", place);
  }
  if (member(jwk, "kty") !== "OKP" || member(jwk, "crv") !== "Ed25519") {
    return undefined;
  }
  try {
    decode32(jwk, "x");
  } catch {
    throw invalid("x must be base64url of 32 bytes", `${place}/x`);
  }
  return member(jwk, "x") as string;
}

/** Returns the kid of `<did>#<kid>` or `#<kid>`; undefined for other URLs. */
function kidOf(url: string, did: string): string | undefined {
  const fragment = url.startsWith("#")
    ? url.slice(1)
    : url.startsWith(`${did}#`)
    ? url.slice(did.length + 1)
    : undefined;
  return isKid(fragment) ? fragment : undefined;
}

function invalid(why: string, pointer: string): SigError {
  return new SigError("invalid_did_document", {
    action: "use DID document",
    reason: `${pointer === "" ? "" : `${pointer}: `}${why}`,
    context: { pointer },
  });
}
