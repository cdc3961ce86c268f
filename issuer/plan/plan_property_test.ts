import {
  isSigError,
  type RelationshipRevokeEvent,
  type RelationshipType,
  type RelationshipUpsertEvent,
} from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { EventDraft } from "../append/draft.ts";
import type { DesiredRelationship } from "./members.ts";
import { isMove, planChanges, type PlanOptions } from "./plan_changes.ts";
import { planDrafts } from "./plan_drafts.ts";
import { PublishedRelationships, type PublishedState } from "./published.ts";

const subject = fc.constantFrom("did:web:a.example", "did:web:b.example");
const type = fc.constantFrom<RelationshipType>("employee", "contractor");
const id = fc.constantFrom("i1", "i2", "i3");
const roles = fc.subarray(["r", "s", "t"]);
const end = fc.constantFrom(
  null,
  "2025-01-01T00:00:00Z",
  "2027-01-01T00:00:00Z",
);

/** What was published: an upsert, and perhaps its revoke. */
interface Past {
  readonly id: string;
  readonly subject: string;
  readonly type: RelationshipType;
  readonly roles: readonly string[];
  readonly end: string | null;
  readonly revoked: boolean;
}
const history = fc.array<Past>(
  fc.record({ id, subject, type, roles, end, revoked: fc.boolean() }),
  { maxLength: 5 },
);
/** A list: all of its rows have the same columns. */
const list = fc.tuple(
  fc.record({ hasRoles: fc.boolean(), hasEnd: fc.boolean() }),
  fc.array(
    fc.record({ subject, type, roles, end, id: fc.option(id) }),
    { minLength: 1, maxLength: 4 },
  ),
).map(([{ hasRoles, hasEnd }, rows]): readonly DesiredRelationship[] =>
  rows.map((row, at) => ({
    subject: row.subject,
    type: row.type,
    ...(row.id === null ? {} : { relationship_id: row.id }),
    ...(hasRoles ? { roles: row.roles } : {}),
    ...(hasEnd ? { valid_until: row.end } : {}),
    row: at + 2,
  }))
);
const options = fc.record({
  prune: fc.boolean(),
  types: fc.option(fc.array(type, { minLength: 1 }), { nil: undefined }),
});

/** A feed, without its signatures. */
class Feed {
  readonly #relationships = new PublishedRelationships();
  #sequence = 0;

  append(draft: EventDraft): void {
    const sequence = ++this.#sequence;
    const event = {
      spec_version: "sig/0.1",
      event_id: `e${sequence}`,
      issuer: "did:web:acme.example",
      issued_at: "2026-01-01T00:00:00Z",
      visibility: "public",
      relationship_id: `new-${sequence}`,
      roles: [],
      valid_from: null,
      valid_until: null,
      ...draft,
      sequence,
    };
    this.#relationships.add(
      event as unknown as RelationshipUpsertEvent | RelationshipRevokeEvent,
    );
  }

  get state(): PublishedState {
    return {
      issuer: "did:web:acme.example",
      last_sequence: this.#sequence,
      feed_sha256: `${this.#sequence}`,
      relationships: new Map(this.#relationships.byId),
    };
  }
}

function publish(events: readonly Past[]): Feed {
  const feed = new Feed();
  const subjects = new Map<string, string>();
  for (const each of events) {
    // A relationship keeps its subject.
    const subject = subjects.get(each.id) ?? each.subject;
    subjects.set(each.id, subject);
    const relationship_id = each.id;
    feed.append({
      event_type: "relationship.upsert",
      ...{ relationship_id, subject, relationship_type: each.type },
      ...{ roles: each.roles, valid_until: each.end },
      metadata: { cost: 1 },
    });
    if (!each.revoked) continue;
    feed.append({
      event_type: "relationship.revoke",
      ...{ relationship_id, reason_code: "other" },
    });
  }
  return feed;
}

Deno.test("after a plan each relationship is as it was or as its row says, and a second plan is empty", () => {
  let planned = 0;
  fc.assert(
    fc.property(history, list, options, (events, rows, how: PlanOptions) => {
      const feed = publish(events);
      const before = feed.state;
      let plan;
      try {
        plan = planChanges(before, rows, how);
      } catch (error) {
        // Contradictions are others' tests.
        assert(isSigError(error), String(error));
        return;
      }
      planned++;
      const replaced = new Map(
        plan.changes.filter(isMove).map((
          { subject, relationship_id },
        ) => [subject, relationship_id]),
      );
      for (const draft of planDrafts(plan, before, "other")) {
        feed.append(draft);
      }
      const after = feed.state;
      assertEquals(planChanges(after, rows, how).changes, []);
      for (const [id, is] of after.relationships) {
        const was = before.relationships.get(id);
        if (was?.last_sequence === is.last_sequence) continue;
        const isInScope = (type: string) => how.types?.includes(type) ?? true;
        if (was?.status === "active") {
          assert(isInScope(was.upsert.relationship_type), "out of scope");
        }
        if (is.status === "revoked") {
          const isReplaced = replaced.get(is.upsert.subject) === id;
          assert(how.prune || isReplaced, "ended by a list that ends nothing");
          continue;
        }
        const { upsert } = is;
        const row = rows.find((row) =>
          row.subject === upsert.subject &&
          row.type === upsert.relationship_type &&
          (row.relationship_id ?? id) === id
        );
        assert(row !== undefined, "no row is about it");
        // What replaces a relationship keeps what the row does not name.
        const old = was ??
          before.relationships.get(replaced.get(upsert.subject) ?? "");
        const kept = [...old?.upsert.roles ?? []].sort();
        assertEquals([...upsert.roles].sort(), row.roles ?? kept);
        const keptEnd = old?.upsert.valid_until ?? null;
        const end = row.valid_until === undefined ? keptEnd : row.valid_until;
        assertEquals(upsert.valid_until, end);
        if (old !== undefined) assertEquals(upsert.metadata, { cost: 1 });
      }
    }),
    { numRuns: 2_000 },
  );
  assert(planned > 500, `only ${planned} lists could be planned`);
});
