/**
 * Runs a document's `sh` blocks in order in one shell, as if a reader pasted
 * them, starting in the checkout. Three things differ: the ports, since tests
 * run in parallel; the script waits for the port of a server instead of one
 * second; and some tasks are only checked for existence (shims/npx).
 *
 * @module
 */

import { createNewcomer, ROOT } from "./newcomer.ts";
import { serveSig } from "./sig_server.ts";
import { type Block, exitCodeOf, hasNo } from "./read_blocks.ts";

/** Ports in the documents, which each run replaces by free ones. */
const PORTS = [
  ...["8080", "8081", "8787", "8788", "8000", "9000", "2222"],
] as const;

/** The result of a document. */
export interface DocumentRun {
  /** The output of each block, by the line of its fence. */
  readonly outputs: ReadonlyMap<number, string>;
  /** The error message; undefined if all blocks succeeded. */
  readonly failure: string | undefined;
}

/**
 * Runs the blocks.
 *
 * @param shell `bash` or `zsh`.
 */
export async function runDocument(
  blocks: readonly Block[],
  shell: string,
): Promise<DocumentRun> {
  await using newcomer = await createNewcomer();
  const run = `${newcomer.home}/.run`;
  await Deno.mkdir(`${run}/bin`, { recursive: true });
  const launcher = `${newcomer.home}/.local/bin/sig`;
  await using _ = await serveSig(`${run}/bin/sig`, launcher);
  const ports = freePorts();
  try {
    await Deno.writeTextFile(`${run}/script`, toScript(blocks, ports));
    const { code, stderr } = await new Deno.Command(shell, {
      args: [`${run}/script`],
      cwd: ROOT,
      clearEnv: true,
      env: {
        ...newcomer.env,
        PATH: `${run}/bin:${newcomer.env.PATH}`,
        DOCS_RUN: run,
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    const outputs = new Map<number, string>();
    let last = 0;
    for (const { line } of blocks) {
      const file = `${run}/${line}.out`;
      const text = await Deno.readTextFile(file).catch(() => undefined);
      if (text === undefined) break;
      outputs.set(line, toDocument(text, ports));
      last = line;
    }
    const said = outputs.get(last) ?? new TextDecoder().decode(stderr);
    return {
      outputs,
      failure: code === 0
        ? undefined
        : `the block at line ${last} failed (exit code ${code}):\n${said}`,
    };
  } finally {
    await endServers(`${run}/pids`);
  }
}

function toScript(
  blocks: readonly Block[],
  ports: ReadonlyMap<string, string>,
): string {
  const parts = blocks.map((block) => {
    const commands = withServers(toRun(block.text, ports));
    const expected = exitCodeOf(block);
    const output = `exec >"$DOCS_RUN/${block.line}.out" 2>&1\n`;
    if (hasNo(block)) return `${output}set +e\n${commands}\nset -e\n`;
    return expected === 0
      ? `${output}${commands}\n`
      : `${output}set +e\n${commands}\nended=$?\nset -e\n` +
        `[ $ended = ${expected} ] || { echo "exit code $ended"; exit 99; }\n`;
  });
  return `set -e\n${parts.join("")}`;
}

/** Matches a command, possibly of several lines, that ends with `&`. */
const SERVER = /^(?:.*\\\n)*.*[^&]&$/gm;
const PORT = /(?:--addr \S*?:|--port |-p |\bPORT=)(\d+)/;

/** Adds lines that record each server's pid and wait until it listens. */
function withServers(commands: string): string {
  return commands
    .replace(SERVER, (line) => {
      const [, port] = PORT.exec(line) ?? [];
      if (port === undefined) throw new Error(`which port? ${line}`);
      const [, errors] = /2> (\S+) &$/.exec(line) ?? [];
      const why = errors === undefined ? "" : `cat ${errors}; `;
      // If a server does not speak HTTP, curl fails with another code than 7.
      // real time: the shell waits until the server listens.
      return `${line}
echo $! >>"$DOCS_RUN/pids"
until curl -s -o "$DOCS_RUN/first" http://127.0.0.1:${port}/ || [ $? != 7 ]; do
  kill -0 $! 2>/dev/null || { echo "the server on port ${port} ended"; ${why}exit 98; }
  sleep 0.05
done`;
    })
    .replace(/^sleep \d+$/gm, ":")
    .replace(/^kill \$!$/gm, "kill $! 2>/dev/null || true; wait $! || true");
}

function toRun(text: string, ports: ReadonlyMap<string, string>): string {
  return text
    .replace(/(?<=\b|%3A)\d{4}\b/g, (word) => ports.get(word) ?? word)
    // Servers of tests listen on loopback only.
    .replaceAll("0.0.0.0", "127.0.0.1");
}

function toDocument(text: string, ports: ReadonlyMap<string, string>): string {
  // ssh-keygen ends messages with CR LF.
  let shown = text.replaceAll("\r\n", "\n");
  for (const [port, own] of ports) {
    shown = shown.replaceAll(new RegExp(`(?<=\\b|%3A)${own}\\b`, "g"), port);
  }
  return shown;
}

/** The first port that no system gives out for port 0, and their number. */
const OWN_PORTS = { first: 10_000, count: 20_000 };

/**
 * Returns currently free ports, by those of the documents. They are below those
 * that other tests get for port 0, so that no other server takes one between
 * this check and its use.
 */
function freePorts(): ReadonlyMap<string, string> {
  const taken = new Map<number, Deno.Listener>();
  while (taken.size < PORTS.length) {
    const port = OWN_PORTS.first + Math.floor(Math.random() * OWN_PORTS.count);
    try {
      taken.set(port, Deno.listen({ hostname: "127.0.0.1", port }));
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
  const free = [...taken.keys()].map(String);
  for (const listener of taken.values()) listener.close();
  return new Map(PORTS.map((port, i) => [port, free[i]!]));
}

/** Stops the servers by their process ids. */
async function endServers(file: string): Promise<void> {
  const pids = await Deno.readTextFile(file).catch(() => "");
  for (const pid of pids.split("\n").filter((line) => line !== "")) {
    try {
      Deno.kill(Number(pid), "SIGTERM");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}
