/** Suites of @sig/consumer that fetch from servers on loopback. @module */

import {
  checkIssuer,
  type CheckIssuerOptions,
  createConsumer,
  type FetchPolicy,
  openSource,
  parseSource,
} from "@sig/consumer";
import { type ErrorContext, isSigError } from "@sig/core";
import {
  type Platform,
  type Servers,
  type Suite,
  type SuiteContext,
  Tally,
} from "./suite.ts";

/** Returns the result, or the code of the error. */
async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (isSigError(error)) return error.code;
    if (error instanceof TypeError) return "TypeError";
    throw error;
  }
}

/** Returns the context of the error. */
async function contextOf(work: Promise<unknown>): Promise<ErrorContext> {
  try {
    await work;
    return {};
  } catch (error) {
    if (isSigError(error)) return error.context;
    throw error;
  }
}

function serversOf({ servers }: SuiteContext): Servers {
  if (servers === undefined) throw new Error("Cannot fetch without servers");
  return servers;
}

/** Checks whether the subject of a source has the role `deploy`. */
async function mayDeploy(
  text: string,
  subject: string,
  policy: FetchPolicy = {},
): Promise<string> {
  const allowPrivate = policy.allowPrivate ?? false;
  const location = openSource(parseSource(text, { allowPrivate }), policy);
  const options: CheckIssuerOptions = { now: new Date() };
  const question = { subject, require: ["role=deploy"] } as const;
  const { decision } = await checkIssuer(location, question, options);
  return decision;
}

/** The paths of the hostile server, each with the expected outcome. */
const HOSTILE:
  readonly (readonly [string, Readonly<Record<Platform, string>>])[] = [
    ["redirect", same("fetch_redirected")],
    ["status-500", same("fetch_status")],
    ["html", same("fetch_media_type")],
    ["cut-length", same("fetch_failed")],
    ["cut-chunk", same("fetch_failed")],
    // HTTP/1 without a length or chunks. Chromium hides both headers from
    // cross-origin pages, where the truncated document is invalid JSON.
    ["unframed", { node: "fetch_failed", browser: "invalid_metadata" }],
    ["too-long", same("document_too_large")],
    ["too-long-chunked", same("document_too_large")],
    ["stalled", same("fetch_timeout")],
    ["silent", same("fetch_timeout")],
    // A browser decompresses the body before the limit on bytes applies.
    ["bomb", { node: "fetch_failed", browser: "document_too_large" }],
    // Only browsers enforce CORS.
    ["no-cors", { node: "invalid_metadata", browser: "fetch_failed" }],
  ];

function same(code: string): Readonly<Record<Platform, string>> {
  return { node: code, browser: code };
}

/**
 * An issuer, addresses that are not allowed, and servers that break the rules.
 */
export const fetchSuite: Suite = async (context) => {
  const { issuer, subject, hostile } = serversOf(context);
  const tally = new Tally();
  const ask = (source: string, policy?: FetchPolicy) =>
    outcomeOf(mayDeploy(source, subject, policy));
  const open = { allowPrivate: true };
  tally.expect("allow", await ask(issuer, open), "allow");
  const stranger = mayDeploy(issuer, "did:web:nobody.example", open);
  tally.expect("deny", await outcomeOf(stranger), "deny");
  for (
    const [source, code] of [
      [issuer, "address_not_allowed"],
      [`http://${issuer}/.well-known/sig.json`, "insecure_url"],
      ["https://0x7f.1/.well-known/sig.json", "address_not_allowed"],
      ["localhost", "address_not_allowed"],
      ["https://user@acme.example/.well-known/sig.json", "insecure_url"],
    ] as const
  ) {
    tally.expect(`closed: ${source}`, await ask(source), code);
  }
  for (const [path, codes] of HOSTILE) {
    // Only where it must expire: a busy machine may need longer for the others.
    const policy = codes.node === "fetch_timeout"
      ? { ...open, totalTimeoutMs: 1_000 }
      : open;
    const outcome = await ask(`${hostile}/${path}/sig.json`, policy);
    tally.expect(`${path}: ${outcome}`, outcome, codes[context.platform]);
  }
  // Browsers hide the reason of a failed fetch and the target of a redirect.
  const isBrowser = context.platform === "browser";
  const explain = (path: string) =>
    contextOf(mayDeploy(`${hostile}/${path}/sig.json`, subject, open));
  const { location_origin } = await explain("redirect");
  const target = isBrowser ? undefined : hostile;
  tally.expect("the redirect's target", location_origin, target);
  const { kind } = await explain("cut-length");
  tally.expect("why", kind, isBrowser ? "network" : "closed");
  tally.expect("a directory", await ask("./acme.example"), "TypeError");
  return tally;
};

/**
 * A consumer with a pin: conditional requests, then a feed that shrinks. The
 * issuer's server appends an event at `POST /append` and removes it at `POST
 * /take-back`.
 */
export const continuitySuite: Suite = async (context) => {
  const { issuer, subject } = serversOf(context);
  const tally = new Tally();
  const consumer = createConsumer({
    issuers: [issuer],
    allowPrivate: true,
    maxAgeMs: 0,
    now: () => new Date(),
  });
  const tell = async (what: string) => {
    await (await fetch(`http://${issuer}/${what}`, { method: "POST" })).text();
  };
  const ask = () =>
    outcomeOf(
      consumer.check(issuer, { subject, require: ["role=deploy"] })
        .then(({ continuity, last_sequence }) =>
          `${continuity} ${last_sequence}`
        ),
    );
  tally.expect("first", await ask(), "first_seen 1");
  tally.expect("unchanged", await ask(), "consistent 1");
  await tell("append");
  tally.expect("appended", await ask(), "consistent 2");
  await tell("take-back");
  tally.expect("taken back", await ask(), "feed_rolled_back");
  return tally;
};

/** TLS, on platforms that can trust a given authority. */
export const tlsSuite: Suite = async (context) => {
  const { tls, subject } = serversOf(context);
  if (tls === undefined) throw new Error("Cannot test TLS without a server");
  const { authority, name, port } = tls;
  const tally = new Tally();
  const here = { resolve: () => Promise.resolve(["127.0.0.1"]) };
  const trusted = {
    ...here,
    allowPrivate: true,
    caCertificates: [authority],
  };
  const ask = (host: string, policy: FetchPolicy) =>
    outcomeOf(mayDeploy(`${host}:${port}`, subject, policy));
  tally.expect("trusted", await ask(name, trusted), "allow");
  tally.expect(
    "for another name",
    await ask("evil.example", trusted),
    "fetch_failed",
  );
  const stranger = { ...here, allowPrivate: true };
  tally.expect("not trusted", await ask(name, stranger), "fetch_failed");
  // The name resolves to loopback, so it is refused before a connection.
  tally.expect("rebound", await ask(name, here), "address_not_allowed");
  return tally;
};
