/**
 * Lists as companies write them, with one mistake each: nothing may change
 * without a word.
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { FEED, inWorkspace, type Workspace } from "../testdata/workspace.ts";

// promise: A mistake in a list of people is named before anything changes.

const HEADER = "person,name,subject,type,roles,valid_from,valid_until,title\n";
const key = (n: number, letter = "a") => `did:web:p${n}${letter}.example`;

/** A row of the company's list. */
function row(
  n: number,
  changes: Readonly<Record<string, string>> = {},
): string {
  const cells = {
    ...{ person: `${n}`, name: `Person ${n}`, subject: key(n) },
    ...{ type: "employee", roles: "deploy", from: "2020-01-01" },
    ...{ until: n <= 10 ? "2027-12-31" : "", title: "Engineer" },
    ...changes,
  };
  return `${Object.values(cells).map((cell) => `"${cell}"`).join(",")}\n`;
}

const rows = (from: number, to: number, change = (_: number) => ({})) =>
  Array.from(
    { length: to - from + 1 },
    (_, at) => row(from + at, change(from + at)),
  ).join("");
/** Twelve people; ten have a contract with an end. */
const COMPANY = HEADER + rows(1, 12);

const APPLY = "apply --dir $D/acme --from $D/list.csv --yes";
const OFFBOARD = "offboard --dir $D/acme --yes --reason-code employment_ended";

/** A wrong list, and what must happen. */
interface Case {
  /** The list; bytes for an encoding other than UTF-8. */
  readonly list: string | Uint8Array;
  /** Further arguments of `sig apply`. */
  readonly words?: string;
  /** Commands, and lists to apply, before. */
  readonly before?: readonly string[];
  /** The exit code (default: 0). */
  readonly code?: number;
  /** Parts of the output. */
  readonly says?: readonly string[];
  /** The new events: type, subject or id, then a member. */
  readonly events?: readonly (readonly string[])[];
  /** The people file before the list is applied (default: the company's). */
  readonly people?: string;
}

/** Asserts that the list is refused, and that nothing is written. */
const refused = (
  list: Case["list"],
  says: readonly string[],
  more: Partial<Case> = {},
): Case => ({ list, says, code: 2, events: [], ...more });

const OLD_FILE = "subject,person,name,username\n";

const CASES: Readonly<Record<string, Case>> = {
  "a new key has the name of somebody else": refused(
    HEADER + row(1) + row(77, { person: "", name: "Person 2" }),
    [
      `"${key(77)}" is new and has the name of "${key(2)}", "Person 2"`,
      "a column person",
      "--namesakes",
    ],
  ),
  "a new key has the name of somebody else, who is another person": {
    list: HEADER + row(1) + row(77, { person: "", name: "Person 2" }),
    words: "--namesakes",
    events: [["upsert", key(77), "2020-01-01T00:00:00Z", "first"]],
  },
  "one person has three keys in three rows": {
    list: COMPANY + row(13) + row(13, { subject: key(13, "b") }) +
      row(13, { subject: key(13, "c") }),
    events: [
      ["upsert", key(13), "2020-01-01T00:00:00Z", "first"],
      ["upsert", key(13, "b"), "now", key(13)],
      ["upsert", key(13, "c"), "now", key(13)],
    ],
  },
  "an old list brings back somebody who was moved and then offboarded": refused(
    COMPANY,
    ["would be re-admitted", "--readmit"],
    {
      before: [
        HEADER + rows(1, 11) + row(12, { type: "contractor" }),
        `${OFFBOARD} --subject 12`,
      ],
    },
  ),
  "last week's list brings back a replaced key": refused(
    COMPANY,
    ["would be re-admitted", "(superseded, ", "--readmit"],
    { before: [HEADER + row(1, { subject: key(1, "b") }) + rows(2, 12)] },
  ),
  "a German Excel wrote it": {
    list:
      `\uFEFFPersonalnummer;Name;Schlüssel;Art;Rolle;Eintritt;Abteilung\r\n12;Person 12;${
        key(12)
      };employee;deploy;01.02.2020;IT\r\n`,
    words:
      "--columns Personalnummer=person,Schlüssel=subject,Art=type,Rolle=roles,Eintritt=valid_from,Abteilung= --dates dmy",
    says: ["Not in the list, and they keep their access: Person 1 (deploy), "],
    events: [["upsert", key(12), "2020-02-01T00:00:00Z", ""]],
  },
  "a key is moved to another person": refused(
    HEADER + rows(1, 11) + row(12, { person: "99" }),
    [
      `row 13: the key "${
        key(12)
      }" is of person "12" (row 13 of the people file), not of "99"`,
    ],
  ),
  "the people file has two user names alike, a DID that is none and a key of two people":
    refused(
      COMPANY,
      [
        'Cannot read people file "$D/acme/.sig/people.csv": row 3: its username is that of another person in row 2',
        "row 4: its subject is not a DID",
        "row 6: its key has two people; row 5 has the other",
      ],
      {
        people: `${OLD_FILE}${key(1)},1,,ann\n${key(2)},2,,ANN\nnobody,3,,\n${
          key(4)
        },4,,\n${key(4)},5,,\n`,
      },
    ),
  "a person has a new name": {
    list: HEADER + rows(1, 11) + row(12, { name: "Person Twelve" }),
    says: [
      `people.csv has another person or name for ${key(12)}, and keeps it`,
    ],
    events: [],
  },
  "a revoke was wrong": {
    list: COMPANY,
    words: "--readmit --retroactive",
    before: [`${OFFBOARD} --subject 12`],
    events: [["upsert", key(12), "2020-01-01T00:00:00Z", "first"]],
  },
  "it is empty": {
    list: HEADER,
    says: [
      "Not in the list, and they keep their access: Person 1 (deploy), ",
      "… and 2 more; end it with --prune.",
    ],
    events: [],
  },
  "it is truncated, with --prune": refused(
    HEADER + rows(1, 4),
    [
      "8 of 12 people would lose access: Person 5, Person 6, … and 6 more",
      "--confirm-losses 8",
    ],
    { words: "--prune --reason-code employment_ended" },
  ),
  "--prune has no reason": refused(
    HEADER + rows(1, 11),
    ["--prune needs --reason-code, which is published"],
    { words: "--prune" },
  ),
  "a person has no key yet": {
    list: COMPANY + row(13, { subject: "" }),
    says: ["Waits for a key: Person 13 (row 14).", "Nothing to do"],
    events: [],
  },
  "a column of titles is new": {
    list: HEADER + rows(1, 12, () => ({ title: "CEO" })),
    words: "--confirm-public 12",
    says: ["Appended 12 events"],
  },
};

for (const [mistake, given] of Object.entries(CASES)) {
  Deno.test(`wrong lists: ${mistake}`, () =>
    inWorkspace(async (workspace) => {
      await workspace.ok("init acme.example --dir $D/acme");
      await apply(workspace, COMPANY);
      for (const step of given.before ?? []) {
        if (step.includes("\n")) await apply(workspace, step);
        else await workspace.says(step);
      }
      if (given.people !== undefined) {
        await workspace.write("acme/.sig/people.csv", given.people);
      }
      const { length } = await workspace.events();
      const feed = await workspace.read(FEED);
      const words = `${APPLY} ${given.words ?? ""}`.trim();
      await workspace.write("list.csv", given.list);
      const ran = await workspace.sig(words);
      const said = ran.stdout + ran.stderr;
      assertEquals(ran.code, given.code ?? 0, said);
      for (const part of given.says ?? []) assertStringIncludes(said, part);
      if (given.events === undefined) return;
      const events = (await workspace.events()).slice(length);
      assertEquals(
        events.map((event, at) => describe(event, given.events?.[at])),
        given.events,
        said,
      );
      if (given.code === 2) assertEquals(await workspace.read(FEED), feed);
      // A second time, nothing changes.
      const again = await workspace.sig(words);
      assertEquals(again.code, given.code ?? 0, again.stdout + again.stderr);
      assertEquals((await workspace.events()).length, length + events.length);
    }));
}

/** Applies a list, which must succeed. */
async function apply(workspace: Workspace, list: string): Promise<void> {
  await workspace.write("list.csv", list);
  await workspace.says(APPLY);
}

/** Describes an event by the members that the expected one has. */
function describe(
  // deno-lint-ignore no-explicit-any -- events as JSON
  event: any,
  [, , , third = ""]: readonly string[] = [],
): readonly string[] {
  const { event_type, metadata, subject } = event;
  if (event_type === "relationship.revoke") {
    return ["revoke", subject, event.reason_code, ""];
  }
  const link = metadata?.same_person_as ?? "first";
  const isNow = event.valid_from?.startsWith("2026-01-01T00:00:");
  const from = isNow ? "now" : event.valid_from;
  return ["upsert", subject, from, third === "" ? "" : link];
}
