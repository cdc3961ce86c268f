/**
 * Runs of the command line in a temporary folder, recorded for tests. @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { cp } from "node:fs/promises";
import {
  type LoopbackServer,
  serveLoopback,
} from "../../tests/kit/loopback.ts";
import { createDenoIo } from "../terminal/deno_io.ts";
import type { Io } from "../terminal/io.ts";
import { run } from "../main.ts";
import { createIssuerSite } from "../site/issuer_site.ts";

/** The output and exit code of a run. */
export interface Ran {
  /** Exit code. */
  readonly code: number;
  /** The results. */
  readonly stdout: string;
  /** All other messages. */
  readonly stderr: string;
}

/** Options of a run. */
export interface Given {
  /** Standard input. */
  readonly stdin?: string;
  /** Environment variables in addition to those of the workspace. */
  readonly env?: { readonly [name: string]: string | undefined };
  /** The streams that are terminals. */
  readonly terminals?: readonly ("stdin" | "stdout" | "stderr")[];
  /** Interrupts the run as Ctrl-C does. */
  readonly interrupted?: Promise<void>;
  /** Replacements of members of `Io`. */
  readonly io?: Partial<Io>;
}

/** Options of a run with its results. */
export interface Expected extends Given {
  /** Exit code (default: 0). */
  readonly code?: number;
  /** The exact texts (default: any, but with exit code 2 no result). */
  readonly stdout?: string;
  readonly stderr?: string;
  /** Parts of standard output and of standard error. */
  readonly out?: string | readonly string[];
  readonly err?: string | readonly string[];
}

/** Asserts the results of a run. */
export function assertRan(
  ran: Ran,
  { code = 0, out = [], err = [], ...expected }: Expected = {},
  words?: Words,
): void {
  const about = `${words}
${ran.stdout}${ran.stderr}`;
  const isFailure = code === 2 && out.length === 0;
  const { stdout = isFailure ? "" : ran.stdout, stderr = ran.stderr } =
    expected;
  const { code: was, stdout: said, stderr: wrote } = ran;
  assertEquals([was, said, wrote], [code, stdout, stderr], about);
  for (const part of [out].flat()) assertStringIncludes(said, part, about);
  for (const part of [err].flat()) assertStringIncludes(wrote, part, about);
}

/** Arguments of a command line, as a list or as text. */
export type Words = string | readonly string[];

/** Splits the text of a command line into arguments. */
export function wordsOf(words: Words): readonly string[] {
  if (typeof words !== "string") return words;
  return [...words.matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, plain]) => quoted ?? plain!);
}

/** A question without its requirements. */
export const CHECK = "check --sig $D/acme --subject did:web:alice.example";
/** Arguments that append a new relationship. */
export const UPSERT =
  "upsert --dir $D/acme --subject did:web:carol.example --type advisor";

/**
 * Returns lines for `sig import`: `count` people from number `first` on, with
 * other `members`.
 */
export function draftsOf(count: number, members: object = {}, first = 1) {
  const lines = Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      event_type: "relationship.upsert",
      subject: `did:web:p${first + at}.example`,
      relationship_type: "other",
      ...members,
    }));
  return `${lines.join("\n")}\n`;
}

/** Path of the feed of the workspace's issuer. */
export const FEED = "acme/.well-known/sig/events.jsonl";

/** Options of a terminal without colours; `asked` collects the questions. */
export function terminal(
  answer: (question: string, count: number) => boolean | Promise<boolean> =
    () => true,
) {
  const asked: string[] = [];
  const ask = (question: string) => answer(question, asked.push(question));
  const terminals = ["stdin", "stdout"] as const;
  return { asked, terminals, env: { NO_COLOR: "1" }, io: { ask } };
}

/** A temporary folder with a key store and a clock. */
export class Workspace {
  /** The folder, which is `$D` in arguments and recorded output. */
  readonly dir: string;
  /** The clock, which advances by one second at each reading. */
  #seconds = 0;

  constructor(dir: string) {
    this.dir = dir;
  }

  /**
   * Runs `sig` with arguments in which `$D` is the folder. A text is split at
   * blanks outside of quotes.
   */
  async sig(words: Words, given: Given = {}): Promise<Ran> {
    let stdout = "";
    let stderr = "";
    const env: Given["env"] = {
      SIG_KEYS_DIR: `${this.dir}/keys`,
      // The workspace has a separate pin store.
      XDG_DATA_HOME: `${this.dir}/data`,
      XDG_CACHE_HOME: `${this.dir}/cache`,
      ...given.env,
    };
    const io: Io = {
      ...createDenoIo(),
      stdout: (text) => void (stdout += text),
      stderr: (text) => void (stderr += text),
      isTerminal: (stream) => given.terminals?.includes(stream) ?? false,
      env: (name) => env[name],
      passphraseCost: 4,
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

  /** Runs a command and asserts its results. */
  async says(words: Words, expected: Expected = {}): Promise<Ran> {
    const ran = await this.sig(words, expected);
    assertRan(ran, expected, words);
    return ran;
  }

  /** Runs a command that must succeed without a warning, and returns stdout. */
  async ok(words: Words, given?: Given): Promise<string> {
    return (await this.says(words, { ...given, stderr: "" })).stdout;
  }

  /** Runs a command, which must exit with 0 or 1, and returns its JSON. */
  async json(words: string, given?: Given) {
    const ran = await this.sig(`${words} --format json`, given);
    assertEquals([ran.code < 2, ran.stderr], [true, ""], words);
    return JSON.parse(ran.stdout);
  }

  /**
   * Runs a command that must fail: exit code 2, no result, no changed file. The
   * error must contain each part.
   */
  async refused(
    words: Words,
    parts: string | readonly string[],
    given?: Given,
  ): Promise<string> {
    const before = await this.snapshot();
    const failed = { ...given, code: 2, err: parts };
    const { stderr } = await this.says(words, failed);
    assertEquals(await this.snapshot(), before, `${words}`);
    return stderr;
  }

  /** Returns the path of a file in the folder. */
  path(name: string): string {
    return `${this.dir}/${name}`;
  }

  /** Reads a file in the folder. */
  read(name: string): Promise<string> {
    return Deno.readTextFile(this.path(name));
  }

  /** Writes a file and its folders; new files have mode 0600. */
  async write(name: string, content: string | Uint8Array): Promise<void> {
    const folder = this.path(name).replace(/\/[^/]*$/, "");
    await Deno.mkdir(folder, { recursive: true });
    const mode = await this.mode(name).catch(() => 0o600);
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    await Deno.writeFile(this.path(name), bytes, { mode });
  }

  /** Changes a JSON document. */
  async edit(
    name: string,
    // deno-lint-ignore no-explicit-any -- a document that a test makes faulty
    change: (document: any) => void,
  ): Promise<void> {
    const document = JSON.parse(await this.read(name));
    change(document);
    await this.write(name, JSON.stringify(document));
  }

  /** Copies a folder, which must not exist at the new place. */
  async copy(from: string, to: string): Promise<void> {
    await cp(this.path(from), this.path(to), { recursive: true });
  }

  /** Returns the permission bits of a file in the folder. */
  async mode(name: string): Promise<number> {
    return (await Deno.stat(this.path(name))).mode! & 0o777;
  }

  /** Returns the events in the feed of `acme`. */
  async events() {
    const lines = (await this.read(FEED)).trim().split("\n");
    return lines.filter((line) => line !== "").map((line) => {
      const { payload } = JSON.parse(line);
      const bytes = Uint8Array.fromBase64(payload, { alphabet: "base64url" });
      return JSON.parse(new TextDecoder().decode(bytes));
    });
  }

  /** Returns every file of the folder with its content, to detect changes. */
  async snapshot(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const walk = async (path: string): Promise<void> => {
      for await (const { name, isDirectory, isFile } of Deno.readDir(path)) {
        const child = `${path}/${name}`;
        // Lock, index and incomplete lines may change with any attempt.
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

/**
 * Returns a function that declares tests in a workspace, with what `prepare`
 * passes on.
 */
export function testsWith<T>(
  prepare: (
    workspace: Workspace,
    work: (given: T) => Promise<void>,
    t: Deno.TestContext,
  ) => Promise<void>,
) {
  return (name: string, work: (given: T) => Promise<void>): void =>
    Deno.test(
      name,
      (t) => inWorkspace((workspace) => prepare(workspace, work, t)),
    );
}

/** Declares a test with a workspace. */
export const workspaceTest = testsWith<Workspace>((workspace, work) =>
  work(workspace)
);

/** Declares a test with the issuer of {@linkcode withIssuer}. */
export const issuerTest = testsWith<Workspace>(async (workspace, work) => {
  await initIssuer(workspace);
  await work(workspace);
});

/** Creates an issuer in a folder and serves it on loopback, its host. */
export async function serveIssuer(
  workspace: Workspace,
  folder = "acme",
  respond: Parameters<typeof serveLoopback>[0] = createIssuerSite(
    workspace.path(folder),
  ),
): Promise<LoopbackServer> {
  const server = serveLoopback(respond);
  const words =
    `init ${server.host} --dir $D/${folder} --allow-insecure --no-proofs`;
  await workspace.ok(words);
  return server;
}

/** Runs `work` with a workspace that is removed afterwards. */
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

/** Runs `work` with an employee (sequence 1) and an ended contract (2, 3). */
export async function withIssuer(
  work: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  await inWorkspace(async (workspace) => {
    await initIssuer(workspace);
    await work(workspace);
  });
}

/** Creates the issuer of {@linkcode withIssuer}. */
export async function initIssuer(workspace: Workspace): Promise<void> {
  for (const words of ISSUER) await workspace.ok(words);
}

const ISSUER: readonly string[] = [
  "init acme.example --dir $D/acme --no-proofs",
  "upsert --dir $D/acme --subject did:web:alice.example --type employee --role deploy --role review --relationship-id r1 --event-id e1",
  "upsert --dir $D/acme --subject did:web:bob.example --type contractor --relationship-id r2 --event-id e2",
  "revoke --dir $D/acme --relationship-id r2 --reason-code contract_ended --event-id e3",
];
