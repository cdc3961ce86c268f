/**
 * Sessions: command lines with their whole output, in a text file.
 *
 * ```text
 * # Name of the test, which has a folder $D with the issuer `acme`
 * // A comment.
 * people.csv:
 * | subject,type
 * $ sig plan --dir $D/acme --from $D/people.csv
 *   a line of standard output
 *   ! a line of standard error
 *   [2]
 * terminal: y n
 * $ SIG_KEY_FILE=$D/a.jwk sig enrol --dir $D/acme --answer - < answer.json
 *   ? a question, which is answered with y
 * ```
 *
 * - `terminal: y n 60` (answers, columns) and `now: TIME` are for the next
 *   command; `< FILE` and `> FILE` are its standard input and output.
 * - `cat`, `chmod`, `cp` and `rm` work as in a shell; `events 2` prints the last
 *   two events.
 * - Values that differ in each run are shown as `<now>`, `<ULID>`, `<key>` and
 *   so on, JSON values in one line.
 * - A command that reads, or exits with 2, must change no file. The latter must
 *   report the same code with `--format json`.
 *
 * `SIG_RECORD=1 deno test -A --no-check cli/commands/sessions_test.ts` writes
 * the outputs again: compare them with the former ones before you commit them.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import {
  type Given,
  initIssuer,
  inWorkspace,
  type Workspace,
} from "./workspace.ts";

/** A named part of a file. */
interface Session {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Lines up to a command, and the lines of its output. */
interface Step {
  readonly lines: readonly string[];
  readonly output: readonly string[];
}

/** Splits a file into sessions. */
export function parseSessions(text: string): readonly Session[] {
  return text.split(/^# /m).slice(1).map((part) => {
    const [name = "", ...lines] = part.trimEnd().split("\n");
    const steps: { lines: string[]; output: string[] }[] = [];
    for (const line of lines) {
      const last = steps.at(-1);
      const isRun = last?.lines.at(-1)?.startsWith("$ ") ?? false;
      if (last !== undefined && isRun && (line === "" || /^ {2}/.test(line))) {
        last.output.push(line);
      } else if (last === undefined || isRun) {
        steps.push({ lines: [line], output: [] });
      } else last.lines.push(line);
    }
    return { name, steps };
  });
}

/** Runs a session of a file, and returns its text with the new outputs. */
export async function runSession(
  { name, steps }: Session,
  file: string,
): Promise<string> {
  const ran = [`# ${name}`];
  await inWorkspace(async (workspace) => {
    await initIssuer(workspace);
    for (const { lines, output } of steps) {
      const found = await runStep(workspace, lines);
      const shown = nameValues(found.replaceAll(workspace.dir, "$D"), file)
        .split("\n").map((line) => line && `  ${line.trimEnd()}`);
      ran.push(
        ...lines,
        ...found === "" ? [] : shown,
        ...output.at(-1) === "" ? [""] : [],
      );
    }
  });
  return ran.join("\n").trimEnd();
}

/** What the lines before a command say of it. */
interface Setting {
  readonly terminal?: readonly string[];
  readonly now?: Date;
}

/** Runs a step, and returns its output without the last line feed. */
async function runStep(
  workspace: Workspace,
  lines: readonly string[],
): Promise<string> {
  let setting: Setting = {};
  let file = "";
  for (const line of lines) {
    const [, name, rest = ""] = /^(terminal|now|\$|\|):? ?(.*)$/.exec(line) ??
      [];
    if (name === "terminal") {
      setting = { ...setting, terminal: rest.split(" ") };
    } else if (name === "now") setting = { ...setting, now: new Date(rest) };
    else if (name === "|") {
      await workspace.write(file, `${await workspace.read(file)}${rest}\n`);
    } else if (name === "$") {
      return (await runCommand(workspace, rest, setting)).trimEnd();
    } else if (/^[\w./-]+:$/.test(line)) {
      file = line.slice(0, -1);
      await workspace.write(file, "");
    }
  }
  return "";
}

async function runCommand(
  workspace: Workspace,
  command: string,
  setting: Setting,
): Promise<string> {
  const [program = "", ...words] = command.split(" ");
  const [first = "", second = ""] = words
    .map((word) => word.replace(/^\$D\//, ""));
  switch (program) {
    case "cat":
      return await workspace.read(first);
    case "chmod":
      await Deno.chmod(workspace.path(second), parseInt(first, 8));
      return "";
    case "cp":
      await workspace.copy(first, second);
      return "";
    case "rm":
      await Deno.remove(workspace.path(first));
      return "";
    case "events":
      return (await workspace.events()).slice(-Number(first)).map((
        { issued_at: _, issuer: __, spec_version: ___, ...event },
      ) => `${JSON.stringify(event)}\n`).join("");
  }
  return await runSig(workspace, command, setting);
}

/** Commands that change no file of the workspace. */
const READS =
  /^(?:check|verify|dump-state|log|who|expiring|audit|diff|doctor|test|ssh-keys|allowed-signers) /;

async function runSig(
  workspace: Workspace,
  command: string,
  { now, terminal }: Setting,
): Promise<string> {
  const [, assigned = "", words = "", input, output] =
    /^((?:\w+=\S+ )*)sig (.*?)(?: < (\S+))?(?: > (\S+))?$/.exec(command) ?? [];
  const answers = terminal?.filter((each) => /^[yn]$/.test(each)) ?? [];
  const columns = Number(terminal?.find((each) => /^\d+$/.test(each)) ?? 200);
  let said = "";
  let result = "";
  const given: Given = {
    stdin: input === undefined ? "" : await workspace.read(input),
    terminals: terminal === undefined ? [] : ["stdin", "stdout"],
    env: {
      NO_COLOR: "1",
      ...Object.fromEntries(
        assigned.trim().replaceAll("$D", workspace.dir).split(" ")
          .flatMap((each) => each === "" ? [] : [each.split("=")]),
      ),
    },
    io: {
      ...now && { now: () => now },
      columns: () => columns,
      stdout(text) {
        result += text;
        if (output === undefined) said += compact(text);
      },
      stderr(text) {
        const marked = text.replace(/(?<=\n)(?=.)/g, "! ");
        said += /(?:^|\n)$/.test(said) ? `! ${marked}` : marked;
      },
      ask(question) {
        said += `? ${question}\n`;
        return answers.shift() === "y";
      },
    },
  };
  const before = await workspace.snapshot();
  const { code } = await workspace.sig(words, given);
  if (code === 2 || READS.test(words)) {
    assertEquals(await workspace.snapshot(), before, command);
  }
  const [, named] = /^! error: (\w+): /m.exec(said) ?? [];
  if (named !== undefined && terminal === undefined) {
    const plain = { ...given, io: now ? { now: () => now } : {} };
    const again = words.replace(/ --format \w+/, "");
    const json = await workspace.sig(`${again} --format json`, plain);
    const problem = JSON.parse(json.stderr);
    assertEquals([json.code, json.stdout, problem.code], [2, "", named]);
  }
  if (output !== undefined) await workspace.write(output, result);
  return `${said}${code === 0 ? "" : `[${code}]`}`;
}

/** Returns a JSON value in one line, and other text as it is. */
function compact(text: string): string {
  if (!/^[[{]\n/.test(text)) return text;
  return `${JSON.stringify(JSON.parse(text))}\n`;
}

/** Names values that the file does not have: they differ in each run. */
function nameValues(text: string, file: string): string {
  const named = (name: string) => (found: string) =>
    file.includes(found) ? found : name;
  return text
    .replaceAll(/2026-01-01T00:(?!00:00Z)[\d:.]+Z/g, named("<now>"))
    .replaceAll(/2026-01-08T00:[\d:.]+Z/g, "<in 7 days>")
    .replaceAll(/\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g, "<ULID>")
    .replaceAll(/did:key:z\w{40,}/g, named("<key>"))
    .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<JWS>")
    .replaceAll(/(?<![\w+/-])[\w+/-]{43,}={0,2}/g, named("<base64>"));
}
