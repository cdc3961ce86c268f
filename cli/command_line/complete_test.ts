import { assertEquals } from "@std/assert";
import { stripVTControlCharacters } from "node:util";
import { lacks } from "../../tests/kit/process.ts";
import { loadCommands } from "../commands.ts";
import { Shell, type ShellName } from "../testdata/shell.ts";
import { Workspace, workspaceTest as test } from "../testdata/workspace.ts";
import { flagsOf } from "./command.ts";

const COMMANDS = await loadCommands();

/** Returns the candidates for the last of these words. */
async function offered(words: readonly string[]): Promise<readonly string[]> {
  const workspace = new Workspace("/nowhere");
  const stdout = await workspace.ok(["__complete", "--", ...words]);
  return stdout.split("\n").slice(0, -1).map((line) => line.split("\t")[0]!);
}

Deno.test("completion offers every command and flag, a given flag only if it is repeatable", async () => {
  assertEquals(await offered([""]), [
    ...new Set(
      COMMANDS.map(({ name }) => name.split(" ")[0]!),
    ),
    "--help",
    "--version",
  ]);
  for (const command of COMMANDS) {
    const flags = flagsOf(command);
    assertEquals(
      await offered([...command.name.split(" "), "--"]),
      flags.map((flag) => `--${flag.name}`),
    );
  }
  const twice = await offered(["upsert", "--role", "a", "--kid", "b", "--"]);
  assertEquals(
    [twice.includes("--role"), twice.includes("--kid")],
    [true, false],
  );
});

/** The words after `sig`, and the candidates for the last of them. */
const OFFERED: readonly (readonly [string, readonly string[]])[] = [
  ["ver", ["verify"]],
  ["upsert --type empl", ["employee"]],
  ["upsert --type=empl", ["--type=employee"]],
  // As bash splits it.
  ["upsert --type = empl", ["employee"]],
  ["audit --format ht", ["html"]],
  ["plan --from peop", [":files"]],
  ["plan --from=peop", [":files"]],
  ["plan --from =", [":files"]],
  ["offboard --dir ", [":folders"]],
  ["verify acm", [":files"]],
  ["verify --no-pin acm", [":files"]],
  ["verify acme ", []],
  ["completions fi", ["fish"]],
  // A value that looks like a command or a flag has no effect.
  ["offboard --subject verify --reason-co", ["--reason-code"]],
  ["who --people --role x --ty", ["--type"]],
  ["upsert --title ", []],
  ["nonsense --", []],
  ["pin ", ["list", "show", "ack", "remove"]],
  ["web cl", ["client"]],
  ["web client ", ["add", "list", "set", "remove", "rotate-secret"]],
  ["key did al", [":files"]],
];

Deno.test("completion offers values, files and folders where they are valid", async (t) => {
  for (const [typed, expected] of OFFERED) {
    await t.step(typed, async () => {
      assertEquals(await offered(typed.split(" ")), expected);
    });
  }
});

test("completion offers subjects and display names from the issuer's names", async (workspace) => {
  await workspace.write(
    "acme/.sig/people.csv",
    "subject,name\ndid:web:ann.example,Ann O'Neil\ndid:web:bob.example,B\u202eob\n",
  );
  const offered = async (...words: readonly string[]) => {
    const { stdout } = await workspace.sig(["__complete", "--", ...words]);
    return stdout;
  };
  const dids =
    "did:web:ann.example\tAnn O'Neil\ndid:web:bob.example\tB\\u202eob\n";
  assertEquals(
    await offered("set", "--dir", "$D/acme", "--subject", "did"),
    dids,
  );
  const name = "Ann O'Neil\tdid:web:ann.example\n";
  for (
    const words of [
      ["set", "--dir", "$D/acme", "--subject", "Ann"],
      ["set", "--dir=$D/acme", "--subject", "Ann O"],
      ["offboard", "--dir", "=", "$D/acme", "--subject", "A"],
      ["dump-state", "$D/acme", "--subject", "Ann"],
      ["check", "--sig", "$D/acme", "--subject", "Ann"],
    ]
  ) assertEquals(await offered(...words), name, words.join(" "));
  assertEquals(
    await offered("check", "--sig=$D/acme", "--subject=An"),
    `--subject=${name}`,
  );
  // Display names are local to the issuer's directory.
  assertEquals(
    await offered("check", "--sig", "acme", "--subject", ""),
    ":files\n",
  );
});

/** Files in the test folder; a name that ends in a slash is a folder. */
const FILES = {
  "acme corp/.sig/people.csv":
    "subject,name\ndid:web:ann.example,Ann O'Neil\ndid:web:bob.example,Bob Roe\n",
  "people's list.csv": "",
  "test": "",
  "key/": "",
};

/** The typed line, and the words that `sig` gets after completion. */
const TYPED: readonly (readonly [string, readonly string[]])[] = [
  ["ver\t", ["verify"]],
  ["off\t --di\t acm\t", ["offboard", "--dir", "acme corp"]],
  ["plan --fr\t peop\t", ["plan", "--from", "people's list.csv"]],
  ["plan --from=peop\t", ["plan", "--from=people's list.csv"]],
  ["verify acm\t", ["verify", "acme corp"]],
  ["upsert --type empl\t", ["upsert", "--type", "employee"]],
  ["upsert --type=empl\t", ["upsert", "--type=employee"]],
  [
    "set --dir acm\t --subject Ann\t",
    ["set", "--dir", "acme corp", "--subject", "Ann O'Neil"],
  ],
  // Folders are not candidates for a file, and a toggle has no value.
  ["apply --yes --dir peop\t", ["apply", "--yes", "--dir", "peop"]],
];

for (const shell of ["bash", "zsh", "fish"] as const satisfies ShellName[]) {
  Deno.test({
    name: `${shell} completes commands, flags and values, and quotes files`,
    ignore: lacks(shell) || lacks("script"),
    async fn(t) {
      await using opened = await Shell.open(shell, FILES);
      for (const [typed, words] of TYPED) {
        await t.step(typed.replaceAll("\t", "⇥"), async () => {
          const given = await opened.wordsOf(typed);
          // A folder is completed with its slash, which zsh removes again.
          assertEquals(
            given.map((word) => word.replace(/[/=]$/, "")),
            words,
          );
        });
      }
      const shown = stripVTControlCharacters(await opened.listOf("pin ack --"));
      for (const flag of ["--pins", "--reason", "--format", "--help"]) {
        assertEquals(shown.includes(flag), true, `${flag}: ${shown}`);
      }
    },
  });
}
