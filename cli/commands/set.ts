import {
  type OpenObject,
  type RelationshipUpsertEvent,
  SigError,
} from "@sig/core";
import { suggest } from "@sig/core/internal";
import {
  many,
  optional,
  toggle,
  usageError,
  type Values,
} from "@sig/api/flags";
import type {
  DesiredRelationship,
  EventDraft,
  PublishedState,
} from "@sig/issuer";
import { typedCommand } from "../command_line/command.ts";
import { did, id, orNone, role } from "../command_line/values.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { doubtsAbout, namesOf, writeChanges } from "../issue/change_notices.ts";
import {
  commonMembers,
  contentFlags,
  DIR_FLAG,
  given,
  MEMBER_FLAGS,
  SIGNING_FLAGS,
  typeFlag,
} from "../issue/flags.ts";

/** What is to be different; members that are absent are kept. */
type Wanted = Omit<DesiredRelationship, "subject" | "type" | "relationship_id">;

const FLAGS = {
  ...DIR_FLAG,
  "relationship-id": optional(id, "the relationship"),
  subject: optional(did, "the one active relationship of this subject"),
  ...typeFlag("of this type"),
  role: many(role, "role, replacing all present roles"),
  "add-role": many(role, "role to add"),
  "remove-role": many(role, "role to remove"),
  "no-roles": toggle("remove all roles"),
  ...contentFlags(orNone),
  ...MEMBER_FLAGS,
  ...SIGNING_FLAGS,
};

type SetValues = Values<typeof FLAGS>;

/** `sig set` */
export const set = typedCommand({
  description:
    "Appends an upsert that keeps everything not named. A bare date is the start\nof that day in --valid-from and its end in --valid-until, UTC; none takes\na date, title, department or label away, --no-roles all roles.",
  flags: FLAGS,
  examples: [
    "sig set --dir acme.example --subject did:web:alice.example --add-role review",
    "sig set --dir acme.example --relationship-id 01K9… --valid-until 2027-06-30",
  ],
  async run(call) {
    const wanted = readWanted(call.flags);
    return await appendProposal(call, async (issuer) => {
      const { changeRelationship } = await import("@sig/issuer");
      const state = await issuer.published();
      const upsert = find(call.flags, state);
      const roles = rolesOf(call.flags, upsert.roles);
      const { change, draft } = changeRelationship(upsert, {
        ...wanted,
        ...(roles === undefined ? {} : { roles }),
      });
      const doubts = doubtsAbout(
        {
          roles: draft.roles?.filter((role) => !upsert.roles.includes(role)),
          valid_until: draft.valid_until,
        },
        [],
        call.io.now(),
        namesOf(state),
      );
      // The issuer judges every member: flags are only text.
      const whole: OpenObject = { ...draft, ...commonMembers(call.flags) };
      return {
        drafts: change.fields.length === 0
          ? []
          : [whole as unknown as EventDraft],
        ifLastSequence: state.last_sequence,
        doubts,
        preview: {
          when: "confirmed",
          write: () => writeChanges(call, [change]),
        },
        changes: [change],
      };
    });
  },
});

/** What the flags name, apart from roles, judged before anything is opened. */
function readWanted(flags: SetValues): Wanted {
  const { "add-role": added, "remove-role": removed, role: roles } = flags;
  const wanted = given({
    valid_from: flags["valid-from"],
    valid_until: flags["valid-until"],
    title: flags.title,
    department: flags.department,
    label: flags.label,
    metadata: flags.metadata,
  });
  const named = Object.entries({
    role: roles,
    "add-role": added,
    "remove-role": removed,
  })
    .filter(([, values]) => values.length > 0);
  const [first] = named;
  if (
    first === undefined && !flags["no-roles"] &&
    Object.keys(wanted).length === 0
  ) {
    throw usageError("no change was given", {
      hint: "For example: --add-role review, or --valid-until 2027-06-30.",
    });
  }
  if (flags["relationship-id"] === undefined && flags.subject === undefined) {
    throw usageError("--relationship-id or --subject is required", {
      flag: "--subject",
    });
  }
  const none = named.find(([flag, values]) =>
    flag !== "remove-role" && values.includes("none")
  );
  if (none !== undefined) {
    throw usageError(`--${none[0]} none would grant a role named "none"`, {
      flag: `--${none[0]}`,
      hint: "--no-roles takes all roles away.",
    });
  }
  if (flags["no-roles"] && first !== undefined) {
    throw usageError(`--no-roles and --${first[0]} contradict each other`, {
      flag: "--no-roles",
    });
  }
  if (roles.length > 0 && named.length > 1) {
    throw usageError(
      "--role replaces all roles and can't be combined with --add-role or --remove-role",
      {
        flag: "--role",
        hint: "Use --add-role and --remove-role, or --role for each role.",
      },
    );
  }
  return wanted;
}

/**
 * The one relationship that the flags mean, by the verified feed itself: what
 * is kept is signed again, so an attacker who forged the index could bring a
 * role, or an ended relationship, back.
 */
function find(
  { "relationship-id": id, subject, type }: SetValues,
  { relationships }: PublishedState,
): RelationshipUpsertEvent {
  if (id !== undefined && relationships.get(id)?.status === "revoked") {
    throw new SigError(
      "already_revoked",
      "Cannot set: the relationship is revoked",
      {
        context: {
          flag: "--relationship-id",
          hint: "sig upsert with its --relationship-id makes it active again.",
        },
      },
    );
  }
  const named = id === undefined
    ? [...relationships.values()]
    : [relationships.get(id)];
  const matches = named.flatMap((each) =>
    each?.status === "active" &&
      (subject ?? each.upsert.subject) === each.upsert.subject &&
      (type ?? each.upsert.relationship_type) === each.upsert.relationship_type
      ? [each.upsert]
      : []
  );
  const [upsert, ...more] = matches;
  if (upsert === undefined) {
    throw new SigError(
      "unknown_relationship",
      "Cannot set: no active relationship matches the flags",
      {
        context: {
          flag: id === undefined ? "--subject" : "--relationship-id",
        },
      },
    );
  }
  if (more.length === 0) return upsert;
  const each = matches.map(({ relationship_id, relationship_type, roles }) =>
    `${relationship_id} (${[relationship_type, ...roles].join(", ")})`
  );
  throw new SigError(
    "ambiguous_relationship",
    `Cannot set: ${matches.length} active relationships match the flags: ${
      each.join("; ")
    }`,
    {
      context: {
        relationship_ids: matches.map(({ relationship_id }) => relationship_id),
        hint: "Name one with --relationship-id.",
      },
    },
  );
}

/** The roles after the change; undefined when the flags name none. */
function rolesOf(
  flags: SetValues,
  before: readonly string[],
): readonly string[] | undefined {
  if (flags["no-roles"]) return [];
  if (flags.role.length > 0) return flags.role;
  const { "add-role": added, "remove-role": removed } = flags;
  if (added.length + removed.length === 0) return undefined;
  const unknown = removed.find((role) => !before.includes(role));
  if (unknown !== undefined) {
    const near = suggest(unknown, before);
    throw usageError(
      `it has no role ${JSON.stringify(unknown)} to remove`,
      {
        flag: "--remove-role",
        hint: near === undefined
          ? `It has ${before.join(", ") || "none"}.`
          : `Did you mean ${near}?`,
      },
    );
  }
  return [...before, ...added].filter((role) => !removed.includes(role));
}
