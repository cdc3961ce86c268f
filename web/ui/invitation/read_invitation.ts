/** What an invitation is worth, as far as this page can tell (PROTOCOL §7b). @module */

import { type Documents, fetchIdentity } from "../feed/documents.ts";
import { readerOf } from "../feed/documents_reader.ts";
import { hasEd25519, isSigError, type SigError } from "../libraries/login.ts";
import {
  loadIssuer,
  type ParsedInvitation,
  parseInvitation,
  requireUnexpired,
  verifyInvitation,
} from "../libraries/mod.ts";
import type { Config } from "../server/config.ts";

/** What is known of who made it. */
export type Standing =
  | {
    readonly at: "verified";
    /** Who brought the issuer's documents. */
    readonly by: "server" | "person";
  }
  | {
    /** The issuer's keys could not be asked: nothing speaks for or against it. */
    readonly at: "unverified";
    readonly why: string;
  }
  | {
    readonly at: "refused";
    readonly error: SigError;
    /** Whether the fault is the issuer's documents', not the invitation's. */
    readonly isIssuers: boolean;
  };

/**
 * Reads the form.
 *
 * @throws {SigError} `invalid_invitation`.
 */
export const readInvitation: (text: string) => ParsedInvitation =
  parseInvitation;

/**
 * Asks the issuer's keys, where this server passes them on: the page's policy
 * lets it ask nobody else. A forged invitation gets nobody anything, since the
 * answer to it is good for it alone; so one that nobody can verify may be
 * answered, and is told as what it is.
 */
export async function judgeInvitation(
  invitation: ParsedInvitation,
  { issuers }: Config,
  now: () => Date,
): Promise<Standing> {
  try {
    // Whoever made it, it is over: no keys are needed to say so.
    requireUnexpired(invitation, now());
  } catch (error) {
    return refused(error, false);
  }
  const { iss } = invitation.claims;
  const known = issuers.find(({ did }) => did === iss);
  if (known === undefined) {
    return unverified("This page does not know that issuer’s keys.");
  }
  if (!await hasEd25519()) {
    return unverified("This browser can’t verify Ed25519 signatures.");
  }
  let documents: Partial<Documents>;
  try {
    documents = await fetchIdentity(known.base);
  } catch {
    return unverified("The issuer’s keys could not be read just now.");
  }
  return await judgeBy(invitation, documents, "server", now);
}

/** With documents that somebody brought. */
export async function judgeBy(
  invitation: ParsedInvitation,
  documents: Partial<Documents>,
  by: "server" | "person",
  now: () => Date,
): Promise<Standing> {
  const { iss } = invitation.claims;
  let keys;
  try {
    ({ keys } = await loadIssuer({
      reader: readerOf(documents),
      metadataRef: "/.well-known/sig.json",
      expectedIssuer: iss,
    }));
  } catch (error) {
    return refused(error, true);
  }
  try {
    await verifyInvitation(invitation, { issuer: iss, keys, now });
  } catch (error) {
    return refused(error, false);
  }
  return { at: "verified", by };
}

function unverified(why: string): Standing {
  return { at: "unverified", why };
}

function refused(error: unknown, isIssuers: boolean): Standing {
  if (isSigError(error)) return { at: "refused", error, isIssuers };
  throw error;
}
