/** Verifying documents by the libraries' own code: the worker's work. @module */

import { isSigError } from "../libraries/login.ts";
import { reportIssuer, type VerifiedEvent } from "../libraries/mod.ts";
import { readerOf } from "./documents_reader.ts";
import type { VerificationNews, VerificationOrder } from "./verification.ts";

/** Verifies, and tells how far it is and what came of it. */
export async function verifyHere(
  { documents, expectedIssuer }: VerificationOrder,
  tell: (news: VerificationNews) => void,
): Promise<void> {
  const events: VerifiedEvent[] = [];
  try {
    const report = await reportIssuer(
      {
        reader: readerOf(
          documents,
          (share) => tell({ kind: "progress", share }),
        ),
        metadataRef: "/.well-known/sig.json",
        expectedIssuer,
      },
      { now: new Date(), onEvent: (verified) => void events.push(verified) },
    );
    tell({ kind: "done", report, events });
  } catch (error) {
    const why = isSigError(error)
      ? error.message
      : "Something went wrong in this browser. Try again.";
    tell({ kind: "failed", why });
  }
}
