import type { RelationshipType } from "@sig/core";
import { isLoopback, parseDuration, usageError } from "@sig/api/flags";
import type { InvitationTerms, ParsedInvitation } from "@sig/jose";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { warn, writeJson } from "../output/write.ts";
import { termLines, writeLines } from "../issue/invitation_words.ts";
import { doubtsAbout } from "../issue/change_notices.ts";
import { readValidity } from "../people/day.ts";
import { DIR_FLAG, SIGNING_FLAGS, typeFlag } from "../issue/flags.ts";

/** `sig invite` */
export const invite: CommandSpec = {
  description:
    "Prints an invitation: a signed, expiring text. Give it to that person only:\nanybody who has it can answer it, once. Nothing is published before sig enrol.",
  flags: [
    DIR_FLAG,
    { ...typeFlag(), required: true },
    { name: "role", value: "ROLE", help: "a role", repeat: true },
    {
      name: "for",
      value: "NAME",
      help: "the person's name, for you and them; never published",
    },
    {
      name: "expires",
      value: "DURATION",
      help: "how long it can be answered: 1h to 90d (default: 7d)",
    },
    { name: "valid-from", value: "TIME", help: "start of the relationship" },
    {
      name: "valid-until",
      value: "TIME",
      help: "end of the relationship; a bare date is through that day, UTC",
    },
    {
      name: "page",
      value: "URL",
      help: "print a link to this page instead, which answers in a browser",
    },
    {
      name: "out",
      value: "FILE",
      help: "write there (mode 0600, never overwritten) instead of to stdout",
    },
    ...SIGNING_FLAGS.filter(({ name }) => name === "kid" || name === "key"),
  ],
  examples: [
    'sig invite --dir acme.example --type employee --role deploy --for "Alice Doe" --out alice.invitation',
    "sig invite --dir acme.example --type contractor --valid-until 2027-06-30 --expires 24h --page https://login.acme.example",
  ],
  async run(call) {
    const { io } = call;
    const ttlSeconds = readTtl(call);
    const terms = readTerms(call);
    const page = readPage(call);
    const { openIssuerDir } = await import("../issue/open_issuer.ts");
    const { createInvitation, invitationLink } = await import("@sig/jose");
    await using issuer = await openIssuerDir(call);
    for (const each of doubtsAbout(terms, [], io.now())) warn(call, each);
    const { did, signingKey: key } = await issuer.identity();
    const invitation = await createInvitation({
      issuer: did,
      key,
      terms,
      now: io.now,
      ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
    });
    const link = page === undefined
      ? undefined
      : invitationLink(page, invitation.text);
    const out = call.text("out");
    const text = `${link ?? invitation.text}\n`;
    if (out !== undefined) await io.createPrivateFile(out, text);
    if (call.format === "json") {
      writeJson(io, toJson(invitation, link, out));
      return 0;
    }
    const { claims, expires_at } = invitation;
    writeLines(io, [
      ...(claims.for === undefined ? [] : [["for", claims.for] as const]),
      ...termLines(claims),
      ["open until", expires_at],
    ]);
    if (out === undefined) io.stdout(text);
    else {
      const { safe } = await import("../output/write.ts");
      io.stdout(`Wrote invitation ${safe(out)}\n`);
    }
    return 0;
  },
};

function toJson(
  { text, claims, expires_at }: ParsedInvitation,
  link: string | undefined,
  file: string | undefined,
) {
  return {
    invitation: text,
    ...(link === undefined ? {} : { link }),
    ...(file === undefined ? {} : { file }),
    issuer: claims.iss,
    jti: claims.jti,
    expires_at,
    relationship_type: claims.relationship_type,
    roles: claims.roles,
    valid_from: claims.valid_from ?? null,
    valid_until: claims.valid_until ?? null,
    for: claims.for ?? null,
  };
}

const HOUR_MS = 3_600_000;

function readTtl(call: Call): number | undefined {
  const ms = parseDuration("--expires", call.text("expires"));
  if (ms === undefined) return undefined;
  if (ms >= HOUR_MS && ms <= 90 * 24 * HOUR_MS) return Math.floor(ms / 1000);
  throw usageError("--expires must be 1h to 90d", { flag: "--expires" });
}

function readTerms(call: Call): InvitationTerms {
  const name = call.text("for");
  const valid_from = readValidity(call, "valid_from");
  const valid_until = readValidity(call, "valid_until");
  return {
    // One of the flag's choices.
    relationship_type: call.text("type") as RelationshipType,
    roles: [...new Set(call.texts("role"))],
    ...(valid_from === undefined ? {} : { valid_from }),
    ...(valid_until === undefined ? {} : { valid_until }),
    ...(name === undefined ? {} : { for: name }),
  };
}

/**
 * A page that came over http may be anybody's on the way, who could keep the
 * invitation and answer it first; on this machine nobody is on the way.
 */
function readPage(call: Call): string | undefined {
  const page = call.text("page");
  if (page === undefined) return undefined;
  const url = URL.parse(page);
  const hostname = url?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
  if (
    url?.protocol === "https:" ||
    url?.protocol === "http:" && isLoopback(hostname)
  ) return page;
  throw usageError("--page must be the https URL of a page", {
    flag: "--page",
    hint: "For example: --page https://login.acme.example.",
  });
}
