/** Findings about a published copy, compared with the source. @module */

import type { VerifiedEvent, VerifiedIssuer } from "@sig/consumer";
import { sha256 } from "@sig/jose/proofs";
import { error, type FindingTable, warning } from "./finding.ts";

/** Digests of a feed's events, since other events can have an equal state. */
export class EventDigests {
  readonly #digests: string[] = [];

  add({ event, kid }: VerifiedEvent): void {
    const text = JSON.stringify([kid, event]);
    this.#digests.push(
      sha256(new TextEncoder().encode(text)).toBase64(),
    );
  }

  /** Returns the sequence of the first event of both that differs. */
  firstDifference(other: EventDigests): number | undefined {
    const others = other.#digests;
    const at = this.#digests.findIndex((digest, at) =>
      at < others.length && digest !== others[at]
    );
    return at < 0 ? undefined : at + 1;
  }
}

/** How a published feed relates to the local one, by the code of a finding. */
type Compared = ReturnType<typeof compareFeeds>;

/**
 * Compares the published state with the local one.
 *
 * @param firstDifference Sequence of the first event that differs.
 */
export function compareFeeds(
  here: VerifiedIssuer["state"],
  there: VerifiedIssuer["state"],
  firstDifference: number | undefined,
  against: string,
) {
  if (here.issuer !== there.issuer) {
    const what = `${against} is of ${there.issuer}, not of ${here.issuer}`;
    return { code: "published_other_issuer", what, against };
  }
  if (firstDifference !== undefined) {
    const what = `the published feed differs from event ${firstDifference} on`;
    return { code: "published_differs", what, against };
  }
  const more = there.last_sequence - here.last_sequence;
  return {
    code: more > 0 ? "published_ahead" : more < 0 ? "published_behind" : "same",
    what:
      `the published feed has ${there.last_sequence} events, this one ${here.last_sequence}`,
    against,
  };
}

const related = (code: string) => ({ against, ...compared }: Compared) =>
  compared.code === code ? [[compared.what, against] as const] : [];

/** Findings of `--against`. */
export const PUBLISHED_FINDINGS = {
  published_other_issuer: error(
    "The published documents are of another issuer",
    "Readers of that place learn about another issuer",
    "Publish the documents at the host that they name",
    related("published_other_issuer"),
  ),
  published_differs: error(
    "Both feeds begin with the same events, and then differ",
    "One of them was rewritten; readers with a pin refuse the other one",
    "Append nothing until you know which is correct: sig log shows both",
    related("published_differs"),
  ),
  published_ahead: error(
    "The published feed has more events",
    "An append here would fork the history, and readers would refuse it",
    "sig restore --help: bring this directory up to what is published",
    related("published_ahead"),
  ),
  published_behind: warning(
    "The published feed has fewer events",
    "Readers don't know of the newest events, revocations among them",
    "Publish the directory again",
    related("published_behind"),
  ),
} as const satisfies FindingTable<Compared>;
