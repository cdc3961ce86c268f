/** Requests a server's documents as browsers and readers do. @module */

import {
  isSigError,
  type SigError,
  type SigMetadata,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import type { IssuerLocation, OpenedDocument } from "@sig/consumer";
import type { ProbeOptions, ResponseHead } from "@sig/consumer/internal";

/** Bytes by which the feed may have grown since it was verified. */
const NEW_BYTES = 256 * 1024;
/** A path at which no issuer publishes a document. */
export const ABSENT = "/.well-known/sig/no-such-document-of-sig-doctor";
/** A proof file that no issuer has. */
const ABSENT_PROOF = `/.well-known/sig/state/00/${"0".repeat(62)}`;
/** Private files of an issuer's directory. */
export const PRIVATE = ["/.sig/lock", "/.sig/people.csv"];

/** Requests with a common deadline, and those that it cut off. */
export class Requests {
  /** The requests without a response before the deadline. */
  readonly unanswered: string[] = [];
  readonly #deadline: AbortSignal;

  /** @param deadline Aborts all requests. */
  constructor(deadline: AbortSignal) {
    this.#deadline = deadline;
  }

  /** Runs a request; after the deadline it is added to `unanswered`. */
  async ask<T>(
    what: string,
    work: (deadline: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      if (!this.#deadline.aborted) return await work(this.#deadline);
    } catch (error) {
      if (!this.#deadline.aborted) throw error;
    }
    this.unanswered.push(what);
    return undefined;
  }
}

/** The head of a document's response. */
export interface ServedHead {
  readonly path: string;
  readonly head: Pick<ResponseHead, "header" | "certificateUntil">;
}

/** The parameters of {@linkcode askServer}. */
interface ServedPlace {
  readonly location: IssuerLocation;
  readonly metadata: SigMetadata;
  /** Size of the verified feed in bytes. */
  readonly feedBytes: number;
  /** Requests a URL; `probeUrl` with its policy. */
  readonly probe: (url: string, options: ProbeOptions) => Promise<ResponseHead>;
  readonly now: Date;
}

/** The responses of a server. */
export type ServedAnswers = Awaited<ReturnType<typeof askServer>>;

/** Requests each document as a browser and as a reader would. */
export async function askServer(
  { feedBytes, location, metadata, now, probe }: ServedPlace,
  requests: Requests,
) {
  const { metadataRef } = location;
  const { events_uri: feedUrl, jwks_uri, proofs_uri } = metadata;
  const { origin } = new URL(metadataRef);
  const ask = (url: string, options: ProbeOptions = {}) =>
    requests.ask(`GET ${url}`, (signal) => probe(url, { ...options, signal }));
  /** The documents that were answered with 200. */
  const heads: ServedHead[] = [];
  const did = origin + WELL_KNOWN_PATHS.did_document;
  const checkpoint = proofs_uri === undefined
    ? []
    : [`${proofs_uri}checkpoint`];
  const headers = {
    origin: "https://reader.example",
    "accept-encoding": "gzip, br",
  };
  for (const url of [did, jwks_uri, metadataRef, feedUrl, ...checkpoint]) {
    const head = await ask(url, { headers });
    if (head?.status === 200) heads.push({ path: new URL(url).pathname, head });
  }
  const feed = await askConditions(location, feedUrl, feedBytes, requests);
  /** Paths that were answered with 200 and must not be. */
  const present: string[] = [];
  /** The responses with 404 to paths that do not exist. */
  const absent: ServedHead[] = [];
  const unpublished = proofs_uri === undefined ? [] : [ABSENT_PROOF];
  for (const path of [ABSENT, ...unpublished, ...PRIVATE]) {
    const head = await ask(origin + path).catch((error) => {
      if (!isSigError(error) || error.category !== "unavailable") throw error;
    });
    if (head?.status === 200) present.push(path);
    if (head?.status === 404) absent.push({ path, head });
  }
  return {
    ...feed,
    feedUrl,
    heads,
    metadataRef,
    now,
    absent,
    present,
    /** The requests without a response before the deadline. */
    unanswered: requests.unanswered,
  };
}

/** Tests conditional requests and range requests of the feed. */
async function askConditions(
  { reader }: IssuerLocation,
  url: string,
  bytes: number,
  requests: Requests,
) {
  const open = (
    conditions: Parameters<typeof reader.open>[1]["conditions"] = {},
  ) =>
    requests.ask(`GET ${url}`, async (signal): Promise<OpenedDocument> => {
      const maxBytes = bytes + NEW_BYTES;
      const opened = await reader
        .open(url, { name: "feed", maxBytes, signal, conditions });
      await opened.cancel();
      return opened;
    });
  /** The feed's entity tag, null without one; undefined after the deadline. */
  const etag = (await open())?.etag;
  /** Whether the feed was sent again despite `If-None-Match` with its tag. */
  const isSentAgain = typeof etag === "string" &&
    (await open({ ifNoneMatch: etag }))?.unchanged === false;
  /** `ignored`, or the error of a range request; undefined if ranges work. */
  let range: "ignored" | SigError | undefined;
  if (bytes > 1) {
    try {
      const part = await open({ range: { from: bytes - 1 } });
      if (part !== undefined && part.range === undefined) range = "ignored";
    } catch (error) {
      if (!isAboutRange(error)) throw error;
      range = error;
    }
  }
  return { etag, isSentAgain, range };
}

/** Whether a range caused the error: the request without one succeeded. */
function isAboutRange(error: unknown): error is SigError {
  if (isSigError(error, "fetch_failed")) {
    return error.context.kind === "range" || error.context.kind === "http";
  }
  return isSigError(error, "fetch_status") ||
    isSigError(error, "fetch_media_type");
}
