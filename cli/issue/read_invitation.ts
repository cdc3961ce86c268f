/** An invitation as the command line is given it. @module */

import { isObject, JsonError, parseJson, SigError } from "@sig/core";
import {
  isInvitationLink,
  MAX_INVITATION_LENGTH,
  type ParsedInvitation,
  parseInvitation,
} from "@sig/jose";
import type { Io } from "../terminal/io.ts";
import { readInput } from "../terminal/read_input.ts";

/** Bytes of a file with one: as JSON it stands beside other members. */
const MAX_BYTES = 4 * MAX_INVITATION_LENGTH;
/** No file's name is so long, and no invitation so short. */
const MAX_NAME_LENGTH = 255;

/**
 * Reads the invitation that a word is: itself, a link, a file, or `-` for
 * standard input. A file may hold what `sig invite --format json` prints.
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
  return parseInvitation(text.startsWith("{") ? memberOf(bytes) : text);
}

function memberOf(bytes: Uint8Array): string {
  try {
    const value = parseJson(bytes);
    if (isObject(value) && typeof value.invitation === "string") {
      return value.invitation;
    }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new SigError(
    "invalid_invitation",
    "Cannot read invitation: the file is JSON without a member invitation",
  );
}
