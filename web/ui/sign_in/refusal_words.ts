/** Why a person is not let in, in one human sentence. @module */

import { having } from "../feed/names.ts";
import type { Reason, RelationshipState } from "../libraries/mod.ts";
import { hostOf, isRecord, shown } from "../parts/text.ts";
import { spokenTime } from "../parts/time.tsx";
import type { Problem } from "../server/problem.ts";
import { being } from "../feed/names.ts";

/** What a denied login comes to. */
export interface DeniedWords {
  readonly title: string;
  readonly next: string;
  /** Whether the issuer never heard of this key. */
  readonly isUnknown: boolean;
}

/** The server's reasons, as far as they have the form of reasons. */
export function reasonsOf({ body }: Problem): readonly Partial<Reason>[] {
  const { reasons } = body;
  return Array.isArray(reasons) ? reasons.filter(isRecord) : [];
}

/**
 * Says it by the reason that tells most; undefined where no reason is known.
 *
 * @param reasons Of the server, or of the feed as verified here.
 * @param relationship What the feed says, once it was read.
 */
export function deniedWords(
  issuer: string | null,
  reasons: readonly Partial<Reason>[],
  relationship: RelationshipState | undefined,
  now: Date,
): DeniedWords | undefined {
  const host = issuer === null ? "The issuer" : hostOf(issuer);
  const reason = ORDER.map((code) => reasons.find((it) => it.code === code))
    .find((it) => it !== undefined);
  if (reason === undefined) return undefined;
  const { code, sequence, requirement } = reason;
  const event = Number.isSafeInteger(sequence) ? ` (event #${sequence})` : "";
  const what = having(relationship?.relationship_type ?? "");
  const say = (title: string, next = ASK) => ({
    title,
    next,
    isUnknown: code === "no_relationship",
  });
  switch (code) {
    case "revoked": {
      const at = relationship?.revoked_effective_at;
      const when = at === undefined ? "" : ` ${spokenTime(at, now)}`;
      return say(`${host} ended your ${what}${when}${event}`);
    }
    case "expired": {
      const until = relationship?.valid_until;
      const when = until ? ` ${spokenTime(until, now)}` : "";
      return say(`Your ${what} at ${host} ended${when}${event}`);
    }
    case "not_yet_valid": {
      const from = relationship?.valid_from;
      const when = from ? ` ${spokenTime(from, now)}` : " later";
      return say(
        `Your ${what} at ${host} begins${when}${event}`,
        "Come back then.",
      );
    }
    case "role_missing":
      return say(
        `${host} has not given you the role ${shown(requirement?.value ?? "")}`,
      );
    case "relationship_type_missing":
      return say(
        `For ${host} you are no ${being(shown(requirement?.value ?? ""))}`,
      );
    case "no_relationship":
      return say(
        `${host} does not know this key`,
        "Send them your key’s name: they add it to their feed, and you are in.",
      );
    case "relationship_id_missing":
    case "requirements_split":
      return say(`What ${host} says of you does not fit what is asked here`);
    default:
      return undefined;
  }
}

const ASK = "Only they can change it. This site just reads what they publish.";

/** What ended or begins says more than what is lacking. */
const ORDER: readonly Reason["code"][] = [
  "revoked",
  "expired",
  "not_yet_valid",
  "role_missing",
  "relationship_type_missing",
  "no_relationship",
  "relationship_id_missing",
  "requirements_split",
];
