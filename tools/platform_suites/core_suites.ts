/** Suites of @sig/core. @module */

import {
  isSigError,
  JsonError,
  parseDidWeb,
  parseJson,
  parseTimestamp,
} from "@sig/core";
import { decodeBase64UrlStrict } from "@sig/core/internal";
import { encodeBase64Url } from "./encode.ts";
import { isAccepted, type Suite, Tally } from "./suite.ts";

/**
 * The two `i_` files that are accepted, since their numbers underflow to zero.
 */
const ACCEPTED_I = [
  "i_number_double_huge_neg_exp.json",
  "i_number_real_underflow.json",
];

/** Strict JSON, tested by JSONTestSuite. */
export const jsonSuite: Suite = async ({ files }) => {
  const tally = new Tally();
  const folder = "shared/jsontestsuite/test_parsing";
  for (const name of files.list(folder)) {
    const bytes = files.bytes(`${folder}/${name}`);
    const accepted = await isAccepted(
      () => parseJson(bytes),
      (error) => error instanceof JsonError,
    );
    const required = name.startsWith("y_")
      ? !name.startsWith("y_object_duplicated_key")
      : ACCEPTED_I.includes(name);
    tally.expect(name, accepted, required);
  }
  return tally;
};

/** Strict RFC 3339 UTC. */
export const timestampSuite: Suite = ({ files }) => {
  const tally = new Tally();
  const cases = files.json<{ value: unknown; expect: string }[]>(
    "shared/own/timestamps.json",
  );
  for (const { value, expect } of cases) {
    const accepted = parseTimestamp(value) !== undefined;
    tally.expect(JSON.stringify(value), accepted, expect === "accept");
  }
  return tally;
};

/** did:web identifiers to URLs. */
export const didWebSuite: Suite = ({ files }) => {
  const tally = new Tally();
  const cases = files.json<{ did: string; url: string | null }[]>(
    "shared/own/didweb.json",
  );
  for (const { did, url } of cases) {
    let found: string | null = null;
    try {
      found = parseDidWeb(did).didDocumentUrl;
    } catch (error) {
      if (!isSigError(error)) throw error;
    }
    tally.expect(JSON.stringify(did), found, url);
  }
  return tally;
};

/**
 * Canonical base64url: every change of one character, compared with
 * re-encoding.
 */
export const base64urlSuite: Suite = () => {
  const tally = new Tally();
  for (const length of [1, 2, 3, 64]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 37 + 251) & 255);
    const text = encodeBase64Url(bytes);
    for (let at = 0; at < text.length; at++) {
      for (let code = 0; code < 256; code++) {
        const mutant = text.slice(0, at) + String.fromCharCode(code) +
          text.slice(at + 1);
        const again = respell(mutant);
        const accepted = decodeBase64UrlStrict(mutant) !== undefined;
        tally.expect(JSON.stringify(mutant), accepted, again === mutant);
      }
    }
  }
  return tally;
};

/**
 * Re-encodes a text with the platform's decoder; undefined if it rejects the
 * text.
 */
function respell(text: string): string | undefined {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return encodeBase64Url(Uint8Array.from(binary, (it) => it.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
