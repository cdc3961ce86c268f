/**
 * Reads and verifies invitations that are given on the command line.
 *
 * @module
 */

import type { LoadedIssuer } from "@sig/consumer";
import { loadIssuer } from "@sig/consumer/internal";
import { type ErrorCode, isSigError, SigError } from "@sig/core";
import {
  isInvitationLink,
  MAX_INVITATION_LENGTH,
  type ParsedInvitation,
  parseInvitation,
  requireUnexpired,
  verifyInvitation,
} from "@sig/jose";
import { type PolicyValues, withSource } from "../ask/source_flags.ts";
import type { Call } from "../command_line/command.ts";
import type { Io } from "../terminal/io.ts";
import { parseObject, readInput } from "../terminal/read_input.ts";

/**
 * Maximum size of an invitation file in bytes; as JSON it has further members.
 */
const MAX_BYTES = 4 * MAX_INVITATION_LENGTH;
/** File names are at most this long; invitations are longer. */
const MAX_NAME_LENGTH = 255;

/**
 * Reads an invitation from an argument: the invitation itself, a link, a file,
 * or `-` for standard input. A file may hold the output of `sig invite --format
 * json`.
 *
 * @throws {SigError} `invalid_invitation`, `source_not_found`,
 * `document_too_large`.
 */
export async function readInvitation(
  io: Io,
  word: string,
): Promise<ParsedInvitation> {
  const isText = word.length > MAX_NAME_LENGTH &&
    /^[\w-]+(?:\.[\w-]*)+$/.test(word);
  if (isText || isInvitationLink(word)) return parseInvitation(word);
  const bytes = await readInput(io, word, MAX_BYTES);
  const text = new TextDecoder().decode(bytes).trim();
  if (!text.startsWith("{")) return parseInvitation(text);
  const { invitation } = parseObject(bytes) ?? {};
  if (typeof invitation === "string") return parseInvitation(invitation);
  throw new SigError("invalid_invitation", {
    action: "read invitation",
    reason: "the file is JSON without a member invitation",
  });
}

/**
 * Errors that mean the keys do not exist or can't be fetched from this machine.
 */
const NOT_AVAILABLE: readonly ErrorCode[] = [
  "source_not_found",
  "address_not_allowed",
];

/**
 * Verifies an invitation with the keys that the issuer publishes, or those of
 * `--sig`. If these keys can't be loaded, the invitation is reported as not
 * verified and stays usable: an issuer needs no server for people to join, and
 * it refuses the answer to a forged invitation.
 *
 * @returns why the keys could not be loaded; undefined if they verified it.
 * @throws {SigError} as `verifyInvitation`, and for invalid documents; with
 * `--sig` also for a source that can't be read.
 */
export async function whyUnverified(
  call: Call<PolicyValues & { readonly sig: string | undefined }>,
  invitation: ParsedInvitation,
): Promise<string | undefined> {
  const { flags: { sig = invitation.claims.iss }, io: { now } } = call;
  let loaded: LoadedIssuer;
  try {
    loaded = await withSource(call, sig, (location) => loadIssuer(location));
  } catch (error) {
    const isUnavailable = isSigError(error) &&
      (error.category === "unavailable" || NOT_AVAILABLE.includes(error.code));
    if (!isUnavailable || call.flags.sig !== undefined) throw error;
    requireUnexpired(invitation, now());
    return error.message;
  }
  const { issuer, keys } = loaded;
  await verifyInvitation(invitation, { issuer, keys, now });
  return undefined;
}
