/** Suites of @sig/consumer that fetch nothing: feeds and questions. @module */

import {
  checkIssuer,
  type DocumentReader,
  type IssuerLocation,
  verifyIssuer,
} from "@sig/consumer";
import { isSigError, SigError } from "@sig/core";
import { type FileTree, type Suite, Tally } from "./suite.ts";

/** `expected.json` of a feed. */
interface ExpectedFeed {
  readonly now: string;
  readonly options?: {
    readonly unknown_events?: "ignore" | "reject";
    readonly unmatched_revoke?: "ignore" | "reject";
  };
  readonly result: "invalid" | "valid";
  readonly code?: string;
  readonly line?: number;
  readonly sequence?: number;
  readonly kid?: string;
  readonly issuer?: string;
  readonly last_sequence?: number;
  readonly by_relationship_id?: Readonly<Record<string, unknown>>;
  readonly warnings?: readonly string[];
}

/** Every feed of `vectors/feed`: state and warnings, or fault and place. */
export const feedSuite: Suite = async ({ files }) => {
  const tally = new Tally();
  for (const name of files.list("own/feed")) {
    const folder = `own/feed/${name}`;
    const expected = files.json<ExpectedFeed>(`${folder}/expected.json`);
    const outcome = await judge(locate(files, folder), expected);
    const { code, line, sequence, kid } = expected;
    const required = expected.result === "invalid"
      ? { code, line, sequence, kid }
      : {
        issuer: expected.issuer,
        last_sequence: expected.last_sequence,
        states: Object.entries(expected.by_relationship_id ?? {}).sort(byId),
        warnings: [...expected.warnings ?? []].sort(),
      };
    tally.expectValue(name, outcome, required);
  }
  return tally;
};

async function judge(
  location: IssuerLocation,
  expected: ExpectedFeed,
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
    // A kid counts where the case names one.
    return {
      code: error.code,
      line,
      sequence,
      kid: expected.kid === undefined ? undefined : kid,
    };
  }
}

function byId(a: readonly [string, unknown], b: readonly [string, unknown]) {
  return a[0] < b[0] ? -1 : 1;
}

/** A file of `vectors/check`. */
interface Question {
  readonly feed: string;
  readonly question: {
    readonly subject: string;
    readonly require: readonly string[];
    readonly at: string | null;
    readonly as_of: number | string | null;
    readonly now: string;
  };
  readonly expected: Readonly<Record<string, unknown>>;
}

/** Every question of `vectors/check`. */
export const questionSuite: Suite = async ({ files }) => {
  const tally = new Tally();
  for (const name of files.list("own/check")) {
    const { feed, question, expected } = files.json<Question>(
      `own/check/${name}`,
    );
    const { as_of, at, now, ...rest } = question;
    const outcome = await checkIssuer(
      locate(files, `own/feed/${feed}`),
      { ...rest, at: at ?? undefined, asOf: as_of ?? undefined },
      { now: new Date(now) },
    ).then((answer) => ({
      decision: answer.decision,
      matched_relationship_id: answer.matched_relationship_id,
      last_sequence: answer.last_sequence,
      reasons: answer.reasons,
      not_after: answer.not_after,
    }), (error: unknown) => {
      if (isSigError(error)) return { error: error.code };
      throw error;
    });
    tally.expectValue(name, outcome, expected);
  }
  return tally;
};

/** An issuer's directory among the files; sources on disk are Deno's alone. */
function locate(files: FileTree, folder: string): IssuerLocation {
  const reader: DocumentReader = {
    kind: "local",
    open(ref) {
      const { pathname } = new URL(ref, "https://host.invalid");
      const bytes = files.find(folder + decodeURIComponent(pathname));
      if (bytes === undefined) {
        return Promise.reject(
          new SigError("source_not_found", "Cannot read: no such file", {
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
