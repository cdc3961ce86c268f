/** The embedded page and what it reads (INTERFACES §4). @module */

import { type Exchange, PAGE_HEADERS, type Route } from "@sig/api/http";
import { eTag, ifNoneMatch } from "@std/http/etag";
import {
  createIssuerDocuments,
  DOCUMENT_FILES,
  type IssuerDocuments,
  type ShownIssuer,
} from "./issuer_documents.ts";
import { replyDocument } from "../requests/reply_document.ts";
import { gzip, takesGzip } from "./compressed.ts";
import { type Asset, ASSETS, PAGE_CSP } from "../ui/assets.ts";

/** What the page is told of its server. */
export interface PageConfig {
  /** Always `sig-web`. */
  readonly service: string;
  /** The version of `@sig/web` that answers, for whoever reports a fault. */
  readonly version: string;
  /** Whom it speaks for; the first one is the default. */
  readonly audiences: readonly string[];
  /** Seconds that a challenge lives. */
  readonly ttl_seconds: number;
  /** What a login on the page asks for. */
  readonly scopes: readonly string[];
  /** Issuers to explore, and where their documents are passed on. */
  readonly issuers: readonly { readonly did: string; readonly base: string }[];
  /** What a login needs of a relationship, or null. */
  readonly require: readonly string[] | null;
  /** The issuer of that relationship, or null. */
  readonly issuer: string | null;
  /** Whether people may enrol and revoke themselves. */
  readonly demo: boolean;
  /** The demo's applications, which the page leads to. */
  readonly apps: readonly {
    readonly name: string;
    readonly url: string;
    readonly how: string;
  }[];
}

/**
 * The page at `/`, which holds its config, its files under `/ui/`, the config
 * once more as `/ui/config.json`, and the issuers' documents under
 * `/ui/issuers/<n>/`.
 */
export function createPageRoutes(
  config: Omit<PageConfig, "issuers">,
  issuers: readonly ShownIssuer[],
  now: () => Date,
): readonly Route[] {
  const told: PageConfig = {
    ...config,
    issuers: issuers.map(({ did }, n) => ({ did, base: `/ui/issuers/${n}/` })),
  };
  const readers = issuers.map((issuer) => createIssuerDocuments(issuer, now));
  return [
    ...Array.from(
      ASSETS,
      ([path, asset]) =>
        assetRoute(path, path === "/" ? completed(asset, told) : asset),
    ),
    {
      method: "GET",
      path: "/ui/config.json",
      handle: (exchange) => exchange.json(told),
    },
    {
      method: "GET",
      path: "/ui/issuers/:n/:file",
      async handle(exchange, { n = "", file = "" }) {
        const isKnown = file === IDENTITY_FILE ||
          Object.values(DOCUMENT_FILES).includes(file);
        const read = /^\d{1,4}$/.test(n) ? readers[Number(n)] : undefined;
        const documents = isKnown && read !== undefined
          ? await exchange.waitFor(`documents of ${n}`, read)
          : undefined;
        return file === IDENTITY_FILE && documents !== undefined
          ? exchange.json(identityOf(documents))
          : replyDocument(exchange, file, documents?.get(file));
      },
    },
  ];
}

/** Who the issuer is: all but the feed, in one answer. */
const IDENTITY_FILE = "identity.json";

/** The texts as they were published: the page verifies them itself. */
function identityOf(documents: IssuerDocuments) {
  const { metadata, jwks, did_document } = DOCUMENT_FILES;
  return {
    metadata: documents.get(metadata) ?? null,
    jwks: documents.get(jwks) ?? null,
    did_document: documents.get(did_document) ?? null,
  };
}

/** What the page would ask for first comes with it: its config, and its sign. */
function completed({ type, text }: Asset, config: PageConfig): Asset {
  const json = JSON.stringify(config).replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  const sign = encodeURIComponent(ASSETS.get(SIGN)?.text ?? "");
  return {
    type,
    text: text.replace(configOf(""), () => configOf(json))
      .replace(`href="${SIGN}"`, () => `href="data:image/svg+xml,${sign}"`),
  };
}

const SIGN = "/ui/icon.svg";

function configOf(value: string): string {
  return `<meta name="sig-config" content="${value}">`;
}

function assetRoute(path: string, { type, text }: Asset): Route {
  let plainTag: Promise<string> | undefined;
  let packed: Promise<Packed> | undefined;
  return {
    method: "GET",
    path,
    async handle(exchange: Exchange) {
      const isPacked = takesGzip(exchange.request);
      const { body, etag } = isPacked
        ? await (packed ??= pack(text))
        : { body: text, etag: await (plainTag ??= tagOf(text)) };
      const headers: (readonly [string, string])[] = [
        ["etag", etag],
        // Asked again each time, and answered with 304.
        ["cache-control", "no-cache"],
        ["vary", "accept-encoding"],
        ["content-security-policy", PAGE_CSP],
        ...PAGE_HEADERS,
      ];
      const given = exchange.request.headers.get("if-none-match");
      if (!ifNoneMatch(given, etag)) {
        return exchange.reply(null, { status: 304, type, headers });
      }
      if (isPacked) headers.push(["content-encoding", "gzip"]);
      return exchange.reply(body, { type, headers });
    },
  };
}

interface Packed {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

/** Once a process; it takes some milliseconds. */
async function pack(text: string): Promise<Packed> {
  const body = await gzip(text);
  return { body, etag: await tagOf(body) };
}

async function tagOf(entity: string | Uint8Array): Promise<string> {
  return await eTag(entity) ?? "";
}
