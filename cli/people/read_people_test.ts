import { isSigError } from "@sig/core";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { formatOf, readPeople } from "./read_people.ts";

const ALICE = "did:web:alice.example";

function read(text: string, format = "csv") {
  const { desired } = readPeople(new TextEncoder().encode(text), format);
  // Members that are undefined say nothing.
  return desired.map((row) => JSON.parse(JSON.stringify(row)));
}

function refused(text: string, format = "csv") {
  const error = assertThrows(() => read(text, format));
  assert(isSigError(error), String(error));
  return error;
}

Deno.test("rows count as a spreadsheet counts them, blank lines and line feeds in cells too", () => {
  const rows = read(
    `\uFEFFsubject,type,label\r\n${ALICE},employee,"two\r\nlines"\r\n\r\n${ALICE},advisor,x\r\n`,
  );
  assertEquals(rows.map(({ row }) => row), [2, 4]);
  assertEquals(rows[0].label, "two\nlines");
});

Deno.test("semicolons and tabs separate too, and quotes hold what separates", () => {
  for (const [separator, roles] of [[";", '"a;b"'], ["\t", "a;b"]] as const) {
    const text = [
      ["subject", "type", "roles"].join(separator),
      [ALICE, "employee", roles].join(separator),
    ].join("\n");
    assertEquals(read(text), [
      { subject: ALICE, type: "employee", roles: ["a", "b"], row: 2 },
    ]);
  }
});

Deno.test("an empty cell means none, what has no column is not there", () => {
  const [row] = read(
    `subject,type,roles,valid_until,title\n${ALICE},employee,,,`,
  );
  assertEquals(row, {
    subject: ALICE,
    type: "employee",
    roles: [],
    valid_until: null,
    title: null,
    row: 2,
  });
});

Deno.test("a bare date is a whole day, through its end as valid_until", () => {
  const [row] = read(
    `subject,type,valid_from,valid_until\n${ALICE},employee,2026-02-01,2026-12-31`,
  );
  assertEquals(row.valid_from, "2026-02-01T00:00:00Z");
  assertEquals(row.valid_until, "2027-01-01T00:00:00Z");
});

Deno.test("dates that are ambiguous, or in a spreadsheet's own form, are refused", () => {
  const cases = [
    ["03/04/2026", "it is ambiguous: day first or month first"],
    ["31.12.2026", "it is not in the form YYYY-MM-DD"],
    ["46022", "it is a spreadsheet's day number"],
    ["2026-12-31 09:00", "it needs seconds and UTC"],
    ["2026-02-30", "this day does not exist"],
    ["soon", "it is not a date"],
  ] as const;
  for (const [text, why] of cases) {
    const error = refused(
      `subject,type,valid_until\n${ALICE},employee,${text}`,
    );
    assertEquals(error.code, "invalid_field");
    assertEquals([error.context.row, error.context.column], [2, "valid_until"]);
    assert(error.message.includes(why), error.message);
  }
});

Deno.test("every fault is reported at once, with its row and column", () => {
  const error = refused(
    [
      "subject,type,roles,metadata",
      "alice,employee,x,",
      `${ALICE},employe,x,`,
      `${ALICE},employee,x,"{""a"":1,""a"":2}"`,
      `,,x,`,
    ].join("\n"),
  );
  assertEquals(error.code, "invalid_field");
  const places = (error.context.errors ?? []) as readonly unknown[] as {
    row: number;
    column: string;
    detail: string;
  }[];
  assertEquals(places.map(({ row, column }) => `${row} ${column}`), [
    "2 subject",
    "3 type",
    "4 metadata",
    "5 subject",
    "5 type",
  ]);
  assert(places[1]?.detail.includes("did you mean employee?"));
});

Deno.test("an unknown or doubled column is refused, with the one that was meant", () => {
  assertEquals(
    refused(`subject,type,Valid Untl\n`).context.hint,
    "Did you mean valid_until?",
  );
  assertEquals(
    refused(`subject,type,type\n`).message,
    "Cannot read list: it has two columns type",
  );
  assertEquals(
    refused(`subject,roles\n`).message,
    "Cannot read list: it has no column type",
  );
  assertEquals(refused("").message, "Cannot read list: it is empty");
});

Deno.test("a row with too few or too many cells is refused, never shifted", () => {
  const error = refused(`subject,type,label\n${ALICE},employee\nx,owner,x`);
  assertEquals(error.code, "invalid_field");
  assertEquals(error.context.row, 2);
  assertEquals(
    error.context.errors?.map(({ pointer }) => pointer),
    ["/2", "/3/subject", "/3/type"],
  );
  assertStringIncludes(
    error.message,
    "Cannot read list: row 2: it has 2 cells, the header has 3",
  );
});

Deno.test("a broken quote names its line and never the text", () => {
  const error = refused(`subject,type\n${ALICE},"secret\n`);
  assertEquals(error.code, "invalid_request");
  assertEquals(error.context.line, 2);
  assert(!error.message.includes("secret"));
});

Deno.test("JSON and YAML say the same as CSV", () => {
  const item = {
    subject: ALICE,
    type: "employee",
    roles: ["a", "b"],
    valid_until: "2026-12-31",
    title: null,
    metadata: { cost: 1 },
  };
  const yaml = [
    `- subject: ${ALICE}`,
    "  type: employee",
    "  roles: [a, b]",
    "  valid_until: 2026-12-31",
    "  title:",
    "  metadata: {cost: 1}",
  ].join("\n");
  const [wanted] = read(JSON.stringify([item]), "json");
  assertEquals(wanted.valid_until, "2027-01-01T00:00:00Z");
  assertEquals(read(yaml, "yaml"), [wanted]);
});

Deno.test("what is not a list is refused: doubled members, objects, bad YAML, no UTF-8", () => {
  assertEquals(
    refused('[{"type":"a","type":"b"}]', "json").code,
    "invalid_json",
  );
  assertEquals(refused("{}", "json").code, "invalid_request");
  assertEquals(refused("[1]", "json").code, "invalid_request");
  assertEquals(refused("- a: [", "yaml").code, "invalid_request");
  assertEquals(refused("- type: a\n  type: b", "yaml").code, "invalid_request");
  const error = assertThrows(() =>
    readPeople(new Uint8Array([0x73, 0xff]), "csv")
  );
  assert(isSigError(error, "invalid_request"));
});

Deno.test("the file's name tells the format", () => {
  assertEquals(
    ["a.csv", "a.TSV", "b.json", "c.yml", "d.yaml", "e"].map(formatOf),
    ["csv", "csv", "json", "yaml", "yaml", undefined],
  );
});

Deno.test("YAML that means more than it writes, or what JSON can't say, is refused", () => {
  const row = `- subject: ${ALICE}\n  type: employee\n  metadata:`;
  const grown = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 0; i < 8; i++) {
    grown.push(`b${i}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(", ")}]`);
  }
  for (
    const [text, why] of [
      [`${row} &m\n    x: *m\n`, "it is nested too deeply"],
      [`${row}\n    ${grown.join("\n    ")}\n`, "more than 2000000 values"],
      // Where a single word is expected it would be written out too.
      [`- {subject: &s [*s], type: employee}\n`, "it is nested too deeply"],
      [`${row} {x: .nan}\n`, "a number that JSON can't say exactly"],
      [`${row} {x: .inf}\n`, "a number that JSON can't say exactly"],
      [
        `${row} {x: 9007199254740993}\n`,
        "a number that JSON can't say exactly",
      ],
    ] as const
  ) {
    const { code, message } = refused(text, "yaml");
    assertEquals(code, "invalid_request", text);
    assert(message.startsWith("Cannot read list: it "), message);
    assert(message.includes(why), message);
  }
  const shared =
    `- &r {subject: ${ALICE}, type: employee, metadata: {x: 1.5}}\n- *r\n`;
  assertEquals(read(shared, "yaml").length, 2);
});

Deno.test("headers of a spreadsheet are read in any case, with blanks around and within", () => {
  const [row] = read(
    `Subject, TYPE ,Valid From,valid-until,Roles\n${ALICE},employee,2026-02-01,2026-12-31,a\n`,
  );
  assertEquals(row, {
    ...{ subject: ALICE, type: "employee", roles: ["a"], row: 2 },
    valid_from: "2026-02-01T00:00:00Z",
    valid_until: "2027-01-01T00:00:00Z",
  });
  assertStringIncludes(
    refused(`subject,type,Roles, roles\n${ALICE},employee,a,b\n`).message,
    "it has two columns roles",
  );
  // Members of JSON are not typed by hand.
  assertStringIncludes(
    refused(`[{"Subject":"${ALICE}","type":"employee"}]`, "json").message,
    'unknown column "Subject"',
  );
});

Deno.test("a column name says what people are called, and is not published", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const { desired, names } = readPeople(
    bytes(
      `Name,subject,type\n Alice ,${ALICE},employee\n,did:web:bob.example,advisor\nAlice,${ALICE},advisor\n`,
    ),
    "csv",
  );
  assertEquals([...names], [[ALICE, "Alice"]]);
  assertEquals(desired.some((each) => "name" in each), false);
  const error = refused(
    `name,subject,type\nAlice,${ALICE},employee\nAlicia,${ALICE},advisor\n`,
  );
  assertEquals(
    [error.code, error.message],
    [
      "invalid_field",
      "Cannot read list: row 3, column name: another row has another name for the subject",
    ],
  );
});
