/**
 * The values of an issuer's directory for a web server's configuration. @module
 */

import { parseIssuerDid, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { documentTypes, proofsPath } from "../site/site_headers.ts";

/** Matches paths without characters that are special in any configuration. */
const PATH = /^\/\.well-known(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/;
/** Matches the hostname of a URL. */
export const HOSTNAME = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/;
/** Matches texts that nginx and Caddy read unchanged in double quotes. */
const QUOTABLE = /^[\p{L}\p{M}\p{N} /._~+,@=()-]+$/u;

/**
 * Reads the values of a configuration from the documents of a directory, except
 * the feed. All texts are safe in a configuration.
 *
 * @throws {SigError} `private_key_in_jwks` and all errors of `loadIssuer`;
 * `invalid_metadata` if the path of a document is unsafe: outside of
 * `/.well-known/`, at another origin, or with other characters than letters,
 * digits, `.`, `_` and `-`.
 */
export async function readHostedSite(dir: string) {
  // Loaded here, since the help does not need it.
  const { openSource } = await import("@sig/consumer");
  const { loadIssuer } = await import("@sig/consumer/internal");
  const { issuer, metadata } = await loadIssuer(
    openSource({ kind: "directory", path: dir }),
  );
  const { origin } = new URL(metadata.events_uri);
  const { host } = new URL(
    parseIssuerDid(issuer, { allowPrivate: true }).origin,
  );
  const url = new URL(origin);
  if (url.host !== host || new URL(metadata.jwks_uri).origin !== origin) {
    throw refused(`documents that lie elsewhere than at ${quote(host)}`);
  }
  if (!HOSTNAME.test(url.hostname)) {
    throw refused(`the host ${quote(url.hostname)}`);
  }
  const documents = [...documentTypes(metadata)];
  const proofs = proofsPath(metadata);
  for (const [path] of documents) {
    if (!PATH.test(path)) throw refused(`the path ${quote(path)}`);
  }
  return {
    issuer,
    ...originOf(url),
    // Sorted by path; a type with a space is quoted.
    documents: documents.sort(([a], [b]) => a < b ? -1 : 1)
      .map(([path, type]) => ({
        path,
        type,
        typeWord: type.includes(" ") ? `"${type}"` : type,
      })),
    // Folders of immutable files.
    proofs: proofs === undefined
      ? []
      : ["state", "tile"].map((kind) => ({ kind, path: `${proofs}${kind}/` })),
  };
}

/** The default ports of the schemes. */
export const SCHEME_PORTS = Object.freeze({ https: 443, http: 80 } as const);

/** Where a server listens. */
export type Origin = ReturnType<typeof originOf>;

/** Returns the parts of a URL's origin, with the port of its scheme. */
export function originOf({ hostname, port, protocol }: URL) {
  const scheme: keyof typeof SCHEME_PORTS = protocol === "https:"
    ? "https"
    : "http";
  return {
    scheme,
    hostname,
    port: port === "" ? SCHEME_PORTS[scheme] : Number(port),
  };
}

function refused(what: string): SigError {
  return new SigError("invalid_metadata", {
    action: "export",
    reason: `the metadata names ${what}`,
    context: {
      hint: "Documents lie below /.well-known/ of the issuer's own host, " +
        "in names of letters, digits, dots, _ and -.",
    },
  });
}

/**
 * Returns a text in double quotes for the configurations of nginx and Caddy.
 * Rejects special characters (quotes, backslashes, `$`, braces, control
 * characters) instead of escaping them, since nginx can't escape `$`.
 *
 * @param name Description of the value, for the error message.
 * @throws {SigError} `invalid_request`
 */
export function quoted(name: string, text: string): string {
  if (QUOTABLE.test(text)) return `"${text}"`;
  throw new SigError("invalid_request", {
    action: "export",
    reason: `${name} ${
      quote(text)
    } has characters that a configuration would read in another way`,
    context: {
      hint: "Letters, digits, spaces and / . _ ~ + , @ = ( ) - are taken.",
    },
  });
}
