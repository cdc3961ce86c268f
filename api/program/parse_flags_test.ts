import { assertEquals } from "@std/assert";
import { quote } from "@sig/core/internal";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import type { FlagSpec } from "./flag.ts";
import { parseFlags } from "./parse_flags.ts";

const FLAGS: readonly FlagSpec[] = [
  { name: "addr", value: "HOST:PORT", help: "", mistaken: ["publik"] },
  { name: "host", value: "NAME", help: "", repeat: true },
  { name: "log", value: "json|off", help: "", choices: ["json", "off"] },
  { name: "key", value: "FILE", help: "", required: true },
  { name: "public", help: "" },
  { name: "help", help: "" },
];

const parse = (...words: readonly string[]) =>
  parseFlags(["--key=k", ...words], { flags: FLAGS, seeHelp: "See: --help" });

Deno.test("a value follows its flag as the next word or after an equals sign", () => {
  for (
    const words of [
      ["--addr", "a:1", "--public", "file"],
      ["--public", "--addr=a:1", "file"],
      ["file", "--addr", "a:1", "--public"],
      ["--addr", "a:1", "--public", "--", "file"],
    ]
  ) {
    const given = parse(...words);
    assertEquals(given.text("addr"), "a:1");
    assertEquals(given.on("public"), true);
    assertEquals(given.positionals, ["file"]);
  }
});

Deno.test("values are texts, whatever they look like", () => {
  assertEquals(parse("--addr", "-").text("addr"), "-");
  assertEquals(parse("--addr", "-5").text("addr"), "-5");
  assertEquals(parse("--addr", "007").text("addr"), "007");
  assertEquals(parse("--addr", "a=b=c").text("addr"), "a=b=c");
  assertEquals(parse("--addr=--public").text("addr"), "--public");
  assertEquals(parse("1e3", "--", "--addr").positionals, ["1e3", "--addr"]);
});

Deno.test("a flag that is not given is undefined, empty or false", () => {
  const given = parse();
  assertEquals(given.text("addr"), undefined);
  assertEquals(given.texts("host"), []);
  assertEquals(given.on("public"), false);
});

Deno.test("only a repeatable flag may be given more than once", () => {
  assertEquals(parse("--host", "a", "--host=b").texts("host"), ["a", "b"]);
  for (const word of ["--addr=a", "--public", "--log=off"]) {
    const [flag] = word.split("=");
    assertSigError(
      () => parse(word, word),
      "invalid_request",
      `Cannot run: ${flag} is given twice`,
    );
  }
});

Deno.test("rejects invalid arguments, with their flag and a hint", () => {
  const unknown: readonly (readonly [string, string])[] = [
    ["--adr", "Did you mean --addr?"],
    ["--adr=secret", "Did you mean --addr?"],
    // The prefix of one flag, and a common other name for another.
    ["--pub", "Did you mean --public?"],
    ["--publik", "Did you mean --addr?"],
    ...["--h", "--nothing", "-x", "--no-pub", "--__proto__", "--\u202e"].map(
      (word) => [word, "See: --help"] as const,
    ),
  ];
  const addr = "--addr needs a value: HOST:PORT";
  const log = "--log must be one of json, off";
  const rows: readonly (readonly [string, string, string, string?])[] = [
    ...unknown.map(([word, hint]) => {
      const flag = word.split("=")[0]!;
      return [word, `there is no flag ${quote(flag)}`, flag, hint] as const;
    }),
    ["--addr", addr, "--addr"],
    ["--addr=", addr, "--addr"],
    ["--addr --public", addr, "--addr"],
    ["--public=yes", "--public takes no value", "--public"],
    ["--log of", log, "--log", "Did you mean off?"],
  ];
  for (const [words, why, flag, hint] of rows) {
    const { context } = assertSigError(
      () => parse(...words.split(" ")),
      "invalid_request",
      `Cannot run: ${why}`,
    );
    assertEquals(context.flag, flag);
    if (hint !== undefined) assertEquals(context.hint, hint);
  }
});

Deno.test("a required flag may be missing only with --help", () => {
  const rules = { flags: FLAGS, seeHelp: "See: --help" };
  const { context } = assertSigError(
    () => parseFlags([], rules),
    "invalid_request",
    "Cannot run: --key is required",
  );
  assertEquals(context, { flag: "--key", hint: "See: --help" });
  for (const word of ["--help", "-h"]) {
    assertEquals(parseFlags([word], rules).on("help"), true);
  }
});
