import { isSigError } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import type { Command, ParsedCall } from "./command.ts";
import { loadCommands } from "../commands.ts";
import { createDenoIo } from "../terminal/deno_io.ts";
import { flagsOf, parseCommandLine } from "./parse_command_line.ts";

const COMMANDS = await loadCommands();

const SAMPLE: Command = {
  name: "sample",
  summary: "for these tests",
  positionals: [{ name: "first", help: "a word" }, {
    name: "second",
    help: "another",
    optional: true,
  }],
  flags: [
    { name: "one", value: "X", help: "once" },
    { name: "many", value: "X", help: "often", repeat: true },
    { name: "switch", help: "on or off" },
    { name: "quiet", help: "on or off" },
  ],
  examples: [],
  run: () => Promise.resolve(0),
};

const io = createDenoIo();

function parse(words: readonly string[]): ParsedCall {
  return parseCommandLine(SAMPLE, "sample", words, io);
}

Deno.test("a flag's value is given behind it or with =, and taken as it stands", () => {
  for (
    const value of [
      "a",
      "-",
      "-5",
      "0x10",
      "1e3",
      "007",
      "a=b",
      "true",
      " ",
      "ä",
    ]
  ) {
    for (const words of [["--one", value], [`--one=${value}`]]) {
      assertEquals(parse(["w", ...words]).text("one"), value);
    }
  }
  // Only here is what starts with two dashes a value.
  assertEquals(parse(["w", "--one=--many"]).text("one"), "--many");
});

Deno.test("a switch takes no word, and an absent one is off", () => {
  const call = parse(["--switch", "false"]);
  assertEquals(call.positionals, ["false"]);
  assertEquals([call.on("switch"), call.on("quiet")], [true, false]);
});

Deno.test("repeatable flags keep their order", () => {
  const call = parse(["--many", "b", "w", "--many=a", "--many", "b"]);
  assertEquals(call.texts("many"), ["b", "a", "b"]);
  assertEquals(call.texts("one"), []);
  assertEquals(call.text("one"), undefined);
});

Deno.test("what stands behind -- is a word", () => {
  assertEquals(parse(["--", "--one", "--"]).positionals, ["--one", "--"]);
});

Deno.test("an unknown flag is refused", () => {
  const { context } = assertSigError(
    () => parse(["w", "--other", "x"]),
    "invalid_request",
    'Cannot run: there is no flag "--other"',
  );
  assertEquals(context.flag, "--other");
});

Deno.test("an unknown flag is named without its value, which may be a secret", () => {
  const error = assertSigError(
    () => parse(["w", "--onne=secret"]),
    "invalid_request",
    'Cannot run: there is no flag "--onne"',
  );
  assertEquals(error.context, { flag: "--onne", hint: "Did you mean --one?" });
});

Deno.test("a source that is typed as a word is hinted at where it goes by a flag", () => {
  for (
    const [name, words, missing, hint] of [
      ["check", ["./acme"], "--sig", "Did you mean sig check --sig ./acme?"],
      ["allow", ["./acme"], "--sig", "Did you mean sig allow --sig ./acme?"],
      [
        "evidence make",
        ["./acme", "--subject=did:web:a.example"],
        "--sig",
        "Did you mean sig evidence make --sig ./acme?",
      ],
      ["check", [], "--sig", "See: sig check --help"],
      ["check", ["--sig=a", "b"], "--subject", "See: sig check --help"],
    ] as const
  ) {
    const command = COMMANDS.find((each) =>
      each.name === name || each.aliases?.includes(name)
    );
    const { context } = assertSigError(
      () => parseCommandLine(command!, name, words, io),
      "invalid_request",
      `Cannot run: ${missing} is required`,
    );
    assertEquals(context, { flag: missing, hint });
  }
});

/** Any words: flags of the command, near misses, and all kinds of text. */
function anyWords(command: Command): fc.Arbitrary<string[]> {
  const flags = flagsOf(command).map((flag) => `--${flag.name}`);
  const flag = fc.constantFrom(...flags);
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.constantFrom("-", "--", "", "=", "--=", "-h", "__proto__", "--no-help"),
  );
  const word = fc.oneof(
    flag,
    text,
    fc.tuple(flag, text).map(([a, b]) => `${a}=${b}`),
    text.map((rest) => `--${rest}`),
  );
  return fc.array(word, { maxLength: 8 });
}

Deno.test("any words are understood or refused, by every command", () => {
  for (const command of COMMANDS) {
    for (const name of [command.name, ...command.aliases ?? []]) {
      fc.assert(fc.property(anyWords(command), (words) => {
        try {
          const { positionals } = parseCommandLine(command, name, words, io);
          // No word is made up, split or changed.
          for (const word of positionals) assert(words.includes(word));
        } catch (error) {
          assert(isSigError(error, "invalid_request"), String(error));
        }
      }));
    }
  }
});

Deno.test("a given value is never lost and never another flag's", () => {
  const value = fc.string({ unit: "binary", minLength: 1, maxLength: 12 })
    .filter((text) => !text.startsWith("--"));
  fc.assert(fc.property(value, value, fc.boolean(), (one, many, joined) => {
    const words = joined
      ? [`--one=${one}`, "--switch", `--many=${many}`, "w"]
      : ["--one", one, "--switch", "--many", many, "w"];
    const call = parse(words);
    assertEquals(call.text("one"), one);
    assertEquals(call.texts("many"), [many]);
    assertEquals(call.positionals, ["w"]);
    assert(call.on("switch"));
  }));
});
