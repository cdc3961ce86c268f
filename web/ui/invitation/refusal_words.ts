/** Why an invitation can't be answered, in human words. @module */

import type { SigError } from "../libraries/login.ts";
import type { ParsedInvitation } from "../libraries/mod.ts";
import { hostOf, shown } from "../parts/text.ts";
import { spokenTime } from "../parts/time.tsx";

/** What is said of a refusal. */
export interface RefusalWords {
  readonly title: string;
  readonly next: string;
  /** Whether looking again may help. */
  readonly again: boolean;
}

/** By what went wrong; `isIssuers` where its documents are at fault. */
export function invitationRefusal(
  invitation: ParsedInvitation | undefined,
  { code, context }: SigError,
  isIssuers: boolean,
  now: Date,
): RefusalWords {
  const issuer = invitation === undefined
    ? "whoever invited you"
    : hostOf(invitation.claims.iss);
  const another = `Ask ${issuer} for a new one. Nothing was signed.`;
  const say = (title: string, next: string, again = false) => ({
    title,
    next,
    again,
  });
  if (isIssuers) {
    return say(
      `What ${issuer} publishes can’t be relied upon`,
      "So nobody can tell whether it made this invitation. Only the issuer can mend that. Nothing was signed.",
      true,
    );
  }
  switch (code) {
    case "invitation_expired": {
      const at = invitation?.expires_at;
      const when = at === undefined ? "" : ` ${spokenTime(at, now)}`;
      return say(`This invitation expired${when}`, another);
    }
    case "signature_invalid":
      return say(
        `${issuer} did not sign this invitation`,
        `It was changed on the way, or somebody else made it. ${another}`,
      );
    case "key_not_found":
    case "key_not_authorized":
      return say(
        `${issuer} does not know this invitation’s key`,
        `It was signed with a key that ${issuer} does not publish, or no longer does. ${another}`,
      );
    case "invalid_invitation":
      return context.pointer === "/iat"
        ? say(
          "This invitation is from the future",
          `The clock of this device, or the issuer’s, is wrong. Check the time here, then look again.`,
          true,
        )
        : say(
          "This is not a whole invitation",
          `The link was cut off or changed on the way. Copy all of it once more, or ask ${issuer} for a new one. Nothing was signed.`,
        );
    default:
      return say("This invitation can’t be answered", shown(another));
  }
}
