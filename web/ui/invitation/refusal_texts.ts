/** The reasons why an invitation can't be answered. @module */

import type { ParsedInvitation } from "@sig/jose";
import type { BrowserKey } from "../../browser/key_store.ts";
import { hostOf } from "../text.ts";
import { spokenTime } from "../time.tsx";
import type { InvitationState } from "./use_invitation.ts";

/**
 * Returns what is wrong with an invitation, what to do next, and whether
 * verifying again may help.
 */
export function refusalText(
  invitation: ParsedInvitation | undefined,
  { error: { code, context }, isIssuers }: Extract<
    InvitationState,
    { at: "refused" }
  >,
  ownKeys: readonly BrowserKey[],
): { readonly title: string; readonly next: string; canRetry?: boolean } {
  const issuer = invitation === undefined
    ? "the person who invited you"
    : hostOf(invitation.claims.iss);
  const next = `Ask ${issuer} for a new one. Nothing was signed.`;
  if (isIssuers) {
    return {
      title: `What ${issuer} publishes is not valid`,
      next:
        "So nobody can tell whether it made this invitation. Only the issuer can fix that. Nothing was signed.",
      canRetry: true,
    };
  }
  switch (code) {
    case "invitation_expired": {
      const at = invitation && spokenTime(invitation.expires_at, new Date());
      return { title: `This invitation expired ${at ?? ""}`.trim(), next };
    }
    case "invitation_used": {
      const event = `event #${context.sequence}`;
      if (ownKeys.some(({ did }) => did === context.subject)) {
        return {
          title: "You accepted this invitation",
          next:
            `${issuer} published your relationship in ${event}. Sign in with the key of this browser.`,
        };
      }
      return {
        title: "This invitation was used",
        next:
          `It was answered with another key: ${event} of ${issuer}. ${next}`,
      };
    }
    case "signature_invalid":
      return {
        title: `${issuer} did not sign this invitation`,
        next: `It was changed on the way, or somebody else made it. ${next}`,
      };
    case "key_not_found":
    case "key_not_authorized":
      return {
        title: `${issuer} does not know this invitation’s key`,
        next:
          `It was signed with a key that ${issuer} does not publish. ${next}`,
      };
    case "invalid_invitation":
      return context.pointer === "/iat"
        ? {
          title: "This invitation is from the future",
          next:
            "The clock of this device, or the issuer’s, is wrong. Check the time here, then try again.",
          canRetry: true,
        }
        : {
          title: "This invitation is incomplete",
          next:
            `The link was cut off or changed on the way. Copy all of it again. ${next}`,
        };
    default:
      return { title: "This invitation can’t be answered", next };
  }
}
