import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { displayWidth } from "@sig/api/program";
import { DID, ID, layOut, TIME } from "./table.ts";

const COLUMNS = ["subject", "type", "roles", "until", "id"]
  .map((title) => ({ title }));
const KEY = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
const ROWS = [
  [
    KEY,
    "employee",
    "deploy, review, refund, audit",
    "2026-12-31T00:00:00Z",
    "01JQ8V4Y7Z0000000000000000",
  ],
  ["did:web:alice.example", "contractor", "", "", "r2"],
  ["did:web:張偉.example", "advisor", "審査, 承認", "", "r3"],
];

Deno.test("each row is one aligned line without a terminal", () => {
  assertEquals(layOut(COLUMNS, ROWS.slice(1)), [
    "subject                type        roles       id",
    "did:web:alice.example  contractor              r2",
    "did:web:張偉.example   advisor     審査, 承認  r3",
  ]);
});

Deno.test("tables fit 60 to 200 columns without breaking words", () => {
  const words = new Set(ROWS.flat().flatMap((cell) => cell.split(" ")));
  for (let width = 60; width <= 200; width++) {
    const lines = layOut(COLUMNS, ROWS, width);
    for (const line of lines) {
      assert(displayWidth(line) <= width, `${width}: ${line}`);
      assertEquals(line, line.trimEnd());
    }
    const shown = new Set(lines.join(" ").split(" "));
    for (const word of words) assert(shown.has(word), `${width}: ${word}`);
  }
});

Deno.test("a row that does not fit becomes a block with a line for each cell", () => {
  assertEquals(layOut(COLUMNS, ROWS.slice(0, 1), 60), [
    KEY,
    "  type     employee",
    "  roles    deploy, review, refund, audit",
    "  until    2026-12-31T00:00:00Z",
    "  id       01JQ8V4Y7Z0000000000000000",
  ]);
});

Deno.test("a cell is wrapped between words within its column", () => {
  assertEquals(
    layOut([{ title: "who" }, { title: "roles" }], [
      ["alice", "deploy, review"],
    ], 14),
    ["who    roles", "alice  deploy,", "       review"],
  );
});

Deno.test("colour codes do not count as width", () => {
  const paint = (text: string) => `\x1b[32m${text}\x1b[0m`;
  assertEquals(
    layOut([{ title: "status", paint }, { title: "id" }], [["on", "r1"]]),
    ["status  id", "\x1b[32mon\x1b[0m      r1"],
  );
  assertEquals(layOut(COLUMNS, []), []);
});

Deno.test("cells without headings share a line if they fit", () => {
  const paint = (text: string) => `<${text}>`;
  const columns = [{ title: "" }, { title: "", paint }, { title: "" }, {
    title: "",
  }];
  const row = ["#1", "added", KEY, "[deploy, review]"];
  assertEquals(layOut(columns, [row], 60), [
    "#1  <added>",
    `  ${KEY}`,
    "  [deploy, review]",
  ]);
  assertEquals(layOut(columns, [row], 76), [
    `#1  <added>  ${KEY}`,
    "  [deploy, review]",
  ]);
});

Deno.test("cells are shortened in three steps before a row becomes a block", () => {
  const columns = [
    { title: "subject", ...DID },
    { title: "until", ...TIME },
    { title: "id", ...ID },
  ];
  const row = [KEY, "2026-12-31T00:00:00Z", "01JQ8V4Y7Z0000000000ABCDEF"];
  const at = (width: number) => layOut(columns, [row], width).join("\n");
  assertStringIncludes(at(110), row.join("  "));
  assertStringIncludes(
    at(80),
    ["did:key:z6MkhaX…ta2doK", ...row.slice(1)].join("  "),
  );
  assertStringIncludes(at(60), ["…EGta2doK", "2026-12-31", row[2]].join("  "));
  assertStringIncludes(at(40), "…EGta2doK  2026-12-31  …00ABCDEF");
  assertStringIncludes(at(25), `${KEY}\n  until`);
});
