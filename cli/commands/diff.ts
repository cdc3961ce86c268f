import { dumpState, type RelationshipState, type StateDump } from "@sig/core";
import { optional, usageError } from "@sig/api/program";
import { typedCommand } from "../command_line/command.ts";
import { asOf, asOfThrough } from "../command_line/values.ts";
import { column, DID, writeTable } from "../output/table.ts";
import { type Output, safe, writeJson } from "../output/write.ts";
import {
  describeFields,
  describeValue,
  differingFields,
} from "../output/changes.ts";
import type { People } from "@sig/issuer/people";
import { nameIn, PEOPLE_FLAG } from "../people/people.ts";
import {
  peopleOf,
  POLICY_FLAGS,
  SOURCE_FLAG,
  SOURCE_HELP,
  SOURCE_WORD,
  sourceOf,
  verifySource,
} from "../ask/source_flags.ts";

/** `sig diff` */
export const diff = typedCommand({
  description: `
    Compares the states of two feeds, relationship by relationship, including their
    last sequences. --from and --to compare one source with itself, as it was known
    after those events or at those times. Exits with 0 if both are equal, 1 if they
    differ, and 2 on an error.`,
  positionals: [
    SOURCE_WORD,
    { ...SOURCE_WORD, name: "other", help: `another one: ${SOURCE_HELP}` },
  ],
  flags: {
    ...SOURCE_FLAG,
    from: optional(asOf, "as known then"),
    to: optional(asOfThrough, "as known then (default: now)"),
    ...PEOPLE_FLAG,
    ...POLICY_FLAGS,
  },
  examples: [
    "sig diff ./acme.example acme.example",
    "sig diff acme.example --from 100 --to 120",
  ],
  async run(call) {
    const { from, sig: flag, to } = call.flags;
    const [source = sourceOf(call), other, extra] = flag === undefined
      ? call.positionals
      : [flag, ...call.positionals];
    if (extra !== undefined) {
      throw usageError("more than two sources were given");
    }
    if (other === undefined && from === undefined) {
      throw usageError("there is nothing to compare with", {
        hint: "Name a second source, or give --from and --to.",
      });
    }
    if (other !== undefined && (from ?? to) !== undefined) {
      throw usageError("--from and --to are for one source", {
        flag: from === undefined ? "--to" : "--from",
        hint: "Name one source only.",
      });
    }
    const people = await peopleOf(call, source);
    const first = await verifySource(call, source);
    const second = other === undefined
      ? first
      : await verifySource(call, other);
    const now = call.io.now();
    const before = dumpState(first.state, { asOf: from, now });
    const after = dumpState(second.state, { asOf: to, now });
    return report(call, before, after, people);
  },
});

function report(
  call: Output,
  before: StateDump,
  after: StateDump,
  people: People,
): number {
  const differences = findDifferences(before, after);
  const [from, to] = [before, after].map(({ issuer, last_sequence }) => ({
    issuer,
    last_sequence,
  }));
  const isEqual = differences.length === 0 &&
    JSON.stringify(from) === JSON.stringify(to);
  if (call.format === "json") {
    writeJson(call.io, { equal: isEqual, from, to, differences });
    return isEqual ? 0 : 1;
  }
  const place = ({ issuer, last_sequence }: StateDump) =>
    `${safe(issuer)} at event ${last_sequence}`;
  call.io.stdout(
    isEqual
      ? `equal: ${place(before)}\n`
      : `different: ${place(before)}, and ${place(after)}\n`,
  );
  writeTable(call, differences, [
    column("what", ({ kind }) => kind, {
      colour: (kind) =>
        kind === "added" ? "green" : kind === "removed" ? "red" : "yellow",
    }),
    column("relationship", (each) => each.relationship_id),
    column("name", ({ subject }) => nameIn(people, subject)),
    column("subject", ({ subject }) => subject, DID),
    column("difference", describe, { isWrapped: true }),
  ]);
  return isEqual ? 0 : 1;
}

function describe({ before, after, fields }: Difference): string {
  if (before !== null && after !== null) {
    return describeFields(before, after, fields).join("; ");
  }
  const { status, relationship_type, roles } = (before ?? after)!;
  return `${status} ${relationship_type}, roles ${describeValue(roles)}`;
}

/** A relationship that differs between the two sources. */
interface Difference {
  readonly relationship_id: string;
  readonly subject: string;
  /** `added`: only in the second source; `removed`: only in the first. */
  readonly kind: "added" | "removed" | "changed";
  /** The members that differ, in the order of `RelationshipState`. */
  readonly fields: readonly (keyof RelationshipState)[];
  readonly before: RelationshipState | null;
  readonly after: RelationshipState | null;
}

/** Finds all differences, sorted by relationship_id. */
function findDifferences(a: StateDump, b: StateDump): readonly Difference[] {
  const [before, after] = [a.by_relationship_id, b.by_relationship_id];
  const ids = [...new Set([...before.keys(), ...after.keys()])].sort();
  return ids.flatMap((id): readonly Difference[] => {
    const [was, is] = [before.get(id) ?? null, after.get(id) ?? null];
    // The issuers of the two states are compared separately.
    const fields = was && is ? differingFields(was, is, ["issuer"]) : [];
    if (was && is && fields.length === 0) return [];
    return [{
      relationship_id: id,
      subject: (is ?? was)!.subject,
      kind: was === null ? "added" : is === null ? "removed" : "changed",
      fields,
      before: was,
      after: is,
    }];
  });
}
