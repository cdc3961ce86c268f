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
 *   [1]
 * terminal: y n
 * $ SIG_KEY_FILE=$D/a.jwk sig enrol --dir $D/acme --answer - < answer.json
 *   ? a question, which is answered with y
 * ```
 *
 * - `terminal: y n 60` (answers, columns) and `now: TIME` are for the next
 *   command; `< FILE` and `> FILE` are its standard input and output.
 * - A session that mentions `$H` has another issuer, of alice and bob, in
 *   `$D/www`. It is served there: all of it, after `serve 1` one event, after
 *   `serve 503` nothing.
 * - `cat`, `chmod`, `cp`, `mv` and `rm` work as in a shell; `head 2 FILE` keeps
 *   two lines, `sed /OLD/NEW/ FILE` replaces text, `mode FILE` prints it.
 *   `events 2` prints the last two events, `sql` changes the pin store.
 * - Values that differ in each run are shown as `<now>`, `<ULID>`, `<key>` and
 *   so on, JSON values in one line.
 * - `[1]` is the exit code; not shown are 0, and 2 with an error.
 * - A command that reads, or exits with 2, must change no file. The latter must
 *   report the same code with `--format json`.
 *
 * `SIG_RECORD=1 deno test -A --no-check cli/commands/sessions_test.ts` writes
 * the outputs again: compare them with the former ones before you commit them.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { createIssuerSite } from "../site/issuer_site.ts";
import {
  type Given,
  initIssuer,
  inWorkspace,
  serveIssuer,
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
  const isServed = steps.some(({ lines }) => lines.join().includes("$H"));
  await inWorkspace(async (workspace) => {
    const site: Site = { served: undefined };
    await using server = isServed ? await serve(workspace, site) : undefined;
    if (!isServed) await initIssuer(workspace);
    const { did = "did:web:$H", host = "$H" } = server ?? {};
    for (const { lines, output } of steps) {
      const given = lines.map((line) =>
        line.replaceAll("did:web:$H", did).replaceAll("$H", host)
      );
      const found = (await runStep(workspace, given, site))
        .replaceAll(workspace.dir, "$D").replaceAll(did, "did:web:$H")
        .replaceAll(host, "$H");
      const shown = nameValues(found, file).split("\n").map((line) =>
        line && `  ${line.trimEnd()}`
      );
      ran.push(
        ...lines,
        ...found === "" ? [] : shown,
        ...output.at(-1) === "" ? [""] : [],
      );
    }
  });
  return ran.join("\n").trimEnd();
}

/** What is served: all, the first events, or with 503 nothing. */
interface Site {
  served: number | undefined;
}

const SERVED = "www/.well-known/sig/events.jsonl";

/** Serves an issuer of two people. */
async function serve(workspace: Workspace, site: Site) {
  const whole = createIssuerSite(workspace.path("www"));
  const server = await serveIssuer(workspace, "www", async (request) => {
    const { served } = site;
    if (served === 503) return new Response(null, { status: served });
    if (served === undefined || !request.url.endsWith(".jsonl")) {
      return await whole(request);
    }
    return new Response(firstLines(await workspace.read(SERVED), served), {
      headers: { "content-type": "application/x-ndjson" },
    });
  });
  for (const name of ["alice", "bob"]) {
    await workspace.ok(
      `upsert --dir $D/www --subject did:web:${name}.example --type employee --role deploy --relationship-id ${name}`,
    );
  }
  return server;
}

const firstLines = (text: string, count: number) =>
  text.split("\n").slice(0, count).map((line) => `${line}\n`).join("");

/** What the lines before a command say of it. */
interface Setting {
  readonly terminal?: readonly string[];
  readonly now?: Date;
}

/** Runs a step, and returns its output without the last line feed. */
async function runStep(
  workspace: Workspace,
  lines: readonly string[],
  site: Site,
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
      return (await runCommand(workspace, rest, setting, site)).trimEnd();
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
  site: Site,
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
    case "head":
      await workspace.write(
        second,
        firstLines(await workspace.read(second), Number(first)),
      );
      return "";
    case "mode":
      return (await workspace.mode(first)).toString(8);
    case "mv":
      await Deno.rename(workspace.path(first), workspace.path(second));
      return "";
    case "rm":
      await Deno.remove(workspace.path(first), { recursive: true });
      return "";
    case "sed": {
      const [, old = "", fresh = ""] = first.split("/");
      const text = await workspace.read(second);
      await workspace.write(second, text.replace(RegExp(old), fresh));
      return "";
    }
    case "sql": {
      const { DatabaseSync } = await import("node:sqlite");
      using pins = new DatabaseSync(workspace.path("data/sig/pins.db"));
      pins.exec(words.join(" "));
      return "";
    }
    case "serve":
      site.served = first === "" ? undefined : Number(first);
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
    /^((?:\w+=\S* )*)sig (.*?)(?: < (\S+))?(?: > (\S+))?$/.exec(command) ?? [];
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
  const before = await publicFiles(workspace);
  const { code } = await workspace.sig(words, given);
  if (code === 2 || READS.test(words)) {
    assertEquals(await publicFiles(workspace), before, command);
  }
  const [, named] = /^! error: (\w+): /m.exec(said) ?? [];
  const isError = named !== undefined || /^! \{.*"code":"/m.test(said);
  if (named !== undefined && terminal === undefined) {
    const plain = { ...given, io: now ? { now: () => now } : {} };
    const again = words.replace(/ --format \w+/, "");
    const json = await workspace.sig(`${again} --format json`, plain);
    const problem = JSON.parse(json.stderr);
    assertEquals([json.code, json.stdout, problem.code], [2, "", named]);
  }
  if (output !== undefined) await workspace.write(output, result);
  return `${said}${code === (isError ? 2 : 0) ? "" : `[${code}]`}`;
}

/** Returns all files but the memory of readers. */
async function publicFiles(workspace: Workspace) {
  const memory = RegExp(`^${workspace.dir}/(?:data|cache)/`);
  const files = await workspace.snapshot();
  return new Map([...files].filter(([path]) => !memory.test(path)));
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
    .replaceAll(/\\"\w+-[\w+/]{27}\\"/g, "<etag>")
    .replaceAll(/(?<="age_seconds":)[1-9]\d*/g, '"<age>"')
    .replaceAll(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<JWS>")
    .replaceAll(/(?<![\w+/-])[\w+/-]{43,}={0,2}/g, named("<base64>"));
}
