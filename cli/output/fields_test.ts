import { assertEquals } from "@std/assert";
import { displayWidth } from "@sig/api/program";
import type { Io } from "../terminal/io.ts";
import { type Line, termLines, writeLines } from "./fields.ts";

/** Returns the rows that a terminal of that width shows. */
function shown(columns: number | undefined, lines: readonly Line[]) {
  let text = "";
  const io = {
    isTerminal: () => columns !== undefined,
    columns: () => columns,
    stderr: (more: string) => text += more,
  };
  writeLines(io as unknown as Io, lines);
  const rows = text.split("\n").slice(0, -1);
  return columns === undefined
    ? rows
    : rows.flatMap((row) => row.match(new RegExp(`.{1,${columns}}`, "g")));
}

const TERMS = { relationship_type: "contractor" as const, roles: [] };

Deno.test("no value looks like another line at any width of the terminal", () => {
  for (const columns of [undefined, 40, 80, 120]) {
    const width = columns ?? 80;
    const fake = "published as did:web:mallory.example";
    const values = [
      "review".padEnd(width - 13) + fake,
      "review".padEnd(2 * width - 13) + fake,
      // Words instead of blanks.
      `${"a ".repeat(width)}`.slice(0, width - 13) + fake,
      `${"a ".repeat(width)}`.slice(0, width - 14) + ` ${fake}`,
      // Other blanks, and a word without blanks.
      "review".padEnd(width - 13, "\u00a0") + fake,
      "review".padEnd(width - 13, "\u2003") + fake,
      "r".repeat(width - 13) + fake,
      "r".repeat(width - 13) + fake.replaceAll(" ", "\u00a0"),
    ];
    for (const role of values) {
      const rows = shown(columns, [
        ...termLines({ ...TERMS, roles: [role] }),
        ["published as", "did:web:alice.example"],
      ]);
      assertEquals(
        rows.filter((row) => row!.startsWith("published")),
        ["published as did:web:alice.example"],
      );
    }
  }
});

Deno.test("a value of wide characters is wrapped before the terminal would wrap it", () => {
  // Characters of two columns, and combining marks.
  for (const text of ["漢".repeat(60), "\u0915".padEnd(60, "\u093e")]) {
    const roles = [text];
    const [first, ...others] = shown(
      40,
      termLines({ ...TERMS, roles }).slice(1, 2),
    );
    assertEquals(first!.slice(0, 13), "roles        ");
    for (const row of others) assertEquals(row!.slice(0, 13), " ".repeat(13));
    const values = [first, ...others].map((row) => row!.slice(13));
    assertEquals(values.join(""), text);
    assertEquals(values.every((each) => displayWidth(each) <= 27), true);
  }
});

Deno.test("a role that looks like several, or has blanks at its ends, is quoted", () => {
  const roles = ["deploy", "a, b", " ops", "x  y", "two words", "\u3000z"];
  assertEquals(shown(undefined, termLines({ ...TERMS, roles }).slice(1, 2)), [
    'roles        deploy, "a, b", " ops", "x \\u0020y", two words, "\u3000z"',
  ]);
});
