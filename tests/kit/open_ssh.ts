/** Helpers for Debian's openssh-server, openssh-client and git. @module */

import { hasProgram, isCi, run, runWell, TestProcess } from "./process.ts";
import { waitUntil } from "./wait.ts";

const PROGRAMS = ["sshd", "ssh", "ssh-add", "ssh-agent", "ssh-keygen", "git"];

/** The programs that are not installed. */
const MISSING = PROGRAMS.filter((name) => !hasProgram(name));

/**
 * Defines a test that needs these programs. If one is missing, the test is
 * ignored and its name says so; with `SIG_CI=1` it fails.
 */
export function withOpenSsh(
  name: string,
  fn: (t: Deno.TestContext) => Promise<void>,
): void {
  const isComplete = MISSING.length === 0;
  Deno.test({
    name: isComplete ? name : `${name} (missing: ${MISSING.join(", ")})`,
    ignore: !isComplete && !isCi,
    fn,
  });
}

/** A key made for a test. */
export interface MadeKey {
  /** Path of the private key. */
  readonly file: string;
  /** Path of the public key. */
  readonly publicFile: string;
  /** The line of the public key. */
  readonly line: string;
}

/** Creates a key without a passphrase in a folder. */
export async function makeKey(
  folder: string,
  name: string,
  type: readonly string[] = ["ed25519"],
): Promise<MadeKey> {
  const file = `${folder}/${name}`;
  await runWell("ssh-keygen", [
    ...["-q", "-N", "", "-C", `${name}@test`, "-f", file, "-t", ...type],
  ]);
  const publicFile = `${file}.pub`;
  return { file, publicFile, line: await Deno.readTextFile(publicFile) };
}

/** A running ssh-agent. */
export interface TestAgent extends AsyncDisposable {
  /** Path of its socket. */
  readonly socket: string;
  /** Adds a key. */
  add(key: MadeKey, ...flags: string[]): Promise<void>;
  /** Runs `ssh-add` with other arguments. */
  sshAdd(...words: string[]): Promise<string>;
  /** Stops the agent. */
  stop(): Promise<void>;
}

/** Starts an agent without keys, and waits until it listens. */
export async function startAgent(folder: string): Promise<TestAgent> {
  const socket = `${folder}/agent.sock`;
  const agent = new TestProcess("ssh-agent", ["-D", "-a", socket]);
  const env = { SSH_AUTH_SOCK: socket };
  const sshAdd = (...words: string[]) => runWell("ssh-add", words, { env });
  await waitUntil("ssh-agent listens", async () =>
    // Exit code 1: the agent has no keys.
    (await run("ssh-add", ["-l"], { env })).code === 1);
  const stop = async () => void await agent.stop();
  return {
    socket,
    sshAdd,
    add: async ({ file }, ...flags) => void await sshAdd("-q", ...flags, file),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** A running sshd, and how to log in to it as the user of this process. */
export interface TestSshd extends AsyncDisposable {
  /** Logs in with a key, runs `true`, and returns the result. */
  logIn(key: MadeKey): Promise<{ readonly code: number; stderr: string }>;
  /** The log of sshd. */
  log(): string;
}

/**
 * Starts sshd on loopback with a temporary host key and configuration, in which
 * a command returns the authorized keys.
 */
export async function startSshd(
  folder: string,
  port: number,
  command: string,
): Promise<TestSshd> {
  const user = (await runWell("id", ["-un"])).trim();
  const host = await makeKey(folder, `host_key_${port}`);
  const config = `${folder}/sshd_config`;
  await Deno.writeTextFile(
    config,
    [
      ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${host.file}`],
      ...["PidFile none", "UsePAM no", "AuthenticationMethods publickey"],
      ...["AuthorizedKeysFile none", `AuthorizedKeysCommandUser ${user}`],
      `AuthorizedKeysCommand ${command}`,
      "",
    ].join("\n"),
  );
  // A directory that the service creates at its start; root only.
  if (Deno.uid() === 0) await Deno.mkdir("/run/sshd", { recursive: true });
  const sshd = new TestProcess(SSHD, ["-D", "-e", "-f", config]);
  await sshd.listens(port);
  return {
    log: () => sshd.stderr,
    logIn: ({ file }) =>
      run("ssh", [
        ...["-F", "none", "-p", `${port}`, "-i", file],
        ...["-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none"],
        ...["-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"],
        ...["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"],
        ...[`${user}@127.0.0.1`, "true"],
      ]),
    [Symbol.asyncDispose]: async () => void await sshd.stop(),
  };
}

/** sshd must be started by its absolute path. */
const SSHD = "/usr/sbin/sshd";
