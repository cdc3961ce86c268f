/** `sig invite --from`: an invitation for each row that waits for a key. @module */

import { SigError } from "@sig/core";
import type { DesiredRelationship, Issuer } from "@sig/issuer";
import type { InvitationTerms, ParsedInvitation } from "@sig/jose";
import { usageError } from "@sig/api/program";
import type { Call } from "../command_line/command.ts";
import { refuseTogether } from "../command_line/values.ts";
import {
  type OpenInvitation,
  readOpenInvitations,
  updateOpenInvitations,
} from "../issue/invitation_list.ts";
import { csvOf } from "../output/report.ts";
import { counted, safe, warn, writeJson } from "../output/write.ts";
import { readDesired, type ReadingValues } from "../people/list_flags.ts";
import { readPeopleFile, warnIfWritable } from "../people/people.ts";

/** What `sig invite` passes on. */
export interface ListInvitations {
  readonly issuer: Issuer;
  readonly folder: string;
  /** Signs an invitation with these terms. */
  create(terms: InvitationTerms): Promise<ParsedInvitation>;
  /** Returns the invitation as a link; undefined without `--page`. */
  linkOf(invitation: ParsedInvitation): string | undefined;
}

/**
 * Writes one invitation for each person of a list who has no key, as
 * `<person>.txt`, and `links.csv` for a mail merge. A person whose invitation
 * is still open gets none.
 */
export async function inviteListed(
  call: Call<ReadingValues & { readonly dir: string }>,
  { create, folder, issuer, linkOf }: ListInvitations,
): Promise<void> {
  const { flags: { dir }, io } = call;
  const { planChanges } = await import("@sig/issuer");
  const { joinPeople } = await import("@sig/issuer/internal");
  const desired = await readDesired(call);
  const now = io.now();
  await warnIfWritable(call);
  const { keys } = await readPeopleFile(call);
  const state = joinPeople(await issuer.published(), keys.values());
  const { waiting } = planChanges(state, desired, { now });
  const open = new Map(
    (await readOpenInvitations(dir, now)).map((each) => [each.person, each]),
  );
  const rows = new Map<string, DesiredRelationship>();
  for (const { person, row } of waiting) {
    const found = desired.find((each) => each.row === row);
    // Of several rows of a person, the others follow with sig apply.
    if (found !== undefined && !rows.has(person)) rows.set(person, found);
  }
  const fresh = [...rows].filter(([person]) => !open.has(person));
  if (!await io.makePrivateFolder(folder)) {
    throw new SigError("write_failed", {
      reason: `Cannot write to folder ${folder}`,
      context: { flag: "--out" },
    });
  }
  const used = new Set<string>();
  const made = [];
  for (const [person, row] of fresh) {
    const invitation = await create(invitationTerms(row));
    const link = linkOf(invitation);
    const file = fileName(person, used);
    const { claims: { jti }, expires_at } = invitation;
    const text = link ?? invitation.text;
    const name = row.name ?? null;
    made.push({ person, name, file, link, jti, expires_at, text });
  }
  // Before the files: an invitation that is out must be known here.
  const added = made.map((
    { jti, person, name, expires_at },
  ): OpenInvitation => ({ jti, person, name, expires_at }));
  await updateOpenInvitations(dir, now, { added });
  for (const { file, text } of made) {
    await io.replaceFile(`${folder}/${file}`, `${text}\n`);
  }
  if (made.length > 0) {
    const links = made.map((each) => [each.person, each.name ?? "", each.text]);
    const columns = ["person", "name", "link"];
    await io.replaceFile(`${folder}/links.csv`, csvOf(columns, links));
  }
  const still = [...rows.keys()].flatMap((person) => open.get(person) ?? []);
  report(call, made, still, folder);
}

/** Returns the terms of a row or of flags. */
export function invitationTerms(
  { name, roles = [], type, valid_from, valid_until }: Omit<
    DesiredRelationship,
    "subject"
  >,
): InvitationTerms {
  return {
    relationship_type: type,
    roles: [...new Set(roles)],
    ...valid_from && { valid_from },
    ...valid_until && { valid_until },
    ...name && { for: name },
  };
}

/** Returns a name that stays in its folder; `used` has those given already. */
function fileName(person: string, used: Set<string>): string {
  const base = person.replaceAll(/[^\p{L}\p{N}@+_.-]/gu, "_")
    .replace(/^\.+/, "_").slice(0, 100);
  let name = base;
  for (let n = 2; used.has(name.toLowerCase()); n++) name = `${base}-${n}`;
  used.add(name.toLowerCase());
  return `${name}.txt`;
}

interface MadeInvitation extends OpenInvitation {
  readonly file: string;
  readonly link: string | undefined;
  readonly text: string;
}

function report(
  call: Call,
  made: readonly MadeInvitation[],
  still: readonly OpenInvitation[],
  folder: string,
): void {
  const { io } = call;
  if (call.format === "json") {
    return writeJson(io, {
      invitations: made.map(({ text: _, ...each }) => ({
        ...each,
        link: each.link ?? null,
      })),
      still_open: still.map(({ jti: _, ...each }) => each),
    });
  }
  for (const { person, name, file } of made) {
    io.stdout(`${safe(file)}  ${safe(name ?? person)}\n`);
  }
  if (still.length > 0) {
    warn(
      call,
      `${counted(still.length, "invitation")} still open, and not made again: ${
        still.slice(0, 10).map(({ name, person }) => name ?? person).join(", ")
      }${still.length > 10 ? ", …" : ""}`,
    );
  }
  io.stdout(
    made.length === 0
      ? "Nothing to do: nobody on the list waits for an invitation.\n"
      : `Wrote ${counted(made.length, "invitation")} and links.csv to ${
        safe(folder)
      }\n`,
  );
}

/** Requires a folder, and no flag that a list replaces. */
export function requireListFlags(flags: {
  readonly out?: string | undefined;
  readonly [flag: string]: unknown;
}): string {
  const { type, also, for: name } = flags;
  const { "valid-from": from, "valid-until": until } = flags;
  refuseTogether(
    { type, also, for: name, "valid-from": from, "valid-until": until },
    "from",
    "The list has the terms of each person.",
  );
  if (flags.out !== undefined) return flags.out;
  throw usageError("--out is required with --from: a folder", {
    flag: "--out",
  });
}
