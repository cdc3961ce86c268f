/** The cases of `vectors/feed`, as sources and as values. @module */

import type { ErrorCode, RelationshipState } from "@sig/core";
import type { InlineFeed } from "../inline_reader.ts";
import type { FeedPolicy } from "../verified_feed.ts";

const FOLDER = new URL("../../vectors/feed/", import.meta.url);

interface ExpectedHead {
  readonly description: string;
  readonly now: string;
  readonly options?: {
    readonly unknown_events?: "ignore" | "reject";
    readonly unmatched_revoke?: "ignore" | "reject";
  };
}

/** What a valid feed must come to. */
export interface ExpectedValid extends ExpectedHead {
  readonly result: "valid";
  readonly issuer: string;
  readonly last_sequence: number;
  readonly by_relationship_id: { readonly [id: string]: RelationshipState };
  readonly warnings: readonly string[];
}

/** How an invalid one must fail. */
export interface ExpectedInvalid extends ExpectedHead {
  readonly result: "invalid";
  readonly code: ErrorCode;
  readonly line?: number;
  readonly sequence?: number;
  readonly kid?: string;
}

/** `expected.json`. */
export type Expected = ExpectedValid | ExpectedInvalid;

/** One folder of `vectors/feed`. */
export interface FeedVector {
  readonly name: string;
  readonly expected: Expected;
  /** The folder, as a path of the operating system. */
  readonly path: string;
}

/** One case by its name. */
export function readFeedVector(name: string): FeedVector {
  const folder = new URL(`${name}/`, FOLDER);
  const text = Deno.readTextFileSync(new URL("expected.json", folder));
  return { name, expected: JSON.parse(text), path: folder.pathname };
}

/** All cases, sorted by name. */
export function readFeedVectors(): readonly FeedVector[] {
  return [...Deno.readDirSync(FOLDER)].map(({ name }) => name).sort().map(
    readFeedVector,
  );
}

/** A file of the case, undefined when it isn't there. */
export function readVectorFile(
  vector: FeedVector,
  path: string,
): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Deno.readFileSync(vector.path + path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The case as values; undefined where values can't say what the files say: text
 * that is not UTF-8, or JSON that a request could not have carried.
 */
export function toInlineFeed(vector: FeedVector): InlineFeed | undefined {
  const read = (path: string) => {
    const bytes = readVectorFile(vector, `.well-known/${path}`);
    return bytes && utf8.decode(bytes);
  };
  const parse = (text: string | undefined) =>
    text === undefined ? undefined : JSON.parse(text);
  if (vector.name.endsWith("-duplicate-member")) {
    if (!/^(?:line|header|payload)-/.test(vector.name)) return undefined;
  }
  try {
    const events = read("sig/events.jsonl");
    const jwks = parse(read("jwks.json"));
    if (events === undefined || jwks === undefined) return undefined;
    return {
      metadata: parse(read("sig.json")),
      jwks,
      did_document: parse(read("did.json")),
      events,
    };
  } catch {
    return undefined;
  }
}

/** The options that the case asks for. */
export function policyOf({ expected }: FeedVector): FeedPolicy {
  return {
    unknownEvents: expected.options?.unknown_events,
    unmatchedRevoke: expected.options?.unmatched_revoke,
  };
}
