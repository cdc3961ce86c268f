import {
  duration,
  file,
  isLoopback,
  many,
  optional,
  usageError,
  type Values,
} from "@sig/api/program";
import { RELATIONSHIP_TYPES, SigError } from "@sig/core";
import type { Issuer } from "@sig/issuer";
import type { InvitationTerms, ParsedInvitation } from "@sig/jose";
import { type Call, typedCommand } from "../command_line/command.ts";
import {
  checked,
  dayOf,
  did,
  refuseTogether,
  role,
  textOf,
  url,
} from "../command_line/values.ts";
import { safe, warn, writeJson } from "../output/write.ts";
import { termLines, writeLines } from "../output/fields.ts";
import { doubtsAbout } from "../issue/change_notices.ts";
import { openIssuerDir, publishedState } from "../issue/open_issuer.ts";
import { READING_FLAGS } from "../people/list_flags.ts";
import {
  invitationTerms,
  inviteListed,
  requireListFlags,
} from "./invite_list.ts";
import { DIR_FLAG, KEY_FLAGS, typeFlag } from "../issue/flags.ts";

const HOUR_MS = 3_600_000;

const ttl = checked(
  duration,
  (ms) => ms >= HOUR_MS && ms <= 90 * 24 * HOUR_MS,
  "be 1h to 90d",
);

/**
 * Requires https, except on loopback: an attacker who replaces a page that is
 * loaded over http could steal the invitation and answer it first.
 */
const page = checked(
  url,
  (text) => {
    const url = URL.parse(text);
    const hostname = url?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
    return url?.protocol === "https:" ||
      url?.protocol === "http:" && isLoopback(hostname);
  },
  "be the https URL of a page",
  "For example: --page https://login.acme.example.",
);

const FLAGS = {
  ...DIR_FLAG,
  ...typeFlag(
    `${RELATIONSHIP_TYPES.join(", ")} (required, but for --also)`,
  ),
  role: many(role, "a role"),
  also: optional(
    did,
    "invite another key of this person, such as a second device; the relationship is copied at sig enrol",
  ),
  for: optional(
    textOf("NAME"),
    "the person's name, for you and them; never published",
  ),
  expires: optional(
    ttl,
    "how long it can be answered: 1h to 90d (default: 7d)",
  ),
  "valid-from": optional(dayOf("valid_from"), "start of the relationship"),
  "valid-until": optional(
    dayOf("valid_until"),
    "end of the relationship; a bare date is through that day, UTC",
  ),
  page: optional(
    page,
    "print a link to this page instead, which answers in a browser",
  ),
  out: optional(
    file,
    "write there (mode 0600, never overwritten) instead of to stdout; with --from, a folder",
  ),
  ...READING_FLAGS,
  ...KEY_FLAGS,
};

/** `sig invite` */
export const invite = typedCommand({
  description: `
    Prints an invitation: a signed, expiring text. Give it to that person only:
    anybody who has it can answer it, once. Nothing is published before sig enrol.

    With --from, one for each person of a list who has no key, as <person>.txt in
    the folder of --out, with links.csv (person, name, link) for a mail merge.
    People whose invitation is still open get none.`,
  flags: FLAGS,
  subjects: "each",
  examples: [
    'sig invite --dir acme.example --type employee --role deploy --for "Alice Doe" --out alice.invitation',
    "sig invite --dir acme.example --from people.csv --out invitations --page https://login.acme.example",
    "sig invite --dir acme.example --also did:key:z6Mk… --page https://login.acme.example",
    "sig invite --dir acme.example --type contractor --valid-until 2027-06-30 --expires 24h --page https://login.acme.example",
  ],
  async run(call) {
    const { io } = call;
    const { expires, for: name, from: list, out, page } = call.flags;
    const folder = list === undefined
      ? undefined
      : requireListFlags(call.flags);
    const own = folder === undefined ? ownTerms(call.flags) : undefined;
    const { createInvitation, invitationLink } = await import("@sig/jose");
    await using issuer = await openIssuerDir(call);
    const { did: from, signingKey: key } = await issuer.identity();
    const create = (terms: InvitationTerms) =>
      createInvitation({
        issuer: from,
        key,
        terms,
        now: io.now,
        ...(expires && { ttlSeconds: Math.floor(expires / 1000) }),
      });
    const linkOf = ({ text }: ParsedInvitation) =>
      page === undefined ? undefined : invitationLink(page, text);
    if (folder !== undefined) {
      return await inviteListed(call, { create, folder, issuer, linkOf });
    }
    const terms: InvitationTerms = {
      ...own ?? await termsOf(issuer, call),
      ...(name === undefined ? {} : { for: name }),
    };
    const doubts = [
      ...doubtsAbout({ ...terms }, io.now()),
      ...await doubtsAboutReturn(call, issuer, name),
    ];
    for (const each of doubts) warn(call, each);
    const invitation = await create(terms);
    const link = linkOf(invitation);
    const text = `${link ?? invitation.text}\n`;
    if (out !== undefined) await io.createPrivateFile(out, text);
    if (call.format === "json") {
      return writeJson(io, toJson(invitation, link, out));
    }
    const { claims, expires_at } = invitation;
    writeLines(io, [
      ...(claims.for === undefined ? [] : [["for", claims.for] as const]),
      ...termLines(claims),
      ["open until", expires_at],
    ]);
    io.stdout(out === undefined ? text : `Wrote invitation ${safe(out)}\n`);
  },
});

type InviteValues = Values<typeof FLAGS>;

/** Returns the terms that the flags offer, or undefined with `--also`. */
function ownTerms(flags: InviteValues): InvitationTerms | undefined {
  const { also, role: roles, type } = flags;
  const { "valid-from": valid_from, "valid-until": valid_until } = flags;
  if (also === undefined) {
    if (type === undefined) {
      throw usageError("--type is required", {
        flag: "--type",
        hint: `One of ${RELATIONSHIP_TYPES.join(", ")}.`,
      });
    }
    return invitationTerms({ type, roles, valid_from, valid_until });
  }
  refuseTogether(
    { role: roles, "valid-from": valid_from, "valid-until": valid_until },
    "also",
    "Another key gets the roles and dates that the person has.",
  );
  return undefined;
}

/**
 * Returns a doubt if a person of this name has left: the invitation would
 * admit them again.
 */
async function doubtsAboutReturn(
  call: Call<InviteValues>,
  issuer: Issuer,
  name: string | undefined,
): Promise<readonly string[]> {
  if (name === undefined || call.flags.also !== undefined) return [];
  const { endedNamesake } = await import("@sig/issuer/internal");
  const state = await publishedState(call, issuer);
  const ended = endedNamesake(state, name, call.io.now());
  if (ended === undefined) return [];
  const { effective_at, reason_code, subject } = ended;
  return [
    `${name} was revoked at ${effective_at} (${reason_code}, ${subject}) and has no access: sig enrol would admit a person of this name again`,
  ];
}

/** Returns the current terms of the person of `--also`. */
async function termsOf(
  issuer: Issuer,
  { flags: { also = "", type }, io }: Call<InviteValues>,
): Promise<InvitationTerms> {
  const { relationshipToShare } = await import("@sig/issuer/internal");
  const shared = relationshipToShare(
    await issuer.published(),
    { subject: also, now: io.now() },
    type,
  );
  if (type !== undefined && shared.relationship_type !== type) {
    throw new SigError("unknown_relationship", {
      action: "invite",
      reason: `${
        JSON.stringify(also)
      } has no active relationship of type ${type}`,
      context: { flag: "--type" },
    });
  }
  const terms = invitationTerms({ ...shared, type: shared.relationship_type });
  return { ...terms, same_person_as: also };
}

function toJson(
  { text, claims, expires_at }: ParsedInvitation,
  link: string | undefined,
  file: string | undefined,
) {
  return {
    invitation: text,
    link,
    file,
    issuer: claims.iss,
    jti: claims.jti,
    expires_at,
    relationship_type: claims.relationship_type,
    roles: claims.roles,
    valid_from: claims.valid_from ?? null,
    valid_until: claims.valid_until ?? null,
    for: claims.for ?? null,
    same_person_as: claims.same_person_as,
  };
}
