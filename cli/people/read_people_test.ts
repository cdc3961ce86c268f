import { isSigError } from "@sig/core";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { formatOf, type ListOptions, readPeople } from "./read_people.ts";

const ALICE = "did:web:alice.example";

async function read(text: string, format = "csv", options?: ListOptions) {
  const bytes = new TextEncoder().encode(text);
  const desired = await readPeople(bytes, format, options);
  // Drops undefined members.
  return desired.map((row) => JSON.parse(JSON.stringify(row)));
}

async function refused(...of: Parameters<typeof read>) {
  const error = await assertRejects(() => read(...of));
  assert(isSigError(error), String(error));
  return error;
}

const HEADER = "subject,type";
const EMPLOYEE = { subject: ALICE, type: "employee", row: 2 };

/** Valid lists and their parsed rows. */
const READ: readonly (readonly [string, string, object[]])[] = [
  [
    "rows are numbered as in a spreadsheet, despite blank lines and line feeds in cells",
    `\uFEFF${HEADER},label\r\n${ALICE},employee,"two\r\nlines"\r\n\r\n${ALICE},advisor,x\r\n`,
    [
      { ...EMPLOYEE, label: "two\nlines" },
      { ...EMPLOYEE, type: "advisor", label: "x", row: 4 },
    ],
  ],
  [
    "semicolons may separate cells, and a quoted cell may contain one",
    `subject;type;roles\n${ALICE};employee;"a;b"`,
    [{ ...EMPLOYEE, roles: ["a", "b"] }],
  ],
  [
    "a comma in a cell separates roles, too",
    `${HEADER},roles\n${ALICE},employee,"deploy, review"`,
    [{ ...EMPLOYEE, roles: ["deploy", "review"] }],
  ],
  [
    "tabs may separate cells",
    `subject\ttype\troles\n${ALICE}\temployee\ta;b`,
    [{ ...EMPLOYEE, roles: ["a", "b"] }],
  ],
  [
    "an empty cell means none, and a field without a column is absent",
    `${HEADER},roles,valid_until,title\n${ALICE},employee,,,`,
    [{ ...EMPLOYEE, roles: [], valid_until: null, title: null }],
  ],
  [
    "a date without a time is a whole day, and headers may have any case and blanks",
    `Subject, TYPE ,Valid From,valid-until,Roles\n${ALICE},employee,2026-02-01,2026-12-31,a\n`,
    [{
      ...{ ...EMPLOYEE, roles: ["a"] },
      valid_from: "2026-02-01T00:00:00Z",
      valid_until: "2027-01-01T00:00:00Z",
    }],
  ],
];

for (const [name, text, rows] of READ) {
  Deno.test(name, async () => assertEquals(await read(text), rows));
}

Deno.test("refuses ambiguous dates, and dates in a spreadsheet's own format", async () => {
  for (
    const [text, why] of [
      ["03/04/2026", "it is ambiguous: day first or month first"],
      ["03/04/2026", ", or add --dates dmy or --dates mdy"],
      ["31.12.2026", "it is not in the form YYYY-MM-DD"],
      ["46022", "it is a spreadsheet's day number"],
      ["2026-12-31 09:00", "it needs seconds and UTC"],
      ["2026-02-30", "this day does not exist"],
      ["soon", "it is not a date"],
    ] as const
  ) {
    const { code, context, message } = await refused(
      `${HEADER},valid_until\n${ALICE},employee,${text}`,
    );
    assertEquals(
      [code, context.row, context.column],
      ["invalid_field", 2, "valid_until"],
    );
    assertStringIncludes(message, why);
  }
});

Deno.test("one error reports every fault with its row and column", async () => {
  const { code, context: { errors = [] } } = await refused(
    [
      `${HEADER},roles,metadata`,
      "alice,employee,x,",
      `${ALICE},employe,x,`,
      `${ALICE},employee,x,"{""a"":1,""a"":2}"`,
      `,,x,`,
    ].join("\n"),
  );
  assertEquals(code, "invalid_field");
  assertEquals(errors.map(({ pointer }) => pointer), [
    ...["/2/subject", "/3/type", "/4/metadata", "/5/subject", "/5/type"],
  ]);
  assertStringIncludes(errors[1]!.detail, "did you mean employee?");
});

Deno.test("refuses a row with too few or too many cells", async () => {
  const { code, context, message } = await refused(
    `${HEADER},label\n${ALICE},employee\nx,owner,x`,
  );
  assertEquals([code, context.row], ["invalid_field", 2]);
  assertEquals(
    context.errors?.map(({ pointer }) => pointer),
    ["/2", "/3/subject", "/3/type"],
  );
  assertStringIncludes(
    message,
    "Cannot read list: row 2: it has 2 cells, the header has 3",
  );
});

const row = `- subject: ${ALICE}\n  type: employee\n  metadata:`;
const grown = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"];
for (let i = 0; i < 8; i++) {
  grown.push(`b${i}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(", ")}]`);
}
const inexact = "it has a number that JSON can't say exactly";
const misspelt = "it has a number that is not written as in JSON, such as 017";

/** Texts that are not a list of people. */
const REFUSED: readonly (readonly [
  format: string,
  text: string,
  code: string,
  message: string,
])[] = [
  ["csv", "", "invalid_request", "it is empty"],
  ["csv", `${HEADER},type\n`, "invalid_request", "it has two columns type"],
  [
    "csv",
    `${HEADER},Roles, roles\n${ALICE},employee,a,b\n`,
    "invalid_request",
    "it has two columns roles",
  ],
  ["csv", "subject,roles\n", "invalid_request", "it has no column type"],
  ["json", '[{"type":"a","type":"b"}]', "invalid_json", ""],
  ["json", "{}", "invalid_request", "it must be a list of objects"],
  ["json", "[1]", "invalid_request", "item 1 must be an object"],
  // Names of JSON members must match exactly.
  [
    "json",
    `[{"Subject":"${ALICE}","type":"employee"}]`,
    "invalid_request",
    'row 1: unknown column "Subject"',
  ],
  ["yaml", "- a: [", "invalid_request", ""],
  ["yaml", "- type: a\n  type: b", "invalid_request", ""],
  // YAML aliases that expand, and numbers that JSON can't represent.
  [
    "yaml",
    `${row} &m\n    x: *m\n`,
    "invalid_request",
    "it is nested too deeply",
  ],
  [
    "yaml",
    `${row}\n    ${grown.join("\n    ")}\n`,
    "invalid_request",
    "it has more than 2000000 values",
  ],
  [
    "yaml",
    `- {subject: &s [*s], type: employee}\n`,
    "invalid_request",
    "it is nested too deeply",
  ],
  ...[".nan", ".inf", "9007199254740993"].map((number) =>
    ["yaml", `${row} {x: ${number}}\n`, "invalid_request", inexact] as const
  ),
  // YAML 1.1 and 1.2 read some of these differently.
  ...["x: 017", "x: [0x1f]", "x: 0b11", "x: 1_000", "017: x"].map((member) =>
    ["yaml", `${row} {${member}}\n`, "invalid_request", misspelt] as const
  ),
];

for (const [at, [format, text, code, message]] of REFUSED.entries()) {
  Deno.test(`refuses what is not a list: ${format} ${at}: ${message}`, async () => {
    const error = await refused(text, format);
    assertEquals(error.code, code);
    assertStringIncludes(error.message, `Cannot read list: ${message}`);
  });
}

Deno.test("refuses unknown columns, invalid UTF-8 and unclosed quotes, without quoting the text", async () => {
  const unknown = await refused(
    `Valid Untl;E-Mail;type;subject;roles;Abteilung\n02.03.2027;x;employe;bob;;\n`,
  );
  assertStringIncludes(
    unknown.message,
    'Cannot read list: row 1: unknown columns "Valid Untl", "E-Mail", "Abteilung" (and 2 more faults)',
  );
  assertEquals(unknown.context.errors?.length, 2);
  assertStringIncludes(
    `${unknown.context.hint}`,
    'Did you mean valid_until? Map them with --columns "Valid Untl=valid_until,E-Mail=,Abteilung="; an empty name ignores a column.',
  );
  const { code, context, message } = await refused(
    `${HEADER}\n${ALICE},"secret\n`,
  );
  assertEquals([code, context.line], ["invalid_request", 2]);
  assert(!message.includes("secret"));
  const swapped = await refused(`Nr,type\n1,employee\n`, "csv", {
    columns: new Map([["person", "Nr"]]),
  });
  assertStringIncludes(swapped.message, 'the list has no column "person"');
  assertStringIncludes(
    `${swapped.context.hint}`,
    "as in Personalnummer=person",
  );
  const error = await assertRejects(() =>
    readPeople(new Uint8Array([0x73, 0xff]), "csv")
  );
  assert(isSigError(error, "invalid_request"));
  assertStringIncludes(error.message, "Cannot read list: it is not UTF-8");
  assertEquals(error.context.hint, 'Save it as "CSV UTF-8".');
});

Deno.test("JSON and YAML lists have the same result", async () => {
  const item = {
    subject: ALICE,
    type: "employee",
    roles: ["a", "b"],
    valid_until: "2026-12-31",
    title: null,
    metadata: { cost: 1 },
  };
  const yaml = `- subject: ${ALICE}
  type: employee
  roles: [a, b]
  valid_until: 2026-12-31
  title:
  metadata: {cost: 1}
`;
  const wanted = { ...item, valid_until: "2027-01-01T00:00:00Z", row: 1 };
  assertEquals(await read(JSON.stringify([item]), "json"), [wanted]);
  assertEquals(await read(yaml, "yaml"), [wanted]);
  const shared =
    `- &r {subject: ${ALICE}, type: employee, metadata: {x: 1.5}}\n- *r\n`;
  assertEquals((await read(shared, "yaml")).length, 2);
});

Deno.test("the file's ending determines the format", () => {
  assertEquals(
    ["a.csv", "a.TSV", "b.json", "c.yml", "d.yaml", "e"].map(formatOf),
    ["csv", "csv", "json", "yaml", "yaml", undefined],
  );
});

Deno.test("the column name holds display names, which are not published", async () => {
  const desired = await readPeople(
    new TextEncoder().encode(
      `Name,${HEADER}\n Alice ,${ALICE},employee\n,did:web:bob.example,advisor\nAlice,${ALICE},advisor\n`,
    ),
    "csv",
  );
  assertEquals(desired.map(({ name }) => name), ["Alice", undefined, "Alice"]);
  const { code, message } = await refused(
    `name,${HEADER}\nAlice,${ALICE},employee\nAlicia,${ALICE},advisor\n`,
  );
  assertEquals(
    [code, message],
    [
      "invalid_field",
      "Cannot read list: row 3, column name: another row has another name for the subject",
    ],
  );
});
