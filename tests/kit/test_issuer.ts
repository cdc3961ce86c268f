/** An issuer for tests: documents and signed lines. @module */

import { importSigningKey, signEvent, type SigningKey } from "@sig/jose";
import { ALICE, ISSUER, upsert as validUpsert } from "./events.ts";
import { readTestKeys } from "./vectors.ts";

export { ALICE };

/** The default DID of the issuer. */
export const DID: string = ISSUER;
/** The current time of the tests. */
export const NOW = new Date("2026-06-01T00:00:00Z");

/** Paths of the four documents. */
export const PATHS = {
  metadata: "/.well-known/sig.json",
  jwks: "/.well-known/jwks.json",
  did: "/.well-known/did.json",
  feed: "/.well-known/sig/events.jsonl",
} as const;

/**
 * Imports the published test keys: two, and a foreign key with the kid of the
 * first.
 */
export async function importTestKeys(): Promise<
  readonly [key1: SigningKey, key2: SigningKey, stranger: SigningKey]
> {
  const [key1, key2, stranger] = await Promise.all(
    readTestKeys().map((jwk) => importSigningKey(jwk)),
  );
  if (!key1 || !key2 || !stranger) throw new Error("a test key is missing");
  return [key1, key2, stranger];
}

/**
 * Returns an upsert of a separate relationship; all have the same `issued_at`.
 */
export function upsert(
  sequence: number,
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    ...validUpsert(sequence),
    event_id: `event-${sequence}`,
    issued_at: "2026-01-01T00:00:00Z",
    relationship_id: `rel-${sequence}`,
    ...changes,
  };
}

/** Returns an event as a feed line, without its LF. */
export async function lineOf(
  event: Record<string, unknown>,
  key: SigningKey,
): Promise<string> {
  return JSON.stringify(await signEvent(event, key));
}

/** Returns upserts 1 to n as lines, signed with one key. */
export async function makeLines(
  n: number,
  key: SigningKey,
  changes: Record<string, unknown> = {},
): Promise<string[]> {
  const sequences = Array.from({ length: n }, (_, i) => i + 1);
  return await Promise.all(
    sequences.map((sequence) => lineOf(upsert(sequence, changes), key)),
  );
}

/** Returns lines as the bytes of a feed. */
export function feedOf(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(lines.map((each) => `${each}\n`).join(""));
}

/** Options of {@linkcode makeDocuments}. */
export interface IssuerContent {
  /** The issuer's DID. */
  readonly did?: string;
  /** The origin of the issuer. */
  readonly origin?: string;
  /** The issuer's keys, all of which may sign events. */
  readonly keys: readonly SigningKey[];
  /** The lines of the feed. */
  readonly lines: readonly string[];
}

/** Returns the four documents by path. */
export function makeDocuments(
  { did = DID, origin = "https://acme.example", keys, lines }: IssuerContent,
): Map<string, string | Uint8Array<ArrayBuffer>> {
  const publicKeys = keys.map(({ publicJwk }) => publicJwk);
  return new Map<string, string | Uint8Array<ArrayBuffer>>([
    [
      PATHS.metadata,
      JSON.stringify({
        spec_version: "sig/0.1",
        issuer: did,
        jwks_uri: origin + PATHS.jwks,
        events_uri: origin + PATHS.feed,
        public_only: true,
        algorithms_supported: ["EdDSA"],
      }),
    ],
    [PATHS.jwks, JSON.stringify({ keys: publicKeys })],
    [
      PATHS.did,
      JSON.stringify({
        id: did,
        verificationMethod: publicKeys.map((publicKeyJwk) => ({
          id: `${did}#${publicKeyJwk.kid}`,
          type: "JsonWebKey2020",
          controller: did,
          publicKeyJwk,
        })),
        assertionMethod: publicKeys.map(({ kid }) => `${did}#${kid}`),
      }),
    ],
    [PATHS.feed, feedOf(lines)],
  ]);
}
