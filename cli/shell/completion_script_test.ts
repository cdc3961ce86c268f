import { assertEquals } from "@std/assert";
import { stripVTControlCharacters } from "node:util";
import { isCi } from "../../core/testdata/vectors.ts";
import { COMMANDS } from "../commands.ts";
import { SHELLS } from "../commands/completions.ts";
import { hasShell, Shell } from "../testdata/shell.ts";
import { completionTable } from "./completion.ts";

/** Files of the operator; a name that ends in a slash is a folder. */
const FILES = ["acme corp/", "people's list.csv", "test", "key/"];

/** What is typed, and the words that `sig` is then given. */
const TYPED: readonly (readonly [string, readonly string[]])[] = [
  ["ver\t", ["verify"]],
  ["off\t --di\t acm\t", ["offboard", "--dir", "acme corp"]],
  ["plan --fr\t peop\t", ["plan", "--from", "people's list.csv"]],
  ["plan --from=peop\t", ["plan", "--from=people's list.csv"]],
  ["verify acm\t", ["verify", "acme corp"]],
  ["serve acm\t", ["serve", "acme corp"]],
  ["upsert --type empl\t", ["upsert", "--type", "employee"]],
  ["upsert --type=empl\t", ["upsert", "--type=employee"]],
  // The peer's flags belong to its names alone.
  ["upsert --see\t", ["upsert", "--see"]],
  ["audit --format ht\t", ["audit", "--format", "html"]],
  ["completions fi\t", ["completions", "fish"]],
  ["key gen\t", ["key", "generate"]],
  // A value that looks like a command changes nothing.
  ["offboard --subject verify --reason-c\t x", [
    ...["offboard", "--subject", "verify", "--reason-code", "x"],
  ]],
  ["set --subject key --add\t x", [
    "set",
    "--subject",
    "key",
    "--add-role",
    "x",
  ]],
  // A folder is no list, and a switch has no value.
  ["apply --yes --dir peop\t", ["apply", "--yes", "--dir", "peop"]],
];

for (const shell of SHELLS) {
  const ignore = !isCi && !await hasShell(shell);

  Deno.test({
    name: `${shell} completes commands, flags and values, and quotes files`,
    ignore,
    async fn(t) {
      await using opened = await Shell.open(shell, FILES);
      for (const [typed, words] of TYPED) {
        await t.step(typed.replaceAll("\t", "⇥"), async () => {
          const given = await opened.wordsOf(typed);
          // A folder is completed with its slash; zsh takes it away again.
          assertEquals(
            given.map((word) => word.replace(/[/=]$/, "")),
            words,
          );
        });
      }
    },
  });

  Deno.test({
    name: `${shell} knows every command and every flag`,
    ignore,
    async fn() {
      await using opened = await Shell.open(shell, []);
      const table = completionTable(COMMANDS);
      const shown = namesIn(await opened.listOf(""));
      assertEquals(missing(table.map(({ name }) => name), shown), []);
      for (const { name, flags } of table) {
        const listed = namesIn(await opened.listOf(`${name} --`));
        const wanted = flags.map((flag) => flag.name);
        assertEquals([name, ...missing(wanted, listed)], [name]);
      }
    },
  });
}

/** Words of a screen, without what paints it. */
function namesIn(screen: string): ReadonlySet<string> {
  return new Set(stripVTControlCharacters(screen).split(/[\s=]+/));
}

function missing(wanted: readonly string[], shown: ReadonlySet<string>) {
  return wanted.filter((name) => !shown.has(name));
}

Deno.test("every word and value that is a file or a folder is completed", () => {
  // Whatever else is typed can't be known; a new one is to be looked at here.
  const unknown = completionTable(COMMANDS).flatMap(({ flags, words }) => [
    ...flags.flatMap(({ value, valueName }) =>
      value?.kind === "nothing" ? [valueName] : []
    ),
    ...words.flatMap(({ name, offer }) =>
      offer.kind === "nothing" ? [name] : []
    ),
  ]);
  assertEquals([...new Set(unknown)].sort(), [
    ...[
      "COMMAND",
      "DID",
      "DID|HOST",
      "DURATION",
      "HOST:PORT",
      "HOST[:PORT]",
      "ID",
    ],
    ...["JSON", "KEY=VALUE", "KID", "N", "N/s", "NAME", "NETWORK", "ORIGIN"],
    ...["ORIGIN|DID", "ROLE", "SCOPE", "SEQ", "SEQ|TIME", "TEXT", "TEXT|none"],
    ...[
      "TIME",
      "TIME|none",
      "URL",
      "domain",
      "issuer",
      "memory|kv:PATH|redis://…",
      "type=TYPE",
    ],
  ]);
});
