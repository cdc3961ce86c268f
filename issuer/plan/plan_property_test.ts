import { isSigError, type RelationshipType, type SigEvent } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { EventDraft } from "../append/draft.ts";
import { type DesiredRelationship, isMove } from "./members.ts";
import { planChanges, type PlanOptions } from "./plan_changes.ts";
import { planDrafts } from "./plan_drafts.ts";
import { ISSUER } from "../../tests/kit/events.ts";
import { published } from "../testdata/published.ts";
import { revoke } from "../testdata/support.ts";

const subject = fc.constantFrom("did:web:a.example", "did:web:b.example");
const type = fc.constantFrom<RelationshipType>("employee", "contractor");
const id = fc.constantFrom("i1", "i2", "i3");
const roles = fc.subarray(["r", "s", "t"]);
const end = fc.constantFrom(
  null,
  "2025-01-01T00:00:00Z",
  "2027-01-01T00:00:00Z",
);

/** A published relationship: an upsert, and possibly its revocation. */
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
/** A list; all of its rows have the same columns. */
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

/** The drafts as events, without the members that only a signed feed has. */
const eventsOf = (drafts: readonly EventDraft[], from: number) =>
  drafts.map((draft, at) => ({
    ...{ relationship_id: `new-${from + at}`, roles: [], issuer: ISSUER },
    ...{ valid_from: null, valid_until: null },
    ...draft,
  })) as unknown as SigEvent[];

function draftsOf(events: readonly Past[]): readonly EventDraft[] {
  const subjects = new Map<string, string>();
  return events.flatMap((each): EventDraft[] => {
    const { id: relationship_id, type: relationship_type, roles } = each;
    // A relationship keeps its subject.
    const subject = subjects.get(relationship_id) ?? each.subject;
    subjects.set(relationship_id, subject);
    return [
      {
        event_type: "relationship.upsert",
        ...{ relationship_id, subject, relationship_type, roles },
        ...{ valid_until: each.end, metadata: { cost: 1 } },
      },
      ...each.revoked ? [revoke(relationship_id)] : [],
    ];
  });
}

Deno.test("after a plan each relationship is unchanged or equals its row, and a second plan is empty", () => {
  let planned = 0;
  fc.assert(
    fc.property(history, list, options, (events, rows, how: PlanOptions) => {
      const feed = eventsOf(draftsOf(events), 0);
      const before = published(feed);
      let plan;
      try {
        plan = planChanges(before, rows, how);
      } catch (error) {
        // Contradictions are tested elsewhere.
        assert(isSigError(error), String(error));
        return;
      }
      planned++;
      const replaced = new Map(
        plan.changes.filter(isMove).map((
          { subject, relationship_id },
        ) => [subject, relationship_id]),
      );
      const drafts = planDrafts(plan, before, "other");
      const after = published([...feed, ...eventsOf(drafts, feed.length)]);
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
        // A replacement keeps the members that the row does not contain.
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
