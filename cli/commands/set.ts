import {
  type OpenObject,
  type RelationshipUpsertEvent,
  SigError,
} from "@sig/core";
import { suggest } from "@sig/core/internal";
import { usageError } from "@sig/api/flags";
import type {
  DesiredRelationship,
  EventDraft,
  PublishedState,
} from "@sig/issuer";
import type { Call, CommandSpec } from "../command_line/command.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { doubtsAbout, namesOf, writeChanges } from "../issue/change_notices.ts";
import {
  commonMembers,
  contentFlags,
  DIR_FLAG,
  EVENT_FLAGS,
  given,
  SIGNING_FLAGS,
  typeFlag,
} from "../issue/flags.ts";
import { type End, readValidity } from "../people/day.ts";

/** What is to be different; members that are absent are kept. */
type Wanted = Omit<DesiredRelationship, "subject" | "type" | "relationship_id">;

/** `sig set` */
export const set: CommandSpec = {
  description:
    "Appends an upsert that keeps everything not named. A bare date is the start\nof that day in --valid-from and its end in --valid-until, UTC; none takes\na date, title, department or label away, --no-roles all roles.",
  flags: [
    DIR_FLAG,
    { name: "relationship-id", value: "ID", help: "the relationship" },
    {
      name: "subject",
      value: "DID",
      help: "the one active relationship of this subject",
    },
    typeFlag("of this type"),
    {
      name: "role",
      value: "ROLE",
      help: "role, replacing all present roles",
      repeat: true,
    },
    {
      name: "add-role",
      value: "ROLE",
      help: "role to add",
      repeat: true,
    },
    {
      name: "remove-role",
      value: "ROLE",
      help: "role to remove",
      repeat: true,
    },
    { name: "no-roles", help: "remove all roles" },
    ...contentFlags("or none"),
    // Visibility is kept like everything else.
    ...EVENT_FLAGS.filter(({ name }) => name !== "visibility"),
    ...SIGNING_FLAGS,
  ],
  examples: [
    "sig set --dir acme.example --subject did:web:alice.example --add-role review",
    "sig set --dir acme.example --relationship-id 01K9… --valid-until 2027-06-30",
  ],
  async run(call) {
    const wanted = readWanted(call);
    return await appendProposal(call, async (issuer) => {
      const { changeRelationship } = await import("@sig/issuer");
      const state = await issuer.published();
      const upsert = find(call, state);
      const roles = rolesOf(call, upsert.roles);
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
      const whole: OpenObject = { ...draft, ...commonMembers(call) };
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
};

/** What the flags name, apart from roles, judged before anything is opened. */
function readWanted(call: Call): Wanted {
  const changes = [
    ...["role", "add-role", "remove-role"].flatMap((name) => call.texts(name)),
    ...["valid-from", "valid-until", "title", "department", "label"]
      .map((name) => call.text(name)),
    call.text("metadata"),
  ].filter((value) => value !== undefined);
  if (changes.length === 0 && !call.on("no-roles")) {
    throw usageError("no change was given", {
      hint: "For example: --add-role review, or --valid-until 2027-06-30.",
    });
  }
  if (
    call.text("relationship-id") === undefined &&
    call.text("subject") === undefined
  ) {
    throw usageError("--relationship-id or --subject is required", {
      flag: "--subject",
    });
  }
  for (const flag of ["role", "add-role"]) {
    if (!call.texts(flag).includes("none")) continue;
    throw usageError(`--${flag} none would grant a role named "none"`, {
      flag: `--${flag}`,
      hint: "--no-roles takes all roles away.",
    });
  }
  const named = ["role", "add-role", "remove-role"]
    .find((flag) => call.texts(flag).length > 0);
  if (call.on("no-roles") && named !== undefined) {
    throw usageError(`--no-roles and --${named} contradict each other`, {
      flag: "--no-roles",
    });
  }
  if (
    call.texts("role").length > 0 &&
    call.texts("add-role").length + call.texts("remove-role").length > 0
  ) {
    throw usageError(
      "--role replaces all roles and can't be combined with --add-role or --remove-role",
      {
        flag: "--role",
        hint: "Use --add-role and --remove-role, or --role for each role.",
      },
    );
  }
  const shown = (name: string) => {
    const value = call.text(name);
    return value === "none" ? null : value;
  };
  return given({
    valid_from: readEnd(call, "valid_from"),
    valid_until: readEnd(call, "valid_until"),
    title: shown("title"),
    department: shown("department"),
    label: shown("label"),
    metadata: commonMembers(call).metadata,
  });
}

function readEnd(call: Call, end: End): string | null | undefined {
  return call.text(end.replace("_", "-")) === "none"
    ? null
    : readValidity(call, end);
}

/**
 * The one relationship that the flags mean, by the verified feed itself: what
 * is kept is signed again, so an attacker who forged the index could bring a
 * role, or an ended relationship, back.
 */
function find(
  call: Call,
  { relationships }: PublishedState,
): RelationshipUpsertEvent {
  const id = call.text("relationship-id");
  const subject = call.text("subject");
  const type = call.text("type");
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
  call: Call,
  before: readonly string[],
): readonly string[] | undefined {
  if (call.on("no-roles")) return [];
  const roles = call.texts("role");
  if (roles.length > 0) return roles;
  const [added, removed] = [call.texts("add-role"), call.texts("remove-role")];
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
