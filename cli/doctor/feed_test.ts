import type { RelationshipUpsertEvent } from "@sig/core";
import { assertEquals } from "@std/assert";
import { ChangeList } from "../ask/change_list.ts";
import { FEED_FINDINGS, FeedNotes } from "./feed.ts";

function upsert(
  members: Partial<RelationshipUpsertEvent>,
): RelationshipUpsertEvent {
  return {
    spec_version: "sig/0.1",
    event_id: `e${members.sequence}`,
    event_type: "relationship.upsert",
    issuer: "did:web:acme.example",
    issued_at: "2026-01-01T00:00:00Z",
    sequence: 1,
    relationship_id: "r1",
    subject: "did:web:alice.example",
    visibility: "public",
    relationship_type: "employee",
    status: "active",
    roles: [],
    valid_from: null,
    valid_until: null,
    ...members,
  };
}

Deno.test("a feed that nears the limits of servers is a finding, by bytes and by events", () => {
  const count = (bytes: number, verifiedEvents: number) =>
    FEED_FINDINGS.feed_large.find({ feed: { bytes, verifiedEvents } }).length;
  assertEquals(count(50_331_647, 187_499), 0);
  assertEquals(count(50_331_648, 1), 1);
  assertEquals(count(1, 187_500), 1);
});

// With quadratic work these would take hours.
Deno.test("long texts and role lists take linear time", () => {
  const examination = new FeedNotes();
  for (const part of ["a", "a.", "a@", "a@a.", "+1 2", "born 1"]) {
    const event = upsert({ reason: part.repeat(1_000_000) });
    examination.add({ event, kid: "k1", line: event.sequence, isVoid: false });
  }
  const roles = (from: number) =>
    Array.from({ length: 200_000 }, (_, i) => `r${from + i}`);
  const list = new ChangeList();
  const [, second] = ([[1, 0], [2, 1]] as const).flatMap(([sequence, from]) => {
    const event = upsert({ sequence, roles: roles(from) });
    return list.add({ event, kid: "k1", isVoid: false });
  });
  assertEquals(second?.roles_gained, ["r200000"]);
  assertEquals(second?.roles_lost, ["r0"]);
});
