/** Findings about a published copy, compared with the source. @module */

import type { VerifiedEvent, VerifiedIssuer } from "@sig/consumer";
import { sha256 } from "@sig/jose/proofs";
import type { FindingTable } from "./finding.ts";

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

/** The local and the published feed. */
interface ComparedFeeds {
  readonly here: VerifiedIssuer["state"];
  readonly there: VerifiedIssuer["state"];
  /** Sequence of the first event that differs. */
  readonly firstDifference: number | undefined;
  readonly against: string;
}

type Relation = "other_issuer" | "differs" | "ahead" | "behind" | "same";

function relationOf(
  { here, there, firstDifference }: ComparedFeeds,
): Relation {
  if (here.issuer !== there.issuer) return "other_issuer";
  if (firstDifference !== undefined) return "differs";
  const more = there.last_sequence - here.last_sequence;
  return more > 0 ? "ahead" : more < 0 ? "behind" : "same";
}

function whenRelated(
  relation: Relation,
  what: (feeds: ComparedFeeds) => string,
) {
  return (feeds: ComparedFeeds): readonly (readonly [string, string])[] =>
    relationOf(feeds) === relation ? [[what(feeds), feeds.against]] : [];
}

const counts = ({ here, there }: ComparedFeeds) =>
  `the published feed has ${there.last_sequence} events, this one ${here.last_sequence}`;

/** Findings of `--against`. */
export const PUBLISHED_FINDINGS = {
  published_other_issuer: {
    severity: "error",
    when: "The published documents are of another issuer",
    why: "Readers of that place learn about another issuer",
    mend: "Publish the documents at the host that they name",
    find: whenRelated(
      "other_issuer",
      ({ against, here, there }) =>
        `${against} is of ${there.issuer}, not of ${here.issuer}`,
    ),
  },
  published_differs: {
    severity: "error",
    when: "Both feeds begin with the same events, and then differ",
    why: "One of them was rewritten; readers with a pin refuse the other one",
    mend: "Append nothing until you know which is correct: sig log shows both",
    find: whenRelated(
      "differs",
      ({ firstDifference }) =>
        `the published feed differs from event ${firstDifference} on`,
    ),
  },
  published_ahead: {
    severity: "error",
    when: "The published feed has more events",
    why: "An append here would fork the history, and readers would refuse it",
    mend: "sig restore --help: bring this directory up to what is published",
    find: whenRelated("ahead", counts),
  },
  published_behind: {
    severity: "warning",
    when: "The published feed has fewer events",
    why: "Readers don't know of the newest events, revocations among them",
    mend: "Publish the directory again",
    find: whenRelated("behind", counts),
  },
} as const satisfies FindingTable<ComparedFeeds>;
