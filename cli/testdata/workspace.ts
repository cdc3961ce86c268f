/** Running the command line in a folder of its own, and recording it. @module */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { createDenoIo } from "../terminal/deno_io.ts";
import type { Io } from "../terminal/io.ts";
import { run } from "../main.ts";

/** What one run said and how it ended. */
export interface Ran {
  /** Exit code. */
  readonly code: number;
  /** Everything written as a result. */
  readonly stdout: string;
  /** Everything else written. */
  readonly stderr: string;
}

/** What a run is given beside its words. */
export interface Given {
  /** Standard input. */
  readonly stdin?: string;
  /** Variables, added to those of the workspace. */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Streams that are terminals. */
  readonly terminals?: readonly ("stdin" | "stdout" | "stderr")[];
  /** Ends the run as Ctrl-C does. */
  readonly interrupted?: Promise<void>;
  /** Takes the place of parts of the outside. */
  readonly io?: Partial<Io>;
}

/** Words of a command line: as a list, or as a text. */
export type Words = string | readonly string[];

/** The words of a command line. */
export function wordsOf(words: Words): readonly string[] {
  if (typeof words !== "string") return words;
  return [...words.matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, plain]) => quoted ?? plain!);
}

/** The feed of the workspace's issuer. */
export const FEED = "acme/.well-known/sig/events.jsonl";

/** A terminal without colours; `asked` has the questions that were answered. */
export function terminal(
  answer: (question: string, count: number) => boolean | Promise<boolean> =
    () => true,
) {
  const asked: string[] = [];
  const ask = (question: string) => answer(question, asked.push(question));
  const terminals = ["stdin", "stdout"] as const;
  return { asked, terminals, env: { NO_COLOR: "1" }, io: { ask } };
}

/** A folder, a key store and a clock. */
export class Workspace {
  /** The folder: `$D` in words and in what is recorded. */
  readonly dir: string;
  /** The clock; each reading is one second later. */
  #seconds = 0;

  constructor(dir: string) {
    this.dir = dir;
  }

  /**
   * Runs `sig` with words in which `$D` stands for the folder. In a text, blanks
   * separate them and quotes keep blanks together.
   */
  async sig(words: Words, given: Given = {}): Promise<Ran> {
    let stdout = "";
    let stderr = "";
    const env: Given["env"] = {
      SIG_KEYS_DIR: `${this.dir}/keys`,
      // The memory of issuers, too, is the workspace's own.
      XDG_DATA_HOME: `${this.dir}/data`,
      ...given.env,
    };
    const io: Io = {
      ...createDenoIo(),
      stdout: (text) => void (stdout += text),
      stderr: (text) => void (stderr += text),
      isTerminal: (stream) => given.terminals?.includes(stream) ?? false,
      env: (name) => env[name],
      now: () => new Date(Date.UTC(2026, 0, 1) + 1000 * this.#seconds++),
      readStdin: () =>
        Promise.resolve(new TextEncoder().encode(given.stdin ?? "")),
      interrupted: () => given.interrupted ?? new Promise(() => {}),
      stopRequested: () => given.interrupted ?? new Promise(() => {}),
      ...given.io,
    };
    const code = await run(wordsOf(words).map((word) => this.#real(word)), io);
    return {
      code,
      stdout: this.#shown(stdout),
      stderr: this.#shown(stderr),
    };
  }

  /** Runs words that must succeed without a warning, and gives the result. */
  async ok(words: Words, given?: Given): Promise<string> {
    const { code, stdout, stderr } = await this.sig(words, given);
    assertEquals([code, stderr], [0, ""], `${words}`);
    return stdout;
  }

  /** The result of words as JSON; its exit code is 0 or 1. */
  async json(words: string, given?: Given) {
    const ran = await this.sig(`${words} --format json`, given);
    assertEquals([ran.code < 2, ran.stderr], [true, ""], words);
    return JSON.parse(ran.stdout);
  }

  /**
   * Runs words that must be refused: exit code 2, without a result, and with
   * every file as it was. Each part must be in the error.
   */
  async refused(
    words: Words,
    parts: string | readonly string[],
    given?: Given,
  ): Promise<string> {
    const before = await this.snapshot();
    const { code, stdout, stderr } = await this.sig(words, given);
    assertEquals([code, stdout], [2, ""], `${words}\n${stderr}`);
    for (const part of [parts].flat()) assertStringIncludes(stderr, part);
    assertEquals(await this.snapshot(), before, `${words}`);
    return stderr;
  }

  /** A file of the folder. */
  path(name: string): string {
    return `${this.dir}/${name}`;
  }

  /** The text of a file of the folder. */
  read(name: string): Promise<string> {
    return Deno.readTextFile(this.path(name));
  }

  /** Writes a file of the folder; a new one is for its owner alone. */
  async write(name: string, content: string | Uint8Array): Promise<void> {
    const mode = await this.mode(name).catch(() => 0o600);
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    await Deno.writeFile(this.path(name), bytes, { mode });
  }

  /** The permissions of a file of the folder. */
  async mode(name: string): Promise<number> {
    return (await Deno.stat(this.path(name))).mode! & 0o777;
  }

  /** The events in the feed of `acme`. */
  async events() {
    const lines = (await this.read(FEED)).trim().split("\n");
    return lines.filter((line) => line !== "").map((line) => {
      const { payload } = JSON.parse(line);
      const bytes = Uint8Array.fromBase64(payload, { alphabet: "base64url" });
      return JSON.parse(new TextDecoder().decode(bytes));
    });
  }

  /** Every file of the folder with its content: what a run may not change. */
  async snapshot(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const walk = async (path: string): Promise<void> => {
      for await (const { name, isDirectory, isFile } of Deno.readDir(path)) {
        const child = `${path}/${name}`;
        // Lock, index and torn tails may change with any attempt.
        if (isDirectory && name !== ".sig") await walk(child);
        if (isFile) found.set(child, await Deno.readTextFile(child));
      }
    };
    await walk(this.dir);
    return found;
  }

  #real(word: string): string {
    return word.replaceAll("$D", this.dir);
  }

  #shown(text: string): string {
    return text.replaceAll(this.dir, "$D");
  }
}

/** A test in a workspace of its own. */
export function workspaceTest(
  name: string,
  work: (workspace: Workspace) => Promise<void>,
): void {
  Deno.test(name, () => inWorkspace(work));
}

/** A test in a workspace with the issuer of {@linkcode withIssuer}. */
export function issuerTest(
  name: string,
  work: (workspace: Workspace) => Promise<void>,
): void {
  Deno.test(name, () => withIssuer(work));
}

/** Runs with a workspace that is removed afterwards. */
export async function inWorkspace(
  work: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  try {
    await work(new Workspace(dir));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** An issuer with one employee (sequence 1) and one ended contract (2, 3). */
export async function withIssuer(
  work: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  await inWorkspace(async (workspace) => {
    for (const words of ISSUER) await workspace.ok(words);
    await work(workspace);
  });
}

const ISSUER: readonly string[] = [
  "init acme.example --dir $D/acme",
  "upsert --dir $D/acme --subject did:web:alice.example --type employee --role deploy --role review --relationship-id r1 --event-id e1",
  "upsert --dir $D/acme --subject did:web:bob.example --type contractor --relationship-id r2 --event-id e2",
  "revoke --dir $D/acme --relationship-id r2 --reason-code contract_ended --event-id e3",
];
