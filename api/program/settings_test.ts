import { assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { flagSpecs, many, optional, readValues, toggle } from "./flag.ts";
import { parseFlags } from "./parse_flags.ts";
import { readSettings, type Variables } from "./settings.ts";
import { duration, file, text } from "./values.ts";

// promise: An unknown setting prevents a server's start.

const FLAGS = {
  config: optional(file, "settings"),
  issuer: many(text, "an issuer"),
  "max-age": optional(duration, "how old"),
  public: toggle("allow unauthenticated access from other machines"),
  log: optional(text, "how to log"),
};
const PROGRAM = { name: "sig-api", flags: flagSpecs(FLAGS) };

interface Given {
  readonly words?: readonly string[];
  readonly variables?: Variables["values"];
  readonly looked?: Variables["looked"];
  /** The content of the file `f`. */
  readonly file?: string;
}

async function read(
  { words = [], variables = {}, looked = "all", file = "" }: Given,
  platform?: Parameters<typeof readSettings>[3],
) {
  const given = parseFlags(words, { flags: PROGRAM.flags, seeHelp: "" });
  const io = {
    readFile: () => Promise.resolve(new TextEncoder().encode(file)),
    variables: () => ({ values: variables, looked }),
  };
  const { flags, notes } = await readSettings(PROGRAM, given, io, platform);
  const { config: _, ...values } = readValues(FLAGS, flags);
  return { values, notes };
}

const NOTHING = {
  issuer: [],
  "max-age": undefined,
  public: false,
  log: undefined,
};

Deno.test("flags take precedence over variables, and variables over the file", async () => {
  const yaml = `
# What all of our servers have in common.
issuer: [a.example, b.example]
max_age: 60s
public: true
log: 'off'
`;
  const json = '{"issuer":["a.example","b.example"],"max_age":"60s",' +
    '"public":true,"log":"off"}';
  for (const file of [yaml, json]) {
    const words = ["--config", "f"];
    const ofFile = {
      issuer: ["a.example", "b.example"],
      "max-age": 60_000,
      public: true,
      log: "off",
    };
    assertEquals((await read({ words, file })).values, ofFile);
    const variables = {
      SIG_API_ISSUER: "c.example, d.example,",
      SIG_API_MAX_AGE: "30s",
      SIG_API_PUBLIC: "false",
      SIG_API_LOG: "",
      SIG_WEB_LOG: "of another program",
      PATH: "/bin",
    };
    const ofVariables = {
      issuer: ["c.example", "d.example"],
      "max-age": 30_000,
      public: false,
      log: "off",
    };
    assertEquals((await read({ words, file, variables })).values, ofVariables);
    words.push("--issuer=e.example", "--max-age=0s", "--public");
    const ofWords = {
      issuer: ["e.example"],
      "max-age": 0,
      public: true,
      log: "off",
    };
    assertEquals((await read({ words, file, variables })).values, ofWords);
  }
});

Deno.test("a variable can name the file; a file with only comments sets nothing", async () => {
  const variables = { SIG_API_CONFIG: "f" };
  const { values } = await read({ variables, file: "log: json" });
  assertEquals(values, { ...NOTHING, log: "json" });
  for (const file of ["", "# log: json\n", "{}"]) {
    assertEquals((await read({ variables, file })).values, NOTHING);
  }
});

Deno.test("an invalid setting in a file or a variable prevents the start and is named", async () => {
  const rows: readonly (readonly [Given, string, string?])[] = [
    [{ file: "max-age: 5m" }, 'unknown setting "max-age" in "f"', "max_age"],
    [{ file: "isuer: [a]" }, 'unknown setting "isuer" in "f"', "issuer"],
    [{ file: "config: g" }, 'unknown setting "config" in "f"'],
    [{ file: "__proto__: g" }, 'unknown setting "__proto__" in "f"'],
    [{ file: "issuer: a" }, '"issuer" in "f" must be a list of TEXT'],
    [{ file: "issuer: [[a]]" }, '"issuer" in "f" must be TEXT'],
    [{ file: "public: 1" }, '"public" in "f" must be true or false'],
    [{ file: "log: [json]" }, '"log" in "f" must be TEXT'],
    [{ file: "log: ''" }, '"log" in "f" must be TEXT'],
    [{ file: "max_age: 5" }, '"max_age" in "f" must be a number with ms'],
    [{ file: "- a" }, '"f" must contain names with their values'],
    [{ file: "log: json\nlog: off" }, '"f" is not valid YAML (line 2)'],
    [{ file: '{"log":"json","log":"off"}' }, '"f" is not valid JSON: '],
    [{ file: "a: 'secret" }, '"f" is not valid YAML'],
    [{ file: "max_events: 0100" }, '"f" has a number that is not written as'],
    [
      { variables: { SIG_API_MAXAGE: "secret" } },
      'unknown variable "SIG_API_MAXAGE"',
      "SIG_API_MAX_AGE",
    ],
    [{ variables: { SIG_API_MAX_AGE: "5" } }, "SIG_API_MAX_AGE must be a"],
    // Two unset variables where a list is expected.
    [
      { file: "issuer: [a]", variables: { SIG_API_ISSUER: ", " } },
      "SIG_API_ISSUER must be a list of TEXT",
    ],
    [
      { variables: { SIG_API_PUBLIC: "yes" } },
      "SIG_API_PUBLIC must be true or false",
    ],
  ];
  for (const [given, why, near] of rows) {
    const words = given.file === undefined ? [] : ["--config=f"];
    const error = await expectSigError(
      () => read({ words, ...given }),
      "invalid_request",
      `Cannot run: ${why}`,
    );
    const { hint } = error.context;
    if (near) assertEquals(hint, `Did you mean ${near}?`);
    assertEquals(/secret/.test(JSON.stringify([error.message, hint])), false);
  }
});

Deno.test("variables that Kubernetes sets for a service sig-api are ignored", async () => {
  const variables = {
    SIG_API_SERVICE_HOST: "10.0.0.1",
    SIG_API_SERVICE_PORT: "8787",
    SIG_API_SERVICE_PORT_HTTP: "8787",
    SIG_API_PORT: "tcp://10.0.0.1:8787",
    SIG_API_PORT_8787_TCP_ADDR: "10.0.0.1",
  };
  assertEquals((await read({ variables })).values, NOTHING);
});

Deno.test("a note says that only known variables could be read", async () => {
  const variables = { SIG_API_LOG: "json" };
  for (
    const [looked, count] of [["all", 0], ["known", 1], ["none", 0]] as const
  ) {
    const { notes } = await read({ variables, looked });
    assertEquals(
      notes,
      [
        "Variables SIG_API_… that sig-api does not know were not looked for: that needs --allow-env.",
      ].slice(0, count),
    );
  }
});

Deno.test("a platform has aliases and other defaults", async () => {
  const platform = {
    aliases: { SIG_ISSUERS: "issuer", SIG_MAX_AGE: "max-age" },
    defaults: { log: "json", public: "true" },
  };
  const set = (variables: Variables["values"]) => read({ variables }, platform);
  assertEquals((await set({ SIG_ISSUERS: "a,b" })).values, {
    issuer: ["a", "b"],
    "max-age": undefined,
    public: true,
    log: "json",
  });
  const { values } = await set({
    ...{ SIG_ISSUERS: "a", SIG_API_ISSUER: "b", SIG_API_PUBLIC: "false" },
    ...{ SIG_API_LOG: "off" },
  });
  assertEquals(values, { ...NOTHING, issuer: ["b"], log: "off" });
  await expectSigError(
    () => set({ SIG_MAX_AGE: "soon" }),
    "invalid_request",
    "Cannot run: SIG_MAX_AGE must be a number",
  );
});
