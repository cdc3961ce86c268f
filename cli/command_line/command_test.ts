import { isSigError } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { loadCommands } from "../commands.ts";
import { createDenoIo } from "../terminal/deno_io.ts";
import { type Command, flagsOf, parseCommandLine } from "./command.ts";

const COMMANDS = await loadCommands();

const SAMPLE: Command = {
  name: "sample",
  summary: "for these tests",
  positionals: [{ name: "first", help: "a word" }],
  flags: [
    { name: "one", value: "X", help: "once" },
    { name: "many", value: "X", help: "often", repeat: true },
    { name: "switch", help: "on or off" },
  ],
  examples: [],
  run: () => Promise.resolve(0),
};

const io = createDenoIo();

Deno.test("a source that is given as an argument gets a hint to use the flag", () => {
  for (
    const [name, words, missing, hint] of [
      ["check", ["./acme"], "--sig", "Did you mean sig check --sig ./acme?"],
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
    const command = COMMANDS.find((each) => each.name === name);
    const { context } = assertSigError(
      () => parseCommandLine(command!, words, io),
      "invalid_request",
      `Cannot run: ${missing} is required`,
    );
    assertEquals(context, { flag: missing, hint });
  }
});

/** Random words: flags of the command, near misses, and arbitrary text. */
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

Deno.test("every command parses or rejects arbitrary words", () => {
  for (const command of COMMANDS) {
    fc.assert(
      fc.property(anyWords(command), (words) => {
        try {
          const { positionals } = parseCommandLine(command, words, io);
          // The parser does not invent, split or change words.
          for (const word of positionals) assert(words.includes(word));
        } catch (error) {
          assert(isSigError(error, "invalid_request"), String(error));
        }
      }),
      { numRuns: 30 },
    );
  }
});

Deno.test("a value is never lost or assigned to another flag", () => {
  const value = fc.string({ unit: "binary", minLength: 1, maxLength: 12 })
    .filter((text) => !text.startsWith("--"));
  fc.assert(fc.property(value, value, fc.boolean(), (one, many, joined) => {
    const words = joined
      ? [`--one=${one}`, "--switch", `--many=${many}`, "w"]
      : ["--one", one, "--switch", "--many", many, "w"];
    const call = parseCommandLine(SAMPLE, words, io);
    assertEquals(call.text("one"), one);
    assertEquals(call.texts("many"), [many]);
    assertEquals(call.positionals, ["w"]);
    assert(call.on("switch"));
  }));
});
