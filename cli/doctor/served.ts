/** Findings about how a server serves the documents. @module */

import type { SigError } from "@sig/core";
import {
  ABSENT,
  PRIVATE,
  type ServedAnswers,
  type ServedHead,
} from "./ask_server.ts";
import { error, type FindingTable, type Found, warning } from "./finding.ts";

const DAY_MS = 86_400_000;
/**
 * Minimum validity in days: automatic renewal happens a month before the end.
 */
const CERTIFICATE_DAYS = 21;
/** Maximum time in a cache, since caches delay revocations. */
const CACHE_SECONDS = 300;

/**
 * Returns the freshness lifetime in a shared cache in seconds (RFC 9111
 * §4.2.1); undefined if a cache may use a heuristic.
 */
function cachedSeconds(
  { head }: ServedHead,
  now: Date,
): number | undefined {
  const directives = (head.header("cache-control") ?? "").toLowerCase()
    .split(",").map((each) => each.trim());
  if (directives.some((each) => /^(?:no-store|no-cache|private)$/.test(each))) {
    return 0;
  }
  for (const name of ["s-maxage", "max-age"]) {
    const life = directives.find((each) => each.startsWith(`${name}=`));
    const [seconds] = /\d+/.exec(life ?? "") ?? [];
    if (seconds !== undefined) return Number(seconds);
  }
  const expires = head.header("expires");
  if (expires === null) return undefined;
  const until = Date.parse(expires);
  // An invalid date, especially `0`, means expired (RFC 9111 §5.3).
  return Number.isNaN(until) ? 0 : (until - now.getTime()) / 1000;
}

/** Returns a rule that finds documents by a header. */
function inHeader(name: string, isWrong: (value: string) => boolean) {
  return ({ heads }: ServedAnswers) =>
    pathsOf(
      heads.filter(({ head }) =>
        isWrong((head.header(name) ?? "").trim().toLowerCase())
      ),
    );
}

/** Finds documents that caches may keep for longer than `CACHE_SECONDS`. */
function keptTooLong(
  found: readonly ServedHead[],
  now: Date,
): readonly Found[] {
  const secondsOf = (each: ServedHead) => cachedSeconds(each, now) ?? 0;
  const most = Math.max(...found.map(secondsOf));
  return pathsOf(found.filter((each) => secondsOf(each) > CACHE_SECONDS))
    .map((paths) => [`caches may keep it for up to ${most} s`, paths]);
}

/** Joins the paths of documents to one place; none without documents. */
function pathsOf(found: readonly ServedHead[]): readonly string[] {
  return found.length === 0 ? [] : [found.map(({ path }) => path).join(", ")];
}

const COSTS = "Every poll transfers the whole feed";
const EXPORT = "sig export prints a configuration that does";
const NO_ANSWER = "Readers refuse it, so that no check can be answered";

/**
 * Findings about documents that can't be read because of how they are served.
 */
export const REFUSED_FINDINGS = {
  certificate_refused: error(
    "The certificate is not trusted (self-signed, of an unknown authority, without the intermediate ones), not valid now, or for another name",
    "Readers don't trust the host, so that no check can be answered",
    "Get one for the host's name from an authority that browsers trust, and send the intermediate certificates as well",
    refused("tls"),
  ),
  compressed_always: error(
    "A document is compressed for readers that did not ask for it",
    NO_ANSWER,
    "Switch compression off for the documents",
    refused("encoding"),
  ),
  length_unsaid: error(
    "A document has neither `content-length` nor chunked encoding",
    "Readers refuse it, since it could be truncated",
    "Let the server and each proxy use HTTP/1.1 and send the length",
    refused("unframed"),
  ),
  recovery_faulty: error(
    "The member `recovery` of `sig.json` is faulty, or the keys or the feed contradict its statements",
    NO_ANSWER,
    "Publish the correct sig.json, jwks.json and feed again",
    ({ code, message }) =>
      code === "invalid_recovery" || code === "recovery_contradicted"
        ? [[message, "sig.json"]]
        : [],
  ),
} as const satisfies FindingTable<SigError>;

function refused(kind: string): (error: SigError) => readonly Found[] {
  return ({ code, context, reason }) =>
    code === "fetch_failed" && context.kind === kind
      ? [[reason, `${context.url}`]]
      : [];
}

/** Findings about a fetched source. */
export const SERVED_FINDINGS = {
  server_slow: warning(
    "Requests of `sig doctor` had no response within 30 seconds in total",
    "Their findings are missing, and readers wait as well",
    "Find out what the server waits for, then run sig doctor again",
    ({ metadataRef, unanswered }) =>
      unanswered.length === 0 ? [] : [[
        `${unanswered.length} requests had no answer in time, the first of them ${
          unanswered[0]
        }`,
        metadataRef,
      ]],
  ),
  etag_missing: warning(
    "The feed has no `ETag`",
    COSTS,
    "Let the server send ETag",
    ({ etag, feedUrl }) => etag === null ? [feedUrl] : [],
  ),
  etag_ignored: warning(
    "`If-None-Match` with the feed's own tag is not answered with 304",
    COSTS,
    "Let the server answer If-None-Match with 304",
    ({ isSentAgain, feedUrl }) => isSentAgain ? [feedUrl] : [],
  ),
  range_ignored: warning(
    "`Range` is not answered with 206",
    COSTS,
    "Let the server answer Range with 206, without compression",
    ({ range, feedUrl }) => range === "ignored" ? [feedUrl] : [],
  ),
  range_wrong: error(
    "`Range` is answered with other bytes than requested",
    "Readers that know the beginning of the feed refuse the answer",
    "Fix the server's ranges, or switch them off",
    ({ range, feedUrl }) =>
      typeof range === "object" ? [[range.reason, feedUrl]] : [],
  ),
  no_tls: error(
    "The documents are served over http",
    "Anyone on the network path can withhold or undo a revocation",
    "Serve them over https with a certificate of the host",
    ({ metadataRef }) => metadataRef.startsWith("http:") ? [metadataRef] : [],
  ),
  certificate_expires: warning(
    "The certificate expires within three weeks",
    "From then on no check can be answered",
    "Renew it now, and find out why automatic renewal failed",
    ({ heads, now }) => {
      const ends = heads.flatMap(({ head }) => head.certificateUntil ?? []);
      if (ends.length === 0) return [];
      const end = new Date(Math.min(...ends.map((each) => each.getTime())));
      const days = Math.floor((end.getTime() - now.getTime()) / DAY_MS);
      if (days >= CERTIFICATE_DAYS) return [];
      return [[
        `the certificate expires in ${days} days, at ${end.toISOString()}`,
        "certificate",
      ]];
    },
  ),
  cors_missing: warning(
    "Documents have no `access-control-allow-origin: *`",
    "Pages in browsers can't read them",
    `Send access-control-allow-origin: *; ${EXPORT}`,
    inHeader("access-control-allow-origin", (value) => value !== "*"),
  ),
  cached_for_long: warning(
    "Caches may keep documents for more than five minutes",
    "Readers behind a cache learn of a revocation that much later",
    "Send cache-control: no-cache, and purge the caches",
    ({ heads, now }) => keptTooLong(heads, now),
  ),
  cache_unsaid: warning(
    "Documents have neither `cache-control` nor `expires`",
    "Caches guess for how long they may keep documents",
    `Send cache-control: no-cache; ${EXPORT}`,
    ({ heads, now }) =>
      pathsOf(heads.filter((each) => cachedSeconds(each, now) === undefined)),
  ),
  compressed_on_request: warning(
    "Documents are compressed for readers that accept that",
    "Browsers accept it, and then lengths and ranges are wrong",
    "Switch compression off for the documents, or send cache-control: no-transform",
    inHeader(
      "content-encoding",
      (value) => !/^(?:identity)?$/.test(value),
    ),
  ),
  missing_not_404: warning(
    "A document that can't exist is answered with 200",
    "A document that you remove would be invalid instead of missing",
    "Answer 404 for what does not exist",
    ({ present }) => present.includes(ABSENT) ? [ABSENT] : [],
  ),
  missing_cached: warning(
    "Caches may keep the 404 of a missing document for over five minutes",
    "Documents that you publish there later, such as proof files, stay missing for readers behind a cache",
    `Send cache-control: immutable with status 200 only; ${EXPORT}`,
    ({ absent, now }) => keptTooLong(absent, now),
  ),
  private_folder_served: error(
    "`.sig` of the issuer's directory can be fetched",
    "It contains names of people, and incomplete events after a crash",
    "Serve only the published documents; sig export prints a configuration that does",
    // If every path is answered with 200, this says nothing.
    ({ present: [path] }) =>
      path === undefined || !PRIVATE.includes(path) ? [] : [path],
  ),
} as const satisfies FindingTable<ServedAnswers>;
