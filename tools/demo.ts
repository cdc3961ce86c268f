/**
 * The main use with real processes: an issuer, a feed on a real server,
 * answers, and a forgery that is detected. Run by `deno task --quiet demo`.
 *
 * @module
 */

import { LAZY_IMPORTS } from "./launcher.ts";
import { EXECUTABLES } from "./programs.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const CLI = `${ROOT}cli/main.ts`;
/** The permissions of an installed `sig`. */
const PERMISSIONS = EXECUTABLES.find(({ name }) => name === "sig")!.permissions;
const decoder = new TextDecoder();

interface Step {
  /** Description of the step, printed for the user. */
  readonly title: string;
  /** Arguments of `sig`. */
  readonly args: readonly string[];
  /** The expected exit code (default: 0). */
  readonly code?: number;
}

function command(args: readonly string[], cwd: string): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-prompt", LAZY_IMPORTS, ...PERMISSIONS],
      ...["--config", `${ROOT}deno.json`, CLI, ...args],
    ],
    cwd,
    // Keys, pin store and copies of feeds are in the temporary folder.
    env: {
      XDG_DATA_HOME: cwd,
      XDG_CACHE_HOME: cwd,
      SIG_KEYS_DIR: `${cwd}/keys`,
      NO_COLOR: "1",
    },
    stdout: "piped",
    stderr: "piped",
  });
}

function show(args: readonly string[]): void {
  const words = args.map((word) =>
    /^[A-Za-z0-9_./:=%-]+$/.test(word) ? word : `'${word}'`
  );
  console.log(`$ sig ${words.join(" ")}`);
}

async function run(step: Step, cwd: string): Promise<void> {
  console.log(`\n# ${step.title}`);
  show(step.args);
  const result = await command(step.args, cwd).output();
  const text = decoder.decode(result.stdout) + decoder.decode(result.stderr);
  if (text !== "") console.log(text.trimEnd());
  const expected = step.code ?? 0;
  if (expected !== 0) console.log(`(exit code ${result.code})`);
  if (result.code !== expected) {
    throw new Error(`exit code ${result.code}, expected ${expected}`);
  }
}

/** Returns a port that is currently free. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

/**
 * Starts `sig serve` and waits until it listens. Returns a function that stops
 * it.
 */
async function serve(
  dir: string,
  port: number,
  cwd: string,
): Promise<() => Promise<void>> {
  const args = ["serve", dir, "--addr", `127.0.0.1:${port}`];
  console.log("\n# Publish it: a real web server, on this machine only");
  show(args);
  const child = command(args, cwd).spawn();
  // Read to its end, since the server would block on a full pipe.
  const errors = new Response(child.stderr).text();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value, done } = await reader.read();
  if (done) throw new Error(`the server did not start: ${await errors}`);
  console.log(value.trimEnd());
  return async () => {
    child.kill("SIGTERM");
    await reader.cancel();
    await child.status;
    await errors;
  };
}

/** Changes one character in the middle of a line's payload. */
async function tamper(feed: string, line: number): Promise<void> {
  const lines = (await Deno.readTextFile(feed)).split("\n");
  const envelope = JSON.parse(lines[line - 1]!);
  const at = envelope.payload.length >> 1;
  const other = envelope.payload[at] === "A" ? "B" : "A";
  const before = envelope.payload;
  envelope.payload = before.slice(0, at) + other + before.slice(at + 1);
  lines[line - 1] = JSON.stringify(envelope);
  await Deno.writeTextFile(feed, lines.join("\n"));
  console.log(
    `\n# An attacker changes one character of line ${line}: payload[${at}] ` +
      `"${before[at]}" becomes "${other}"`,
  );
}

const ALICE = "did:web:alice.example";
const BOB = "did:web:bob.example";
const CAROL = "did:web:carol.example";
const DIR = "acme";

function issuerSteps(host: string): readonly Step[] {
  const upsert = (
    title: string,
    subject: string,
    type: string,
    role: string,
    id: string,
    issuedAt: string,
  ): Step => ({
    title,
    // deno-fmt-ignore -- each line has a flag with its value
    args: [
      "upsert", "--dir", DIR, "--subject", subject, "--type", type,
      "--role", role, "--relationship-id", id, "--issued-at", issuedAt,
    ],
  });
  return [
    {
      title: "An issuer: key, DID document, key set, metadata, empty feed",
      args: ["init", host, "--dir", DIR, "--allow-insecure"],
    },
    // deno-fmt-ignore -- a table
    ...[
      upsert("Alice joins and may deploy", ALICE, "employee", "deploy", "alice-1", "2026-01-05T09:00:00Z"),
      upsert("Bob is a contractor who reviews", BOB, "contractor", "review", "bob-1", "2026-01-12T09:00:00Z"),
      upsert("Carol, a founder, may deploy too", CAROL, "founder", "deploy", "carol-1", "2026-02-01T09:00:00Z"),
    ],
    {
      title: "Alice leaves",
      // deno-fmt-ignore -- each line has a flag with its value
      args: [
        "revoke", "--dir", DIR, "--relationship-id", "alice-1",
        "--reason-code", "employment_ended", "--issued-at", "2026-03-02T17:00:00Z",
      ],
    },
  ];
}

function consumerSteps(source: string): readonly Step[] {
  const check = (subject: string, type: string, ...more: string[]) => [
    ...["check", "--allow-insecure", "--sig", source, "--subject", subject],
    ...["--require", `relationship=${type}`, "--require", "role=deploy"],
    ...more,
  ];
  return [
    {
      title: "Anyone can verify every signature",
      args: ["verify", source, "--allow-insecure"],
    },
    {
      title: "and replay the feed into state",
      args: ["dump-state", source, "--allow-insecure"],
    },
    {
      title: "May Carol deploy? allow",
      args: check(CAROL, "founder", "--format", "text"),
    },
    {
      title: "May Alice deploy? deny, and why",
      args: check(ALICE, "employee", "--explain", "--format", "text"),
      code: 1,
    },
    {
      title: "Might Alice deploy in February? allow",
      args: check(ALICE, "employee", "--at", "2026-02-10T12:00:00Z"),
    },
  ];
}

/** The next commands; tests/demo_test.ts runs them. */
const NEXT = `
# That was the main job. Next, in this folder: get the command sig, see the same
# story in your browser, and ask a question of your own.
npx -y deno@2.9.6 task install && export PATH="$HOME/.local/bin:$PATH"
sig web --demo --addr 127.0.0.1:0
sig check --help`;

async function main(): Promise<void> {
  const cwd = await Deno.makeTempDir({ prefix: "sig-demo-" });
  let stopServer: (() => Promise<void>) | undefined;
  try {
    const port = freePort();
    const host = `127.0.0.1:${port}`;
    const source = `http://${host}/.well-known/sig.json`;
    for (const step of issuerSteps(host)) await run(step, cwd);
    stopServer = await serve(DIR, port, cwd);
    for (const step of consumerSteps(source)) await run(step, cwd);
    await tamper(`${cwd}/${DIR}/.well-known/sig/events.jsonl`, 2);
    await run({
      title: "Verification fails: signature_invalid, with its line",
      args: ["verify", source, "--allow-insecure"],
      code: 1,
    }, cwd);
    console.log(NEXT);
  } finally {
    await stopServer?.();
    await Deno.remove(cwd, { recursive: true });
  }
}

await main();
