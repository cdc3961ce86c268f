import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { loadCommands } from "./commands.ts";
import config from "./deno.json" with { type: "json" };
import { flagsOf } from "./command_line/command.ts";
import {
  inWorkspace,
  issuerTest,
  workspaceTest as test,
} from "./testdata/workspace.ts";
import { VERSION } from "./terminal/version.ts";

const COMMANDS = await loadCommands();

Deno.test("--version prints the version of the package", async () => {
  assertEquals(VERSION, config.version);
  await inWorkspace(async (workspace) => {
    assertEquals(await workspace.ok("--version"), `sig ${VERSION}\n`);
    assertEquals((await workspace.json("--version")).version, VERSION);
  });
});

Deno.test("the help of every command lists its flags and examples", async (t) => {
  await inWorkspace(async (workspace) => {
    const overall = await workspace.sig(["--help"]);
    for (const command of COMMANDS) {
      assertStringIncludes(overall.stdout, `\n  ${command.name} `);
      const { name } = command;
      await t.step(name, async () => {
        const { stdout } = await workspace.says(`${name} --help`, {
          out: [`Usage: sig ${name}`, "\nExamples:\n  sig "],
          stderr: "",
        });
        for (const flag of flagsOf(command)) {
          assertStringIncludes(stdout, `\n  --${flag.name}`);
        }
        const json = await workspace.json(`${name} --help`);
        assertEquals(json.name, name);
      });
    }
  });
});

test("help of a group of commands lists only that group", async (workspace) => {
  for (const words of ["pin --help", "help pin"]) {
    const { stdout } = await workspace.says(words, { out: "\n  pin ack " });
    assert(!stdout.includes("\n  verify "));
    const json = await workspace.json(words);
    assertEquals(
      json.map(({ name }: { name: string }) => name),
      ["pin list", "pin show", "pin ack", "pin remove"],
    );
  }
});

Deno.test("the examples of the help are valid command lines", async (t) => {
  await inWorkspace(async (workspace) => {
    for (const example of COMMANDS.flatMap(({ examples }) => examples)) {
      await t.step(example, async () => {
        // With --help the words are parsed, but the command does not run.
        const words = example.replace(/ > .*$/, "").replace(/^sig /, "");
        await workspace.ok(`${words} --help`);
      });
    }
  });
});

Deno.test("an invalid command line exits with 2", async (t) => {
  const wrong: readonly (readonly [string, string])[] = [
    ["", "Usage: sig <command>"],
    ["verfy", "Did you mean verify?"],
    ["xyzzy", "See: sig --help"],
    ["--hlep", "Did you mean --help?"],
    ["wotch", "there is no command"],
    ["verify", "<source> is missing"],
    ["verify a b", 'unexpected argument: "b"'],
    ["verify a --format yaml", "--format must be one of text, json"],
    ["check --subject a", "--sig is required"],
    ["completions tcsh", "<shell> must be one of bash, zsh, fish"],
    ["help verfy", "Did you mean verify?"],
    ["pin", "sig pin needs one of list, show, ack, remove"],
    ["pin --pins x list", "sig pin needs one of"],
    ["pin lst", "Did you mean pin list?"],
    ["pin list x", 'unexpected argument: "x"'],
  ];
  await inWorkspace(async (workspace) => {
    for (const [args, message] of wrong) {
      await t.step(args || "nothing at all", async () => {
        await workspace.says(args, { code: 2, err: message });
      });
    }
  });
});

test("--format is valid before the command and after a mistake", async (workspace) => {
  for (
    const words of [
      "--format json verify $D/none",
      "--format=json verify $D/none",
      "verfy --format json",
      "verify --wrong --format=json",
      "--format json",
    ]
  ) {
    const { stderr } = await workspace.says(words, { code: 2 });
    assert(typeof JSON.parse(stderr).code === "string");
  }
});

test("every result as JSON is one value, including completion scripts", async (workspace) => {
  for (
    const args of [
      "completions bash",
      "completions zsh",
      "--help",
      "--version",
      "help verify",
      "key generate",
      "init acme.example --dir $D/acme",
      "verify $D/acme",
      "dump-state $D/acme",
      "rotate-key --dir $D/acme --kid b",
      "upsert --dir $D/acme --subject did:web:a.example --type other",
    ]
  ) {
    assertEquals(typeof await workspace.json(args), "object", args);
  }
});

issuerTest(
  "an interrupted command ends with 130 and no result",
  async (workspace) => {
    await workspace.says("key did -", {
      io: { readStdin: () => new Promise(() => {}) },
      interrupted: Promise.resolve(),
      code: 130,
      stdout: "",
      stderr: "",
    });
  },
);

issuerTest(
  "an unexpected error shows neither its message nor its stack",
  async (workspace) => {
    const io = {
      readFile: () => Promise.reject(new Error("secret at inside.ts:1")),
    };
    for (const format of ["text", "json"]) {
      const failed = { io, code: 2, err: "internal" };
      const { stderr } = await workspace.says(
        `key did x --format ${format}`,
        failed,
      );
      assert(!/secret|\.ts/.test(stderr));
    }
  },
);
