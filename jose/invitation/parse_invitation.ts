/** Reading an invitation, also out of a link (docs/protocol.md §9). @module */

import { formatInstant, INVITATION_TYP, type OpenObject } from "@sig/core";
import {
  type InvitationHeader,
  malformed,
  MAX_INVITATION_LENGTH,
  type ParsedInvitation,
  readInvitationClaims,
} from "./invitation.ts";
import { isKid, member } from "../bytes/json_object.ts";
import { readCompactJws } from "../event/jws.ts";

/** What precedes the invitation in a link's fragment. */
const FRAGMENT = "#/invitation/";

/**
 * The link that carries an invitation to a person: everything is after the
 * `#`, which browsers send to no server. (docs/protocol.md §9)
 *
 * @param page The address of a page that knows invitations.
 *
 * @example
 * ```ts
 * import { invitationLink } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   invitationLink("https://login.acme.example/", "eyJh.eyJp.AAAA"),
 *   "https://login.acme.example/#/invitation/eyJh.eyJp.AAAA",
 * );
 * ```
 *
 * @throws {TypeError} for a page that is not an http or https URL.
 */
export function invitationLink(page: string, invitation: string): string {
  const url = new URL(page);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new TypeError("Cannot make link: the page must be an https URL");
  }
  url.hash = "";
  return `${url.href}${FRAGMENT}${invitation}`;
}

/** Whether a text is a link that carries an invitation, or such a fragment. */
export function isInvitationLink(text: string): boolean {
  return text.includes(FRAGMENT);
}

/**
 * Reads an invitation: the compact JWS, a link that carries it, or the link's
 * fragment as `location.hash` has it; blanks around it don't count. Every fault
 * of form is one code. Who signed it is `verifyInvitation`'s to say.
 * (docs/protocol.md §9)
 *
 * @example
 * ```ts
 * import { parseInvitation } from "@sig/jose";
 * import { isSigError } from "@sig/core";
 * import { assert, assertThrows } from "@std/assert";
 *
 * const error = assertThrows(() => parseInvitation("come in"));
 * assert(isSigError(error, "invalid_invitation"));
 * ```
 *
 * @throws {SigError} `invalid_invitation`; `context.pointer` names the claim.
 */
export function parseInvitation(invitation: string): ParsedInvitation {
  const text = textOf(invitation);
  if (text.length > MAX_INVITATION_LENGTH) {
    throw malformed(`it is longer than ${MAX_INVITATION_LENGTH} characters`);
  }
  const jws = readCompactJws(text, malformed);
  const header = readHeader(jws.header);
  const claims = readInvitationClaims(jws.claims);
  return {
    text,
    header,
    claims,
    expires_at: formatInstant({ seconds: claims.exp, nanoseconds: 0 }),
    signature: jws.signature,
    signingInput: jws.signingInput,
  };
}

function textOf(invitation: unknown): string {
  if (typeof invitation !== "string") throw malformed("it must be a string");
  // Not searched when it is far too long for the longest link.
  if (invitation.length > 2 * MAX_INVITATION_LENGTH) {
    throw malformed(`it is longer than ${MAX_INVITATION_LENGTH} characters`);
  }
  const at = invitation.indexOf(FRAGMENT);
  const text = at < 0 ? invitation : invitation.slice(at + FRAGMENT.length);
  return text.trim();
}

/** Exactly `alg`, `typ` and `kid`: no embedded key, no `crit`, no `b64`. */
function readHeader(header: OpenObject): InvitationHeader {
  const alg = member(header, "alg");
  if (alg !== "EdDSA") throw malformed("alg must be EdDSA");
  const typ = member(header, "typ");
  // Keeps an event of the same key from being an invitation, and vice versa.
  if (typ !== INVITATION_TYP) throw malformed(`typ must be ${INVITATION_TYP}`);
  const kid = member(header, "kid");
  if (!isKid(kid)) {
    throw malformed(
      "kid must be 1 to 256 characters without control characters",
    );
  }
  if (Object.keys(header).length > 3) {
    throw malformed("the header must have exactly alg, typ and kid");
  }
  return { alg, typ, kid };
}
