/** An application that people log in to. @module */

import {
  anything,
  type Faults,
  flag,
  list,
  nonEmptyText,
  object,
  oneOf,
  readAs,
  type Schema,
  text,
} from "@sig/api/requests";
import {
  isSigError,
  JsonError,
  parseJson,
  parseRequirement,
  SigError,
} from "@sig/core";
import { isObject } from "@sig/core/internal";
import {
  type PublicKeySet,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
} from "./keys.ts";

/** How an application proves which one it is (OIDC Core §9). */
export type AuthMethod =
  | "client_secret_basic"
  | "client_secret_post"
  | "private_key_jwt"
  | "none";

/** An application, as the operator's file describes it. */
export interface Client {
  /** Its id. */
  readonly client_id: string;
  /** What people are told. */
  readonly client_name: string;
  /** The ways that it may prove itself; with `none` PKCE alone does. */
  readonly authMethods: readonly AuthMethod[];
  /** SHA-256 of its secret, in base64url. */
  readonly secretSha256?: string;
  /** Its public keys. */
  readonly jwks?: PublicKeySet;
  /** Where codes may be sent, each character by character. */
  readonly redirectUris: readonly string[];
  /** Where people may be sent after a logout. */
  readonly postLogoutRedirectUris: readonly string[];
  /** Where it receives logout tokens. */
  readonly backchannelLogoutUri?: string;
  /** What ID tokens for it are signed with. */
  readonly signingAlgorithm: SigningAlgorithm;
  /** Whether it gets refresh tokens. */
  readonly refresh: boolean;
  /** What it needs beyond the server's own requirements, `key=value` each. */
  readonly require: readonly string[];
}

/** The applications by their ids. */
export type Clients = ReadonlyMap<string, Client>;

/** An entry as it is written. */
interface Entry {
  readonly client_id: string;
  readonly client_name?: string;
  readonly client_secret_sha256?: string;
  readonly jwks?: unknown;
  readonly token_endpoint_auth_method?: AuthMethod;
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  readonly backchannel_logout_uri?: string;
  readonly id_token_signed_response_alg?: SigningAlgorithm;
  readonly refresh?: boolean;
  readonly require?: readonly string[];
}

const METHODS: readonly AuthMethod[] = [
  ...["client_secret_basic", "client_secret_post"] as const,
  ...["private_key_jwt", "none"] as const,
];

const MAX_CLIENTS = 10_000;
const MAX_URI_LENGTH = 2_048;

/** An address that a browser or this server is sent to. */
const URI = text({ maxLength: MAX_URI_LENGTH }, judgeUri);
const REDIRECT = text(
  { maxLength: MAX_URI_LENGTH },
  (uri) => isAppScheme(uri) ? undefined : judgeUri(uri),
);

const ENTRY = object<Entry>({
  members: {
    client_id: text(
      { maxLength: 128 },
      (id) =>
        /^[A-Za-z0-9._~-]+$/.test(id)
          ? undefined
          : "it must be letters, digits, dots, hyphens, underscores",
    ),
    client_name: nonEmptyText({ maxLength: 80 }),
    client_secret_sha256: text(
      {},
      (digest) =>
        /^[A-Za-z0-9_-]{43}$/.test(digest)
          ? undefined
          : "it must be the SHA-256 of the secret in base64url, 43 characters",
    ),
    jwks: anything(),
    token_endpoint_auth_method: oneOf(METHODS, {}),
    redirect_uris: list({
      item: REDIRECT,
      minItems: 1,
      maxItems: 32,
      unique: true,
    }),
    post_logout_redirect_uris: list({
      item: REDIRECT,
      minItems: 0,
      maxItems: 32,
      unique: true,
    }),
    backchannel_logout_uri: URI,
    id_token_signed_response_alg: oneOf(SIGNING_ALGORITHMS, {}),
    refresh: flag({}),
    require: list({
      item: text({}, judgeRequirement),
      minItems: 0,
      maxItems: 16,
    }),
  },
  required: ["client_id", "redirect_uris"],
});

const FILE = object<{ readonly clients: readonly (Entry | undefined)[] }>({
  members: {
    clients: withTies(
      list({ item: ENTRY, minItems: 0, maxItems: MAX_CLIENTS }),
    ),
  },
  required: ["clients"],
});

/**
 * Reads `{"clients":[…]}` strictly.
 *
 * @example
 * ```ts
 * import { readClients } from "@sig/web";
 * import { assertEquals } from "@std/assert";
 *
 * const clients = readClients(JSON.stringify({
 *   clients: [{
 *     client_id: "spa",
 *     redirect_uris: ["https://app.example/callback"],
 *   }],
 * }));
 * assertEquals(clients.get("spa")?.authMethods, ["none"]);
 * ```
 *
 * @throws {SigError} `invalid_json`; `invalid_request` whose message names every
 * fault with its JSON pointer, and `context.errors` too.
 */
export function readClients(bytes: Uint8Array | string): Clients {
  const entries = readFile(bytes);
  return new Map(entries.map((entry) => [entry.client_id, clientOf(entry)]));
}

function readFile(bytes: Uint8Array | string): readonly Entry[] {
  try {
    const value = parseJson(
      typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes,
      { maxValues: 1_000_000 },
    );
    return readAs(FILE, value).clients as readonly Entry[];
  } catch (error) {
    if (error instanceof JsonError) {
      throw refuse("invalid_json", error.message, {
        ...(error.pointer === "" ? {} : { pointer: error.pointer }),
      });
    }
    if (!isSigError(error)) throw error;
    const { errors } = error.context;
    if (!Array.isArray(errors)) throw error;
    const faults = errors as unknown as readonly {
      readonly pointer: string;
      readonly detail: string;
    }[];
    throw refuse(
      "invalid_request",
      faults.map(({ pointer, detail }) =>
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
  return new SigError(code, `Cannot use file of applications: ${why}`, {
    context: {
      flag: "--oidc-clients",
      ...context,
      hint: "sig web client add writes an entry.",
    },
  });
}

/** What entries must keep to together, and the members of each. */
function withTies(
  schema: Schema<readonly Entry[]>,
): Schema<readonly Entry[]> {
  return {
    json: schema.json,
    read(value, pointer, faults) {
      const entries = schema.read(value, pointer, faults);
      const seen = new Set<string>();
      for (const [i, entry] of entries?.entries() ?? []) {
        if (entry === undefined) continue;
        judgeTies(entry, `${pointer}/${i}`, faults);
        if (seen.has(entry.client_id)) {
          faults.note(
            `${pointer}/${i}/client_id`,
            "invalid_field",
            "it must not stand twice",
          );
        }
        seen.add(entry.client_id);
      }
      return entries;
    },
  };
}

function judgeTies(entry: Entry, pointer: string, faults: Faults): void {
  const method = entry.token_endpoint_auth_method;
  const note = (member: string, why: string) =>
    faults.note(`${pointer}/${member}`, "invalid_field", why);
  const hasSecret = entry.client_secret_sha256 !== undefined;
  if (hasSecret && entry.jwks !== undefined) {
    note("jwks", "only one of client_secret_sha256, jwks may be given");
  }
  const needs = method === "private_key_jwt"
    ? entry.jwks !== undefined
    : method === "none"
    ? !hasSecret && entry.jwks === undefined
    : method === undefined || hasSecret;
  if (!needs) {
    note(
      "token_endpoint_auth_method",
      "it must go with client_secret_sha256 (client_secret_basic, client_secret_post), jwks (private_key_jwt), or neither (none)",
    );
  }
  if (entry.jwks !== undefined && !isPublicKeySet(entry.jwks)) {
    note("jwks", "it must be a set of public keys: RSA, P-256, Ed25519");
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
  // What a browser would read otherwise than it is written.
  return /^[\x21-\x7e]+$/.test(text)
    ? undefined
    : "it must be printable ASCII without white space";
}

/** A scheme of an installed app (RFC 8252 §7.1), which has a dot. */
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

function clientOf(entry: Entry): Client {
  const { client_id, client_secret_sha256, jwks } = entry;
  const method = entry.token_endpoint_auth_method;
  return {
    client_id,
    client_name: entry.client_name ?? client_id,
    authMethods: method !== undefined
      ? [method]
      : client_secret_sha256 !== undefined
      ? ["client_secret_basic", "client_secret_post"]
      : jwks !== undefined
      ? ["private_key_jwt"]
      : ["none"],
    ...(client_secret_sha256 === undefined
      ? {}
      : { secretSha256: client_secret_sha256 }),
    ...(jwks === undefined ? {} : { jwks: jwks as PublicKeySet }),
    redirectUris: entry.redirect_uris,
    postLogoutRedirectUris: entry.post_logout_redirect_uris ?? [],
    ...(entry.backchannel_logout_uri === undefined
      ? {}
      : { backchannelLogoutUri: entry.backchannel_logout_uri }),
    signingAlgorithm: entry.id_token_signed_response_alg ?? "RS256",
    refresh: entry.refresh ?? false,
    require: entry.require ?? [],
  };
}
