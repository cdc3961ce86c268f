import { assertEquals, assertStringIncludes } from "@std/assert";
import { isCi } from "../../core/testdata/vectors.ts";
import { COMMANDS } from "../commands.ts";
import { completionScript } from "./completion_script.ts";
import { flagsOf } from "./parse_command_line.ts";

/** How each shell reads a script without running it. */
const SHELLS: readonly (readonly [string, string])[] = [
  ["bash", "-n"],
  ["zsh", "-n"],
  ["fish", "--no-execute"],
];

async function isInstalled(shell: string): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(shell, {
      args: ["-c", "exit 0"],
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}

for (const [shell, check] of SHELLS) {
  Deno.test({
    name: `${shell} understands its completion script`,
    ignore: !isCi && !await isInstalled(shell),
    async fn() {
      const file = await Deno.makeTempFile();
      await Deno.writeTextFile(file, completionScript(shell, COMMANDS));
      const { code, stderr } = await new Deno.Command(shell, {
        args: [check, file],
      }).output();
      await Deno.remove(file);
      assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
    },
  });

  Deno.test(`the ${shell} script completes every command and flag`, () => {
    const script = completionScript(shell, COMMANDS);
    for (const command of COMMANDS) {
      for (const name of [command.name, ...command.aliases ?? []]) {
        assertStringIncludes(script, name);
        for (const flag of flagsOf(command, name)) {
          assertStringIncludes(script, flag.name);
        }
      }
    }
  });
}

Deno.test({
  name: "bash completes commands, then their flags",
  ignore: !isCi && !await isInstalled("bash"),
  async fn() {
    const file = await Deno.makeTempFile();
    await Deno.writeTextFile(file, completionScript("bash", COMMANDS));
    const complete = async (...words: string[]) => {
      const { stdout } = await new Deno.Command("bash", {
        args: [
          "-c",
          'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sig; echo "${COMPREPLY[*]}"',
          ...["bash", file, "sig", ...words],
        ],
      }).output();
      return new TextDecoder().decode(stdout).trim();
    };
    assertEquals(await complete("ver"), "verify");
    assertEquals(await complete("append-upsert", "--see"), "--seed-hex");
    assertEquals(await complete("upsert", "--see"), "");
    await Deno.remove(file);
  },
});
