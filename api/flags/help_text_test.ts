import { assertEquals } from "@std/assert";
import {
  displayWidth,
  example,
  flagRow,
  isSample,
  partsOf,
  twoColumns,
} from "./help_text.ts";

Deno.test("what a flag does is said with what it demands", () => {
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

Deno.test("words and their meanings stand in one line each where there is no terminal", () => {
  assertEquals(
    twoColumns([["--addr HOST:PORT", "where"], ["--ok", "yes"]]).split("\n"),
    ["  --addr HOST:PORT  where", "  --ok              yes"],
  );
});

Deno.test("words too long for a column beside their meanings stand above them", () => {
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

Deno.test("an example that goes on below is one command for a shell", () => {
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

Deno.test("a description is filled, but for what is shown in it", () => {
  const parts = partsOf("One\ntwo:\n  a: 1\n  b: 2\nThree\n\nfour");
  assertEquals(parts, ["One two:", "  a: 1\n  b: 2", "Three", "", "four"]);
  assertEquals(parts.map(isSample), [false, true, false, false, false]);
});

Deno.test("a text is as wide as a terminal draws it", () => {
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
