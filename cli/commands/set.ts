import { type RelationshipUpsertEvent, SigError } from "@sig/core";
import { suggest } from "@sig/core/internal";
import {
  many,
  optional,
  toggle,
  usageError,
  type Values,
} from "@sig/api/program";
import type {
  DesiredRelationship,
  EventDraft,
  PublishedRelationship,
  PublishedState,
} from "@sig/issuer";
import { typedCommand } from "../command_line/command.ts";
import {
  givenRole,
  id,
  orNone,
  person,
  refuseTogether,
  role,
} from "../command_line/values.ts";
import { appendProposal } from "../issue/append_proposal.ts";
import { doubtsAbout, namesOf } from "../issue/change_notices.ts";
import { publishedState } from "../issue/open_issuer.ts";
import { writeChanges } from "../output/changes.ts";
import {
  commonMembers,
  contentFlags,
  DIR_FLAG,
  given,
  MEMBER_FLAGS,
  SIGNING_FLAGS,
  typeFlag,
} from "../issue/flags.ts";

/** The wanted changes; absent members are kept. */
type Wanted = Omit<DesiredRelationship, "subject" | "type" | "relationship_id">;

const FLAGS = {
  ...DIR_FLAG,
  "relationship-id": optional(id, "the relationship"),
  subject: optional(
    person,
    "the person (id or name) or one of their keys; each key is changed",
  ),
  ...typeFlag("of this type"),
  role: many(givenRole, "role, replacing all present roles"),
  "add-role": many(givenRole, "role to add"),
  "remove-role": many(role, "role to remove"),
  "no-roles": toggle("remove all roles"),
  ...contentFlags(orNone),
  ...MEMBER_FLAGS,
  ...SIGNING_FLAGS,
};

type SetValues = Values<typeof FLAGS>;

/** `sig set` */
export const set = typedCommand({
  description: `
    Appends an upsert that keeps everything not named, for each key of the person
    with that type (title, department, label and metadata: of one key). A bare date
    is the start of that day in --valid-from and its end in --valid-until, UTC. The
    value none removes a date, title, department or label; --no-roles removes all
    roles.`,
  flags: FLAGS,
  subjects: "person",
  examples: [
    "sig set --dir acme.example --subject did:web:alice.example --add-role review",
    "sig set --dir acme.example --relationship-id 01K9… --valid-until 2027-06-30",
  ],
  async run(call) {
    const wanted = readWanted(call.flags);
    return await appendProposal(call, async (issuer) => {
      const {
        changeRelationship,
        PersonIndex,
        severalOfOtherKey,
      } = await import("@sig/issuer/internal");
      const state = await publishedState(call, issuer);
      const { "relationship-id": id = "" } = call.flags;
      const named = call.flags.subject ??
        state.relationships.get(id)?.upsert.subject ?? "";
      const now = call.io.now();
      const index = new PersonIndex(state, now);
      const upsert = find(call.flags, state, index.activeOf(named));
      const { subject, relationship_type: type } = upsert;
      const others = index.activeOf(subject, type)
        .filter((each) => each.upsert.subject !== subject);
      const byKey = Map.groupBy(others, (each) => each.upsert.subject);
      const several = byKey.values().find(({ length }) => length > 1);
      if (several !== undefined) {
        throw severalOfOtherKey("set", upsert.relationship_id, several);
      }
      const { "event-id": eventId, reason, "issued-at": issued_at } =
        call.flags;
      // A repetition repeats one event, and writes nothing for other keys.
      const repeated = state.history.events.get(eventId ?? "");
      const all = [undefined, ...others].map((published) => {
        const each = published?.upsert ?? upsert;
        const isNamed = published === undefined && repeated === undefined;
        const roles = rolesOf(call.flags, each.roles, isNamed);
        const { valid_until } = wanted;
        // A further key does not begin before it was added.
        const valid_from = published && wanted.valid_from !== undefined
          ? index.startOf(
            each.subject,
            { ...each, metadata: null, valid_from: wanted.valid_from },
            published,
          ).valid_from
          : undefined;
        return changeRelationship(each, {
          ...published === undefined ? wanted : { valid_from, valid_until },
          ...(roles === undefined ? {} : { roles }),
        });
      });
      const changed = repeated === undefined
        ? all.filter(({ change }) => change.fields.length > 0)
        : [
          all.find(({ draft }) => draft.relationship_id === repeated) ??
            all[0]!,
        ];
      const changes = changed.map(({ change }) => change);
      const granted = changed.flatMap(({ change: { before }, draft }) =>
        draft.roles?.filter((role) => !before?.roles.includes(role)) ?? []
      );
      const doubts = doubtsAbout(
        {
          roles: [...new Set(granted)],
          valid_until: all[0]?.draft.valid_until,
        },
        now,
        namesOf(state),
      );
      return {
        // The issuer validates every member; flags are only text.
        drafts: changed.map(({ draft }, at): EventDraft => ({
          ...draft,
          ...(draft.relationship_id === upsert.relationship_id
            ? commonMembers(call.flags)
            : given({ issued_at, reason })),
          ...given({
            event_id: eventId && at > 0 ? `${eventId}~${at + 1}` : eventId,
          }),
        })),
        // One relationship or person, named by a flag.
        guards: "named",
        ifLastSequence: state.last_sequence,
        doubts,
        preview: {
          when: "confirmed",
          // A repetition changes nothing.
          write: () =>
            writeChanges(
              call,
              changes.filter(({ fields }) => fields.length > 0),
              state.people,
            ),
        },
        changes,
      };
    });
  },
});

/** Reads and validates the flags except roles, before the issuer is opened. */
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
  const lists = { role: roles, "add-role": added, "remove-role": removed };
  const named = Object.entries(lists).filter(([, all]) => all.length > 0);
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
  if (flags["no-roles"]) refuseTogether(Object.fromEntries(named), "no-roles");
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
 * Finds the one relationship that the flags select, in the verified feed. Kept
 * values are signed again, so a forged index could restore a role or an ended
 * relationship.
 */
function find(
  { "relationship-id": id, subject, type }: SetValues,
  { relationships }: PublishedState,
  ofPerson: readonly PublishedRelationship[],
): RelationshipUpsertEvent {
  if (id !== undefined && relationships.get(id)?.status === "revoked") {
    throw new SigError("already_revoked", {
      action: "set",
      reason: "the relationship is revoked",
      context: {
        flag: "--relationship-id",
        hint: "sig upsert with its --relationship-id makes it active again.",
      },
    });
  }
  const matches = ofPerson.map(({ upsert }) => upsert)
    .filter((each) =>
      (id ?? each.relationship_id) === each.relationship_id &&
      (type ?? each.relationship_type) === each.relationship_type
    );
  const [upsert] = matches;
  if (upsert === undefined) {
    throw new SigError("unknown_relationship", {
      action: "set",
      reason: "no active relationship matches the flags",
      context: {
        flag: id === undefined ? "--subject" : "--relationship-id",
      },
    });
  }
  const subjects = new Set(matches.map((each) => each.subject));
  const types = new Set(matches.map((each) => each.relationship_type));
  if (types.size === 1 && subjects.size === matches.length) {
    return matches.find((each) => each.subject === subject) ?? upsert;
  }
  const each = matches.map(({ relationship_id, relationship_type, roles }) =>
    `${relationship_id} (${[relationship_type, ...roles].join(", ")})`
  );
  throw new SigError("ambiguous_relationship", {
    action: "set",
    reason: `${matches.length} active relationships match the flags: ${
      each.join("; ")
    }`,
    context: {
      relationship_ids: matches.map(({ relationship_id }) => relationship_id),
      hint: "Name one with --relationship-id.",
    },
  });
}

/** Returns the roles after the change, or undefined if no flag changes them. */
function rolesOf(
  flags: SetValues,
  before: readonly string[],
  isNamed: boolean,
): readonly string[] | undefined {
  if (flags["no-roles"]) return [];
  if (flags.role.length > 0) return flags.role;
  const { "add-role": added, "remove-role": removed } = flags;
  if (added.length + removed.length === 0) return undefined;
  const unknown = removed.find((role) => !before.includes(role));
  if (unknown !== undefined && isNamed) {
    const near = suggest(unknown, before);
    throw usageError(
      `the relationship has no role ${JSON.stringify(unknown)} to remove`,
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
