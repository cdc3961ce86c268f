import { assertEquals } from "@std/assert";
import {
  flagSpecs,
  many,
  optional,
  readValues,
  required,
  toggle,
  type Values,
} from "./flag.ts";
import { parseFlags } from "./parse_flags.ts";
import { count, duration, file, oneOf, rate, text } from "./values.ts";

const FLAGS = {
  key: required(file, "the key"),
  "max-age": optional(duration, "how old a state may be"),
  "rate-limit": optional(rate, "how often"),
  host: many(text, "a name", { placeholder: "NAME", mistaken: ["name"] }),
  log: optional(oneOf("json", "off"), "how to log"),
  number: optional(count, "how many"),
  public: toggle("allow unauthenticated access from other machines"),
};

function read(...words: readonly string[]): Values<typeof FLAGS> {
  const flags = flagSpecs(FLAGS);
  return readValues(FLAGS, parseFlags(words, { flags, seeHelp: "See: x" }));
}

Deno.test("a typed flag returns its value, or undefined", () => {
  const values = read("--key", "k.jwk");
  assertEquals(values, {
    ...{
      key: "k.jwk",
      "max-age": undefined,
      "rate-limit": undefined,
      host: [],
    },
    ...{ log: undefined, number: undefined, public: false },
  });
  // The value of each flag has its own type.
  const key: string = values.key;
  const maxAgeMs: number | undefined = values["max-age"];
  const log: "json" | "off" | undefined = values.log;
  assertEquals([key, maxAgeMs, log], ["k.jwk", undefined, undefined]);
  const given = ["--key=k", "--max-age=5m", "--rate-limit", "20/s", "--public"];
  assertEquals(read(...given, "--host=a", "--host", "b", "--log", "off"), {
    ...{ key: "k", "max-age": 300_000, "rate-limit": { perSecond: 20 } },
    ...{ host: ["a", "b"], log: "off", number: undefined, public: true },
  });
});

Deno.test("help contains the placeholder and choices of a typed flag", () => {
  assertEquals(flagSpecs(FLAGS).slice(0, 5), [
    {
      name: "key",
      value: "FILE",
      kind: "file",
      help: "the key",
      required: true,
    },
    {
      name: "max-age",
      value: "DURATION",
      help: "how old a state may be",
    },
    { name: "rate-limit", value: "N/s", help: "how often" },
    {
      name: "host",
      value: "NAME",
      help: "a name",
      repeat: true,
      mistaken: ["name"],
    },
    {
      name: "log",
      value: "json|off",
      help: "how to log",
      choices: ["json", "off"],
    },
  ]);
});
