/**
 * Runs a document's `sh` blocks, in order, in one shell and one empty folder:
 * what a reader does who types along.
 *
 * @module
 */

import { type Block, exitCodeOf } from "./read_blocks.ts";

const ROOT = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const SHIMS = new URL("shims", import.meta.url).pathname;

/** Ports that the documents use; each run has its own. */
const PORTS = ["8080", "8787", "8788", "8000", "9000"] as const;

/** Where a document means the published issuer, and not a folder of its name. */
const ASKED =
  /((?:--issuer|--sig|sig (?:verify|log|dump-state|who|expiring|diff|audit)|(?:gate\.sh|audit\.ts)"?(?: \\)?|"issuer":|"id":|ISSUER=)[\s"']*)(did:web:)?acme\.example\b/g;

/** What a document calls acme.example. */
export interface Served {
  /** Host and port, for http. */
  readonly issuer: string;
  /** Host and port of another one, for https. */
  readonly secure: string;
  /** The authority that signed the certificate of that one. */
  readonly authorityFile: string;
}

/** What became of a document. */
export interface DocumentRun {
  /** What a block wrote, by the line of its fence. */
  readonly outputs: ReadonlyMap<number, string>;
  /** What went wrong, for people; undefined when nothing did. */
  readonly failure: string | undefined;
}

/**
 * Runs the blocks.
 */
export async function runDocument(
  blocks: readonly Block[],
  served: Served,
): Promise<DocumentRun> {
  const home = await Deno.makeTempDir({ prefix: "sig-docs-" });
  const [run, work] = [`${home}/run`, `${home}/work`];
  await Deno.mkdir(run);
  await Deno.mkdir(work);
  const ports = freePorts();
  const texts = new Texts(served, ports);
  try {
    // What a line such as `sig check … && ./deploy` runs.
    await Deno.writeTextFile(`${work}/deploy`, "#!/bin/sh\n", { mode: 0o755 });
    await Deno.writeTextFile(`${run}/script`, toScript(blocks, texts));
    const { PATH, DENO_DIR, HOME } = Deno.env.toObject();
    const { code, stderr } = await new Deno.Command("bash", {
      args: [`${run}/script`],
      cwd: work,
      clearEnv: true,
      env: {
        PATH: `${SHIMS}:${PATH}`,
        HOME: home,
        // The cache is no business of the document's.
        DENO_DIR: DENO_DIR ?? `${HOME}/.cache/deno`,
        DENO_INSTALL_ROOT: `${home}/installed`,
        NO_COLOR: "1",
        ROOT,
        DOCS_ROOT: ROOT,
        DOCS_RUN: run,
        DOCS_DENO: Deno.execPath(),
        DOCS_ISSUER: served.issuer,
        DOCS_SECURE: served.secure,
        DENO_CERT: served.authorityFile,
        ...Object.fromEntries(
          [...ports].map(([port, own]) => [`DOCS_PORT_${port}`, own]),
        ),
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
      outputs.set(line, texts.toDocument(text));
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
    await endServers(run);
    await Deno.remove(home, { recursive: true });
  }
}

/** The texts of a document, and what is run instead. */
class Texts {
  readonly #issuer: string;
  readonly #secure: string;
  readonly #ports: ReadonlyMap<string, string>;

  constructor(
    { issuer, secure }: Served,
    ports: ReadonlyMap<string, string>,
  ) {
    this.#issuer = issuer;
    this.#secure = secure;
    this.#ports = ports;
  }

  get #encoded(): string {
    return this.#issuer.replace(":", "%3A");
  }

  get #wellKnown(): string {
    return `http://${this.#issuer}/.well-known`;
  }

  toRun(text: string): string {
    return text
      .replace(/\b\d{4}\b/g, (word) => this.#ports.get(word) ?? word)
      .replaceAll("https://acme.example/.well-known", this.#wellKnown)
      // Who looks at how documents are served finds http, and is right.
      .replace(
        /\bsig doctor acme\.example\b/g,
        `sig doctor https://${this.#secure}/.well-known/sig.json`,
      )
      // Tests are reached from this machine only.
      .replaceAll("0.0.0.0", "127.0.0.1")
      .replace(
        ASKED,
        (_, before: string, did?: string) =>
          before + (did ? did + this.#encoded : this.#issuer),
      );
  }

  toDocument(text: string): string {
    let shown = text
      .replaceAll(this.#encoded, "acme.example")
      .replaceAll(`http://${this.#issuer}`, "https://acme.example")
      .replaceAll(this.#issuer, "acme.example");
    for (const [port, own] of this.#ports) {
      shown = shown.replaceAll(new RegExp(`\\b${own}\\b`, "g"), port);
    }
    return shown;
  }
}

function toScript(blocks: readonly Block[], texts: Texts): string {
  const parts = blocks.map((block) => {
    // Servers go into the background by themselves: see shims/deno.
    const commands = texts.toRun(block.text).replace(/ &$/gm, "");
    const expected = exitCodeOf(block);
    const output = `exec >"$DOCS_RUN/${block.line}.out" 2>&1\n`;
    return expected === 0
      ? `${output}${commands}\n`
      : `${output}set +e\n${commands}\nended=$?\nset -e\n` +
        `[ $ended = ${expected} ] || { echo "exit code $ended"; exit 99; }\n`;
  });
  return `set -e\n${parts.join("")}`;
}

/** Ports that were free a moment ago, by those of the documents. */
function freePorts(): ReadonlyMap<string, string> {
  const listeners = PORTS.map(() =>
    Deno.listen({ hostname: "127.0.0.1", port: 0 })
  );
  const ports = new Map(
    PORTS.map((port, i) => [port, String(listeners[i]!.addr.port)]),
  );
  for (const listener of listeners) listener.close();
  return ports;
}

/** Ends what shims/deno has started. */
async function endServers(run: string): Promise<void> {
  for await (const { name } of Deno.readDir(run)) {
    if (!name.startsWith("port.")) continue;
    const pid = Number(await Deno.readTextFile(`${run}/${name}`));
    try {
      Deno.kill(pid, "SIGTERM");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}
