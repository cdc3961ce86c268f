/** Whether an invitation is the issuer's, by what it publishes. @module */

import { loadIssuer } from "@sig/consumer";
import { type ErrorCode, isSigError } from "@sig/core";
import {
  type ParsedInvitation,
  requireUnexpired,
  verifyInvitation,
} from "@sig/jose";
import type { Call } from "../command_line/command.ts";
import { withSource } from "./source_flags.ts";

/** What becomes of asking the issuer's published keys. */
export type InvitedBy =
  | { readonly verified: true }
  | {
    readonly verified: false;
    /** Why the keys could not be had. */
    readonly why: string;
  };

/** The keys are not there, or not to be had from here. */
const NOT_THERE: readonly ErrorCode[] = [
  "source_not_found",
  "address_not_allowed",
];

/**
 * Verifies an invitation with the keys that the issuer publishes, or those of
 * `--sig`. That they can't be had says nothing against it: an issuer needs no
 * server for people to join, and a forged invitation gets nobody anything, since
 * the answer to it is good for it alone and the issuer refuses it. So it is told
 * as what it is, not as verified.
 *
 * @throws {SigError} as `verifyInvitation`, and for documents that are wrong;
 * with `--sig` also for a source that can't be read.
 */
export async function verifyInvitedBy(
  call: Call,
  invitation: ParsedInvitation,
): Promise<InvitedBy> {
  const source = call.text("sig");
  const load = () =>
    withSource(
      call,
      source ?? invitation.claims.iss,
      (location) => loadIssuer(location),
    );
  const loaded = source === undefined
    ? await load().catch(unlessWrong)
    : await load();
  if (typeof loaded === "string") {
    requireUnexpired(invitation, call.io.now());
    return { verified: false, why: loaded };
  }
  const { issuer, keys } = loaded;
  await verifyInvitation(invitation, { issuer, keys, now: call.io.now });
  return { verified: true };
}

function unlessWrong(error: unknown): string {
  if (
    isSigError(error) &&
    (error.category === "unavailable" || NOT_THERE.includes(error.code))
  ) return error.message;
  throw error;
}
