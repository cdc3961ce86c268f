/** What a user may name as a source (docs/reference/command-line.md). @module */

import { isSigError, parseIssuerDid, quote, SigError } from "@sig/core";
import { vetUrl } from "../fetch/url_policy.ts";

/** Where an issuer's documents are to be got from. */
export type Source =
  | {
    /** A directory that holds `.well-known`. */
    readonly kind: "directory";
    /** A path of the operating system. */
    readonly path: string;
  }
  | {
    /** A `sig.json` file. */
    readonly kind: "file";
    /** A path of the operating system. */
    readonly path: string;
  }
  | {
    /** An issuer by its did:web, or by its host name. */
    readonly kind: "did";
    /** `did:web:<host>`, without a path. */
    readonly did: string;
    /** `https://host[:port]`; `http://` for private hosts, on request only. */
    readonly origin: string;
    /** What to tell when it fails: a folder of that name exists. */
    readonly hint?: string;
  }
  | {
    /** The URL of a `sig.json`. */
    readonly kind: "url";
    /** As it was parsed. */
    readonly url: string;
  };

/** Options of {@linkcode parseSource}. */
export interface ParseSourceOptions {
  /** Accept `http:`, IP addresses and local names (`--allow-insecure`). */
  readonly allowPrivate?: boolean;
  /** Whether a path exists; only used to hint at a forgotten `../`. */
  readonly exists?: (path: string) => boolean;
}

/** A scheme; neither a host with a port nor a drive letter. */
const SCHEME =
  /^(?:[a-zA-Z][a-zA-Z0-9+.-]*:\/\/|[a-zA-Z][a-zA-Z0-9+-]+:(?!\d+(?:\/|$)))/;
const HOST_AND_PORT = /^([^:]*)(?::(.*))?$/s;

/**
 * Reads a source as a user writes it: a did:web, a host name, an https URL of a
 * `sig.json`, a `sig.json` file or a directory. A path contains `/`, starts
 * with `.` or ends in `.json`; any other word is a host, never a file, so that
 * nobody can plant a folder that answers in a host's name.
 *
 * @example
 * ```ts
 * import { parseSource } from "@sig/consumer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseSource("acme.example:8443"), {
 *   kind: "did",
 *   did: "did:web:acme.example%3A8443",
 *   origin: "https://acme.example:8443",
 * });
 * assertEquals(parseSource("./acme"), { kind: "directory", path: "./acme" });
 * ```
 *
 * @throws {SigError} `insecure_url` for another scheme or userinfo,
 * `unsupported_did_method`, `address_not_allowed` for IP addresses and local
 * names, `invalid_identifier` for everything else.
 */
export function parseSource(
  text: string,
  options: ParseSourceOptions = {},
): Source {
  if (/^did:/i.test(text)) return parseDid(text, options);
  if (SCHEME.test(text)) {
    return { kind: "url", url: vetUrl(text, options).url.href };
  }
  if (text.includes("/") || text.startsWith(".") || text.endsWith(".json")) {
    return parsePath(text);
  }
  return parseHost(text, options);
}

function parseDid(
  did: string,
  { allowPrivate = false }: ParseSourceOptions,
): Extract<Source, { kind: "did" }> {
  const { origin } = parseIssuerDid(did, { allowPrivate });
  return { kind: "did", did, origin };
}

function parsePath(path: string): Source {
  if (path.includes("\0")) {
    throw new SigError(
      "invalid_identifier",
      `Cannot use ${quote(path)}: a path has no NUL character`,
    );
  }
  return { kind: path.endsWith(".json") ? "file" : "directory", path };
}

function parseHost(host: string, options: ParseSourceOptions): Source {
  const hint = options.exists?.(host)
    ? `A folder of that name exists: write ./${host} to read it.`
    : undefined;
  const [, name = "", port] = HOST_AND_PORT.exec(host) ?? [];
  // Host names have no case, DIDs do. Only ASCII: the Kelvin sign is not a K.
  const lower = name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const did = `did:web:${lower}` +
    (port === undefined ? "" : `%3A${port}`);
  // A percent code would pass for the port's, a colon in it for a path's.
  if (host === "" || host.includes("%") || port?.includes(":")) {
    throw notASource(host, hint);
  }
  try {
    const source = parseDid(did, options);
    return hint === undefined ? source : { ...source, hint };
  } catch (error) {
    if (isSigError(error, "invalid_identifier")) throw notASource(host, hint);
    if (!isSigError(error) || hint === undefined) throw error;
    const { code, cause } = error;
    throw new SigError(code, error, {
      context: { ...error.context, hint },
      cause,
    });
  }
}

function notASource(text: string, hint: string | undefined): SigError {
  return new SigError(
    "invalid_identifier",
    `Cannot use ${quote(text)}: it is neither a did:web, a host name, an ` +
      "https URL, a sig.json file nor a directory",
    {
      context: {
        identifier: text.slice(0, 200),
        ...(hint === undefined ? {} : { hint }),
      },
    },
  );
}
