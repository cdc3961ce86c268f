import { assertEquals } from "@std/assert";
import {
  displayWidth,
  example,
  flagRow,
  isSample,
  partsOf,
  twoColumns,
} from "./help_text.ts";

Deno.test("the description of a flag says whether it is required or repeatable", () => {
  assertEquals(
    [
      {
        name: "addr",
        value: "HOST:PORT",
        help: "where",
        required: true as const,
      },
      { name: "host", value: "NAME", help: "name", repeat: true as const },
      { name: "public", help: "all" },
    ].map(flagRow),
    [
      ["--addr HOST:PORT", "where (required)"],
      ["--host NAME", "name (repeatable)"],
      ["--public", "all"],
    ],
  );
});

Deno.test("without a terminal each row of two columns is one line", () => {
  assertEquals(
    twoColumns([["--addr HOST:PORT", "where"], ["--ok", "yes"]]).split("\n"),
    ["  --addr HOST:PORT  where", "  --ok              yes"],
  );
});

Deno.test("a term that is too long for its column has its own line", () => {
  const rows = [["--addr HOST:PORT", "where to listen"], [
    "--ok",
    "yes",
  ]] as const;
  assertEquals(
    twoColumns(rows, 27).split("\n"),
    ["  --addr HOST:PORT", "        where to listen", "  --ok  yes"],
  );
  assertEquals(
    twoColumns(rows, 40).split("\n"),
    ["  --addr HOST:PORT  where to listen", "  --ok              yes"],
  );
});

Deno.test("a continued example is one shell command", () => {
  const line = 'echo --reason "seen by nobody" --dir acme.example --yes';
  assertEquals(
    example(line, 40).split("\n"),
    [
      '  echo --reason "seen by nobody" \\',
      "    --dir acme.example --yes",
    ],
  );
  assertEquals(example(line), `  ${line}`);
});

Deno.test("a description is wrapped except for indented samples", () => {
  const parts = partsOf("One\ntwo:\n  a: 1\n  b: 2\nThree\n\nfour");
  assertEquals(parts, ["One two:", "  a: 1\n  b: 2", "Three", "", "four"]);
  assertEquals(parts.map(isSample), [false, true, false, false, false]);
});

Deno.test("the width of a text is the number of columns in a terminal", () => {
  const widths: readonly (readonly [string, number])[] = [
    ["", 0],
    ["did:web:a.example", 17],
    ["é", 1],
    ["e\u0301", 1],
    ["天地玄黃", 8],
    ["ｆｕｌｌ", 8],
    ["한글", 4],
    ["かな。", 6],
    ["👩🏽‍💻", 2],
    ["नमस्ते", 3],
    ["→", 1],
  ];
  for (const [text, width] of widths) {
    assertEquals([text, displayWidth(text)], [text, width]);
  }
});
