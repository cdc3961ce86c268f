/** Suites of @sig/consumer without network: feeds and questions. @module */

import {
  checkIssuer,
  type DocumentReader,
  type IssuerLocation,
  verifyIssuer,
} from "@sig/consumer";
import { isSigError, parseRequirements, SigError } from "@sig/core";
import {
  type Documents,
  type Expected,
  type FeedFile,
  type FeedVector,
  parseFeedFile,
  type QuestionFile,
} from "../../tests/kit/vector_format.ts";
import { type FileTree, type Suite, Tally } from "./suite.ts";

function readFeeds(files: FileTree): readonly FeedVector[] {
  return files.list("own/feed").flatMap((name) =>
    parseFeedFile(files.json<FeedFile>(`own/feed/${name}`))
  );
}

/**
 * Verifies every feed of the vectors: state and warnings, or error and place.
 */
export const feedSuite: Suite = async ({ files }) => {
  const tally = new Tally();
  for (const { name, documents, expected } of readFeeds(files)) {
    tally.expectValue(
      name,
      await judge(locate(documents), expected),
      requiredOf(expected),
    );
  }
  return tally;
};

function requiredOf(expected: Expected): unknown {
  if (expected.result === "invalid") {
    const { code, line, sequence, kid } = expected;
    return { code, line, sequence, kid };
  }
  return {
    issuer: expected.issuer,
    last_sequence: expected.last_sequence,
    states: Object.entries(expected.by_relationship_id).sort(byId),
    warnings: [...expected.warnings].sort(),
  };
}

async function judge(
  location: IssuerLocation,
  expected: Expected,
): Promise<unknown> {
  try {
    const { state, warnings } = await verifyIssuer(location, {
      unknownEvents: expected.options?.unknown_events,
      unmatchedRevoke: expected.options?.unmatched_revoke,
      now: new Date(expected.now),
    });
    return {
      issuer: state.issuer,
      last_sequence: state.last_sequence,
      states: [...state.by_relationship_id].sort(byId),
      warnings: warnings.map(({ code }) => code).sort(),
    };
  } catch (error) {
    if (!isSigError(error)) throw error;
    const { line, sequence, kid } = error.context;
    // The kid is compared only if the case has one.
    const counts = expected.result === "invalid" && expected.kid !== undefined;
    return { code: error.code, line, sequence, kid: counts ? kid : undefined };
  }
}

function byId(a: readonly [string, unknown], b: readonly [string, unknown]) {
  return a[0] < b[0] ? -1 : 1;
}

/** Answers every question of the vectors. */
export const questionSuite: Suite = async ({ files }) => {
  const tally = new Tally();
  const feeds = readFeeds(files);
  const { cases } = files.json<QuestionFile>("own/questions.json");
  for (const { name, feed, question, expected } of cases) {
    const vector = feeds.find((each) => each.name === feed);
    if (vector === undefined) throw new Error(`Cannot find feed ${feed}`);
    const { as_of, at, now, require, ...rest } = question;
    const ask = async () => {
      try {
        const answer = await checkIssuer(
          locate(vector.documents),
          {
            ...rest,
            require: parseRequirements(require),
            at: at ?? undefined,
            asOf: as_of ?? undefined,
          },
          { now: new Date(now) },
        );
        return {
          decision: answer.decision,
          matched_relationship_id: answer.matched_relationship_id,
          last_sequence: answer.last_sequence,
          reasons: answer.reasons,
          not_after: answer.not_after,
        };
      } catch (error) {
        if (isSigError(error)) return { error: error.code };
        throw error;
      }
    };
    const outcome = await ask();
    tally.expectValue(name, outcome, expected);
  }
  return tally;
};

/**
 * Returns an issuer's documents in memory, since only Deno reads sources on
 * disk.
 */
function locate(documents: Documents): IssuerLocation {
  const reader: DocumentReader = {
    kind: "local",
    open(ref) {
      const { pathname } = new URL(ref, "https://host.invalid");
      const bytes = documents.get(decodeURIComponent(pathname.slice(1)));
      if (bytes === undefined) {
        return Promise.reject(
          new SigError("source_not_found", {
            action: "read",
            reason: "no such file",
            context: { reason: "missing" },
          }),
        );
      }
      return Promise.resolve({
        bytes: oneChunk(bytes),
        mediaType: null,
        etag: null,
        cancel() {},
      });
    },
  };
  return { reader, metadataRef: "/.well-known/sig.json" };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
