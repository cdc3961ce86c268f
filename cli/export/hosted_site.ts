/** What a web server must know of an issuer's directory. @module */

import { parseIssuerDid, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { documentTypes, proofsPath } from "../site/site_headers.ts";

/** Letters, digits and what no configuration gives a meaning in a path. */
const PATH = /^\/\.well-known(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$/;
const HOSTNAME = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/;
/** Stands in double quotes as it is, for nginx and for Caddy alike. */
const QUOTABLE = /^[\p{L}\p{M}\p{N} /._~+,@=()-]+$/u;

/**
 * Reads what is to be served from the documents of a directory, all but the
 * feed; every text of it is fit for a configuration.
 *
 * @throws {SigError} `private_key_in_jwks` and all that `loadIssuer`
 * throws; `invalid_metadata` where a document has a place that no
 * configuration should name: outside of `/.well-known/`, at another origin, or
 * with other characters than letters, digits, `.`, `_` and `-`.
 */
export async function readHostedSite(dir: string) {
  // The help must not load what reads an issuer.
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
  const { hostname, protocol } = url;
  if (!HOSTNAME.test(hostname)) throw refused(`the host ${quote(hostname)}`);
  const documents = [...documentTypes(metadata)];
  const proofs = proofsPath(metadata);
  for (const [path] of documents) {
    if (!PATH.test(path)) throw refused(`the path ${quote(path)}`);
  }
  const scheme: Scheme = protocol === "https:" ? "https" : "http";
  const port = url.port === "" ? SCHEME_PORTS[scheme] : Number(url.port);
  return {
    issuer,
    scheme,
    hostname,
    port,
    // In the order in which they are shown; a type with a blank is quoted.
    documents: documents.sort(([a], [b]) => a < b ? -1 : 1)
      .map(([path, type]) => ({
        path,
        type,
        typeWord: type.includes(" ") ? `"${type}"` : type,
      })),
    // Folders of files that never change.
    proofs: proofs === undefined
      ? []
      : ["state", "tile"].map((kind) => ({ kind, path: `${proofs}${kind}/` })),
  };
}

/** Whether TLS is spoken. */
export type Scheme = keyof typeof SCHEME_PORTS;

/** The ports that a URL doesn't name. */
export const SCHEME_PORTS = Object.freeze({ https: 443, http: 80 } as const);

function refused(what: string): SigError {
  return new SigError(
    "invalid_metadata",
    `Cannot export: the metadata names ${what}`,
    {
      context: {
        hint: "Documents lie below /.well-known/ of the issuer's own host, " +
          "in names of letters, digits, dots, _ and -.",
      },
    },
  );
}

/**
 * A text in double quotes, for the configurations of nginx and of Caddy. What
 * one of them would read in another way (quotes, backslashes, `$`, braces,
 * control characters) is refused instead of escaped: nginx can't escape `$`.
 *
 * @param name What it is, for the message.
 * @throws {SigError} `invalid_request`
 */
export function quoted(name: string, text: string): string {
  if (QUOTABLE.test(text)) return `"${text}"`;
  throw new SigError(
    "invalid_request",
    `Cannot export: ${name} ${quote(text)} has characters that a ` +
      "configuration would read in another way",
    {
      context: {
        hint: "Letters, digits, spaces and / . _ ~ + , @ = ( ) - are taken.",
      },
    },
  );
}
