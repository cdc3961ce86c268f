/**
 * Sessions: command lines with their whole output, in a text file.
 *
 * ```text
 * # Name of the test, in a folder with the issuer `acme`
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
 * `< FILE` and `> FILE` are standard input and output; `terminal: 60` is a
 * terminal of 60 columns. `cat`, `chmod`, `cp` and `rm` work as in a shell,
 * `events 2` prints the last two events. Values that differ in each run are written as `<now>`, `<ULID>`, `<key>` or `<base64>`. A
 * command that exits with 2 must not have changed a file.
 *
 * `SIG_RECORD=1 deno test -A --no-check cli/commands/sessions_test.ts` writes
 * the outputs anew. Read the difference before you commit it.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { initIssuer, inWorkspace, type Workspace } from "./workspace.ts";

/** A named part of a file: steps, each with the lines of its output. */
interface Session {
  readonly name: string;
  readonly steps: readonly Step[];
}

interface Step {
  /** The lines before the output: comments, files and a command. */
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
      const isOutput = /^ {2}/.test(line) ||
        line === "" && last !== undefined && last.output.length > 0;
      if (isOutput && last !== undefined) last.output.push(line);
      else if (last === undefined || last.output.length > 0 || isRun(last)) {
        steps.push({ lines: [line], output: [] });
      } else last.lines.push(line);
    }
    return { name, steps };
  });
}

const isRun = ({ lines }: Step) => lines.at(-1)?.startsWith("$ ") ?? false;

/** Runs a session, and returns it with the outputs of this run. */
export async function runSession(
  { name, steps }: Session,
  text: string,
): Promise<string> {
  const ran = [`# ${name}`];
  await inWorkspace(async (workspace) => {
    await initIssuer(workspace);
    for (const { lines, output } of steps) {
      ran.push(...lines);
      const found = await runStep(workspace, lines, text);
      const end = output.at(-1) === "" ? [""] : [];
      ran.push(...found.map((line) => line && `  ${line}`), ...end);
    }
  });
  return ran.join("\n").trimEnd();
}

async function runStep(
  workspace: Workspace,
  lines: readonly string[],
  text: string,
): Promise<readonly string[]> {
  let terminal: readonly string[] | undefined;
  let file = "";
  for (const line of lines) {
    if (line.startsWith("| ") || line === "|") {
      const before = await workspace.read(file).catch(() => "");
      await workspace.write(file, `${before}${line.slice(2)}\n`);
    } else if (line.startsWith("terminal:")) {
      terminal = line.slice(9).trim().split(" ");
    } else if (line.startsWith("$ ")) {
      return await runCommand(workspace, line.slice(2), terminal, text);
    } else if (/^[\w./-]+:$/.test(line)) {
      file = line.slice(0, -1);
      await workspace.write(file, "");
    }
  }
  return [];
}

async function runCommand(
  workspace: Workspace,
  command: string,
  terminal: readonly string[] | undefined,
  text: string,
): Promise<readonly string[]> {
  const [, assigned = "", words = "", , input, , output] =
    /^((?:\w+=\S+ )*)(.*?)( < (\S+))?( > (\S+))?$/.exec(command)!;
  const path = (name = "") => name.replace(/^\$D\//, "");
  const [program, ...names] = words.split(" ");
  if (program === "cat") {
    const all = await Promise.all(
      names.map((name) => workspace.read(path(name))),
    );
    return shown(workspace, all.join(""), text);
  }
  if (program === "events") {
    const events = (await workspace.events()).slice(-Number(names[0]));
    const lines = events.map((
      { issued_at: _, issuer: __, spec_version: ___, ...event },
    ) => `${JSON.stringify(event)}\n`);
    return shown(workspace, lines.join(""), text);
  }
  if (program === "chmod") {
    await Deno.chmod(workspace.path(path(names[1])), parseInt(names[0]!, 8));
  }
  if (program === "rm") await Deno.remove(workspace.path(path(names[0])));
  if (program === "cp") await workspace.copy(path(names[0]), path(names[1]));
  if (program !== "sig") return [];
  const answers = [...terminal ?? []].filter((each) => /^[yn]$/.test(each));
  const columns = Number(terminal?.find((each) => /^\d+$/.test(each)) ?? 200);
  const said: string[] = [];
  const result: string[] = [];
  const before = await workspace.snapshot();
  const { code } = await workspace.sig(words.slice("sig ".length), {
    stdin: input === undefined ? "" : await workspace.read(path(input)),
    terminals: terminal === undefined ? [] : ["stdin", "stdout"],
    env: {
      NO_COLOR: "1",
      ...Object.fromEntries(
        assigned.trim().split(" ").filter((each) => each !== "").map((each) => {
          const [name, value] = each.split("=") as [string, string];
          return [name, value.replace("$D", workspace.dir)];
        }),
      ),
    },
    io: {
      columns: () => columns,
      stdout: (text) => void (output ? result : said).push(text),
      stderr: (text) => void said.push(text.replace(/^(?=.)/gm, "! ")),
      ask(question) {
        said.push(`? ${question}\n`);
        return answers.shift() === "y";
      },
    },
  });
  if (code === 2) assertEquals(await workspace.snapshot(), before, command);
  if (output) await workspace.write(path(output), result.join(""));
  return [
    ...shown(workspace, said.join(""), text),
    ...code === 0 ? [] : [`[${code}]`],
  ];
}

/** Returns lines in which the values of this run have names. */
function shown(
  workspace: Workspace,
  output: string,
  text: string,
): readonly string[] {
  const named = output.replaceAll(workspace.dir, "$D")
    .replaceAll(/2026-01-01T00:\d\d:\d\d(?:\.\d+)?Z/g, "<now>")
    .replaceAll(/\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g, "<ULID>")
    .replaceAll(
      /did:key:z\w{40,}/g,
      (did) => text.includes(did) ? did : "<key>",
    )
    .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<JWS>")
    .replaceAll(
      /\b(?:[0-9a-f]{64}|[\w+/-]{43,}={0,2})/g,
      (found) => text.includes(found) ? found : "<base64>",
    );
  return named.trimEnd() === ""
    ? []
    : named.trimEnd().split("\n").map((line) => line.trimEnd());
}
