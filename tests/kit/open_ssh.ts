/** Debian's openssh-server, openssh-client and git, for tests. @module */

import { hasProgram, run, runWell, TestProcess } from "./process.ts";
import { waitUntil } from "./wait.ts";

const PROGRAMS = ["sshd", "ssh", "ssh-add", "ssh-agent", "ssh-keygen", "git"];

/** Those that this machine lacks. */
const MISSING = PROGRAMS.filter((name) => !hasProgram(name));

/**
 * A test that needs these programs: without them it is ignored and its name says
 * so; with `SIG_CI=1` it fails.
 */
export function withOpenSsh(
  name: string,
  fn: (t: Deno.TestContext) => Promise<void>,
): void {
  const isComplete = MISSING.length === 0;
  Deno.test({
    name: isComplete ? name : `${name} (missing: ${MISSING.join(", ")})`,
    ignore: !isComplete && Deno.env.get("SIG_CI") !== "1",
    fn,
  });
}

/** A key that was made for this test. */
export interface MadeKey {
  /** The private key's file. */
  readonly file: string;
  /** The public key's file. */
  readonly publicFile: string;
  /** The line in it. */
  readonly line: string;
}

/** Makes a key without a passphrase in a folder. */
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
  /** The path of its socket. */
  readonly socket: string;
  /** Adds a key. */
  add(key: MadeKey, ...flags: string[]): Promise<void>;
  /** Runs `ssh-add` with other words. */
  sshAdd(...words: string[]): Promise<string>;
  /** Ends it. */
  stop(): Promise<void>;
}

/** Starts an agent without keys, and waits until it listens. */
export async function startAgent(folder: string): Promise<TestAgent> {
  const socket = `${folder}/agent.sock`;
  const agent = new TestProcess("ssh-agent", ["-D", "-a", socket]);
  const env = { SSH_AUTH_SOCK: socket };
  const sshAdd = (...words: string[]) => runWell("ssh-add", words, { env });
  await waitUntil("ssh-agent listens", async () =>
    // 1: it has no keys.
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
  /** Logs in with a key, runs `true`, and gives how that ended. */
  logIn(key: MadeKey): Promise<{ readonly code: number; stderr: string }>;
  /** What it has logged. */
  log(): string;
}

/**
 * Starts sshd on loopback, with a host key and a configuration of its own, in
 * which a command tells whose keys may log in.
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
  // What the service makes when it starts; only for root.
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

/** sshd must be started by its whole path. */
const SSHD = "/usr/sbin/sshd";
