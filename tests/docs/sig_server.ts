/**
 * Runs the commands of documents in the process of their test, which loads
 * `sig` once: starting it takes a tenth of a second of processor time, and the
 * documents have hundreds of commands.
 *
 * @module
 */

import { createDenoIo, run } from "@sig/cli";

/**
 * A `sig` that sends its folder, arguments and environment to the server, and
 * prints what the server sends. What continues to run or starts a program is
 * run as a process: by the launcher.
 */
const CLIENT = `#!/usr/bin/env bash
case \${1-} in api | serve | watch | web) exec "LAUNCHER" "$@" ;; esac
input=
case " $* " in *" - "* | *"=- "*) IFS= read -r -d '' input ;; esac
exec 3<>/dev/tcp/127.0.0.1/PORT || exit 99
{ printf '%s\\0' "$PWD" "$input" "$#" "$@" && env -0 && printf 'end\\0'; } >&3
while IFS= read -r -d '' kind && IFS= read -r -d '' text; do
  [[ $kind != exit ]] || exit "$text"
  printf %s "$text" >&"$kind"
done <&3
exit 99
`;

/** What a request consists of: NUL-terminated texts, `end` as the last one. */
interface Call {
  readonly folder: string;
  readonly stdin: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
}

/**
 * Starts the server and writes its client to `file`. It changes the working
 * directory of this process while a command runs, so commands run one after the
 * other.
 */
export async function serveSig(
  file: string,
  launcher: string,
): Promise<AsyncDisposable> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of listener) {
      using _ = connection;
      await answer(connection);
    }
  })();
  const client = CLIENT.replace("LAUNCHER", launcher)
    .replace("PORT", `${listener.addr.port}`);
  await Deno.writeTextFile(file, client, { mode: 0o755 });
  return {
    async [Symbol.asyncDispose]() {
      listener.close();
      await serving;
    },
  };
}

async function answer(connection: Deno.Conn): Promise<void> {
  const { folder, stdin, args, env } = await readCall(connection);
  const frames: string[] = [];
  const io = {
    ...createDenoIo(),
    passphraseCost: 4,
    stdout: (text: string) => void frames.push("1", text),
    stderr: (text: string) => void frames.push("2", text),
    isTerminal: () => false,
    env: (name: string) => env.get(name),
    interrupted: () => new Promise<void>(() => {}),
    stopRequested: () => new Promise<void>(() => {}),
    readStdin: () => Promise.resolve(new TextEncoder().encode(stdin)),
  };
  const before = Deno.cwd();
  Deno.chdir(folder);
  try {
    frames.push("exit", `${await run(args, io)}`);
  } finally {
    Deno.chdir(before);
  }
  const response = frames.map((frame) => `${frame}\0`).join("");
  const writer = connection.writable.getWriter();
  // A command of a pipeline may end before it has read all.
  await writer.write(new TextEncoder().encode(response)).catch(() => {});
}

async function readCall(connection: Deno.Conn): Promise<Call> {
  let text = "";
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65_536);
  while (!text.endsWith("\0end\0")) {
    const length = await connection.read(buffer);
    if (length === null) throw new Error(`a call without end: ${text}`);
    text += decoder.decode(buffer.subarray(0, length), { stream: true });
  }
  const [folder = "", stdin = "", count, ...rest] = text.split("\0");
  const env = rest.slice(Number(count), -2).map((line): [string, string] => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)];
  });
  const args = rest.slice(0, Number(count));
  return { folder, stdin, args, env: new Map(env) };
}
