/** The applications that people log in to, from the operator's file. @module */

import {
  eachOnce,
  list,
  readAs,
  requires,
  strictObject,
} from "@sig/api/internal/schemas";
import {
  isSigError,
  JsonError,
  parseJson,
  parseRequirement,
  SigError,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import { z } from "zod";
import type { Application } from "../sign_in/interaction.ts";
import {
  type PublicKeySet,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
} from "./keys.ts";

/** An authentication method of an application (OIDC Core §9). */
export type AuthMethod =
  | "client_secret_basic"
  | "client_secret_post"
  | "private_key_jwt"
  | "none";

/**
 * An application: its entry in the operator's file, completed with defaults.
 */
export interface Client extends Application {
  /**
   * The accepted authentication methods; with `none`, only PKCE protects it.
   */
  readonly auth_methods: readonly AuthMethod[];
  /** SHA-256 of its secret, in base64url. */
  readonly client_secret_sha256?: string | undefined;
  /** Its public keys. */
  readonly jwks?: PublicKeySet | undefined;
  /** The allowed redirect URIs, which must match exactly. */
  readonly redirect_uris: readonly string[];
  /** The allowed redirect URIs after a logout. */
  readonly post_logout_redirect_uris: readonly string[];
  /** The address for logout tokens; undefined: none are sent. */
  readonly backchannel_logout_uri?: string | undefined;
  /** The signing algorithm of its ID tokens. */
  readonly id_token_signed_response_alg: SigningAlgorithm;
  /** Whether it gets refresh tokens. */
  readonly refresh: boolean;
  /** Whether PKCE is required; if not, a nonce is required. */
  readonly pkce: boolean;
}

/** The applications by client id. */
export type Clients = ReadonlyMap<string, Client>;

/** All authentication methods. */
export const AUTH_METHODS: readonly AuthMethod[] = [
  "client_secret_basic",
  "client_secret_post",
  "private_key_jwt",
  "none",
];

const MAX_CLIENTS = 10_000;
const MAX_URIS = 32;

/** A URI for redirects or requests. */
const URI = z.string().max(2_048);
const REDIRECTS = (minItems: number) =>
  list(
    URI.check(requires((uri) => isAppScheme(uri) ? undefined : judgeUri(uri))),
    minItems,
    MAX_URIS,
  ).check(eachOnce);

const ENTRY = strictObject({
  client_id: z.string().max(128).regex(
    /^[A-Za-z0-9._~-]+$/,
    "it must be letters, digits, dots, hyphens, underscores",
  ),
  client_name: z.string().min(1).max(80).optional(),
  client_secret_sha256: z.string().regex(
    /^[A-Za-z0-9_-]{43}$/,
    "it must be the SHA-256 of the secret in base64url, 43 characters",
  ).optional(),
  jwks: z.custom<PublicKeySet>(
    isPublicKeySet,
    "it must be a set of public keys: RSA, P-256, Ed25519",
  ).optional(),
  token_endpoint_auth_method: z.enum(AUTH_METHODS).optional(),
  redirect_uris: REDIRECTS(1),
  post_logout_redirect_uris: REDIRECTS(0).default([]),
  backchannel_logout_uri: URI.check(requires(judgeUri)).optional(),
  id_token_signed_response_alg: z.enum(SIGNING_ALGORITHMS).default("RS256"),
  refresh: z.boolean().default(false),
  pkce: z.boolean().default(true),
  require: list(z.string().check(requires(judgeRequirement)), 0, 16)
    .default([]),
}).superRefine((entry, ctx) => {
  for (const [member, why] of judgeTies(entry)) {
    ctx.addIssue({ code: "custom", message: why, path: [member] });
  }
}, { when: ({ value }) => isObject(value) });
/** A parsed entry of the file. */
type Entry = z.output<typeof ENTRY>;

const FILE = strictObject({
  clients: list(ENTRY, 0, MAX_CLIENTS).superRefine((entries, ctx) => {
    const seen = new Set<string>();
    for (const [i, entry] of entries.entries()) {
      // An invalid entry can have any type; it is already reported.
      const id: string | undefined = entry?.client_id;
      if (id !== undefined && seen.has(id)) {
        const path = [i, "client_id"];
        ctx.addIssue({ code: "custom", message: "it is a duplicate", path });
      }
      seen.add(id ?? "");
    }
  }, { when: ({ value }) => Array.isArray(value) }),
});

/**
 * Parses `{"clients":[…]}` strictly.
 *
 * @example
 * ```ts
 * import { readClients } from "@sig/web/openid";
 * import { assertEquals } from "@std/assert";
 *
 * const clients = readClients(JSON.stringify({
 *   clients: [{
 *     client_id: "spa",
 *     redirect_uris: ["https://app.example/callback"],
 *   }],
 * }));
 * assertEquals(clients.get("spa")?.auth_methods, ["none"]);
 * ```
 *
 * @throws {SigError} `invalid_json`; `invalid_request`, whose message and
 * `context.errors` list every fault with its JSON pointer.
 */
export function readClients(bytes: Uint8Array | string): Clients {
  return new Map(
    readFile(bytes).map((entry) => {
      const { client_id, client_name = client_id } = entry;
      const auth_methods = authMethodsOf(entry);
      return [client_id, { ...entry, client_name, auth_methods }];
    }),
  );
}

function authMethodsOf(
  { token_endpoint_auth_method: method, client_secret_sha256, jwks }: Entry,
): readonly AuthMethod[] {
  if (method !== undefined) return [method];
  if (client_secret_sha256 !== undefined) {
    return ["client_secret_basic", "client_secret_post"];
  }
  return jwks === undefined ? ["none"] : ["private_key_jwt"];
}

function readFile(bytes: Uint8Array | string): readonly Entry[] {
  try {
    const value = parseJson(
      typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes,
      { maxValues: 1_000_000 },
    );
    return readAs(FILE, value).clients;
  } catch (error) {
    if (error instanceof JsonError) {
      throw refuse("invalid_json", error.message, {
        ...(error.pointer === "" ? {} : { pointer: error.pointer }),
      });
    }
    if (!isSigError(error)) throw error;
    const { errors } = error.context;
    if (errors === undefined) throw error;
    throw refuse(
      "invalid_request",
      errors.map(({ pointer, detail }) =>
        `${pointer === "" ? "the file" : pointer}: ${detail}`
      ).join("; "),
      { errors },
    );
  }
}

function refuse(
  code: "invalid_json" | "invalid_request",
  why: string,
  context: SigError["context"],
): SigError {
  return new SigError(code, {
    action: "use file of applications",
    reason: why,
    context: {
      flag: "--oidc-clients",
      ...context,
      hint: "sig web client add writes an entry.",
    },
  });
}

/** Yields the faults of combinations of members. */
function* judgeTies(entry: Entry): Generator<[keyof Entry, string]> {
  const method = entry.token_endpoint_auth_method;
  const hasSecret = entry.client_secret_sha256 !== undefined;
  if (hasSecret && entry.jwks !== undefined) {
    yield ["jwks", "only one of client_secret_sha256, jwks may be given"];
  }
  const needs = method === "private_key_jwt"
    ? entry.jwks !== undefined
    : method === "none"
    ? !hasSecret && entry.jwks === undefined
    : method === undefined || hasSecret;
  if (!needs) {
    yield [
      "token_endpoint_auth_method",
      "it must go with client_secret_sha256 (client_secret_basic, client_secret_post), jwks (private_key_jwt), or neither (none)",
    ];
  }
  if (entry.pkce === false && !hasSecret && entry.jwks === undefined) {
    yield ["pkce", "it may be false only with client_secret_sha256 or jwks"];
  }
}

function isPublicKeySet(value: unknown): boolean {
  return isObject(value) && Array.isArray(value.keys) &&
    value.keys.length > 0 &&
    value.keys.every((key) =>
      isObject(key) && typeof key.kty === "string" &&
      ["RSA", "EC", "OKP"].includes(key.kty) && key.d === undefined
    );
}

function judgeUri(text: string): string | undefined {
  const url = URL.parse(text);
  const isHere = url?.protocol === "http:" &&
    ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  if (url === null || !(url.protocol === "https:" || isHere)) {
    return "it must be an https URL, or http on this machine";
  }
  if (text.includes("#")) return "it must not have a fragment";
  if (url.username !== "" || url.password !== "" || text.includes("\\")) {
    return "it must not name a user, or have a backslash";
  }
  // Browsers would normalize other characters.
  return /^[\x21-\x7e]+$/.test(text)
    ? undefined
    : "it must be printable ASCII without white space";
}

/**
 * Whether a URI has the private scheme of an installed app (RFC 8252 §7.1),
 * which contains a dot.
 */
function isAppScheme(text: string): boolean {
  return /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\/[\x21\x22\x24-\x7e]*$/.test(
    text,
  );
}

function judgeRequirement(requirement: string): string | undefined {
  try {
    parseRequirement(requirement);
  } catch (error) {
    if (isSigError(error)) return error.message;
    throw error;
  }
}
