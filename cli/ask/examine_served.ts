/** What a doctor finds in how documents are served. @module */

import {
  isSigError,
  type SigError,
  type SigMetadata,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import type {
  IssuerLocation,
  OpenedDocument,
  Probed,
  ProbeOptions,
} from "@sig/consumer";
import {
  cacheFinding,
  certificateFinding,
  clockFinding,
  corsFinding,
  encodingFinding,
  type ServedHead,
  sniffingFindings,
} from "./examine_headers.ts";
import type { Finding } from "./finding.ts";
import { found } from "./found.ts";

/** Bytes that a feed may have got since it was verified. */
const NEW_BYTES = 256 * 1024;
/** A name that nobody gives to a document. */
const ABSENT = "/.well-known/sig/no-such-document-of-sig-doctor";
/** What each issuer's directory has, and nobody may fetch. */
const PRIVATE = ["/.sig/lock", "/.sig/names.csv"];

/** How a URL is asked; {@linkcode probeUrl} with its policy. */
export type Probe = (url: string, options?: ProbeOptions) => Promise<Probed>;

/** What {@linkcode examineServed} needs. */
export interface ServedExamination {
  /** Where the documents were read. */
  readonly location: IssuerLocation;
  /** The metadata there. */
  readonly metadata: SigMetadata;
  /** Bytes of the feed when it was verified. */
  readonly feedBytes: number;
  /** Asks a URL for the head of its answer. */
  readonly probe: Probe;
  /** The time. */
  readonly now: Date;
  /** Where http is spoken on the same host; its port 80 unless told. */
  readonly httpOrigin?: string;
}

/** Looks at each document as a browser and as a reader would ask for it. */
export async function examineServed(
  { feedBytes, httpOrigin, location, metadata, now, probe }: ServedExamination,
): Promise<readonly Finding[]> {
  const { metadataRef } = location;
  const { events_uri: feedUrl, jwks_uri } = metadata;
  const { host, origin, port, protocol } = new URL(metadataRef);
  const urls = [
    origin + WELL_KNOWN_PATHS.did_document,
    jwks_uri,
    metadataRef,
    feedUrl,
  ];
  const heads: ServedHead[] = [];
  for (const url of urls) {
    const head = await probe(url, {
      headers: {
        origin: "https://reader.example",
        "accept-encoding": "gzip, br",
      },
    });
    if (head.status === 200) heads.push({ path: new URL(url).pathname, head });
  }
  const http = httpOrigin ?? `http://${host}`;
  const isSecure = protocol === "https:";
  const asksHttp = isSecure && (port === "" || httpOrigin !== undefined);
  return [
    ...await conditionFindings(location, feedUrl, feedBytes),
    ...(isSecure ? [] : [found(
      "no_tls",
      "the documents are served over http",
      metadataRef,
    )]),
    ...certificateFinding(heads, now),
    ...asksHttp ? await httpFinding(http, probe) : [],
    ...corsFinding(heads),
    ...await preflightFinding(feedUrl, probe),
    ...cacheFinding(heads, now),
    ...encodingFinding(heads),
    ...sniffingFindings(heads),
    ...await absenceFindings(origin, probe),
    ...clockFinding(heads, now),
  ];
}

/** Whether a reader can ask for what is new only. */
async function conditionFindings(
  { reader }: IssuerLocation,
  feedUrl: string,
  bytes: number,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const options = { name: "feed", maxBytes: bytes + NEW_BYTES } as const;
  const head = async (opening: Promise<OpenedDocument>) => {
    const opened = await opening;
    await opened.cancel();
    return opened;
  };
  const { etag } = await head(reader.open(feedUrl, options));
  if (etag === null) {
    findings.push(
      found("etag_missing", "the feed is served without an ETag", feedUrl),
    );
  } else {
    const conditions = { ifNoneMatch: etag };
    const again = await head(reader.open(feedUrl, { ...options, conditions }));
    if (!again.unchanged) {
      findings.push(found(
        "etag_ignored",
        "the server sends the feed again to who has it already",
        feedUrl,
      ));
    }
  }
  if (bytes <= 1) return findings;
  try {
    const conditions = { range: { from: bytes - 1 } };
    const part = await head(reader.open(feedUrl, { ...options, conditions }));
    if (part.range === undefined) {
      findings.push(found(
        "range_ignored",
        "the server sends the whole feed to who asks for its end",
        feedUrl,
      ));
    }
  } catch (error) {
    if (!isAboutRange(error)) throw error;
    findings.push(found("range_wrong", error.reason, feedUrl));
  }
  return findings;
}

/** The same request without a range was answered a moment ago. */
function isAboutRange(error: unknown): error is SigError {
  if (isSigError(error, "fetch_failed")) {
    return error.context.kind === "range" || error.context.kind === "http";
  }
  return isSigError(error, "fetch_status") ||
    isSigError(error, "fetch_media_type");
}

/** What http leads to; that nobody listens there is well. */
async function httpFinding(
  origin: string,
  probe: Probe,
): Promise<readonly Finding[]> {
  const url = origin + WELL_KNOWN_PATHS.metadata;
  const head = await reached(probe(url, { allowHttp: true }));
  if (head === undefined || head.status < 200 || head.status >= 400) return [];
  const target = URL.parse(head.header("location") ?? "", url);
  if (head.status >= 300 && target?.protocol === "https:") return [];
  const what = head.status < 300
    ? "http answers with a document of its own"
    : "http leads elsewhere than to https";
  return [found("http_not_redirected", what, url)];
}

/** What a browser asks before it sends `if-none-match` for a page. */
async function preflightFinding(
  url: string,
  probe: Probe,
): Promise<readonly Finding[]> {
  const head = await reached(probe(url, {
    method: "OPTIONS",
    headers: {
      origin: "https://reader.example",
      "access-control-request-method": "GET",
      "access-control-request-headers": "if-none-match",
    },
  }));
  const allowed = head?.header("access-control-allow-headers") ?? "";
  const isAllowed = head !== undefined && head.status >= 200 &&
    head.status < 300 &&
    /(?:^|,)\s*(?:if-none-match|\*)\s*(?:,|$)/i.test(allowed);
  if (isAllowed) return [];
  return [found(
    "cors_preflight_refused",
    "a page may not send if-none-match",
    new URL(url).pathname,
  )];
}

/** What is not published must not be there. */
async function absenceFindings(
  origin: string,
  probe: Probe,
): Promise<readonly Finding[]> {
  const isThere = async (path: string) =>
    (await reached(probe(origin + path)))?.status === 200;
  if (await isThere(ABSENT)) {
    // Then 200 says nothing about other paths either.
    return [found(
      "missing_not_404",
      "what does not exist is answered with status 200",
      ABSENT,
    )];
  }
  const findings: Finding[] = [];
  for (const path of PRIVATE) {
    if (!await isThere(path)) continue;
    findings.push(found(
      "private_folder_served",
      "a file of the issuer's own folder can be fetched",
      path,
    ));
  }
  return findings.slice(0, 1);
}

/** Undefined where nobody answers. */
async function reached(probing: Promise<Probed>): Promise<Probed | undefined> {
  try {
    return await probing;
  } catch (error) {
    if (isSigError(error) && error.category === "unavailable") return undefined;
    throw error;
  }
}
