/** Running the command line in a folder of its own, and recording it. @module */

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

/** A folder, a key store and a clock. */
export class Workspace {
  /** The folder: `$D` in words and in what is recorded. */
  readonly dir: string;
  /** The clock; each reading is one second later. */
  #seconds = 0;

  constructor(dir: string) {
    this.dir = dir;
  }

  /** Runs `sig` with words in which `$D` stands for the folder. */
  async sig(words: readonly string[], given: Given = {}): Promise<Ran> {
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
    const code = await run(words.map((word) => this.#real(word)), io);
    return {
      code,
      stdout: this.#shown(stdout),
      stderr: this.#shown(stderr),
    };
  }

  /** A file of the folder. */
  path(name: string): string {
    return `${this.dir}/${name}`;
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
    for (const words of ISSUER) {
      const { code, stderr } = await workspace.sig(words);
      if (code !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
    }
    await work(workspace);
  });
}

const ISSUER: readonly (readonly string[])[] = [
  ["init", "acme.example", "--dir", "$D/acme"],
  [
    ...["upsert", "--dir", "$D/acme", "--subject", "did:web:alice.example"],
    ...["--type", "employee", "--role", "deploy", "--role", "review"],
    ...["--relationship-id", "r1", "--event-id", "e1"],
  ],
  [
    ...["upsert", "--dir", "$D/acme", "--subject", "did:web:bob.example"],
    ...["--type", "contractor", "--relationship-id", "r2", "--event-id", "e2"],
  ],
  [
    ...["revoke", "--dir", "$D/acme", "--relationship-id", "r2"],
    ...["--reason-code", "contract_ended", "--event-id", "e3"],
  ],
];
