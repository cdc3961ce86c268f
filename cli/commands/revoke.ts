/** Ends one relationship, and undoes its last event. @module */

import {
  isRevoke,
  isUpsert,
  type RelationshipRevokeEvent,
  type RelationshipUpsertEvent,
  SigError,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import { optional, required, toggle, type Values } from "@sig/api/program";
import type { EventDraft, Issuer, PlannedChange } from "@sig/issuer";
import { type Call, typedCommand } from "../command_line/command.ts";
import { did, id } from "../command_line/values.ts";
import { appendProposal, canAsk } from "../issue/append_proposal.ts";
import { MOST_NAMED, stillActive } from "../issue/change_notices.ts";
import { publishedState } from "../issue/open_issuer.ts";
import { writeChanges } from "../output/changes.ts";
import {
  APPEND_FLAGS,
  commonMembers,
  DIR_FLAG,
  ENDING_FLAGS,
  given,
  MEMBER_FLAGS,
  SIGNING_FLAGS,
} from "../issue/flags.ts";
import { keysOf } from "../ask/source_flags.ts";
import { differingFields } from "../output/changes.ts";
import { counted, safe } from "../output/write.ts";
import { PEOPLE_FLAG, tryReadPeopleFile } from "../people/people.ts";

const YES_FLAG = { yes: toggle("do not ask, on a terminal") };

const REVOKE_FLAGS = {
  ...DIR_FLAG,
  "relationship-id": required(id, "the relationship that ends"),
  "reason-code": ENDING_FLAGS["reason-code"],
  subject: optional(
    did,
    "the relationship must be this key's or person's (default: not compared)",
  ),
  "effective-at": ENDING_FLAGS["effective-at"],
  amend: toggle("revoke again, to correct the reason or the time"),
  ...YES_FLAG,
  ...PEOPLE_FLAG,
  ...APPEND_FLAGS,
};

/** `sig revoke` */
export const revoke = typedCommand({
  description: `
    Appends one signed event. Readers deny from the moment they see it. On a
    terminal it shows whose relationship ends, and which other keys of the person
    stay, and asks. Other commands: sig offboard ends a person, sig undo takes
    a revocation back.`,
  flags: REVOKE_FLAGS,
  subjects: "person",
  examples: [
    "sig revoke --dir acme.example --relationship-id 01K9… --reason-code employment_ended",
  ],
  async run(call) {
    const { flags } = call;
    const relationship_id = flags["relationship-id"];
    return await appendProposal(call, async (issuer) => {
      const ending = await issuer.current({ relationship_id });
      const [known] = ending.relationships;
      const isFitting = keysOf(call)?.includes(known?.subject ?? "");
      const { relationships } = await issuer.current({
        subject: known?.subject,
        most: MOST_NAMED,
      });
      const notices = stillActive(
        relationships.filter((each) =>
          each.relationship_id !== relationship_id
        ),
        call.io.now(),
      );
      const draft = {
        event_type: "relationship.revoke",
        relationship_id,
        reason_code: flags["reason-code"],
        ...given({
          subject: isFitting ? undefined : flags.subject,
          effective_at: flags["effective-at"],
          amend: flags.amend || undefined,
        }),
        ...commonMembers(flags),
      };
      const isAsked = canAsk(call) && known?.upsert !== null &&
        known !== undefined;
      return {
        // The issuer validates every member; flags are only text.
        drafts: [draft as unknown as EventDraft],
        // One relationship, named by a flag.
        guards: "named",
        ...isAsked && await revokeQuestion(call, issuer, relationship_id),
        about: () => ({ notices }),
      };
    });
  },
});

/** Returns the preview of a revocation, for a terminal. */
async function revokeQuestion(
  call: Call<Values<typeof REVOKE_FLAGS>>,
  issuer: Issuer,
  id: string,
) {
  const { PersonIndex, revocationOf } = await import(
    "@sig/issuer/internal"
  );
  const state = await publishedState(call, issuer);
  const ending = state.relationships.get(id)!;
  const { subject } = ending.upsert;
  const others = new PersonIndex(state).activeOf(subject)
    .filter(({ upsert }) => upsert.subject !== subject)
    .map(({ upsert: { relationship_type, roles, subject } }) =>
      `    stays  ${safe(subject)}  ${
        safe([relationship_type, ...roles].join(", "))
      }\n`
    );
  return {
    ifLastSequence: state.last_sequence,
    preview: {
      when: "asked",
      write() {
        writeChanges(call, [revocationOf(ending)], state.people);
        call.io.stdout(others.join(""));
      },
    },
    question: {
      text: others.length === 0
        ? "End this relationship?"
        : `End this relationship? ${
          counted(others.length, "other relationship")
        } of the person's other keys stay.`,
    },
  } as const;
}

const UNDO_FLAGS = {
  ...DIR_FLAG,
  "relationship-id": required(id, "the relationship"),
  ...YES_FLAG,
  ...PEOPLE_FLAG,
  "event-id": MEMBER_FLAGS["event-id"],
  ...SIGNING_FLAGS,
};

/** `sig undo` */
export const undo = typedCommand({
  description: `
    Appends the relationship as it was before its last event: every member, also
    title, department, label, metadata and dates. For a revocation by mistake, or
    a wrong change. It is retroactive: readers see the relationship as if that
    event had not been published. The event stays in the feed.`,
  flags: UNDO_FLAGS,
  examples: ["sig undo --dir acme.example --relationship-id 01K9…"],
  async run(call) {
    const id = call.flags["relationship-id"];
    return await appendProposal(call, async (issuer) => {
      const { changeRelationship } = await import("@sig/issuer/internal");
      // Recovers the end of the feed, which is then read.
      await issuer.current({ relationship_id: id });
      const { events, last_sequence } = await eventsOf(call, id);
      const { earlier, last } = requireEarlier(id, events);
      const { change: { before: after }, draft } = changeRelationship(
        earlier,
        {},
      );
      const before = isUpsert(last)
        ? changeRelationship(last, {}).change.before
        : null;
      const change: PlannedChange = {
        action: before === null ? "reactivate" : "update",
        relationship_id: id,
        subject: earlier.subject,
        before,
        after,
        fields: differingFields(before ?? { ...after, roles: [] }, after!),
        row: null,
      };
      const people = await tryReadPeopleFile(call);
      return {
        // Undoes one revocation, named by a flag.
        guards: "named",
        drafts: [{ ...draft, ...given({ event_id: call.flags["event-id"] }) }],
        ifLastSequence: last_sequence,
        doubts: [
          `this is retroactive: readers see relationship ${id} as if event ${last.sequence} (${
            describeEvent(last)
          }) had not been published, also for the time since then`,
        ],
        preview: {
          when: "asked",
          write: () => writeChanges(call, [change], people),
        },
        question: { text: "Append this?" },
        about: () => ({ notices: [] }),
      };
    });
  },
});

function describeEvent(event: SigEvent): string {
  return isRevoke(event)
    ? `revoke, ${event.reason_code}, effective ${event.effective_at}`
    : "upsert";
}

/** Reads the events of a relationship from the issuer's directory. */
async function eventsOf(
  { flags, io }: Call<Values<typeof UNDO_FLAGS>>,
  id: string,
) {
  const { openSource, verifyIssuer } = await import("@sig/consumer");
  const events: (SigEvent | UnknownEvent)[] = [];
  const source = openSource({ kind: "directory", path: flags.dir });
  const { state: { last_sequence } } = await verifyIssuer(source, {
    now: io.now(),
    unknownEvents: "ignore",
    onEvent({ event }) {
      if (event.relationship_id === id) events.push(event);
    },
  });
  const isKnown = (event: SigEvent | UnknownEvent): event is SigEvent =>
    isUpsert(event) || isRevoke(event);
  return { last_sequence, events: events.filter(isKnown) };
}

/** Returns the last event, and the upsert that was in force before it. */
function requireEarlier(
  id: string,
  events: readonly SigEvent[],
): { readonly last: SigEvent; readonly earlier: RelationshipUpsertEvent } {
  const refused = (why: string, hint: string) =>
    new SigError("unknown_relationship", {
      action: "undo",
      reason: why,
      context: { flag: "--relationship-id", hint },
    });
  const last = events.at(-1);
  if (last === undefined) {
    throw refused(
      `no event is about relationship ${quote(id)}`,
      "sig dump-state DIR lists the relationships.",
    );
  }
  const before = events.at(-2);
  if (isRevoke(last)) {
    // Of an amended revocation, both are undone.
    const earlier = events.findLast(isUpsert);
    if (earlier !== undefined) return { last, earlier };
  }
  if (before !== undefined && isUpsert(before)) {
    return { last, earlier: before };
  }
  throw refused(
    `before its last event (seq=${last.sequence}), relationship ${quote(id)} ${
      before === undefined ? "did not exist" : "was ended"
    }`,
    before === undefined
      ? "sig revoke ends it."
      : `sig revoke --reason-code ${
        (before as RelationshipRevokeEvent).reason_code
      } ends it again.`,
  );
}
